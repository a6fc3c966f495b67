import ButtonModel
import Expressions
package import Gestures

/// Whether a rule may run, and why not: asked the same way when it is to run and when it is to be explained.
struct Judgement: Sendable {
    /// `nil`: it runs, or it waits for the last stored event.
    var stoppedBy: Gate?
    /// Of the gate that said no; for those who want an explanation, for each gate that was asked before it, too.
    var reasons: [(gate: Gate, text: String)] = []
    var conditionsHold = false
    var hasConditionError = false
    /// `keep: last`: it is decided when no later stored event can come.
    var isKept = false

    /// Of the gate that said no.
    var reason: String { stoppedBy == nil ? "" : reasons.last?.text ?? "" }
}

/// Which gates are asked: for a run that somebody asked for, and for an event that was kept, not all of them.
struct GatesToAsk: OptionSet, Sendable {
    let rawValue: UInt8

    static let enabled = GatesToAsk(rawValue: 1)
    static let queued = GatesToAsk(rawValue: 2)
    static let conditions = GatesToAsk(rawValue: 4)
    /// `cooldown` and `rate_limit`.
    static let pace = GatesToAsk(rawValue: 8)
    static let mode = GatesToAsk(rawValue: 16)

    static let all: GatesToAsk = [.enabled, .queued, .conditions, .pace, .mode]
    /// It has passed `queued` and was put aside there.
    static let ofKept: GatesToAsk = all.subtracting(.queued)
    static let ofManualRun: GatesToAsk = [.conditions, .mode]
}

extension RuleEngine {
    func concurrencyGroup(of rule: Int, _ button: ButtonID?) -> ConcurrencyGroupID {
        ConcurrencyGroupID(rule: rule, button: set.rules[rule].scope == .button ? button : nil)
    }

    /// What the conditions see; it is made once for all rules that an event concerns.
    func snapshot(for event: Event, at now: Instant) -> Environment {
        world.environment(for: event.cause.facts, time: event.cause.at, at: now)
    }

    /// Asks the gates of one rule in their order, up to the first that says no. Changes nothing.
    ///
    /// - Parameters:
    ///   - hold: the cause is the end of this hold. Where the hold was admitted, the end is, too.
    ///   - isExplaining: with the reasons of gates that let it pass. On the way of a press they are not made.
    func judge(
        _ rule: Int, _ cause: RunCause, _ gates: GatesToAsk, endOf hold: Recognised.Lateness? = nil,
        in snapshot: inout Environment, isExplaining: Bool, at now: Instant
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
        if gates.contains(.queued) {
            let policy = policy(of: declared, cause.button)
            let facts = cause.facts
            let isOwed = policy.admits(hold)
            let admits = isOwed || policy.admits(queued: facts.wasQueued, age: facts.age)
            guard
                pass(
                    .queued, admits,
                    isOwed && facts.wasQueued
                        ? "the end of a hold that was reported" : policy.text(admits: admits, facts))
            else { return judgement }
            // The end of a live hold gives way to no later event. A hold that was stored may itself still be kept.
            if facts.wasQueued, hold?.wasQueued ?? true, case .limited(_, keepLast: true) = policy {
                judgement.isKept = true
                return judgement
            }
        }
        if gates.contains(.conditions) {
            snapshot.trigger.id = cause.facts.id
            let verdict = world.verdict(
                on: declared.conditions, in: snapshot, time: cause.at, isExplaining: isExplaining)
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

    /// The rule's, then the button's, then the set's.
    func policy(of rule: Rule, _ button: ButtonID?) -> QueuedPolicy {
        rule.queued ?? button.map { queuedPolicy(of: $0) } ?? set.queued
    }

    private func textOfEnabled(_ rule: Rule, _ isEnabled: Bool) -> String {
        (isEnabled ? "enabled" : "disabled") + (isEnabled == rule.isEnabled ? "" : " at run time")
    }
}

extension QueuedPolicy {
    /// Whether something that a button did is acted on. The end of a hold that was told is, however late it comes.
    package func admits(_ recognised: Recognised) -> Bool {
        admits(queued: recognised.wasQueued, age: recognised.age) || admits(recognised.hold)
    }

    fileprivate func admits(_ hold: Recognised.Lateness?) -> Bool {
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
    /// As the language writes it.
    var text: String { DurationText.text(milliseconds: milliseconds) }
}

extension Gate {
    /// Its name, as in the list of gates.
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
