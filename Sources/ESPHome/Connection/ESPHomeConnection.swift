import Cryptography

/// A connection between a client and a proxy: frames, the handshake, encryption and messages. It has no clock. Its
/// owner closes the connection when the handshake takes too long or the other side is silent.
///
/// With a key, both sides begin with a hello and a message of the handshake each, and everything after that is
/// encrypted. Without a key nothing precedes the messages. A device accepts only one of the two.
///
///     client                                            proxy
///     hello, first message of the handshake       →
///                                                 ←     hello
///                                                 ←     second message, or a refusal
///     messages                                    ⇄     messages
///
/// After `failed` the owner closes the connection. Later inputs have no effect.
package struct ESPHomeConnection: Sendable {
    package enum Role: Sendable {
        case client
        /// The other side, for tests and for simulated proxies.
        case proxy(name: String, mac: String)
    }

    package enum Input: Hashable, Sendable {
        /// The connection is open. The entropy has 32 random octets, which become the ephemeral private key; without a
        /// key it is not used.
        case opened(entropy: [UInt8])
        case received([UInt8])
        /// Sends messages in one piece. Before the connection is established they are kept back, at most
        /// `ESPHomeLimits.earlyMessages` of them.
        case send([ESPHomeMessage])
    }

    package enum Effect: Hashable, Sendable {
        case send([UInt8])
        case established
        case message(ESPHomeMessage)
        /// The connection has failed. Effects `send` before this one are still carried out, because with them a proxy
        /// explains its refusal; then the connection is closed.
        case failed(ESPHomeFault)
    }

    private enum State: Sendable {
        case unopened
        case awaitingServerHello(NoiseHandshake)
        case awaitingSecondMessage(NoiseHandshake)
        case awaitingClientHello(ephemeralPrivateKey: [UInt8])
        case awaitingFirstMessage(NoiseHandshake)
        case plain
        case encrypted(sending: NoiseCipher, receiving: NoiseCipher)
        case failed
    }

    private let role: Role
    private let key: ESPHomeKey?
    private var state: State = .unopened
    private var stream = FrameStream()
    private var earlyMessages: [ESPHomeMessage] = []
    private var hasReceivedFrame = false

    /// The proxy's hello, which precedes its part of the handshake; `nil` before it was received, and on plain
    /// connections.
    package private(set) var serverHello: ServerHello?

    /// - Parameter key: `nil` for a plain connection.
    package init(role: Role, key: ESPHomeKey?) {
        self.role = role
        self.key = key
    }

    package mutating func handle(_ input: Input) -> [Effect] {
        var effects: [Effect] = []
        do throws(ESPHomeFault) {
            switch input {
            case .opened(let entropy): try open(entropy, &effects)
            case .received(let octets): try receive(octets, &effects)
            case .send(let messages): try send(messages, &effects)
            }
        } catch {
            fail(error, &effects)
        }
        return effects
    }

    private mutating func open(_ entropy: [UInt8], _ effects: inout [Effect]) throws(ESPHomeFault) {
        guard case .unopened = state else { return }
        switch (role, key) {
        case (_, nil):
            state = .plain
            try establish(&effects)
        case (.client, let key?):
            var handshake = try NoiseHandshake(key: key, clientHello: [], ephemeralPrivateKey: entropy)
            let message = try handshake.firstMessage()
            effects.append(.send(FrameStream.encryptedFrame([]) + Self.handshakeFrame(message)))
            state = .awaitingServerHello(handshake)
        case (.proxy, _):
            guard entropy.count == Curve25519.keyLength else { throw .wrongEntropy }
            state = .awaitingClientHello(ephemeralPrivateKey: entropy)
        }
    }

    private mutating func establish(_ effects: inout [Effect]) throws(ESPHomeFault) {
        effects.append(.established)
        let messages = earlyMessages
        earlyMessages = []
        try send(messages, &effects)
    }
}

// MARK: - Receiving

extension ESPHomeConnection {
    private mutating func receive(_ octets: [UInt8], _ effects: inout [Effect]) throws(ESPHomeFault) {
        switch state {
        case .unopened, .failed: return
        case .awaitingServerHello, .awaitingSecondMessage, .awaitingClientHello, .awaitingFirstMessage, .plain,
            .encrypted:
            stream.append(octets)
        }
        while try receiveFrame(&effects) { hasReceivedFrame = true }
    }

