import ButtonModel
import Expressions
package import Gestures

/// The result of checking the gates of a rule, for a run as well as for an explanation.
struct Judgement: Sendable {
    /// The gate that stops the rule; `nil` if the rule runs, or waits for the last stored event.
    var stoppedBy: Gate?
    /// The reason of the gate that stops the rule; for an explanation, also those of the gates before it.
    var reasons: [(gate: Gate, text: String)] = []
    var conditionsHold = false
    var hasConditionError = false
    /// True if `keep: last` postpones the decision until no later stored event can come.
    var isKept = false

    /// The reason of `stoppedBy`.
    var reason: String { stoppedBy == nil ? "" : reasons.last?.text ?? "" }
}

/// The gates to check. Requested runs and kept events skip some of them.
struct GateSet: OptionSet, Sendable {
    let rawValue: UInt8

    static let enabled = GateSet(rawValue: 1)
    static let queued = GateSet(rawValue: 2)
    static let conditions = GateSet(rawValue: 4)
    /// The gates of `cooldown` and `rate_limit`.
    static let pace = GateSet(rawValue: 8)
    static let mode = GateSet(rawValue: 16)

    static let all: GateSet = [.enabled, .queued, .conditions, .pace, .mode]
    /// The gates for a kept event, which has already passed `queued`.
    static let forKeptEvent: GateSet = all.subtracting(.queued)
    static let forManualRun: GateSet = [.conditions, .mode]
}

extension RuleEngine {
    func concurrencyGroup(of rule: Int, _ button: ButtonID?) -> ConcurrencyGroupID {
        ConcurrencyGroupID(rule: rule, button: set.rules[rule].scope == .button ? button : nil)
    }

    /// The values that conditions read, computed once for all rules that an event triggers.
    func snapshot(for event: Event, at now: Instant) -> EvaluationContext {
        world.environment(for: event.cause.facts, time: event.cause.at, at: now)
    }

    /// Checks the gates of a rule in order, up to the first that stops it. It changes only the trigger and the random
    /// numbers of the snapshot.
    ///
    /// - Parameters:
    ///   - hold: for the end of a hold, how late the hold was. If the hold was accepted, its end is accepted, too.
    ///   - isExplaining: whether to include the reasons of gates that are passed. This takes too long for every press.
    func judge(
        _ rule: Int, _ cause: RunCause, _ gates: GateSet, endOf hold: RecognisedEvent.Lateness? = nil,
        in snapshot: inout EvaluationContext, isExplaining: Bool, at now: Instant
    ) -> Judgement {
        var judgement = Judgement()
        func pass(_ gate: Gate, _ holds: Bool, _ text: @autoclosure () -> String) -> Bool {
            if !holds || isExplaining { judgement.reasons.append((gate, text())) }
            if !holds { judgement.stoppedBy = gate }
            return holds
        }
        let declared = set.rules[rule]
        let groupID = concurrencyGroup(of: rule, cause.button)
        let group = scheduler.groups[groupID]

        if gates.contains(.enabled) {
            guard pass(.enabled, world.rules[rule].isEnabled, textOfEnabled(declared, world.rules[rule].isEnabled))
            else { return judgement }
        }
        // Only a button stores events.
        if gates.contains(.queued), cause.button != nil {
            let policy = policy(of: declared, cause.button)
            let facts = cause.facts
            let endsAcceptedHold = policy.admits(hold)
            let admits = endsAcceptedHold || policy.admits(queued: facts.wasQueued, age: facts.age)
            guard
                pass(
                    .queued, admits,
                    endsAcceptedHold && facts.wasQueued
                        ? "the end of a hold that was reported" : policy.text(admits: admits, facts))
            else { return judgement }
            // A later event must not replace the end of a live hold. If the hold was stored, it may itself be replaced.
            if facts.wasQueued, hold?.wasQueued ?? true, case .limited(_, keepLast: true) = policy {
                judgement.isKept = true
                return judgement
            }
        }
        if gates.contains(.conditions) {
            snapshot.trigger.id = cause.facts.id
            let verdict = world.evaluate(
                on: declared.conditions, in: &snapshot, time: cause.at, isExplaining: isExplaining)
            judgement.hasConditionError = verdict.hasErrors
            let reasons = verdict.reasons
            guard
                pass(.conditions, verdict.holds, reasons.isEmpty ? "none" : reasons.joined(separator: "; "))
            else { return judgement }
        }
        judgement.conditionsHold = true
        if gates.contains(.pace) {
            let left = group?.cooldownEnd.map { $0 - now } ?? .zero
            guard pass(.cooldown, left <= .zero, left <= .zero ? "over" : "for another \(left.text)") else {
                return judgement
            }
            let count = group?.rate.count(declared.rateLimit, at: now) ?? 0
            let hasRoom = group?.rate.hasRoom(declared.rateLimit, at: now) ?? true
            let limit = declared.rateLimit
            guard pass(.rateLimit, hasRoom, "\(count) of \(limit.count) runs in \(limit.per.text)") else {
                return judgement
            }
        }
        if gates.contains(.mode) {
            let busy = scheduler.busyReason(declared, in: groupID)
            _ = pass(.mode, busy == nil, busy ?? "\(declared.mode.rawValue)")
        }
        return judgement
    }

    /// The policy of the rule, or else of the button, or else of the set.
    func policy(of rule: Rule, _ button: ButtonID?) -> QueuedPolicy {
        rule.queued ?? button.map { queuedPolicy(of: $0) } ?? set.queued
    }

    private func textOfEnabled(_ rule: Rule, _ isEnabled: Bool) -> String {
        (isEnabled ? "enabled" : "disabled") + (isEnabled == rule.isEnabled ? "" : " at run time")
    }
}

extension QueuedPolicy {
    /// True if an event is accepted. The end of an accepted hold is always accepted.
    package func admits(_ recognised: RecognisedEvent) -> Bool {
        admits(queued: recognised.wasQueued, age: recognised.age) || admits(recognised.hold)
    }

    fileprivate func admits(_ hold: RecognisedEvent.Lateness?) -> Bool {
        hold.map { admits(queued: $0.wasQueued, age: $0.age) } ?? false
    }

    fileprivate func text(admits: Bool, _ facts: TriggerFacts) -> String {
        guard facts.wasQueued else { return "not stored by the button" }
        switch self {
        case .drop: return "stored by the button; stored events are dropped"
        case .accept: return "stored by the button for \(facts.age.text); stored events are accepted"
        case .limited(let maximumAge, let keepLast):
            let age = "stored by the button for \(facts.age.text), at most \(maximumAge.text)"
            return admits && keepLast ? age + "; only the last one is used" : age
        }
    }
}

extension Duration {
    /// The duration as written in rule files.
    var text: String { DurationText.text(milliseconds: milliseconds) }
}

extension Gate {
    /// The name in explanations.
    var name: String {
        switch self {
        case .enabled: "enabled"
        case .queued: "queued"
        case .conditions: "conditions"
        case .cooldown: "cooldown"
        case .rateLimit: "rate_limit"
        case .mode: "mode"
        }
    }
}
