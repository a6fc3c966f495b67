import Bytes

/// Randomness for one session, drawn by the caller so that a session can be replayed. It never prints itself.
public struct SessionEntropy: Hashable, Sendable {
    /// Names the session until it has a connection id.
    public var temporaryID: UInt32
    /// 8 octets; quick verify uses the first 7.
    public var random: [UInt8]
    /// 32 octets: the ephemeral X25519 private key of a full verify.
    public var privateKey: [UInt8]

    /// - Parameter octets: at least `octetCount` random octets; the first four are the temporary id, then
    ///   8 of `random`, then 32 of the private key. `nil` when there are fewer.
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
