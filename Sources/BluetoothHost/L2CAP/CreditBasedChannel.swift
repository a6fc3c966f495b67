import Bytes

/// An open credit-based channel: segments and reassembles SDUs. Each K-frame costs a credit granted by the receiver.
///
///     K-frame  0…1            2…
///     first    SDU length     the beginning of the SDU
///     others   the continuation of the SDU
///
/// | on                          | and we                                                          |
/// |-----------------------------|-----------------------------------------------------------------|
/// | an SDU to send              | queue it; refused if it is too long or the queue is full        |
/// | `nextFrame`, with a credit  | the next K-frame; writable if an SDU was refused and half is free |
/// | `nextFrame`, without credit | nothing                                                         |
/// | credits                     | count them; more than 65535 are a violation                     |
/// | a frame                     | received, if the SDU is complete; credits, if half are used     |
/// | an invalid frame            | a violation, after which the channel is closed                  |
///
/// Credits are returned as frames arrive, unless `setReceiving(false)` stops that. The peer may still use the credits
/// that it has.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 3.4.3 and 10.1.
struct CreditBasedChannel: Sendable {
    enum Effect: Hashable, Sendable {
        case received([UInt8])
        /// New credits, to be sent to the peer.
        case grant(UInt16)
        case violated(ChannelViolation)
    }

    /// An incomplete received SDU and its announced length.
    private struct PartialSDU: Sendable {
        var octets: [UInt8]
        var length: Int
    }

    /// The maximum size of the queue in octets, including a length of 2 octets for each SDU. An empty queue has room
    /// for the longest SDU.
    static let maximumQueuedOctets = 2 + Int(UInt16.max)

    /// The peer's parameters from the opening of the channel.
    let peer: ChannelOffer
    private let configuration: ChannelConfiguration
    /// The number of frames that we may send.
    private var credits: Int
    /// The number of frames that the peer may send.
    private var granted: Int
    private var isReceiving = true

    /// SDUs that have not been started, each after its length.
    private var waiting: [[UInt8]] = []
    /// The rest of the SDU that has been started.
    private var current: ByteReader?
    private var queuedOctets = 0
    private var wasRefused = false

    private var partial: PartialSDU?

    init(_ configuration: ChannelConfiguration, peer: ChannelOffer) {
        self.configuration = configuration
        self.peer = peer
        credits = Int(peer.credits)
        granted = Int(configuration.credits)
    }

    // MARK: Sending

    /// - Returns: why the SDU was not accepted; `nil` if it was.
    mutating func enqueue(_ sdu: [UInt8]) -> SDURefusal? {
        guard sdu.count <= Int(peer.mtu) else { return .tooLong }
        guard queuedOctets + 2 + sdu.count <= Self.maximumQueuedOctets else {
            wasRefused = true
            return .queueFull
        }
        var writer = ByteWriter(capacity: 2 + sdu.count)
        writer.uint16(UInt16(clamping: sdu.count))
        writer.bytes(sdu)
        queuedOctets += writer.bytes.count
        waiting.append(writer.bytes)
        return nil
    }

    /// True if `nextFrame` returns a frame.
    var canSend: Bool { credits > 0 && (current != nil || !waiting.isEmpty) }

    /// The payload of the next K-frame, and whether there is room again after an SDU was refused.
    mutating func nextFrame() -> (payload: [UInt8], isWritable: Bool)? {
        guard canSend else { return nil }
        var sdu = current ?? ByteReader(waiting.removeFirst())
        let length = min(sdu.remainingCount, Int(min(peer.mps, ChannelConfiguration.longestMPS)))
        guard let payload = try? sdu.bytes(length) else { return nil }
        current = sdu.isAtEnd ? nil : sdu
        credits -= 1
        queuedOctets -= length
        let isWritable = wasRefused && queuedOctets <= Self.maximumQueuedOctets / 2
        if isWritable { wasRefused = false }
        return (payload, isWritable)
    }

    mutating func receive(credits more: UInt16) -> [Effect] {
        guard credits + Int(more) <= Int(UInt16.max) else { return [.violated(.tooManyCredits)] }
        credits += Int(more)
        return []
    }

    // MARK: Receiving

    mutating func receive(_ payload: ByteReader) -> [Effect] {
        guard granted > 0 else { return [.violated(.noCredit)] }
        guard payload.remainingCount <= Int(configuration.mps) else { return [.violated(.frameTooLong)] }
        granted -= 1
        var payload = payload
        var sdu = partial?.octets ?? []
        let length: Int
        if let partial {
            length = partial.length
        } else {
            guard let announced = try? payload.uint16() else { return [.violated(.noLength)] }
            guard announced <= configuration.mtu else { return [.violated(.sduTooLong)] }
            length = Int(announced)
        }
        // While `partial` holds a reference to the octets, appending would copy them.
        partial = nil
        guard sdu.count + payload.remainingCount <= length else { return [.violated(.sduOverrun)] }
        sdu.append(contentsOf: payload.remainder())
        guard sdu.count == length else {
            partial = PartialSDU(octets: sdu, length: length)
            return grant()
        }
        return [.received(sdu)] + grant()
    }

    mutating func setReceiving(_ isReceiving: Bool) -> [Effect] {
        self.isReceiving = isReceiving
        return grant()
    }

    /// Grants new credits when half are used, so that a credit packet is not needed for every frame.
    private mutating func grant() -> [Effect] {
        guard isReceiving, granted <= Int(configuration.credits) / 2 else { return [] }
        let more = Int(configuration.credits) - granted
        granted += more
        return more == 0 ? [] : [.grant(UInt16(clamping: more))]
    }
}
