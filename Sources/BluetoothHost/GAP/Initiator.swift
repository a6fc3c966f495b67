import ButtonModel

/// Keeps one connection pending at the controller as long as peers are wanted.
///
/// The controller's filter accept list holds the wanted peers that are not connected. If they do not all fit,
/// `AcceptListRotation` chooses; the end of a turn is a change of the list like any other. The list may be changed only
/// while no connection is pending; only the differences are sent. On a controller without such a list, each LE Create
/// Connection names one peer.
///
/// | state              | on                                    | becomes            | and we                      |
/// |--------------------|---------------------------------------|--------------------|-----------------------------|
/// | idle               | peers wanted, list differs            | changingList       | remove and add              |
/// | idle               | peers wanted, list correct            | creating           | LE Create Connection        |
/// | changingList       | the last answer                       | idle               | continue from idle          |
/// | changingList       | "unknown command"                     | changingList       | use no list from now on     |
/// | creating           | status 0                              | pending            |                             |
/// | creating           | connection complete, before status    | creating, completed| wait for the status         |
/// | creating, completed| any status                            | idle               | continue from idle          |
/// | creating, pending  | connection limit, while links exist   | idle, blocked      | wait for a link to end, or a minute |
/// | changingList       | disallowed                            | cancelling         | cancel the connection that must be pending |
/// | creating           | disallowed while scanning             | idle, waiting      | wait for the end of scanning |
/// | creating           | disallowed otherwise                  | cancelling         | cancel the connection that must be pending |
/// | creating           | another error                         | idle, after a pause| failed                      |
/// | pending            | connection complete                   | idle               | continue from idle; after an error, after a pause |
/// | pending            | other peers wanted, a turn's end, or radio needed | cancelling | LE Create Connection Cancel |
/// | cancelling         | its answer and connection complete, in any order | idle    | continue from idle          |
/// | cancelling         | 2 s                                   | idle               | continue from idle          |
///
/// A connection that completes in spite of its cancellation is used like any other.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.12 to 7.8.17.
struct Initiator: Hashable, Sendable {
    enum Effect: Hashable, Sendable {
        case command(HCICommand)
        /// No connection is pending any more, as `takePause` requested.
        case radioFree
        /// The controller cannot initiate while it scans.
        case waitsForScanner
        case failed(HCIStatus)
        /// The peers that take turns in the list have changed.
        case listShared(by: [BluetoothAddress])
        /// Peers are wanted, but neither the controller nor `maximumLinks` allows more than these links.
        case limitReached(links: Int)
    }

    /// How long to wait for the end of a cancellation: some controllers answer the command and never send Connection
    /// Complete.
    static let cancelTimeout: Duration = .seconds(2)
    /// The pause after a connection attempt that failed soon; it doubles with each failure.
    static let pauses: ClosedRange<Duration> = .milliseconds(250)...(.seconds(4))
    /// How long no connection is attempted after the controller had no room for another link, unless a link ends first.
    static let limitPause: Duration = .seconds(60)
    /// 60 ms in units of 0.625 ms; the window is equal, so that the first advertisement of a press is received.
    static let scanInterval: UInt16 = 0x0060

    private enum State: Hashable, Sendable {
        case idle
        case changingList(answersMissing: Int)
        case creating(Set<BluetoothAddress>, isCompleted: Bool)
        case pending(Set<BluetoothAddress>)
        case cancelling(isAnswered: Bool, isCompleted: Bool, deadline: Instant)
    }

    private let parameters: ConnectionParameters
    /// The maximum number of links as a central; `nil`: until the controller refuses.
    private let maximumLinks: Int?
    private var state = State.idle
    /// All wanted peers, and the order in which they enter the list.
    private var turns = AcceptListRotation()
    private var turnEnd: Instant?
    /// The peers last reported by `listShared`.
    private var sharing: [BluetoothAddress] = []
    private var connected: Set<BluetoothAddress> = []
    /// Peers in `connected` for which we are the peripheral.
    private var centrals: Set<BluetoothAddress> = []
    /// The content of the controller's list.
    private var listed: Set<BluetoothAddress> = []
    /// The size of the controller's list; `nil` until the controller is ready.
    private var listSize: Int?
    /// True if no connection may be pending, because the scanner needs the radio.
    private var isPaused = false
    /// True if the controller refused to initiate because it scans; the next attempt follows the end of scanning.
    private var isWaitingForScanner = false
    /// True if the controller has no room for another link.
    private var isBlocked = false
    /// The number of links when `limitReached` was last sent; `nil` once a connection was pending again.
    private var reportedLimit: Int?
    /// True if the controller refused to change its list.
    private var isListLocked = false
    private var pause = BackOff(Self.pauses)
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

