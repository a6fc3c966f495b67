import ButtonModel
import Bytes

/// The credit-based channels of one link.
///
/// | channel    | on                                     | becomes    | and we                                  |
/// |------------|----------------------------------------|------------|-----------------------------------------|
/// | –          | open                                   | connecting | Connection Request                      |
/// | –          | open, all channels taken               | –          | openFailed                              |
/// | connecting | a response of success                  | open       | opened                                  |
/// | connecting | another response, a reject, 30 s       | –          | openFailed                              |
/// | –          | a request for an SPSM listened on      | open       | Connection Response, opened             |
/// | –          | a request that cannot be granted       | –          | Connection Response with the reason     |
/// | open       | frames, credits, SDUs                  | open       | see `CreditBasedChannel`                |
/// | open       | a violation                            | closing    | closed, Disconnection Request           |
/// | open       | close                                  | closing    | closed, Disconnection Request           |
/// | open       | the peer's Disconnection Request       | –          | its response, closed                    |
/// | closing    | a response, a reject, a request, 30 s  | –          | nothing: the identifier is free again   |
/// | closing    | frames and credits                     | closing    | nothing                                 |
/// | any        | link ended                             | –          | openFailed or closed                    |
///
/// Closing discards unsent SDUs.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 4.6, 4.7, 4.22 to 4.24 and 6.2.1.
struct ChannelTable: Sendable {
    enum Effect: Hashable, Sendable {
        case send(SignallingPacket)
        /// A K-frame for the peer's channel identifier.
        case sendFrame([UInt8], on: L2CAPChannelID)
        case opened(L2CAPChannel)
        case openFailed(SPSM, ChannelFailure)
        case closed(L2CAPChannelID, ChannelFailure)
        case received(L2CAPChannelID, [UInt8])
        case refused(L2CAPChannelID, SDURefusal)
        case writable(L2CAPChannelID)
        case anomaly(String)
    }

    /// The time limit for the answer to a request (RTX).
    static let responseTimeout: Duration = .seconds(30)

    fileprivate enum Entry: Sendable {
        case connecting(SPSM, identifier: UInt8, deadline: Instant)
        case open(CreditBasedChannel)
        case closing(peer: L2CAPChannelID, identifier: UInt8, deadline: Instant)
    }

    private let configuration: ChannelConfiguration
    private var entries: [L2CAPChannelID: Entry] = [:]
    /// The channel whose frame was sent last; channels after it are served next.
    private var lastServed = L2CAPChannelID(rawValue: 0)

    init(_ configuration: ChannelConfiguration) { self.configuration = configuration }

    // MARK: Commands from the host

    mutating func open(_ spsm: SPSM, _ identifiers: inout SignallingIdentifiers, at now: Instant) -> [Effect] {
        guard let id = freeID else { return [.openFailed(spsm, .tooManyChannels)] }
        let identifier = identifiers.next()
        entries[id] = .connecting(spsm, identifier: identifier, deadline: now + Self.responseTimeout)
        let offer = ChannelOffer(configuration, id: id)
        return [.send(.creditBasedConnectionRequest(identifier: identifier, spsm, offer))]
    }

    mutating func close(
        _ id: L2CAPChannelID, _ identifiers: inout SignallingIdentifiers, at now: Instant
    ) -> [Effect] {
        close(id, .closedByHost, &identifiers, at: now)
    }

    mutating func send(_ sdu: [UInt8], on id: L2CAPChannelID) -> [Effect] {
        let outcome = withChannel(id) { $0.enqueue(sdu) }
        guard let refusal = outcome ?? .notOpen else { return [] }
        return [.refused(id, refusal)]
    }

    mutating func setReceiving(
        _ isReceiving: Bool, on id: L2CAPChannelID, _ identifiers: inout SignallingIdentifiers, at now: Instant
    ) -> [Effect] {
        let effects = withChannel(id) { $0.setReceiving(isReceiving) } ?? []
        return carryOut(effects, of: id, &identifiers, at: now)
    }

