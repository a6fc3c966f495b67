/// A firmware file that the user has put into the state directory: `firmware/MODEL-VERSION.bin`.
package struct FirmwareFile: Hashable, Sendable {
    /// For example `flic2`.
    package var model: String
    package var version: UInt32

    package init(model: String, version: UInt32) {
        self.model = model
        self.version = version
    }

    package var name: String { "\(model)-\(version).bin" }
}

/// The result of reading a firmware file.
package enum FirmwareReading: Hashable, Sendable {
    case octets([UInt8])
    /// The reason, as a sentence for users.
    case failed(String)
}
