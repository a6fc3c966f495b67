import Bytes

/// Random values for a session, drawn by the caller so that sessions can be replayed. Its descriptions do not show
/// them.
public struct SessionEntropy: Hashable, Sendable {
    /// Identifies the session until the button has assigned a logical connection id.
    public var temporaryID: UInt32
    /// 8 octets, of which quick verify uses the first 7.
    public var random: [UInt8]
    /// The ephemeral X25519 private key for a full verify, 32 octets.
    public var privateKey: [UInt8]

    /// - Parameter octets: at least `octetCount` random octets: 4 for the temporary id, 8 for `random` and 32 for the
    ///   private key. `nil` if there are fewer.
    public init?(_ octets: [UInt8]) {
        var reader = ByteReader(octets)
        guard let temporaryID = try? reader.uint32(), let random = try? reader.bytes(8),
            let privateKey = try? reader.bytes(32)
        else { return nil }
        self.init(temporaryID: temporaryID, random: random, privateKey: privateKey)
    }

    public init(temporaryID: UInt32, random: [UInt8], privateKey: [UInt8]) {
        self.temporaryID = temporaryID
        self.random = random
        self.privateKey = privateKey
    }

    public static let octetCount = 44
}

extension SessionEntropy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "***" }
    public var debugDescription: String { "***" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
