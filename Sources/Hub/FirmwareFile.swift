/// A file with firmware, `firmware/MODEL-VERSION.bin` in the state directory, put there by hand.
package struct FirmwareFile: Hashable, Sendable {
    /// `flic2`.
    package var model: String
    package var version: UInt32

    package init(model: String, version: UInt32) {
        self.model = model
        self.version = version
    }

    package var name: String { "\(model)-\(version).bin" }
}

/// What became of reading one.
package enum FirmwareReading: Hashable, Sendable {
    case octets([UInt8])
    /// A sentence for people.
    case failed(String)
}
