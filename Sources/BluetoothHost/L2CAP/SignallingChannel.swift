import Bytes

/// The LE signalling channel of one link: the peripheral asks for connection parameters, the central answers.
/// Everything else is rejected.
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
    private var lastIdentifier: UInt8 = 0

    init(role: LinkRole) { self.role = role }

    /// A second request takes the first one's place: an answer to the first is then unexpected.
    mutating func request(_ parameters: ConnectionParameters) -> [Effect] {
        // 0 is not an identifier.
        lastIdentifier = lastIdentifier == .max ? 1 : lastIdentifier + 1
        pendingIdentifier = lastIdentifier
        return [.send(.connectionParameterUpdateRequest(identifier: lastIdentifier, parameters))]
    }

    mutating func receive(_ payload: ByteReader) -> [Effect] {
        let packet: SignallingPacket
        do {
            packet = try SignallingPacket(decoding: payload)
        } catch {
            return [.anomaly("a signalling packet is too short")]
        }
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
            return [.send(.commandReject(identifier: identifier, reason: Self.commandNotUnderstood, data: []))]
        }
    }

    private static let commandNotUnderstood: UInt16 = 0
}
