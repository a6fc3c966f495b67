/// The symmetric part of the handshake `Noise_NNpsk0_25519_ChaChaPoly_SHA256`.
///
/// - Source: The Noise Protocol Framework, revision 34, 5.2.
struct NoiseSymmetricState: Sendable {
    private(set) var hash: [UInt8]
    private(set) var chainingKey: [UInt8]
    private(set) var key: [UInt8] = []

    /// The state after the name, the prologue and the key (psk0); `nil` if libcrypto fails.
    init?(key: ESPHomeKey) {
        // The name has more than 32 octets, so its hash takes its place.
        hash = NoiseCrypto.sha256(Array("Noise_NNpsk0_25519_ChaChaPoly_SHA256".utf8))
        chainingKey = hash
        // The contents of the client's hello, with their length before them; the hello is empty.
        mixHash(Array("NoiseAPIInit".utf8) + [0, 0])
        guard let outputs = NoiseCrypto.hkdf(chainingKey, key.octets, count: 3), outputs.count == 3 else { return nil }
        chainingKey = outputs[0]
        mixHash(outputs[1])
        self.key = outputs[2]
    }

    mutating func mixHash(_ octets: [UInt8]) { hash = NoiseCrypto.sha256(hash + octets) }

    mutating func mixKey(_ input: [UInt8]) -> Bool {
        guard let outputs = NoiseCrypto.hkdf(chainingKey, input, count: 2), outputs.count == 2 else { return false }
        chainingKey = outputs[0]
        key = outputs[1]
        return true
    }

    /// The ephemeral public key of either side, which also changes the key, because there is a psk.
    mutating func mixEphemeral(_ publicKey: [UInt8]) -> Bool {
        mixHash(publicKey)
        return mixKey(publicKey)
    }

    /// The tag of an empty payload.
    mutating func sealEmpty() -> [UInt8]? {
        guard let tag = NoiseCrypto.seal([], key: key, nonce: 0, data: hash) else { return nil }
        mixHash(tag)
        return tag
    }

    /// True if the octets are the tag of an empty payload.
    mutating func openEmpty(_ tag: [UInt8]) -> Bool {
        guard NoiseCrypto.open(tag, key: key, nonce: 0, data: hash) == [] else { return false }
        mixHash(tag)
        return true
    }

    /// The keys of both directions.
    func split() -> (fromInitiator: NoiseCipher, fromResponder: NoiseCipher)? {
        guard let keys = NoiseCrypto.hkdf(chainingKey, [], count: 2), keys.count == 2 else { return nil }
        return (NoiseCipher(key: keys[0]), NoiseCipher(key: keys[1]))
    }
}

/// Encrypts or decrypts one direction of a session; each frame has the next nonce. Its descriptions do not show the key.
struct NoiseCipher: Hashable, Sendable {
    let key: [UInt8]
    private(set) var nonce: UInt64 = 0

    init(key: [UInt8]) { self.key = key }

    /// The ciphertext; `nil` if libcrypto fails.
    mutating func seal(_ plaintext: [UInt8]) -> [UInt8]? {
        defer { nonce &+= 1 }
        return NoiseCrypto.seal(plaintext, key: key, nonce: nonce, data: [])
    }

    /// The plaintext; `nil` unless the frame is the next one and is unchanged.
    mutating func open(_ ciphertext: [UInt8]) -> [UInt8]? {
        guard let plaintext = NoiseCrypto.open(ciphertext, key: key, nonce: nonce, data: []) else { return nil }
        nonce &+= 1
        return plaintext
    }
}

/// The handshake as the client makes it, which is its initiator.
struct NoiseInitiator: Sendable {
    static let messageLength = NoiseCrypto.keyLength + NoiseCrypto.tagLength

    private(set) var state: NoiseSymmetricState
    private let privateKey: [UInt8]
    /// The first message: the ephemeral public key and a tag.
    let message: [UInt8]

    /// - Parameter ephemeral: 32 random octets, which are used once; `nil` for other lengths.
    init?(key: ESPHomeKey, ephemeral: [UInt8]) {
        guard var state = NoiseSymmetricState(key: key), let own = NoiseCrypto.publicKey(privateKey: ephemeral),
            state.mixEphemeral(own), let tag = state.sealEmpty()
        else { return nil }
        self.state = state
        privateKey = ephemeral
        message = own + tag
    }

    /// The ciphers for sending and receiving; `nil` if the answer does not come from an owner of the key.
    mutating func finish(_ answer: [UInt8]) -> (sending: NoiseCipher, receiving: NoiseCipher)? {
        guard answer.count == Self.messageLength else { return nil }
        let peer = Array(answer.prefix(NoiseCrypto.keyLength))
        guard state.mixEphemeral(peer),
            let secret = NoiseCrypto.sharedSecret(privateKey: privateKey, publicKey: peer), state.mixKey(secret),
            state.openEmpty(Array(answer.suffix(NoiseCrypto.tagLength))), let keys = state.split()
        else { return nil }
        return (keys.fromInitiator, keys.fromResponder)
    }
}

/// The handshake as a proxy makes it, which answers.
struct NoiseResponder: Sendable {
    private let key: ESPHomeKey
    private let privateKey: [UInt8]

    init(key: ESPHomeKey, ephemeral: [UInt8]) {
        self.key = key
        privateKey = ephemeral
    }

    /// The answer and the ciphers; `nil` if the message does not come from an owner of the key.
    func answer(_ message: [UInt8]) -> (answer: [UInt8], sending: NoiseCipher, receiving: NoiseCipher)? {
        guard message.count == NoiseInitiator.messageLength, var state = NoiseSymmetricState(key: key) else {
            return nil
        }
        let peer = Array(message.prefix(NoiseCrypto.keyLength))
        guard state.mixEphemeral(peer), state.openEmpty(Array(message.suffix(NoiseCrypto.tagLength))),
            let own = NoiseCrypto.publicKey(privateKey: privateKey), state.mixEphemeral(own),
            let secret = NoiseCrypto.sharedSecret(privateKey: privateKey, publicKey: peer), state.mixKey(secret),
            let tag = state.sealEmpty(), let keys = state.split()
        else { return nil }
        return (own + tag, keys.fromResponder, keys.fromInitiator)
    }
}

extension NoiseCipher: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "***" }
    var debugDescription: String { "***" }
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension NoiseSymmetricState: CustomStringConvertible, CustomReflectable {
    var description: String { "***" }
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension NoiseInitiator: CustomStringConvertible, CustomReflectable {
    var description: String { "***" }
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension NoiseResponder: CustomStringConvertible, CustomReflectable {
    var description: String { "***" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