    // MARK: Frames

    var canSend: Bool {
        entries.values.contains { if case .open(let channel) = $0 { channel.canSend } else { false } }
    }

    /// The next K-frame; channels take turns.
    mutating func nextFrame() -> [Effect] {
        let ready = entries.keys.filter { if case .open(let channel) = entries[$0] { channel.canSend } else { false } }
        guard let id = ready.filter({ $0 > lastServed }).min() ?? ready.min() else { return [] }
        lastServed = id
        return withChannel(id) { channel in
            guard let frame = channel.nextFrame() else { return [] }
            return [.sendFrame(frame.payload, on: channel.peer.id)] + (frame.isWritable ? [.writable(id)] : [])
        } ?? []
    }

    mutating func receive(
        _ payload: ByteReader, on id: L2CAPChannelID, _ identifiers: inout SignallingIdentifiers, at now: Instant
    ) -> [Effect] {
        if let effects = withChannel(id, { $0.receive(payload) }) {
            return carryOut(effects, of: id, &identifiers, at: now)
        }
        // Frames that the peer sent before it received the Disconnection Request may still arrive.
        if case .closing = entries[id] { return [] }
        return [.anomaly("a frame for unknown L2CAP channel \(id.rawValue)")]
    }

    /// Handles a frame that was dropped because of its length.
    mutating func receiveOversized(
        on id: L2CAPChannelID, _ identifiers: inout SignallingIdentifiers, at now: Instant
    ) -> [Effect] {
        close(id, .violation(.frameTooLong), &identifiers, at: now)
    }

    // MARK: Signalling

    /// True if a Command Reject with this identifier refers to a request for a channel.
    func awaitsAnswer(to identifier: UInt8) -> Bool { entry(awaiting: identifier) != nil }

    mutating func receive(
        _ packet: SignallingPacket, listening: Set<SPSM>, _ identifiers: inout SignallingIdentifiers, at now: Instant
    ) -> [Effect] {
        switch packet {
        case .creditBasedConnectionRequest(let identifier, let spsm, let offer):
            return answer(identifier, spsm, offer, listening: listening)
        case .creditBasedConnectionResponse(let identifier, let offer, let result):
            return receiveResponse(identifier, offer, result: result, &identifiers, at: now)
        case .disconnectionRequest(let identifier, let destination, let source):
            return receiveDisconnection(identifier, of: destination, from: source)
        case .disconnectionResponse(let identifier, _, _):
            guard let id = entry(awaiting: identifier), case .closing = entries[id] else { return [] }
            entries[id] = nil
            return []
        case .flowControlCredit(_, let source, let credits):
            guard credits > 0, let id = openEntry(withPeer: source) else {
                // Credits may cross with a Disconnection Request.
                return isClosing(withPeer: source)
                    ? [] : [.anomaly("invalid credits (\(credits)) for L2CAP channel \(source.rawValue)")]
            }
            let effects = withChannel(id) { $0.receive(credits: credits) } ?? []
            return carryOut(effects, of: id, &identifiers, at: now)
        case .commandReject(let identifier, let reason, _):
            guard let id = entry(awaiting: identifier), let entry = entries.removeValue(forKey: id) else { return [] }
            guard case .connecting(let spsm, _, _) = entry else { return [] }
            return [.openFailed(spsm, .rejected(reason: reason))]
        case .connectionParameterUpdateRequest, .connectionParameterUpdateResponse, .unknown:
            return []
        }
    }

