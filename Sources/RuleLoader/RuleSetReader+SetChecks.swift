import ButtonModel
import Diagnostics
import Expressions
import Gestures
import Rules
import YAMLFiles

/// Checks that need all rules of the set.
extension RuleSetReader {
    /// A rule with `mode: single` drops presses during its delays, so longer delays cause a warning (W705).
    private static let maximumUnwarnedDelay = Duration.seconds(10)

    mutating func checkSet() {
        checkLongPresses()
        guard !documents.contains(where: \.checker.hasErrors) else { return }
        warnOfUnusedButtons()
        warnOfSlowClicks()
        warnOfLongDelays()
        warnOfMissingEnds()
        warnOfMissingBroker()
    }

    // MARK: Holds

    /// Reports a button with a hold and a pattern that begins with a long press (E504).
    private mutating func checkLongPresses() {
        var reported: Set<[Int]> = []
        for button in ruleSet.buttons.indices {
            let wanted = uses.allUsedEvents(of: button)
            guard let long = wanted.first(where: { $0.first == .long }), let hold = wanted.hold else { continue }
            let source = long.source
            // A rule for a group or for `button: any` concerns several buttons, but is reported once.
            let start = source.node.start
            guard reported.insert([source.document, start.line, start.column]).inserted else { continue }
            currentDocument = source.document
            checker.error(
                "E504", at: source.node,
                "\"\(ruleSet.buttons[button].name)\" uses hold\(rule(of: hold)) and a pattern starting with long\(rule(of: long))",
                hint: "a hold would always win")
        }
    }

    private func rule(of use: ButtonUses.Use) -> String {
        use.rule.map { " (rule \(ruleSet.rules[$0].id))" } ?? ""
    }

    // MARK: Warnings

    private mutating func warnOfUnusedButtons() {
        guard !uses.any.isUsed else { return }
        let unused = ruleSet.buttons.indices.filter { !uses.usedEvents(of: $0).isUsed }
        guard !unused.isEmpty else { return }
        var read: Set<Int> = []
        ruleSet.forEachRead { if case .button(let button, _) = $0 { read.insert(button) } }
        for button in unused where !read.contains(button) {
            let declared = ruleSet.buttons[button]
            guard let declaration = buttonNames.declarations[declared.name],
                let document = document(of: declared.location)
            else { continue }
            currentDocument = document
            let end = declaration.position.advanced(by: declared.name.unicodeScalars.count)
            checker.warning(
                "W704", from: declaration.position, to: end, "button \"\(declared.name)\" is never used")
        }
    }

    /// Warns of rules with `button: any` that delay the clicks of other rules (W707).
    private mutating func warnOfSlowClicks() {
        let beginnings = uses.any.beginnings
        let hold = uses.any.hold
        guard !beginnings.isEmpty || hold != nil else { return }
        var slower: [[PressLength]: (count: Int, gap: Duration)] = [:]
        var waitingForUp = 0
        for index in ruleSet.buttons.indices where ruleSet.buttons[index].triggerMode == nil {
            let wanted = uses.usedEvents(of: index)
            let own = wanted.beginnings
            let waiting = wanted.patterns.keys.filter { own[$0] == nil }
            for pattern in waiting where beginnings[pattern] != nil {
                let known = slower[pattern] ?? (0, .zero)
                slower[pattern] = (known.count + 1, max(known.gap, ruleSet.buttons[index].clickGap))
            }
            if waiting.contains([.short]), beginnings[[.short]] == nil, wanted.hold == nil,
                wanted.patterns.keys.allSatisfy({ $0.first == .short })
            {
                waitingForUp += 1
            }
        }
        var reported: Set<[PressLength]> = []
        for (pattern, (count, gap)) in slower.sorted(by: { $0.key.count < $1.key.count }) {
            guard let cause = beginnings[pattern], reported.insert(cause.pattern).inserted else { continue }
            let waits = "\(RuleSetReader.buttons(count)) \(Value(gap).text ?? "") slower"
            warnOfSlowClick(cause.use, TriggerEvent.pattern(cause.pattern), pattern, waits)
        }
        if waitingForUp > 0, let hold {
            let waits = "\(RuleSetReader.buttons(waitingForUp)) wait until the button is released"
            warnOfSlowClick(hold, .hold(after: nil), [.short], waits)
        }
    }

