/// The Chaskey key of a session, 16 octets. Its descriptions do not show it.
struct SessionKey: Hashable, Sendable {
    let octets: [UInt8]

    /// `nil` unless there are 16 octets.
    init?(_ octets: [UInt8]) {
        guard octets.count == 16 else { return nil }
        self.octets = octets
    }
}

extension SessionKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "***" }
    var debugDescription: String { "***" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