    /// Takes the next frame; false if there is none yet.
    private mutating func receiveFrame(_ effects: inout [Effect]) throws(ESPHomeFault) -> Bool {
        switch state {
        case .unopened, .failed: return false
        case .plain:
            guard let frame = try plainFrame() else { return false }
            effects.append(.message(try Self.message(frame)))
        case .encrypted(let sending, var receiving):
            guard let body = try sessionBody() else { return false }
            let inner = try receiving.decrypt(body)
            state = .encrypted(sending: sending, receiving: receiving)
            effects.append(.message(try Self.message(inner: inner)))
        case .awaitingServerHello(let handshake):
            guard let body = try handshakeBody() else { return false }
            serverHello = try ServerHello(decoding: body)
            state = .awaitingSecondMessage(handshake)
        case .awaitingSecondMessage(let handshake):
            guard let body = try handshakeBody() else { return false }
            try finish(handshake, body, &effects)
        case .awaitingClientHello(let ephemeralPrivateKey):
            guard let body = try handshakeBody() else { return false }
            try answerHello(body, ephemeralPrivateKey, &effects)
        case .awaitingFirstMessage(let handshake):
            guard let body = try handshakeBody() else { return false }
            try answer(handshake, body, &effects)
        }
        return true
    }

    private mutating func finish(
        _ handshake: NoiseHandshake, _ body: [UInt8], _ effects: inout [Effect]
    ) throws(ESPHomeFault) {
        guard let first = body.first else { throw .malformed(.handshakeLength(0)) }
        guard first == 0 else {
            let text = String(decoding: body.dropFirst(), as: UTF8.self)
            throw text == Refusal.wrongKey.rawValue ? .wrongKey : .refused(text)
        }
        var handshake = handshake
        try handshake.readSecondMessage(Array(body.dropFirst()))
        let ciphers = try handshake.split()
        state = .encrypted(sending: ciphers.fromInitiator, receiving: ciphers.fromResponder)
        try establish(&effects)
    }

    private mutating func answerHello(
        _ hello: [UInt8], _ ephemeralPrivateKey: [UInt8], _ effects: inout [Effect]
    ) throws(ESPHomeFault) {
        guard let key, case .proxy(let name, let mac) = role else { return }
        let handshake = try NoiseHandshake(key: key, clientHello: hello, ephemeralPrivateKey: ephemeralPrivateKey)
        let answer = ServerHello(name: name, mac: mac)
        serverHello = answer
        effects.append(.send(FrameStream.encryptedFrame(answer.encoded())))
        state = .awaitingFirstMessage(handshake)
    }

    private mutating func answer(
        _ handshake: NoiseHandshake, _ body: [UInt8], _ effects: inout [Effect]
    ) throws(ESPHomeFault) {
        guard let first = body.first else { throw .malformed(.handshakeLength(0)) }
        guard first == 0 else { throw .refused(Refusal.firstOctet.rawValue) }
        var handshake = handshake
        let ephemeral: [UInt8]
        do throws(ESPHomeFault) {
            ephemeral = try handshake.readFirstMessage(Array(body.dropFirst()))
        } catch {
            throw error == .tagMismatch ? .wrongKey : error
        }
        effects.append(.send(Self.handshakeFrame(try handshake.secondMessage(to: ephemeral))))
        let ciphers = try handshake.split()
        state = .encrypted(sending: ciphers.fromResponder, receiving: ciphers.fromInitiator)
        try establish(&effects)
    }
}

// MARK: - Frames

extension ESPHomeConnection {
    private static func handshakeFrame(_ message: [UInt8]) -> [UInt8] { FrameStream.encryptedFrame([0] + message) }

    private mutating func plainFrame() throws(ESPHomeFault) -> (id: UInt32, message: [UInt8])? {
        do throws(ESPHomeMalformed) {
            return try stream.plainFrame()
        } catch {
            let isOfOtherKind = error == .indicator(FrameStream.encryptedIndicator) && !hasReceivedFrame
            guard isOfOtherKind else { throw .malformed(error) }
            throw isClient ? .keyNeeded : .keyNotWanted
        }
    }

    private mutating func handshakeBody() throws(ESPHomeFault) -> [UInt8]? {
        do throws(ESPHomeMalformed) {
            return try stream.encryptedBody(
                limit: ESPHomeLimits.handshakeLength, orThrow: ESPHomeMalformed.handshakeLength)
        } catch {
            let isOfOtherKind = error == .indicator(FrameStream.plainIndicator) && !hasReceivedFrame
            guard isOfOtherKind else { throw .malformed(error) }
            throw isClient ? .keyNotWanted : .keyNeeded
        }
    }

