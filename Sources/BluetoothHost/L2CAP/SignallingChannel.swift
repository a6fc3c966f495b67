import Bytes

/// The Connection Parameter Update procedure on the LE signalling channel of one link: the peripheral requests, the
/// central answers. Unknown commands are rejected; `ChannelTable` handles the commands for credit-based channels.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 4.1, 4.20 and 4.21.
struct SignallingChannel: Hashable, Sendable {
    enum Effect: Hashable, Sendable {
        case send(SignallingPacket)
        /// Apply the parameters that the peripheral requested and that are acceptable.
        case updateConnection(ConnectionParameters)
        case anomaly(String)
    }

    let role: LinkRole
    /// The identifier of our unanswered request.
    private var pendingIdentifier: UInt8?

    init(role: LinkRole) { self.role = role }

    /// Sends a Connection Parameter Update Request. If an earlier request is unanswered, its answer is an anomaly from now
    /// on.
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

/// The reason of a Command Reject.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 4.1.
enum RejectReason {
    static let notUnderstood: UInt16 = 0
    static let invalidChannel: UInt16 = 2
}

/// The identifiers of our signalling requests: 1…255 in rotation.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 4.
struct SignallingIdentifiers: Hashable, Sendable {
    private var last: UInt8 = 0

    mutating func next() -> UInt8 {
        last = last == .max ? 1 : last + 1
        return last
    }
}
