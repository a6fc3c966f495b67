/// Why octets of the other side cannot be a message or a frame. The connection cannot be used after that.
package enum ESPHomeMalformed: Error, Hashable, Sendable {
    // Frames
    /// A frame begins with an octet that this connection's frames do not begin with.
    case indicator(UInt8)
    /// A length or the number of a message is written with more than four octets.
    case headerTooLong
    /// A message has this many octets, and more than `ESPHomeLimits.messageLength`.
    case messageTooLong(Int)
    /// A frame of the handshake has this many octets: too many, or too few for what it has to say.
    case handshakeLength(Int)
    /// An encrypted frame has no room for the header of its message.
    case frameTooShort(Int)
    /// The header of an encrypted message promises more octets than there are.
    case innerLength(promised: Int, present: Int)

    // Messages
    /// The message ends inside a field, or a length leads beyond the end.
    case truncated
    /// A number is written with more than ten octets.
    case numberTooLong
    /// The coding of a field that does not exist, or that is not in use any more.
    case wireType(UInt8)
    /// A field number that no field can have.
    case fieldNumber(UInt64)
    /// More advertisements, services, characteristics, descriptors or links than `ESPHomeLimits` allows.
    case tooMany(Element)
    /// A value has this many octets, and more than `ESPHomeLimits.valueLength`.
    case valueTooLong(Int)
    /// A UUID in this number of parts, where only two make one.
    case uuidParts(Int)

    package enum Element: String, Hashable, Sendable {
        case advertisements, services, characteristics, descriptors, links
    }
}

extension ESPHomeMalformed: CustomStringConvertible {
    package var description: String {
        switch self {
        case .indicator(let octet): "a frame begins with 0x\(String(octet, radix: 16))"
        case .headerTooLong: "the header of a frame is too long"
        case .messageTooLong(let length): "a message has \(length) octets"
        case .handshakeLength(let length): "a frame of the handshake has \(length) octets"
        case .frameTooShort(let length): "an encrypted frame has only \(length) octets"
        case .innerLength(let promised, let present): "a message of \(promised) octets has only \(present)"
        case .truncated: "a message ends inside a field"
        case .numberTooLong: "a number has more than ten octets"
        case .wireType(let type): "a field has the unknown coding \(type)"
        case .fieldNumber(let number): "a field has the number \(number)"
        case .tooMany(let element): "a message has too many \(element.rawValue)"
        case .valueTooLong(let length): "a value has \(length) octets"
        case .uuidParts(let count): "a UUID has \(count) parts"
        }
    }
}

/// Why a connection cannot be used any more.
package enum ESPHomeFault: Error, Hashable, Sendable {
    /// The two sides have different keys.
    case wrongKey
    /// The proxy has a key, and the client has none.
    case keyNeeded
    /// The client has a key, and the proxy has none.
    case keyNotWanted
    /// The proxy refused the handshake with this text of at most 127 octets. The text is not authenticated.
    case refused(String)
    /// The proxy chose a protocol that does not exist.
    case unknownProtocol(UInt8)
    case malformed(ESPHomeMalformed)
    /// Decryption failed: the sender has another key, or the frame was changed on its way.
    case tagMismatch
    /// The other side's ephemeral key is one of the points of low order, with which the shared secret is zero.
    case weakEphemeralKey
    /// The caller gave entropy that has not 32 octets.
    case wrongEntropy
    /// The caller sent a message that does not fit into a frame: too long, or with a number beyond 16 bits.
    case unsendable(id: UInt32)
    /// The caller sent more messages before `established` than are kept back.
    case sentTooEarly
    /// libcrypto failed, which happens only without memory.
    case cryptographyFailed
}

extension ESPHomeFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .wrongKey: "the key is not the proxy's"
        case .keyNeeded: "the proxy has a key"
        case .keyNotWanted: "the proxy has no key"
        case .refused(let text): "the proxy refused the handshake: \(text)"
        case .unknownProtocol(let number): "the proxy chose the unknown protocol \(number)"
        case .malformed(let problem): problem.description
        case .tagMismatch: "the tag of a frame does not fit"
        case .weakEphemeralKey: "the ephemeral key is weak"
        case .wrongEntropy: "the entropy has not 32 octets"
        case .unsendable(let id): "a message with the number \(id) does not fit into a frame"
        case .sentTooEarly: "too many messages were sent before the connection was established"
        case .cryptographyFailed: "libcrypto failed"
        }
    }
}

/// The bounds on what the other side can say, so that the memory that it can take is bounded as well.
package enum ESPHomeLimits {
    /// The longest message that is received, in octets.
    package static let messageLength = 16_384
    /// The longest message that is sent. A proxy on an ESP32 closes the connection at a longer one.
    package static let sentMessageLength = 32_768
    /// The longest frame of the handshake that is received.
    package static let handshakeLength = 128
    package static let advertisements = 256
    package static let services = 64
    /// The maximum number of characteristics in a service.
    package static let characteristics = 64
    /// The maximum number of descriptors in a characteristic.
    package static let descriptors = 16
    package static let links = 16
    /// The longest value of an attribute, and the longest advertisement.
    package static let valueLength = 512
    /// The number of messages that are kept back until the connection is established.
    package static let earlyMessages = 64
}