    private mutating func answer(
        _ identifier: UInt8, _ spsm: SPSM, _ offer: ChannelOffer, listening: Set<SPSM>
    ) -> [Effect] {
        if let result = refusal(of: spsm, offer, listening: listening) {
            return [.send(.creditBasedConnectionResponse(identifier: identifier, .none, result: result))]
        }
        guard let id = freeID else {
            return [.send(.creditBasedConnectionResponse(identifier: identifier, .none, result: Result.noResources))]
        }
        entries[id] = .open(CreditBasedChannel(configuration, peer: offer))
        let response = SignallingPacket.creditBasedConnectionResponse(
            identifier: identifier, ChannelOffer(configuration, id: id), result: Result.success)
        return [.send(response), .opened(L2CAPChannel(id: id, spsm: spsm, peerMTU: offer.mtu, isIncoming: true))]
    }

    private func refusal(of spsm: SPSM, _ offer: ChannelOffer, listening: Set<SPSM>) -> UInt16? {
        guard listening.contains(spsm) else { return Result.spsmNotSupported }
        guard L2CAPChannelID.dynamic.contains(offer.id) else { return Result.invalidSourceChannel }
        guard !isInUse(offer.id) else { return Result.sourceChannelTaken }
        return offer.isValid ? nil : Result.unacceptableParameters
    }

    private mutating func receiveResponse(
        _ identifier: UInt8, _ offer: ChannelOffer, result: UInt16, _ identifiers: inout SignallingIdentifiers,
        at now: Instant
    ) -> [Effect] {
        guard let id = entry(awaiting: identifier), case .connecting(let spsm, _, _) = entries[id] else {
            return [.anomaly("an unexpected signalling response")]
        }
        guard result == Result.success else {
            entries[id] = nil
            return [.openFailed(spsm, .refused(result: result))]
        }
        guard offer.isValid, L2CAPChannelID.dynamic.contains(offer.id), !isInUse(offer.id) else {
            entries[id] = nil
            return [.openFailed(spsm, .malformedResponse)]
        }
        entries[id] = .open(CreditBasedChannel(configuration, peer: offer))
        return [.opened(L2CAPChannel(id: id, spsm: spsm, peerMTU: offer.mtu, isIncoming: false))]
    }

    private mutating func receiveDisconnection(
        _ identifier: UInt8, of id: L2CAPChannelID, from source: L2CAPChannelID
    ) -> [Effect] {
        guard let peer = entries[id]?.peer else {
            var channels = ByteWriter(capacity: 4)
            channels.uint16(id.rawValue)
            channels.uint16(source.rawValue)
            let reject = SignallingPacket.commandReject(
                identifier: identifier, reason: RejectReason.invalidChannel, data: channels.bytes)
            return [.send(reject)]
        }
        // A request with a source channel that does not match the channel is ignored, as the standard requires.
        guard peer == source else { return [] }
        let entry = entries.removeValue(forKey: id)
        let response = Effect.send(.disconnectionResponse(identifier: identifier, destination: id, source: source))
        guard case .open = entry else { return [response] }
        return [response, .closed(id, .closedByPeer)]
    }

    // MARK: Timer and end of the link

    /// When to call `timerFired`.
    var deadline: Instant? { entries.values.lazy.compactMap(\.deadline).min() }

    mutating func timerFired(at now: Instant) -> [Effect] {
        var effects: [Effect] = []
        for (id, entry) in sortedEntries {
            guard let deadline = entry.deadline, deadline <= now else { continue }
            entries[id] = nil
            if case .connecting(let spsm, _, _) = entry { effects.append(.openFailed(spsm, .noAnswer)) }
        }
        return effects
    }

    mutating func linkEnded() -> [Effect] {
        defer { entries = [:] }
        return sortedEntries.compactMap { id, entry in
            switch entry {
            case .connecting(let spsm, _, _): .openFailed(spsm, .linkLost)
            case .open: .closed(id, .linkLost)
            case .closing: nil
            }
        }
    }

