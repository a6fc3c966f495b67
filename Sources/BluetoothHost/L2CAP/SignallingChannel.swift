import Bytes

/// The connection parameters on the LE signalling channel of one link: the peripheral asks, the central answers.
/// What it does not know it rejects; `ChannelTable` has the rest.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 4.1, 4.20 and 4.21.
struct SignallingChannel: Hashable, Sendable {
    enum Effect: Hashable, Sendable {
        case send(SignallingPacket)
        /// What the peripheral asked for and may have.
        case updateConnection(ConnectionParameters)
        case anomaly(String)
    }

    let role: LinkRole
    /// Of our request that is not answered yet.
    private var pendingIdentifier: UInt8?

    init(role: LinkRole) { self.role = role }

    /// A second request takes the first one's place: an answer to the first is then unexpected.
    mutating func request(_ parameters: ConnectionParameters, identifier: UInt8) -> [Effect] {
        pendingIdentifier = identifier
        return [.send(.connectionParameterUpdateRequest(identifier: identifier, parameters))]
    }

    mutating func receive(_ packet: SignallingPacket) -> [Effect] {
        switch packet {
        case .connectionParameterUpdateRequest(let identifier, let parameters) where role == .central:
            let response = SignallingPacket.connectionParameterUpdateResponse(
                identifier: identifier, isAccepted: parameters.areValid)
            return [.send(response)] + (parameters.areValid ? [.updateConnection(parameters)] : [])
        case .connectionParameterUpdateResponse(let identifier, let isAccepted):
            guard identifier == pendingIdentifier else { return [.anomaly("an unexpected signalling response")] }
            pendingIdentifier = nil
            return isAccepted ? [] : [.anomaly("the central refused the connection parameters")]
        case .commandReject(let identifier, _, _):
            if identifier == pendingIdentifier { pendingIdentifier = nil }
            return [.anomaly("the peer rejected signalling packet \(identifier)")]
        case .connectionParameterUpdateRequest(let identifier, _), .unknown(_, let identifier, _):
            let reject = SignallingPacket.commandReject(
                identifier: identifier, reason: RejectReason.notUnderstood, data: [])
            return [.send(reject)]
        case .disconnectionRequest, .disconnectionResponse, .creditBasedConnectionRequest,
            .creditBasedConnectionResponse, .flowControlCredit:
            return []
        }
    }
}

/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 4.1.
enum RejectReason {
    static let notUnderstood: UInt16 = 0
    static let invalidChannel: UInt16 = 2
}

/// What the requests of one end are told apart by: 1…255, each in its turn.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 4.
struct SignallingIdentifiers: Hashable, Sendable {
    private var last: UInt8 = 0

    mutating func next() -> UInt8 {
        last = last == .max ? 1 : last + 1
        return last
    }
}
