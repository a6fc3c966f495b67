import ButtonModel
import CommandSupport
import Hub
import Platform
import Rules

/// Measures how long a reload blocks the event loop: the hub replaces ten thousand rules by ten thousand others.
///
/// Reading and checking the rules is done off the loop, and is measured by `BenchLoading`.
enum BenchReload {
    private enum Kind: CaseIterable {
        case same, one, all

        var name: String {
            switch self {
            case .same: "nothing has changed"
            case .one: "one rule has changed"
            case .all: "every rule has changed"
            }
        }
    }

    static func run(rounds: Int) throws(Failure) -> BenchTable.Section {
        let count = BenchLoading.rules
        var hub = Hub(BenchHouse.configuration, stored: stored(count), rules: try load(edition: 0))
        let now = BenchHouse.start
        for input in [Hub.Input.wallClock(UTCTime(milliseconds: 1_795_000_000_000)), .start, .brokerConnected] {
            _ = hub.handle(input, at: now)
        }
        var samples: [Kind: [Double]] = [:]
        var messages: [Kind: Int] = [:]
        for round in 1...rounds {
            for kind in Kind.allCases {
                // For `.one`, only the first rule differs from the running set.
                let edition = kind == .same ? -1 : kind == .one ? 2 * round : 2 * round + 1
                _ = try takeBase(&hub, now)
                let text = BenchRuleFile.text(rules: count, edition: max(0, edition), edited: kind == .one ? 1 : nil)
                let (time, published) = try reload(&hub, try BenchRuleFile.load(text), now)
                samples[kind, default: []].append(time)
                messages[kind] = published
            }
        }
        return BenchTable.Section(
            title: "reload of \(count) rules; time of the loop",
            rows: Kind.allCases.map { kind in
                BenchTable.Row(
                    name: "\(kind.name), \(messages[kind] ?? 0) messages", unit: .time, samples: samples[kind] ?? [],
                    budget: "at most 8 ms")
            })
    }

    private static func takeBase(_ hub: inout Hub, _ now: Instant) throws(Failure) -> Int {
        try reload(&hub, load(edition: 0), now).messages
    }

    /// Reloads the rules. The time includes that for freeing the old set.
    private static func reload(
        _ hub: inout Hub, _ set: consuming RuleSet, _ now: Instant
    ) throws(Failure) -> (time: Double, messages: Int) {
        var id: JobID?
        for case .loadRules(let load, withTests: _) in hub.handle(.reloadRules, at: now) { id = load }
        guard let id else { throw Failure(.internalError, "The hub does not reload. Please report it.") }
        let loaded = RuleLoadReport(set: set)
        var effects: [Hub.Effect] = []
        let time = try coreTime { () throws(Failure) in effects = hub.handle(.rulesLoaded(id, loaded), at: now) }
        return (time, effects.count { if case .publish = $0 { true } else { false } })
    }

    private static func load(edition: Int) throws(Failure) -> RuleSet {
        try BenchRuleFile.load(BenchRuleFile.text(rules: BenchLoading.rules, edition: edition))
    }

    /// A stored button for every ten rules.
    private static func stored(_ rules: Int) -> StoredState {
        let buttons = (0..<rules / BenchRuleFile.rulesPerButton).compactMap { number -> StoredButton? in
            guard let key = PairingKey([UInt8](repeating: 7, count: 16)) else { return nil }
            let identity = ButtonIdentity(
                address: BluetoothAddress(rawValue: 0x80E4_DA03_0000 + UInt64(number)),
                uuid: "", serial: BenchRuleFile.serial(ofButton: number), nickname: "", firmwareVersion: 10)
            return StoredButton(
                identity: identity, pairing: Pairing(identifier: 1, key: key), pairedAt: UTCTime(milliseconds: 0))
        }
        return StoredState(installationID: "be4c", buttons: buttons)
    }
}
