/// The Chaskey key of one session: 16 octets that never print themselves.
package struct SessionKey: Hashable, Sendable {
    package let octets: [UInt8]

    /// `nil` unless there are 16 octets.
    package init?(_ octets: [UInt8]) {
        guard octets.count == 16 else { return nil }
        self.octets = octets
    }
}

extension SessionKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "***" }
    package var debugDescription: String { "***" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
