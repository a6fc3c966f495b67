import ButtonModel
import Expressions
import Hub
import JSON
package import Rules

// The stored state of rules: a row for each value, with a kind, a key, and the value as JSON.
extension Database {
    private enum Kind: String {
        case variable, cycle, enabled, cooldown, waiting, kept, reset
    }

    private static let selectRuleState = """
        SELECT kind, key, value FROM rule_state WHERE kind <> 'reserve' ORDER BY kind, key
        """

    private static let ringKey = "ring"

    /// The mark of the last `ReserveSnapshot` that is in the database. It is stored among the state of rules, so that
    /// older versions, which have no reserve, can use the file. A version that has reserves and no ring deletes the row of
    /// the ring's position when it starts, so records and snapshots of the time before are not applied after it.
    func reserveMark() throws(DatabaseFailure) -> ReserveMark? {
        let marks = try rows("SELECT key, value FROM rule_state WHERE kind = 'reserve'") { row -> ReserveMark? in
            guard let id = row.text(0).flatMap({ UInt64($0, radix: 16) }),
                let number = row.text(1).flatMap({ UInt64($0) }), number < UInt64(Int64.max)
            else { return nil }
            return ReserveMark(database: id, number: number)
        }
        guard var mark = marks.first else { return nil }
        mark.ring = try rows("SELECT value FROM rule_state WHERE kind = 'reserve' AND key = ?", .text(Self.ringKey)) {
            $0.text(0).flatMap { RingPosition(stored: $0) }
        }.first
        return mark
    }

    func setReserveMark(_ mark: ReserveMark) throws(DatabaseFailure) {
        try run("DELETE FROM rule_state WHERE kind = 'reserve'")
        try run(
            "INSERT INTO rule_state (kind, key, value) VALUES ('reserve', ?, ?)",
            .text(String(mark.database, radix: 16)), .text(String(mark.number)))
        if let ring = mark.ring { try setRingPosition(ring) }
    }

    func setRingPosition(_ position: RingPosition) throws(DatabaseFailure) {
        try run(
            "INSERT OR REPLACE INTO rule_state (kind, key, value) VALUES ('reserve', ?, ?)",
            .text(Self.ringKey), .text(position.stored))
    }

    func checkRuleState() throws(DatabaseFailure) { try check(Self.selectRuleState) }

    /// - Parameter report: called for each invalid row.
    func loadRuleState(_ report: (StoreNotice) -> Void) throws(DatabaseFailure) -> RuleState {
        var state = RuleState()
        _ = try rows(Self.selectRuleState) { row -> Void? in
            let key = row.text(1) ?? "?"
            guard let kind = row.text(0).flatMap(Kind.init(rawValue:)),
                let value = row.text(2).flatMap({ try? JSONValue(parsing: $0) }),
                Self.take(kind, key, value, into: &state)
            else {
                report(.unreadable(table: "rule_state", row: key))
                return nil
            }
            return nil
        }
        state.waitingRuns.sort { $0.run < $1.run }
        state.keptEvents.sort(by: KeptEvent.comesFirst)
        return state
    }

    private static func take(_ kind: Kind, _ key: String, _ value: JSONValue, into state: inout RuleState) -> Bool {
        switch kind {
        case .variable:
            guard let value = Value(stored: value) else { return false }
            state.variables[key] = value
        case .cycle:
            guard let position = CyclePosition(stored: value) else { return false }
            state.cycles[key] = position
        case .enabled:
            guard let override = EnabledOverride(stored: value) else { return false }
            state.enabled[key] = override
        case .cooldown:
            guard let cooldown = Cooldown(stored: value) else { return false }
            state.cooldowns.append(cooldown)
        case .waiting:
            guard let run = WaitingRun(stored: value) else { return false }
            state.waitingRuns.append(run)
        case .kept:
            guard let event = KeptEvent(stored: value) else { return false }
            state.keptEvents.append(event)
        case .reset:
            guard let milliseconds = value.integerValue else { return false }
            state.dailyTimes[key] = UTCTime(milliseconds: milliseconds)
        }
        return true
    }

    package func apply(_ change: RuleStateChange) throws(DatabaseFailure) {
        switch change {
        case .variable(let name, let value): try put(.variable, name, value?.stored)
        case .cycle(let key, let position): try put(.cycle, key, position?.stored)
        case .enabled(let rule, let override): try put(.enabled, rule, override?.stored)
        case .cooldown(let cooldown): try put(.cooldown, cooldown.key, cooldown.stored)
        case .waiting(let run, let waiting): try put(.waiting, String(run.rawValue), waiting?.stored)
        case .kept(let rule, let button, let event): try put(.kept, "\(rule)/\(button)", event?.stored)
        case .daily(let key, let time): try put(.reset, key, time.map { .integer($0.milliseconds) })
        }
    }

    private func put(_ kind: Kind, _ key: String, _ value: JSONValue?) throws(DatabaseFailure) {
        guard let value else {
            return try run("DELETE FROM rule_state WHERE kind = ? AND key = ?", .text(kind.rawValue), .text(key))
        }
        try run(
            "INSERT OR REPLACE INTO rule_state (kind, key, value) VALUES (?, ?, ?)",
            .text(kind.rawValue), .text(key), .text(value.description))
    }
}

extension Cooldown {
    fileprivate var key: String { button.map { "\(rule)/\($0)" } ?? rule }
}

extension RingPosition {
    fileprivate var stored: String { "\(String(epoch, radix: 16))/\(number)" }

    fileprivate init?(stored text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let epoch = UInt64(parts[0], radix: 16), let number = UInt64(parts[1]),
            number < UInt64(Int64.max)
        else { return nil }
        self.init(epoch: epoch, number: number)
    }
}
