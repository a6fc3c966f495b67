import ButtonModel
import JSON

/// Why there is no adapter, as far as it makes a difference to what is shown; the sentence says the rest.
package enum AdapterFault: String, CaseIterable, Hashable, Sendable {
    /// Not there, in use, switched off or out of reach.
    case absent
    /// It was there and has failed: it is being reset.
    case failed
    /// It, or the kernel, cannot do what we need.
    case unsupported
    /// We may not open it.
    case unauthorized
}

/// What is known of the adapter; `word` is the controller state of `status` and MQTT.
enum AdapterState: Hashable, Sendable {
    /// Not tried yet.
    case closed
    case starting
    case ready(BluetoothAddress)
    case down(AdapterFault, String)

    var word: String {
        switch self {
        case .closed: "unknown"
        case .starting, .down(.failed, _): "resetting"
        case .ready: "powered_on"
        case .down(.absent, _): "powered_off"
        case .down(.unsupported, _): "unsupported"
        case .down(.unauthorized, _): "unauthorized"
        }
    }
}

/// What the adapter has been through since the daemon was started.
struct AdapterHistory: Hashable, Sendable {
    struct Fault: Hashable, Sendable {
        var reason: String
        var time: UTCTime
        var instant: Instant

        func described(at now: Instant) -> JSONValue {
            [
                "reason": .string(reason), "time": .string(time.description),
                "age_s": .integer((now - instant).milliseconds / 1000),
            ]
        }
    }

    /// How often it was lost after it had been opened.
    private(set) var resets = 0
    /// When the same comes again and again: its first time.
    private(set) var lastFault: Fault?
    /// Since when it is ready, when it is.
    private(set) var readySince: Instant?

    mutating func ready(at now: Instant) { readySince = now }

    /// - Returns: whether the reason is another one than before.
    mutating func lost(_ reason: String, wasOpen: Bool, time: UTCTime, at now: Instant) -> Bool {
        let isNews = readySince != nil || lastFault?.reason != reason
        readySince = nil
        if wasOpen { resets += 1 }
        if isNews { lastFault = Fault(reason: reason, time: time, instant: now) }
        return isNews
    }
}
