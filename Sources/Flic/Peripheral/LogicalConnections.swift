import ButtonModel

/// The conversations on one link: several programs of a host's machine share it, each with an id of its own.
///
/// Ids are handed out in turn, 1…31, also from one link to the next; zero is for everybody.
struct LogicalConnections: Sendable {
    enum Connection: Sendable {
        /// A certificate was shown, with this random.
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
        /// With a host that knows what a Duo is, on one.
        var duo: FlicPeripheral.DuoTalk?
        /// The one timer a host may have run here, and what it is told when that ends.
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

    /// A free id, or `nil` when there is no slot left.
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

    /// In the order of their ids.
    var sessions: [(id: UInt8, session: Session)] {
        connections.compactMap { id, connection in
            if case .session(let session) = connection { (id, session) } else { nil }
        }.sorted { $0.id < $1.id }
    }

    /// Of a button that has one at most.
    var onlyID: UInt8? { connections.keys.first }

    var hasSession: Bool { !sessions.isEmpty }

    func session(of pairingIdentifier: UInt32) -> UInt8? {
        sessions.first { $0.session.pairingIdentifier == pairingIdentifier }?.id
    }
}
