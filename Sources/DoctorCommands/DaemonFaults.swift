import CommandText
import JSON

/// The sentences of a daemon's status about its adapter, its broker and its store.
///
/// The daemon lists the faults of the adapter, the broker, the rules and the store in this order. It lists a fault of the
/// adapter only if the adapter is down, and a fault of the broker only if it is not connected.
struct DaemonFaults: Hashable, Sendable {
    let adapter, broker, store: String?

    init(_ status: JSONValue) {
        let elsewhere =
            (status["sources"]?.arrayValue ?? []).compactMap { $0["fault"]?.stringValue }
            + ["flicd", "uplink", "engine"].compactMap { status[$0]?["fault"]?.stringValue }
            + Self.faults(ofRadios: status["radios"]?.arrayValue ?? [])
        let all = (status["faults"]?.arrayValue ?? []).compactMap(\.stringValue)
        var faults = all.filter { !elsewhere.contains($0) }[...]
        let isDown = !["powered_on", "unknown"].contains(status["adapter"]?.text("state") ?? "unknown")
        let hasAdapter = status["adapter"]?.text("transport") != "none"
        let isAway = status["broker"]?.text("state") == "disconnected"
        let hasRuleFault = status["rules"]?.text("state") == "error"
        // An adapter that is being reset has a sentence only after a fault.
        let others = (isAway ? 1 : 0) + (hasRuleFault ? 1 : 0)
        let hasOneRadio = status["radios"]?.arrayValue?.count ?? 1 == 1
        adapter = hasOneRadio && isDown && hasAdapter && faults.count > others ? faults.popFirst() : nil
        broker = isAway ? faults.popFirst() : nil
        if hasRuleFault { _ = faults.popFirst() }
        store = faults.first
    }

    /// The faults of several radios, as the daemon lists them; none if there is only one radio.
    static func faults(ofRadios radios: [JSONValue]) -> [String] {
        guard radios.count > 1 else { return [] }
        return radios.compactMap { radio in radio["advice"]?.stringValue.map { "\(radio.text("name")): \($0)" } }
    }
}
