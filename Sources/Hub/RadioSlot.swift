import ButtonModel
import Radios

/// The place of one Bluetooth adapter: whether it is open, which faults it had, when it is opened again, and which buttons
/// it has no room for.
///
/// It holds no state of the buttons' sessions, so that there may be several slots.
struct RadioSlot: Sendable {
    /// The delays between attempts to open the adapter.
    static let reopenDelays = Duration.seconds(1)...Duration.seconds(30)
    /// After this long in `ready`, the delays start again at the shortest.
    static let lastingReadiness = Duration.seconds(60)

    private(set) var state = AdapterState.closed { didSet { hasChanged = true } }
    private(set) var history = AdapterHistory()
    /// True if the adapter is shared with other programs through BlueZ.
    private(set) var isShared = false
    /// The buttons that have no link because the adapter has no room for all.
    private(set) var buttonsWithoutLink: Set<ButtonID> = []
    /// True if the adapter has to stay closed, because presses could not be recorded.
    private(set) var isHeldClosed = false
    private var backOff = BackOff(RadioSlot.reopenDelays)
    /// Buttons whose links ended with a timeout while the current input is handled.
    private var timedOutLinks: [ButtonID] = []
    private var hasChanged = false

    /// The consequences of the loss of an adapter.
    struct Closing: Hashable, Sendable {
        /// When to open the adapter again; `nil` while it is held closed.
        var retryDelay: Duration?
        /// True if it is to be logged. A fault that repeats at the longest delay is not logged again.
        var isLogged: Bool
    }

    var isReady: Bool { address != nil }

    /// The address of the adapter while it is ready.
    var address: BluetoothAddress? { if case .ready(let address) = state { address } else { nil } }

    /// True if the adapter is open, ready or not.
    var isOpen: Bool {
        switch state {
        case .closed, .down: false
        case .starting, .ready: true
        }
    }

    /// True if something that the metrics show may have changed since the last call.
    mutating func takeHasChanged() -> Bool {
        defer { hasChanged = false }
        return hasChanged
    }

    mutating func opened(isShared: Bool) {
        state = .starting
        self.isShared = isShared
    }

    mutating func becameReady(_ address: BluetoothAddress, at now: Instant) {
        state = .ready(address)
        history.ready(at: now)
    }

    /// The adapter is gone, or could not be opened.
    ///
    /// - Parameter reason: a sentence for users.
    mutating func closed(_ reason: String, _ fault: AdapterFault, time: UTCTime, at now: Instant) -> Closing {
        if let since = history.readySince, now - since >= Self.lastingReadiness { backOff.reset() }
        let isNews = history.lost(reason, wasOpen: isOpen, time: time, at: now)
        state = .down(fault, reason)
        isShared = false
        guard !isHeldClosed else { return Closing(retryDelay: nil, isLogged: false) }
        let isLogged = isNews || !backOff.isAtLongest
        return Closing(retryDelay: backOff.next(), isLogged: isLogged)
    }

    /// - Returns: whether this is a change.
    mutating func holdClosed() -> Bool {
        defer { isHeldClosed = true }
        return !isHeldClosed
    }

    /// - Returns: whether this is a change.
    mutating func allowOpening() -> Bool {
        defer { isHeldClosed = false }
        return isHeldClosed
    }

    /// - Returns: the buttons that waited before.
    mutating func linkShortageChanged(_ waiting: Set<ButtonID>) -> Set<ButtonID> {
        defer { buttonsWithoutLink = waiting }
        return buttonsWithoutLink
    }

    mutating func linkTimedOut(_ button: ButtonID) { timedOutLinks.append(button) }

    /// The buttons that were silent for the supervision timeout. The links of an adapter that is gone end with the same
    /// reason, and so do links that a new link of the same button replaced.
    mutating func takeTimedOutLinks() -> [ButtonID] {
        defer { timedOutLinks = [] }
        return isReady ? timedOutLinks : []
    }

    #if DEBUG
        /// The invariants that the state violates between two inputs; empty unless this type has a bug.
        func problems() -> [String] {
            var problems: [String] = []
            if isReady, history.readySince == nil { problems.append("the adapter is ready without a time") }
            if isHeldClosed, isOpen { problems.append("the adapter is open, and has to be closed") }
            if !timedOutLinks.isEmpty { problems.append("links that timed out were not reported") }
            if case .down(_, let reason) = state, history.lastFault?.reason != reason {
                problems.append("the adapter is down for another reason than its last fault")
            }
            return problems
        }
    #endif
}
