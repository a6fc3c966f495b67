package import ButtonModel

/// A button of a simulator file. Values that are `nil` are derived from the name.
package struct SimulatorButton: Hashable, Sendable {
    package var name: String
    package var model: FlicModel?
    package var address: BluetoothAddress?
    package var serial: String?
    /// 32 hexadecimal digits in lower case.
    package var uuid: String?
    /// At most 23 octets of UTF-8.
    package var nickname: String?
    package var firmware: UInt32?
    package var batteryMillivolts: Int?
    /// True if the button begins in public mode, ready to be paired.
    package var isPublic: Bool?

    package init(name: String, model: FlicModel?) {
        self.name = name
        self.model = model
    }
}