    private mutating func warnOfSlowClick(
        _ cause: ButtonUses.Use, _ event: TriggerEvent, _ slower: [PressLength], _ waits: String
    ) {
        let source = cause.source
        currentDocument = source.document
        checker.warning(
            "W707", at: source.node,
            "button: any with \(event.notation) makes every \(TriggerEvent.pattern(slower).notation) on \(waits)",
            hint: "name the buttons it is meant for")
    }

    private static func buttons(_ count: Int) -> String { count == 1 ? "1 button" : "\(count) buttons" }

    private mutating func warnOfLongDelays() {
        for index in ruleSet.rules.indices where ruleSet.rules[index].mode == .single {
            let delays = LiteralDelays(of: ruleSet.rules[index].steps, scripts: scriptDelays)
            // With a longer cooldown these presses are dropped anyway.
            guard delays.total > RuleSetReader.maximumUnwarnedDelay, delays.total > ruleSet.rules[index].cooldown,
                let longest = delays.longest
            else { continue }
            // Nobody expects that a time of day starts a second run while the first one waits.
            guard let dropped = ruleSet.rules[index].eventsThatMayRepeat else { continue }
            let total = Value(delays.total).text ?? ""
            let message =
                longest.duration == delays.total
                ? "\(dropped) during the \(total) delay are dropped (mode: single)"
                : "\(dropped) during \(total) of delays are dropped (mode: single)"
            warn(
                "W705", at: longest.step, message,
                hint: Hint("did you mean mode: restart?", restarting(ruleSet.rules[index], longest.step)))
        }
    }

    /// The insertion of `mode: restart` into a rule. There is none if the step of the message is in another file, because a
    /// change is made in the file of its message.
    private mutating func restarting(_ rule: Rule, _ step: Step) -> [Hint.Change] {
        guard rule.location.file == step.location.file, let document = document(of: rule.location) else { return [] }
        currentDocument = document
        // The location of a rule is that of its name after `id:`. The text before it may look otherwise, such as `"id": `, and
        // then the start of the entry is not known.
        let name = SourcePosition(line: rule.location.line, column: rule.location.column)
        guard String(Substring(checker.source.text(before: name))).hasSuffix("id: ") else { return [] }
        return checker.insertion(of: "mode: restart", before: name.advanced(by: -"id: ".count))
    }

