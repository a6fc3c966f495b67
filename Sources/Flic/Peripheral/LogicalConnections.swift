import ButtonModel

/// The logical connections on a link: programs on the host's machine share the link, and each has an id.
///
/// Ids are assigned in rotation, 1…31, and the rotation continues on the next link. Id 0 addresses all connections.
struct LogicalConnections: Sendable {
    enum Connection: Sendable {
        /// The button has sent its certificate and this random in a `FullVerifyResponse1`.
        case offered(temporaryID: UInt32, random: [UInt8])
        case session(Session)
    }

    struct Session: Sendable {
        var channel: SignedChannel
        var pairingIdentifier: UInt32
        var isPastInit = false
        var autoDisconnectSeconds = FlicPeripheral.never
        var nextPing: Instant?
        var awaitsPingResponse = false
        /// The state of the Duo's stream; `nil` unless the button is a Duo and the host supports it.
        var duo: FlicPeripheral.DuoSessionState?
        /// The timer of opcode 13, and the message to send when it expires.
        var apiTimer: (deadline: Instant, message: UInt32)?

        init(_ channel: SignedChannel, pairingIdentifier: UInt32) {
            self.channel = channel
            self.pairingIdentifier = pairingIdentifier
        }
    }

    static let maximumID: UInt8 = 31

    /// 1…`maximumID`.
    private let maximumCount: Int
    private var connections: [UInt8: Connection] = [:]
    private var lastID: UInt8 = 0

    init(maximumCount: Int) { self.maximumCount = min(max(maximumCount, 1), Int(Self.maximumID)) }

    /// Opens a logical connection with a free id; `nil` if there is no slot left.
    mutating func open(_ connection: Connection) -> UInt8? {
        guard connections.count < maximumCount else { return nil }
        repeat { lastID = lastID % Self.maximumID + 1 } while connections[lastID] != nil
        connections[lastID] = connection
        return lastID
    }

    mutating func close(_ id: UInt8) { connections[id] = nil }

    mutating func closeAll() { connections = [:] }

    mutating func closeOffers(to temporaryID: UInt32) {
        connections = connections.filter {
            if case .offered(temporaryID, _) = $0.value { false } else { true }
        }
    }

    func offeredRandom(_ id: UInt8) -> [UInt8]? {
        if case .offered(_, let random) = connections[id] { random } else { nil }
    }

    subscript(id: UInt8) -> Session? {
        get { if case .session(let session) = connections[id] { session } else { nil } }
        set { connections[id] = newValue.map(Connection.session) }
    }

    /// All sessions, ordered by id.
    var sessions: [(id: UInt8, session: Session)] {
        connections.compactMap { id, connection in
            if case .session(let session) = connection { (id, session) } else { nil }
        }.sorted { $0.id < $1.id }
    }

    /// The id of the only logical connection, for a Twist.
    var onlyID: UInt8? { connections.keys.first }

    var hasSession: Bool { !sessions.isEmpty }

    func session(of pairingIdentifier: UInt32) -> UInt8? {
        sessions.first { $0.session.pairingIdentifier == pairingIdentifier }?.id
    }
}
