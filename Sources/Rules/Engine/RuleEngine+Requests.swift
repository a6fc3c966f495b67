package import ButtonModel
import Expressions
import Gestures

// Requests from users and other programs.
extension RuleEngine {
    mutating func requested(_ request: Request, at now: Instant, _ effects: inout [Effect]) {
        switch request {
        case .run(let id, let ignoringConditions, let isDryRun):
            guard let rule = names.rules[id] else { return }
            run(rule, ignoringConditions: ignoringConditions, isDryRun: isDryRun, at: now, &effects)
        case .setEnabled(let id, let isEnabled):
            guard let rule = names.rules[id] else { return }
            setEnabled(rule, isEnabled, at: now, &effects)
        case .setVariable(let name, let value):
            guard let variable = names.variables[name] else { return }
            do {
                try world.assign(value, to: variable)
            } catch {
                effects.append(.log(.warning, "variable \(name) keeps its value: \(error.message)"))
            }
            carryOutChanges(at: now, &effects)
        case .setTriggerMode(let button, let mode):
            setTriggerMode(mode, of: button, at: now, &effects)
        }
        advance(at: now, &effects)
    }

    /// Runs a rule on request. `trigger.manual` is true and all other facts are empty. The rule may be disabled, and
    /// cooldown and rate limit are not checked. A requested dry run is independent of other runs.
    private mutating func run(
        _ rule: Int, ignoringConditions: Bool, isDryRun: Bool, at now: Instant, _ effects: inout [Effect]
    ) {
        var facts = TriggerFacts()
        facts.isManual = true
        let event = Event(cause: RunCause(facts: facts, at: world.wallClock(at: now)), at: now)
        var gates = GateSet.forManualRun
        if ignoringConditions { gates.remove(.conditions) }
        if isDryRun { gates.remove(.mode) }
        let judgement = judgeManual(rule, event, gates, at: now)
        if judgement.hasConditionError { records[rule].statistics.conditionErrors += 1 }
        if let gate = judgement.stoppedBy {
            stop(rule, gate, event.cause, judgement.reason, &effects)
        } else if isDryRun {
            enqueueApart(rule, event.cause, at: now, &effects)
        } else if !isActing {
            stop(rule, .mode, event.cause, "this engine does not lead", &effects)
        } else {
            enqueue(rule, event.cause, at: now, &effects)
        }
    }

    private mutating func judgeManual(_ rule: Int, _ event: Event, _ gates: GateSet, at now: Instant) -> Judgement {
        var snapshot = snapshot(for: event, at: now)
        let judgement = judge(rule, event.cause, gates, in: &snapshot, isExplaining: false, at: now)
        world.draws = snapshot.draws
        return judgement
    }

    private mutating func setTriggerMode(
        _ mode: TriggerMode?, of button: ButtonID, at now: Instant, _ effects: inout [Effect]
    ) {
        if let mode, let refusal = refusal(of: mode, for: button) {
            effects.append(
                .log(.warning, "trigger mode \(mode.rawValue) of \(name(of: button)) is refused: \(refusal)"))
            effects.append(.triggerModeDropped(button))
            return
        }
        guard modes[button] != mode else { return }
        modes[button] = mode
        configure(at: now)
    }

    /// The declared name, or else the address.
    func name(of button: ButtonID) -> String { declaredName(of: button) ?? button.description }
}

// MARK: - Trigger modes

extension RuleEngine {
    /// Passes the vocabularies and chords to the recogniser after a change.
    mutating func configure(at now: Instant) {
        index.resolve(set, against: identities, modes: modes)
        makePlans()
        recogniser.configure(
            index.vocabularies, others: index.vocabularyOfOthers, chords: index.chords, at: now)
    }

    /// Passes the vocabularies of new buttons, and the chords, to the recogniser.
    mutating func configure(adding new: [ButtonIdentity], at now: Instant) {
        index.add(new, to: set, modes: modes)
        addPlans()
        recogniser.configure(
            adding: index.entries.suffix(new.count).map { ($0.identity.id, $0.vocabulary) }, chords: index.chords,
            at: now)
    }

    /// Resets trigger modes that were set at run time to `auto` if rules now need other gestures.
    mutating func dropModesThatCannotServe(at now: Instant, _ effects: inout [Effect]) {
        let before = modes
        for button in modes.keys.sorted() {
            guard let mode = modes[button], let refusal = refusal(of: mode, for: button) else { continue }
            modes[button] = nil
            effects.append(
                .log(.warning, "trigger mode of \(name(of: button)) is auto again, not \(mode.rawValue): \(refusal)"))
            effects.append(.triggerModeDropped(button))
        }
        if modes != before { configure(at: now) }
    }

    /// Why this trigger mode cannot be set for the button; `nil` if it can.
    package func refusal(of mode: TriggerMode, for button: ButtonID) -> String? {
        if let declared = declaration(of: button), let fixed = declared.triggerMode, fixed != mode {
            return "the rules set it to \(fixed.rawValue)"
        }
        let unsupported = index.events(of: button).filter { !mode.supports($0.event) }.min { $0.rule < $1.rule }
        guard let (event, rule) = unsupported else { return nil }
        return "rule \(set.rules[rule].id) uses \(event.messageName), which \(mode.rawValue) does not report"
    }
}
