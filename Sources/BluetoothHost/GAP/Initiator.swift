import ButtonModel

/// Keeps one connection pending at the controller for as long as there is somebody to connect to.
///
/// The controller's filter accept list holds the peers wanted that are not connected. Where they are more than fit,
/// `AcceptListTurns` says who has a place, and a turn's end is a change like any other. The list may be changed only
/// while nothing is pending; what is added and removed is the difference. A controller without such a list is given
/// one peer at a time.
///
/// | state              | on                                    | becomes            | and we                      |
/// |--------------------|---------------------------------------|--------------------|-----------------------------|
/// | idle               | peers wanted, list differs            | changingList       | remove and add              |
/// | idle               | peers wanted, list right              | creating           | LE Create Connection        |
/// | changingList       | the last answer                       | idle               | look again                  |
/// | changingList       | "unknown command"                     | changingList       | do without a list from now  |
/// | creating           | status 0                              | pending            |                             |
/// | creating           | connection complete, before status    | creating, completed| wait for the status         |
/// | creating, completed| any status                            | idle               | look again                  |
/// | creating, pending  | connection limit, with links there    | idle, blocked      | wait for a link to end, or a minute |
/// | changingList       | disallowed                            | cancelling         | cancel what must be pending |
/// | creating           | disallowed while somebody scans       | idle, waiting      | wait for the radio          |
/// | creating           | disallowed otherwise                  | cancelling         | cancel what must be pending |
/// | creating           | another error                         | idle, after a pause| failed                      |
/// | pending            | connection complete                   | idle               | look again; after an error, after a pause |
/// | pending            | other peers wanted, a turn's end, or radio needed | cancelling | LE Create Connection Cancel |
/// | cancelling         | its answer and connection complete, in any order | idle    | look again                  |
/// | cancelling         | 2 s                                   | idle               | look again                  |
///
/// A connection that wins the race against its cancellation is a connection like any other.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.12 to 7.8.17.
struct Initiator: Hashable, Sendable {
    enum Effect: Hashable, Sendable {
        case command(HCICommand)
        /// Nothing is pending any more, as `pause` asked.
        case radioFree
        /// The controller does not initiate while it scans.
        case waitsForScanner
        case failed(HCIStatus)
        /// Other peers wait for a place in the list than before.
        case turned(waiting: [BluetoothAddress])
        /// Peers are wanted, and there may be no link beyond these.
        case limitReached(links: Int)
    }

    /// Some controllers say that a connection is cancelled and never that it is complete.
    static let cancelTimeout: Duration = .seconds(2)
    /// The pause after a connection that failed at once; it doubles up to the longest.
    static let shortestPause: Duration = .milliseconds(250)
    static let longestPause: Duration = .seconds(4)
    /// How long the controller is believed that it has no room for another link, if none ends before.
    static let limitPause: Duration = .seconds(60)
    /// 60 ms, all of it: a press is heard at its first advertisement.
    static let scanInterval: UInt16 = 0x0060

    private enum State: Hashable, Sendable {
        case idle
        case changingList(answersMissing: Int)
        case creating(Set<BluetoothAddress>, isCompleted: Bool)
        case pending(Set<BluetoothAddress>)
        case cancelling(isAnswered: Bool, isCompleted: Bool, deadline: Instant)
    }

    private let parameters: ConnectionParameters
    /// As a central; `nil`: the controller says when it is enough.
    private let maximumLinks: Int?
    private var state = State.idle
    /// Everybody to connect to.
    private var turns = AcceptListTurns()
    private var turnEnd: Instant?
    /// Who was last said to wait for a turn.
    private var waiting: [BluetoothAddress] = []
    private var connected: Set<BluetoothAddress> = []
    /// Those of `connected` that connected to us.
    private var centrals: Set<BluetoothAddress> = []
    /// What the controller's list holds.
    private var listed: Set<BluetoothAddress> = []
    /// `nil` until the controller is ready.
    private var listSize: Int?
    /// The scanner has the radio.
    private var isPaused = false
    /// The controller does not initiate while it scans; it is asked again when scanning ends.
    private var isWaitingForScanner = false
    /// The controller has no room for another link.
    private var isBlocked = false
    /// The links there were when the limit was last told of; `nil` once a connection was pending again.
    private var toldLimit: Int?
    /// The controller refused to change its list.
    private var isListLocked = false
    private var pause = Self.shortestPause
    private var pauseEnd: Instant?
    private var createdAt = Instant(nanoseconds: 0)

    init(parameters: ConnectionParameters, maximumLinks: Int? = nil) {
        self.parameters = parameters
        self.maximumLinks = maximumLinks
    }

    /// When to call `timerFired`.
    var deadline: Instant? {
        switch state {
        case .cancelling(_, _, let deadline): deadline
        case .pending: turnEnd
        case .idle, .changingList, .creating: pauseEnd
        }
    }