    private mutating func carryOut(
        _ effects: [CreditBasedChannel.Effect], of id: L2CAPChannelID, _ identifiers: inout SignallingIdentifiers,
        at now: Instant
    ) -> [Effect] {
        var result: [Effect] = []
        for effect in effects {
            switch effect {
            case .received(let sdu):
                result.append(.received(id, sdu))
            case .grant(let credits):
                // A credit packet contains the identifier of the sender's end.
                result.append(
                    .send(.flowControlCredit(identifier: identifiers.next(), channel: id, credits: credits)))
            case .violated(let violation):
                result += close(id, .violation(violation), &identifiers, at: now)
            }
        }
        return result
    }

    private mutating func close(
        _ id: L2CAPChannelID, _ reason: ChannelFailure, _ identifiers: inout SignallingIdentifiers, at now: Instant
    ) -> [Effect] {
        guard case .open(let channel) = entries[id] else { return [] }
        let identifier = identifiers.next()
        entries[id] = .closing(
            peer: channel.peer.id, identifier: identifier, deadline: now + Self.responseTimeout)
        return [
            .send(.disconnectionRequest(identifier: identifier, destination: channel.peer.id, source: id)),
            .closed(id, reason),
        ]
    }
}

extension ChannelTable {
    private var freeID: L2CAPChannelID? {
        guard entries.count < LEHost.maximumChannels else { return nil }
        return (L2CAPChannelID.dynamic.lowerBound.rawValue...L2CAPChannelID.dynamic.upperBound.rawValue).lazy
            .map(L2CAPChannelID.init(rawValue:)).first { entries[$0] == nil }
    }

    private var sortedEntries: [(key: L2CAPChannelID, value: Entry)] { entries.sorted { $0.key < $1.key } }

    private func entry(awaiting identifier: UInt8) -> L2CAPChannelID? {
        entries.first(where: { $0.value.identifier == identifier })?.key
    }

    private func openEntry(withPeer peer: L2CAPChannelID) -> L2CAPChannelID? {
        entries.first(where: { if case .open = $0.value { $0.value.peer == peer } else { false } })?.key
    }

    private func isInUse(_ peer: L2CAPChannelID) -> Bool { entries.values.contains { $0.peer == peer } }

    private func isClosing(withPeer peer: L2CAPChannelID) -> Bool { openEntry(withPeer: peer) == nil && isInUse(peer) }

    private mutating func withChannel<Outcome>(
        _ id: L2CAPChannelID, _ body: (inout CreditBasedChannel) -> Outcome
    ) -> Outcome? {
        guard case .open(var channel) = entries[id] else { return nil }
        // While `entries` holds a reference to the channel's queues, changing them would copy them.
        entries[id] = nil
        defer { entries[id] = .open(channel) }
        return body(&channel)
    }

    /// The result codes of a Credit Based Connection Response.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 3, Part A, 4.23.
    private enum Result {
        static let success: UInt16 = 0x0000
        static let spsmNotSupported: UInt16 = 0x0002
        static let noResources: UInt16 = 0x0004
        static let invalidSourceChannel: UInt16 = 0x0009
        static let sourceChannelTaken: UInt16 = 0x000A
        static let unacceptableParameters: UInt16 = 0x000B
    }
}

extension ChannelTable.Entry {
    fileprivate var deadline: Instant? {
        switch self {
        case .connecting(_, _, let deadline), .closing(_, _, let deadline): deadline
        case .open: nil
        }
    }

    /// The identifier of our unanswered request.
    fileprivate var identifier: UInt8? {
        switch self {
        case .connecting(_, let identifier, _), .closing(_, let identifier, _): identifier
        case .open: nil
        }
    }

    fileprivate var peer: L2CAPChannelID? {
        switch self {
        case .connecting: nil
        case .open(let channel): channel.peer.id
        case .closing(let peer, _, _): peer
        }
    }
}

extension ChannelOffer {
    fileprivate var isValid: Bool {
        mtu >= ChannelConfiguration.shortestMTU && mps >= ChannelConfiguration.shortestMPS && mps <= 65533
    }
}