    /// True if there are peers to connect to.
    var isWanting: Bool { !intendedList.isEmpty }
    /// True if a connection is pending, or about to be.
    var isBusy: Bool { state != .idle }

    // MARK: Inputs

    /// - Parameter peers: the most important first; duplicates are ignored.
    mutating func setWanted(_ peers: [BluetoothAddress], at now: Instant) -> [Effect] {
        turns.setWanted(peers)
        unblock()
        return settle(at: now)
    }

    mutating func controllerReady(listSize: Int, at now: Instant) -> [Effect] {
        self.listSize = listSize
        return settle(at: now)
    }

    /// Resets everything except the wanted peers and what was last reported.
    mutating func controllerLost() {
        var fresh = Initiator(parameters: parameters, maximumLinks: maximumLinks)
        fresh.turns = turns
        fresh.sharing = sharing
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

    /// Handles a link initiated by a central, to which no connection need be created.
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

    /// Handles LE Connection Complete for the central role, successful or not.
    mutating func connectionCompleted(_ status: HCIStatus, with peer: BluetoothAddress, at now: Instant) -> [Effect] {
        if status == .success { connected.insert(peer) }
        switch state {
        case .creating(let peers, isCompleted: false):
            state = .creating(peers, isCompleted: true)
        case .pending:
            state = .idle
        case .cancelling(let isAnswered, _, let deadline):
            state = isAnswered ? .idle : .cancelling(isAnswered: false, isCompleted: true, deadline: deadline)
            // The end of a cancelled connection is not a failure.
            return settle(at: now)
        case .idle, .changingList, .creating(_, isCompleted: true):
            break
        }
        guard status == .success else {
            if block(on: status, at: now) { return settle(at: now) }
            return failed(status, at: now) + settle(at: now)
        }
        pause.reset()
        pauseEnd = nil
        return settle(at: now)
    }

    /// - Parameter isScanning: whether scanning may be the reason for a refusal.
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

    /// Sends the next command that brings the controller from its present state to the wanted one; nothing if it is in the wanted
    /// state or a command is unanswered.
    private mutating func settle(at now: Instant) -> [Effect] {
        takeTurn(at: now)
        let effects = reportChanges()
        let target = target
        switch state {
        case .changingList, .creating, .cancelling:
            return effects
        case .pending(let peers):
            guard peers == target else { return effects + cancel(at: now) }
            turnEnd = sharing.isEmpty ? nil : turnEnd ?? now + AcceptListRotation.length
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
    private var entryCount: Int { max(1, listSize ?? 1) }

    /// The peers that the list should hold, if nothing prevents a connection.
    private var intendedList: Set<BluetoothAddress> {
        listSize == nil ? [] : turns.listed(entryCount, without: connected)
    }

    /// The peers for which a connection should be pending now.
    private var target: Set<BluetoothAddress> { isPaused || isFull ? [] : intendedList }

    private var isFull: Bool {
        isBlocked || maximumLinks.map { connected.count - centrals.count >= $0 } ?? false
    }

    /// Ends a turn whose time is over. While no connection can be pending, the turn continues.
    private mutating func takeTurn(at now: Instant) {
        guard let end = turnEnd, now >= end, !isPaused, !isFull else { return }
        switch state {
        case .idle, .pending:
            turns.turn(entryCount, without: connected)
            turnEnd = nil
        case .changingList, .creating, .cancelling:
            break
        }
    }

    /// Reports the peers that take turns and the link limit if they have changed since the last report.
    private mutating func reportChanges() -> [Effect] {
        guard listSize != nil else { return [] }
        var effects: [Effect] = []
        let sharing = turns.sharing(entryCount, without: connected)
        if sharing != self.sharing {
            self.sharing = sharing
            effects.append(.listShared(by: sharing))
        }
        if isFull, !intendedList.isEmpty, reportedLimit != connected.count {
            reportedLimit = connected.count
            effects.append(.limitReached(links: connected.count))
        }
        return effects
    }

    /// Handles a status that means that no more links are possible. Without links that can end, it is an ordinary
    /// failure.
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

    /// The commands that change the list; removals come first, because the list may be full.
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
            // The list is full before its announced size is reached: use only as many entries as it accepted.
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
            reportedLimit = nil
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

    /// Reports a failed connection attempt. The next attempt follows a pause, unless the connection was pending for at
    /// least the longest pause, because the peer has then just come into range.
    private mutating func failed(_ status: HCIStatus, at now: Instant) -> [Effect] {
        if now - createdAt >= Self.pauses.upperBound {
            pause.reset()
        } else {
            pauseEnd = now + pause.next()
        }
        return [.failed(status)]
    }
}

extension Set<BluetoothAddress> {
    fileprivate func sorted() -> [BluetoothAddress] {
        sorted { ($0.rawValue, $0.kind.rawValue) < ($1.rawValue, $1.kind.rawValue) }
    }
}