    /// Warns of rules for `hold_release` that drop the end of a late hold for which another rule runs (W713): what that rule
    /// began, such as dimming a lamp, would have no end. There is no warning if at least one rule accepts the end.
    private mutating func warnOfMissingEnds() {
        var holds: [ButtonSelector: (rule: Int, parts: Set<ButtonPart>, maximumAge: Duration)] = [:]
        var ends: [ButtonSelector: Duration] = [:]
        // Rules are used in their place, because copies of ten thousand take milliseconds.
        for rule in ruleSet.rules.indices where ruleSet.rules[rule].isEnabled {
            for trigger in ruleSet.rules[rule].triggers {
                for button in trigger.buttons(where: \.isHold) {
                    let maximumAge = maximumAge(ruleSet.rules[rule].queued, button)
                    guard maximumAge > holds[button]?.maximumAge ?? .zero else { continue }
                    holds[button] = (rule, trigger.parts, maximumAge)
                }
                for button in trigger.buttons(where: { $0 == .holdRelease }) {
                    ends[button] = max(ends[button] ?? .zero, maximumAge(ruleSet.rules[rule].queued, button))
                }
            }
        }
        guard !holds.isEmpty, !ends.isEmpty else { return }
        for rule in ruleSet.rules.indices where ruleSet.rules[rule].isEnabled {
            let triggers = ruleSet.rules[rule].triggers
            let own = Set(triggers.flatMap { $0.buttons(where: \.isHold) })
            for trigger in triggers {
                for button in trigger.buttons(where: { $0 == .holdRelease }) where !own.contains(button) {
                    guard let hold = holds[button], let end = ends[button], hold.maximumAge > end,
                        hold.parts.isEmpty || trigger.parts.isEmpty || !hold.parts.isDisjoint(with: trigger.parts),
                        let document = document(of: trigger.location)
                    else { continue }
                    currentDocument = document
                    let start = SourcePosition(line: trigger.location.line, column: trigger.location.column)
                    checker.warning(
                        "W713", from: start, to: start.advanced(by: 1),
                        "the end of a late hold is dropped here, but rule \(ruleSet.rules[hold.rule].id) runs for the hold",
                        hint: "give both rules the same queued")
                    break
                }
            }
        }
    }

    /// The age up to which a rule accepts stored events of a button.
    ///
    /// - Parameter ofRule: the rule's own `queued`.
    private func maximumAge(_ ofRule: QueuedPolicy?, _ button: ButtonSelector) -> Duration {
        var ofButton: QueuedPolicy?
        if case .declared(let index) = button { ofButton = ruleSet.buttons[index].queued }
        switch ofRule ?? ofButton ?? ruleSet.queued {
        case .drop: return .zero
        case .accept: return .seconds(Int64.max)
        case .limited(let maximumAge, _): return maximumAge
        }
    }

    /// Warns of the first `publish` of the set if there is no broker (W710).
    private mutating func warnOfMissingBroker() {
        guard inputs.hasNoBroker else { return }
        var first: Step?
        let lists = ruleSet.rules.map { $0.steps + $0.onError } + ruleSet.scripts.map(\.steps)
        for step in lists.joined() where first == nil {
            step.forEach { if first == nil, $0.action.kind == .publish { first = $0 } }
        }
        guard let first else { return }
        warn(
            "W710", at: first, "each run would fail, because there is no broker (mqtt.broker: none)",
            hint: "name a broker in tryck.yaml")
    }

    // MARK: Source locations

    private mutating func warn(_ code: String, at step: Step, _ message: String, hint: Hint) {
        guard let document = document(of: step.location) else { return }
        currentDocument = document
        let start = SourcePosition(line: step.location.line, column: step.location.column)
        let end = start.advanced(by: step.action.kind.rawValue.unicodeScalars.count)
        checker.warning(code, from: start, to: end, message, hint: hint)
    }

    private func document(of location: SourceLocation) -> Int? {
        documents.firstIndex { $0.checker.source.name == location.file }
    }
}

extension Rule {
    /// The noun for the events that can trigger the rule repeatedly, for a message; `nil` if only times of day trigger it.
    fileprivate var eventsThatMayRepeat: String? {
        if triggers.contains(where: \.isOfButton) { return "presses" }
        let hasStates = triggers.contains { if case .states = $0.origin { true } else { false } }
        return hasStates ? "changes" : nil
    }
}

extension Trigger {
    /// The buttons of the trigger if it has an event that is meant. Chords have none.
    fileprivate func buttons(where isMeant: (TriggerEvent) -> Bool) -> [ButtonSelector] {
        guard case .buttons(let buttons, let events, _) = origin, events.contains(where: isMeant) else { return [] }
        return buttons
    }
}

extension Trigger {
    fileprivate var parts: Set<ButtonPart> { if case .buttons(_, _, let parts) = origin { parts } else { [] } }
}

extension TriggerEvent {
    fileprivate var isHold: Bool { if case .hold = self { true } else { false } }
}
