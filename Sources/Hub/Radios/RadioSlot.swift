import ButtonModel
import JSON
package import Radios

/// A radio of the configuration.
package struct ConfiguredRadio: Hashable, Sendable {
    /// Its name for users, unique among the radios: `hci0`, `attic`.
    package var name: String
    /// The notation of the configuration: `hci:0`, `bluez`, `esphome:hall-proxy.local:6053`.
    package var transport: String
    package var kind: RadioKind

    /// - Parameter name: `nil`: `hci0` for `hci:0`, and otherwise the first word of the transport.
    package init(_ transport: String, name: String? = nil, kind: RadioKind = .local()) {
        let words = transport.split(separator: ":")
        self.name = name ?? words.prefix(words.count == 2 && words[1].allSatisfy(\.isNumber) ? 2 : 1).joined()
        self.transport = transport
        self.kind = kind
    }

    /// The radio that status and topics show if the configuration has none.
    static let none = ConfiguredRadio("none")
}

/// The life cycle of one radio: whether it is open, which faults it had, and when it is opened again.
struct RadioSlot: Sendable {
    /// The delays between attempts to open the adapter.
    static let reopenDelays = Duration.seconds(1)...Duration.seconds(30)
    /// The delays between attempts to connect to an ESPHome proxy.
    static let reconnectDelays = Duration.seconds(1)...Duration.seconds(60)
    /// The delay after a fault that lasts until a person changes something, such as a wrong key.
    static let lastingFaultDelay = Duration.seconds(60)
    /// The shortest delay after a proxy has ended the connection itself, so that it has time to restart.
    static let restartDelay = Duration.seconds(5)
    /// After this long in `ready`, the delays start again at the shortest.
    static let lastingReadiness = Duration.seconds(60)

    let radio: ConfiguredRadio
    private(set) var state = AdapterState.closed
    private(set) var history = AdapterHistory()
    /// True if the adapter is shared with other programs through BlueZ.
    private(set) var isShared = false
    /// The description that the radio gives of itself; empty for an adapter of this machine.
    private(set) var description = ""
    /// The number of links that it can have, as far as that is known.
    private(set) var linkLimit: Int?
    private var backOff: BackOff
    /// True if the radio keeps its connection although it is down.
    private var keepsConnection = false

    init(_ radio: ConfiguredRadio) {
        self.radio = radio
        linkLimit = radio.kind.maximumLinks
        backOff = BackOff(radio.kind.isProxy ? Self.reconnectDelays : Self.reopenDelays)
    }

    /// The consequences of the loss of an adapter.
    struct Closing: Hashable, Sendable {
        /// When to open the adapter again; `nil` while it is held closed.
        var retryDelay: Duration?
        /// True if it is to be logged. A fault that repeats at the longest delay is not logged again.
        var isLogged: Bool
    }

    var isReady: Bool { address != nil }

    /// The address of the adapter while it is ready. Swift 6.3.1 fails to compile functions into which it has inlined this.
    @inline(never)
    var address: BluetoothAddress? { if case .ready(let address) = state { address } else { nil } }

    /// True if the adapter or the connection to the proxy is open, ready or not.
    var isOpen: Bool {
        switch state {
        case .closed: false
        case .down: keepsConnection
        case .starting, .ready: true
        }
    }

    mutating func opened(isShared: Bool) {
        state = .starting
        keepsConnection = false
        self.isShared = isShared
    }

    mutating func linkLimitReported(_ limit: Int) { linkLimit = limit }

    mutating func becameReady(_ address: BluetoothAddress, _ description: String = "", at now: Instant) {
        state = .ready(address)
        self.description = description
        history.ready(at: now)
    }

    /// The radio cannot be used, and tries again by itself on its connection.
    ///
    /// - Parameter reason: a sentence for users.
    /// - Returns: whether this is a new fault.
    mutating func becameUnusable(_ reason: String, _ fault: AdapterFault, time: UTCTime, at now: Instant) -> Bool {
        let isNews = history.lost(reason, wasOpen: false, time: time, at: now)
        state = .down(fault, reason)
        keepsConnection = true
        return isNews
    }

    /// The adapter is gone, or could not be opened.
    ///
    /// - Parameter reason: a sentence for users.
    mutating func closed(
        _ reason: String, _ fault: AdapterFault, isHeldClosed: Bool, time: UTCTime, at now: Instant
    ) -> Closing {
        if let since = history.readySince, now - since >= Self.lastingReadiness { backOff.reset() }
        let isNews = history.lost(reason, wasOpen: wasOpened, time: time, at: now)
        state = .down(fault, reason)
        keepsConnection = false
        isShared = false
        guard !isHeldClosed else { return Closing(retryDelay: nil, isLogged: false) }
        if radio.kind.isProxy, fault.isLasting { return Closing(retryDelay: Self.lastingFaultDelay, isLogged: isNews) }
        let isLogged = isNews || !backOff.isAtLongest
        let delay = backOff.next()
        return Closing(retryDelay: fault == .restarting ? max(delay, Self.restartDelay) : delay, isLogged: isLogged)
    }

    /// True if closing the radio counts as its loss. For an adapter, it has to be open. A program and the connection to a
    /// proxy can be open without a radio behind them, so they have to be ready.
    private var wasOpened: Bool {
        radio.kind.isProxy || radio.transport.hasPrefix("command:") ? isReady : isOpen
    }

    #if DEBUG
        /// The invariants that the state violates between two inputs; empty unless this type has a bug.
        func problems() -> [String] {
            var problems: [String] = []
            if isReady, history.readySince == nil { problems.append("the adapter is ready without a time") }
            if case .down(_, let reason) = state, history.lastFault?.reason != reason {
                problems.append("the adapter is down for another reason than its last fault")
            }
            return problems
        }
    #endif
}
