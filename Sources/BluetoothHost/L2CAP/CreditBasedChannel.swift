import Bytes

/// An open channel: SDUs in pieces both ways, each piece for a credit of the receiver.
///
///     K-frame  0…1            2…
///     first    SDU length     its beginning
///     others   what follows
///
/// | on                          | and we                                                          |
/// |-----------------------------|-----------------------------------------------------------------|
/// | an SDU to send              | queue it; refused when it is too long or the queue is full      |
/// | asked for a frame, a credit | the next piece; writable, when one was refused and half is free |
/// | asked for a frame, none     | nothing                                                         |
/// | credits                     | count them; more than 65535 is a violation                      |
/// | a frame                     | received, when the SDU is complete; credits, when half are used |
/// | a frame that may not be     | a violation, after which the channel is of no use               |
///
/// Credits are given back as frames are taken, so a peer is slowed down by `setReceiving(false)` and by nothing
/// else: what it has credits for still comes.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 3.4.3 and 10.1.
struct CreditBasedChannel: Sendable {
    enum Effect: Hashable, Sendable {
        case received([UInt8])
        /// To be told to the peer.
        case grant(UInt16)
        case violated(ChannelViolation)
    }

    /// The SDU that comes in, and how long it will be.
    private struct PartialSDU: Sendable {
        var octets: [UInt8]
        var length: Int
    }

    /// SDUs that wait, each with its length before it; there is always room for one.
    static let maximumQueuedOctets = 2 + Int(UInt16.max)

    /// What the peer told when the channel was opened.
    let peer: ChannelOffer
    private let configuration: ChannelConfiguration
    /// Frames we may send.
    private var credits: Int
    /// Frames the peer may send.
    private var granted: Int
    private var isReceiving = true

    /// Whole SDUs not yet begun, their lengths before them.
    private var waiting: [[UInt8]] = []
    /// What is left of the SDU begun.
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

    /// - Returns: why it was not taken.
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

    /// Whether `nextFrame` has one.
    var canSend: Bool { credits > 0 && (current != nil || !waiting.isEmpty) }

    /// The payload of the next K-frame, and whether there is room again for what was refused.
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
        // Only one copy may live while octets are appended.
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

    /// Half of the credits at once, so that not every frame costs one back.
    private mutating func grant() -> [Effect] {
        guard isReceiving, granted <= Int(configuration.credits) / 2 else { return [] }
        let more = Int(configuration.credits) - granted
        granted += more
        return more == 0 ? [] : [.grant(UInt16(clamping: more))]
    }
}