    /// Whether there is somebody to connect to.
    var isWanting: Bool { !placed.isEmpty }
    /// Whether the controller waits for a peer, or is about to.
    var isBusy: Bool { state != .idle }

    // MARK: Inputs

    /// - Parameter peers: who stands twice counts once.
    mutating func want(_ peers: [BluetoothAddress], at now: Instant) -> [Effect] {
        turns.want(peers)
        unblock()
        return settle(at: now)
    }

    mutating func controllerReady(listSize: Int, at now: Instant) -> [Effect] {
        self.listSize = listSize
        return settle(at: now)
    }

    /// Forgets everything but who is wanted, and what the owner was told.
    mutating func controllerLost() {
        var fresh = Initiator(parameters: parameters, maximumLinks: maximumLinks)
        fresh.turns = turns
        fresh.waiting = waiting
        self = fresh
    }

    mutating func takePause(at now: Instant) -> [Effect] {
        isPaused = true
        return settle(at: now)
    }

    mutating func scanningEnded(at now: Instant) -> [Effect] {
        isPaused = false
        isWaitingForScanner = false
        return settle(at: now)
    }

    /// A central connected to us: it need not be connected to.
    mutating func linkStarted(_ peer: BluetoothAddress, at now: Instant) -> [Effect] {
        connected.insert(peer)
        centrals.insert(peer)
        return settle(at: now)
    }

    mutating func linkEnded(_ peer: BluetoothAddress, at now: Instant) -> [Effect] {
        connected.remove(peer)
        centrals.remove(peer)
        turns.moveToEnd(peer)
        unblock()
        return settle(at: now)
    }

    mutating func timerFired(at now: Instant) -> [Effect] {
        if case .cancelling(_, _, let deadline) = state, now >= deadline { state = .idle }
        if let end = pauseEnd, now >= end {
            unblock()
            pauseEnd = nil
        }
        return settle(at: now)
    }

    /// The controller completed a connection as central, or failed to.
    mutating func connectionCompleted(_ status: HCIStatus, with peer: BluetoothAddress, at now: Instant) -> [Effect] {
        if status == .success { connected.insert(peer) }
        switch state {
        case .creating(let peers, isCompleted: false):
            state = .creating(peers, isCompleted: true)
        case .pending:
            state = .idle
        case .cancelling(let isAnswered, _, let deadline):
            state = isAnswered ? .idle : .cancelling(isAnswered: false, isCompleted: true, deadline: deadline)
            // What was cancelled did not fail.
            return settle(at: now)
        case .idle, .changingList, .creating(_, isCompleted: true):
            break
        }
        guard status == .success else {
            if block(on: status, at: now) { return settle(at: now) }
            return failed(status, at: now) + settle(at: now)
        }
        pause = Self.shortestPause
        pauseEnd = nil
        return settle(at: now)
    }

    /// - Parameter isScanning: the scanner is on, which may be why the controller refuses.
    mutating func answered(
        _ command: HCICommand, _ status: HCIStatus?, isScanning: Bool, at now: Instant
    ) -> [Effect] {
        switch (state, command) {
        case (.changingList(let missing), .leAddDeviceToFilterAcceptList(let peer)):
            if status == .success { listed.insert(peer) }
            return listChanged(status, answersMissing: missing - 1, at: now)
        case (.changingList(let missing), .leRemoveDeviceFromFilterAcceptList(let peer)):
            if status != .commandDisallowed { listed.remove(peer) }
            return listChanged(status, answersMissing: missing - 1, at: now)
        case (.creating(let peers, let isCompleted), .leCreateConnection):
            return created(peers, isCompleted: isCompleted, status, isScanning: isScanning, at: now)
        case (.cancelling(_, let isCompleted, let deadline), .leCreateConnectionCancel):
            state = isCompleted ? .idle : .cancelling(isAnswered: true, isCompleted: false, deadline: deadline)
        case (.idle, _), (.changingList, _), (.creating, _), (.pending, _), (.cancelling, _):
            return []
        }
        return settle(at: now)
    }

    // MARK: Transitions

    /// Looks whether what the controller does is what is wanted, and takes the next step towards it.
    private mutating func settle(at now: Instant) -> [Effect] {
        takeTurn(at: now)
        let effects = tell()
        let target = target
        switch state {
        case .changingList, .creating, .cancelling:
            return effects
        case .pending(let peers):
            guard peers == target else { return effects + cancel(at: now) }
            turnEnd = waiting.isEmpty ? nil : turnEnd ?? now + AcceptListTurns.length
            return effects
        case .idle:
            guard !isPaused else { return effects + [.radioFree] }
            guard !target.isEmpty, !isWaitingForScanner, pauseEnd == nil else { return effects }
            let changes = usesList ? listChanges(to: target) : []
            guard changes.isEmpty else {
                state = .changingList(answersMissing: changes.count)
                return effects + changes.map { .command($0) }
            }
            return effects + create(target, at: now)
        }
    }