    private mutating func sessionBody() throws(ESPHomeFault) -> [UInt8]? {
        let overhead = 4 + AuthenticatedEncryption.tagLength
        do throws(ESPHomeMalformed) {
            return try stream.encryptedBody(limit: ESPHomeLimits.messageLength + overhead) {
                .messageTooLong($0 - overhead)
            }
        } catch {
            throw .malformed(error)
        }
    }

    private static func message(inner octets: [UInt8]) throws(ESPHomeFault) -> ESPHomeMessage {
        do throws(ESPHomeMalformed) {
            let frame = try FrameStream.message(inner: octets)
            return try ESPHomeMessage(id: frame.id, payload: frame.message)
        } catch {
            throw .malformed(error)
        }
    }

    private static func message(_ frame: (id: UInt32, message: [UInt8])) throws(ESPHomeFault) -> ESPHomeMessage {
        do throws(ESPHomeMalformed) {
            return try ESPHomeMessage(id: frame.id, payload: frame.message)
        } catch {
            throw .malformed(error)
        }
    }

    private var isClient: Bool {
        if case .client = role { true } else { false }
    }
}

// MARK: - Sending

extension ESPHomeConnection {
    private mutating func send(_ messages: [ESPHomeMessage], _ effects: inout [Effect]) throws(ESPHomeFault) {
        guard !messages.isEmpty else { return }
        switch state {
        case .failed: return
        case .plain:
            var octets: [UInt8] = []
            for message in messages {
                octets += FrameStream.plainFrame(id: message.id, message: try Self.payload(of: message))
            }
            effects.append(.send(octets))
        case .encrypted(var sending, let receiving):
            var octets: [UInt8] = []
            for message in messages {
                let inner = FrameStream.inner(id: message.id, message: try Self.payload(of: message))
                octets += FrameStream.encryptedFrame(try sending.encrypt(inner))
            }
            state = .encrypted(sending: sending, receiving: receiving)
            effects.append(.send(octets))
        case .unopened, .awaitingServerHello, .awaitingSecondMessage, .awaitingClientHello, .awaitingFirstMessage:
            guard earlyMessages.count + messages.count <= ESPHomeLimits.earlyMessages else { throw .sentTooEarly }
            earlyMessages += messages
        }
    }

    private static func payload(of message: ESPHomeMessage) throws(ESPHomeFault) -> [UInt8] {
        let payload = message.encoded()
        guard message.id <= UInt16.max, payload.count <= ESPHomeLimits.sentMessageLength else {
            throw .unsendable(id: message.id)
        }
        return payload
    }
}

// MARK: - Failures

extension ESPHomeConnection {
    /// The words with which proxies refuse a client.
    private enum Refusal: String {
        case wrongKey = "Handshake MAC failure"
        case indicator = "Bad indicator byte"
        case tooLong = "Bad handshake packet len"
        case firstOctet = "Bad handshake error byte"
        case empty = "Empty handshake message"
        case other = "Handshake error"
    }

    private mutating func fail(_ fault: ESPHomeFault, _ effects: inout [Effect]) {
        if let refusal = refusal(for: fault) { effects.append(.send(refusal)) }
        effects.append(.failed(fault))
        state = .failed
        stream.clear()
        earlyMessages = []
    }

    /// The frame with which a proxy refuses a client before it closes the connection; `nil` for clients, and after the
    /// handshake.
    private func refusal(for fault: ESPHomeFault) -> [UInt8]? {
        guard !isClient else { return nil }
        switch state {
        case .plain:
            // A client with a key sees in the first octet that this proxy has none.
            guard fault == .keyNotWanted else { return nil }
            return [FrameStream.plainIndicator] + Array(Refusal.indicator.rawValue.utf8)
        case .awaitingClientHello, .awaitingFirstMessage:
            let refusal: Refusal =
                switch fault {
                case .wrongKey: .wrongKey
                case .keyNeeded, .malformed(.indicator): .indicator
                case .malformed(.handshakeLength(0)): .empty
                case .malformed(.handshakeLength(let length)) where length > ESPHomeLimits.handshakeLength: .tooLong
                case .refused: .firstOctet
                case .keyNotWanted, .unknownProtocol, .malformed, .tagMismatch, .weakEphemeralKey, .wrongEntropy,
                    .unsendable, .sentTooEarly, .cryptographyFailed:
                    .other
                }
            return FrameStream.encryptedFrame([1] + Array(refusal.rawValue.utf8))
        case .unopened, .awaitingServerHello, .awaitingSecondMessage, .encrypted, .failed: return nil
        }
    }
}
