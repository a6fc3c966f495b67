import ButtonModel
import JSON
import Radios

/// The state of the adapter. `name` is what it is called in `status` and MQTT.
enum AdapterState: Hashable, Sendable {
    /// No attempt to open it was made yet.
    case closed
    case starting
    case ready(BluetoothAddress)
    case down(AdapterFault, String)

    var name: String {
        switch self {
        case .closed: "unknown"
        case .starting, .down(.failed, _), .down(.restarting, _): "resetting"
        case .ready: "powered_on"
        case .down(.absent, _): "powered_off"
        case .down(.unsupported, _), .down(.notAProxy, _): "unsupported"
        case .down(.unauthorized, _), .down(.wrongKey, _): "unauthorized"
        case .down(.taken, _), .down(.deaf, _): "powered_off"
        }
    }
}

/// The faults of the adapter and when it became ready, since the daemon was started.
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

    /// The number of times the adapter was lost after it had been ready.
    private(set) var resets = 0
    /// The latest fault. While the same fault repeats, its time is that of the first.
    private(set) var lastFault: Fault?
    /// When the adapter became ready; `nil` while it is not.
    private(set) var readySince: Instant?

    mutating func ready(at now: Instant) { readySince = now }

    /// - Returns: whether this is a new fault: the adapter was ready before, or the reason has changed.
    mutating func lost(_ reason: String, wasOpen: Bool, time: UTCTime, at now: Instant) -> Bool {
        let isNews = readySince != nil || lastFault?.reason != reason
        readySince = nil
        if wasOpen { resets += 1 }
        if isNews { lastFault = Fault(reason: reason, time: time, instant: now) }
        return isNews
    }
}