    private var usesList: Bool { listSize ?? 0 > 0 }
    private var places: Int { max(1, listSize ?? 1) }

    /// Who would be connected to if nothing stood against it.
    private var placed: Set<BluetoothAddress> {
        listSize == nil ? [] : turns.placed(places, without: connected)
    }

    /// Whom a pending connection has to wait for now.
    private var target: Set<BluetoothAddress> { isPaused || isFull ? [] : placed }

    private var isFull: Bool {
        isBlocked || maximumLinks.map { connected.count - centrals.count >= $0 } ?? false
    }

    /// A turn that ended while nothing could be pending changes the list when that is next done anyway.
    private mutating func takeTurn(at now: Instant) {
        guard let end = turnEnd, now >= end, !isPaused, !isFull else { return }
        switch state {
        case .idle, .pending:
            turns.turn(places, without: connected)
            turnEnd = nil
        case .changingList, .creating, .cancelling:
            break
        }
    }

    /// What the owner does not know yet.
    private mutating func tell() -> [Effect] {
        guard listSize != nil else { return [] }
        var effects: [Effect] = []
        let waiting = turns.waiting(places, without: connected)
        if waiting != self.waiting {
            self.waiting = waiting
            effects.append(.turned(waiting: waiting))
        }
        if isFull, !placed.isEmpty, toldLimit != connected.count {
            toldLimit = connected.count
            effects.append(.limitReached(links: connected.count))
        }
        return effects
    }

    /// A limit is a limit only where there are links that can end; else it is a failure like others.
    private mutating func block(on status: HCIStatus, at now: Instant) -> Bool {
        guard status == .connectionLimitExceeded || status == .memoryCapacityExceeded, !connected.isEmpty else {
            return false
        }
        isBlocked = true
        pauseEnd = now + Self.limitPause
        return true
    }

    private mutating func unblock() {
        guard isBlocked else { return }
        isBlocked = false
        pauseEnd = nil
    }

    /// Removals first: the list may be full.
    private func listChanges(to target: Set<BluetoothAddress>) -> [HCICommand] {
        listed.subtracting(target).sorted().map { .leRemoveDeviceFromFilterAcceptList($0) }
            + target.subtracting(listed).sorted().map { .leAddDeviceToFilterAcceptList($0) }
    }

    private mutating func listChanged(_ status: HCIStatus?, answersMissing: Int, at now: Instant) -> [Effect] {
        if status == nil || status == .unknownCommand {
            listSize = 0
        } else if status == .commandDisallowed {
            isListLocked = true
        } else if status != .success {
            // Fuller than it said: it holds what it holds.
            listSize = max(1, min(listSize ?? 0, listed.count))
        }
        state = answersMissing > 0 ? .changingList(answersMissing: answersMissing) : .idle
        guard state == .idle, isListLocked else { return settle(at: now) }
        isListLocked = false
        return failed(.commandDisallowed, at: now) + cancel(at: now)
    }

    private mutating func create(_ target: Set<BluetoothAddress>, at now: Instant) -> [Effect] {
        state = .creating(target, isCompleted: false)
        createdAt = now
        return [
            .command(
                .leCreateConnection(
                    LECreateConnectionParameters(
                        scanInterval: Self.scanInterval, scanWindow: Self.scanInterval,
                        peer: usesList ? nil : target.first, connection: parameters)))
        ]
    }

    private mutating func created(
        _ peers: Set<BluetoothAddress>, isCompleted: Bool, _ status: HCIStatus?, isScanning: Bool, at now: Instant
    ) -> [Effect] {
        guard !isCompleted, let status, status != .success else {
            state = isCompleted ? .idle : .pending(peers)
            toldLimit = nil
            return settle(at: now)
        }
        state = .idle
        switch status {
        case _ where block(on: status, at: now):
            return settle(at: now)
        case .commandDisallowed where isScanning:
            isWaitingForScanner = true
            return [.waitsForScanner] + settle(at: now)
        case .commandDisallowed:
            return failed(status, at: now) + cancel(at: now)
        default:
            return failed(status, at: now) + settle(at: now)
        }
    }

    private mutating func cancel(at now: Instant) -> [Effect] {
        state = .cancelling(isAnswered: false, isCompleted: false, deadline: now + Self.cancelTimeout)
        return [.command(.leCreateConnectionCancel)]
    }

    /// A connection that fails long after it was asked for is tried again at once: the peer is there now.
    private mutating func failed(_ status: HCIStatus, at now: Instant) -> [Effect] {
        if now - createdAt >= Self.longestPause {
            pause = Self.shortestPause
        } else {
            pauseEnd = now + pause
            pause = min(pause * 2, Self.longestPause)
        }
        return [.failed(status)]
    }
}

extension Set<BluetoothAddress> {
    fileprivate func sorted() -> [BluetoothAddress] {
        sorted { ($0.rawValue, $0.kind.rawValue) < ($1.rawValue, $1.kind.rawValue) }
    }
}
