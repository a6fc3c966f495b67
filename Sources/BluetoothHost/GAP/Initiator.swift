import ButtonModel

/// Keeps one connection pending at the controller for as long as there is somebody to connect to.
///
/// The controller's filter accept list holds the peers wanted that are not connected, as many as fit; it may be
/// changed only while nothing is pending. A controller without such a list is given one peer at a time.
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
/// | creating           | connection limit                      | idle, blocked      | wait for a link to end      |
/// | creating           | disallowed while somebody scans       | idle, waiting      | wait for the radio          |
/// | creating           | disallowed otherwise                  | cancelling         | cancel what must be pending |
/// | creating           | another error                         | idle, after a pause| failed                      |
/// | pending            | connection complete                   | idle               | look again; after an error, after a pause |
/// | pending            | other peers wanted, or radio needed   | cancelling         | LE Create Connection Cancel |
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
        case failed(HCIStatus)
    }

    /// Some controllers say that a connection is cancelled and never that it is complete.
    static let cancelTimeout: Duration = .seconds(2)
    /// The pause after a connection that failed at once; it doubles up to the longest.
    static let shortestPause: Duration = .milliseconds(250)
    static let longestPause: Duration = .seconds(4)
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
    private var state = State.idle
    /// Everybody to connect to, in order of preference.
    private var wanted: [BluetoothAddress] = []
    private var connected: Set<BluetoothAddress> = []
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
    private var pause = Self.shortestPause
    private var pauseEnd: Instant?
    private var createdAt = Instant(nanoseconds: 0)

    init(parameters: ConnectionParameters) { self.parameters = parameters }

    /// When to call `timerFired`.
    var deadline: Instant? {
        if case .cancelling(_, _, let deadline) = state { deadline } else { pauseEnd }
    }

    // MARK: Inputs

    /// - Parameter peers: who stands twice counts once.
    mutating func want(_ peers: [BluetoothAddress], at now: Instant) -> [Effect] {
        var seen: Set<BluetoothAddress> = []
        wanted = peers.filter { seen.insert($0).inserted }
        isBlocked = false
        return settle(at: now)
    }

    mutating func controllerReady(listSize: Int, at now: Instant) -> [Effect] {
        self.listSize = listSize
        return settle(at: now)
    }

    /// Forgets everything but who is wanted.
    mutating func controllerLost() {
        let peers = wanted
        self = Initiator(parameters: parameters)
        wanted = peers
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
        return settle(at: now)
    }

    mutating func linkEnded(_ peer: BluetoothAddress, at now: Instant) -> [Effect] {
        connected.remove(peer)
        isBlocked = false
        return settle(at: now)
    }

    mutating func timerFired(at now: Instant) -> [Effect] {
        if case .cancelling(_, _, let deadline) = state, now >= deadline { state = .idle }
        if let end = pauseEnd, now >= end { pauseEnd = nil }
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
        guard status == .success else { return failed(status, at: now) + settle(at: now) }
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
            listChanged(status, answersMissing: missing - 1)
        case (.changingList(let missing), .leRemoveDeviceFromFilterAcceptList(let peer)):
            listed.remove(peer)
            listChanged(status, answersMissing: missing - 1)
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
        let target = target
        switch state {
        case .changingList, .creating, .cancelling:
            return []
        case .pending(let peers):
            return peers == target ? [] : cancel(at: now)
        case .idle:
            guard !isPaused else { return [.radioFree] }
            guard !target.isEmpty, !isWaitingForScanner, !isBlocked, pauseEnd == nil else { return [] }
            let changes = usesList ? listChanges(to: target) : []
            guard changes.isEmpty else {
                state = .changingList(answersMissing: changes.count)
                return changes.map { .command($0) }
            }
            return create(target, at: now)
        }
    }

    private var usesList: Bool { listSize ?? 0 > 0 }

    /// Whom a pending connection has to wait for now.
    private var target: Set<BluetoothAddress> {
        guard !isPaused, let listSize else { return [] }
        return Set(wanted.lazy.filter { !connected.contains($0) }.prefix(max(1, listSize)))
    }

    /// Removals first: the list may be full.
    private func listChanges(to target: Set<BluetoothAddress>) -> [HCICommand] {
        listed.subtracting(target).sorted().map { .leRemoveDeviceFromFilterAcceptList($0) }
            + target.subtracting(listed).sorted().map { .leAddDeviceToFilterAcceptList($0) }
    }

    private mutating func listChanged(_ status: HCIStatus?, answersMissing: Int) {
        if status == nil || status == .unknownCommand {
            listSize = 0
        } else if status != .success {
            // Fuller than it said: it holds what it holds.
            listSize = max(1, min(listSize ?? 0, listed.count))
        }
        state = answersMissing > 0 ? .changingList(answersMissing: answersMissing) : .idle
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
            return settle(at: now)
        }
        state = .idle
        switch status {
        case .connectionLimitExceeded, .memoryCapacityExceeded:
            isBlocked = true
            return [.failed(status)]
        case .commandDisallowed where isScanning:
            isWaitingForScanner = true
            return settle(at: now)
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
