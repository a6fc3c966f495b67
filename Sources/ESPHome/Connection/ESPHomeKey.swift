/// The key that a device and its clients share: `api: encryption: key:` in the device's configuration. Its descriptions
/// do not show it.
package struct ESPHomeKey: Hashable, Sendable {
    package static let length = 32

    let octets: [UInt8]

    /// `nil` unless there are 32 octets.
    package init?(_ octets: [UInt8]) {
        guard octets.count == Self.length else { return nil }
        self.octets = octets
    }

    /// `nil` unless the text is the base64 of 32 octets, with its padding and without white space.
    package init?(base64 text: String) {
        guard let octets = Base64.decode(text) else { return nil }
        self.init(octets)
    }
}

extension ESPHomeKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "***" }
    package var debugDescription: String { "***" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
