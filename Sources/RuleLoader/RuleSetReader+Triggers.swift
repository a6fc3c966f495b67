import ButtonModel
import Diagnostics
import Expressions
import Gestures
import Rules
import YAMLFiles

extension RuleSetReader {
    /// The keys that say what a trigger waits for. It has exactly one of them.
    private static let triggerKinds = ["button", "chord", "at", "state"]

    /// Reads a trigger; `nil` when it is faulty.
    ///
    /// - Parameter isAwaited: true for a `wait_for` step.
    mutating func readTrigger(_ node: YAMLNode, rule: Int?, isAwaited: Bool = false) -> Trigger? {
        if let text = node.scalar {
            checker.noMapping(
                "E203", at: node, "a trigger must be a mapping",
                hint: (node.tag == nil ? hint(forTrigger: text, node, isAwaited: isAwaited) : nil) ?? "write key: value"
            )
            return nil
        }
        if isAwaited, reportsUntil(node) { return nil }
        guard let fields = checker.fields(node, triggerTable(for: node, isAwaited: isAwaited)) else { return nil }
        let kinds = RuleSetReader.triggerKinds.filter { fields.has($0) }
        guard kinds.count < 2 else {
            if let key = fields.last(of: kinds) {
                let list =
                    kinds.count == 2
                    ? "either \"\(kinds[0])\" or \"\(kinds[1])\", not both" : "only one of \(Checker.list(kinds))"
                checker.error("E210", at: key, "give \(list)")
            }
            return nil
        }
        if fields.has("at") {
            rejectKeysOfButtons(in: fields)
            if isAwaited, let missed = fields.key("missed") {
                checker.error(
                    "E210", at: missed, "\"missed\" is allowed only in the triggers of a rule",
                    hint: "a run that waits for a time goes on when it has passed; timeout: is the limit")
            }
            return readTimeTrigger(fields)
        }
        let keysOfTimes = ["offset", "weekday", "missed"]
        if let key = keysOfTimes.first(where: fields.has),
            !(RuleSetReader.triggerKinds + ["event", "clicks", "pattern"]).contains(where: fields.isWritten)
        {
            checker.missing("at", in: fields, owner: "a trigger with \"\(key)\"")
            return nil
        }
        rejectKeys(keysOfTimes, of: "at", in: fields)
        if fields.has("state") {
            rejectKeys(["event"], of: "button", "chord", in: fields)
            rejectKeys(["clicks", "pattern", "part", "collect"], of: "button", in: fields)
            rejectKeys(["within"], of: "chord", in: fields)
            return readStateTrigger(fields)
        }
        let isOfState = fields.has("from") || fields.has("to")
        if isOfState, !RuleSetReader.triggerKinds.contains(where: fields.isWritten) {
            checker.missing("state", in: fields, owner: "a trigger with \"from\" or \"to\"")
            return nil
        }
        if isOfState, !fields.misspelt.contains("state") { rejectKeys(["from", "to"], of: "state", in: fields) }
        if fields.has("chord") { return readChord(fields) }
        guard fields.isWritten("button") else {
            if !RuleSetReader.triggerKinds.contains(where: fields.isWritten) {
                checker.missing(
                    "button", in: fields, owner: "a trigger", or: ", \"chord\", \"at\" or \"state\"")
            }
            return nil
        }
        rejectKeys(["within"], of: "chord", in: fields)
        let selectors = fields.node("button").map { readSelectors($0) } ?? []
        let events = readEvents(fields)
        let parts = readParts(fields)
        guard !selectors.isEmpty, !events.isEmpty else { return nil }
        for event in events { check(event, selectors) }
        for part in parts { check(part, selectors) }
        for event in events { note(event, selectors, rule: rule) }
        return Trigger(
            origin: .buttons(selectors.flatMap(\.selectors), events.map(\.event), parts: Set(parts.map(\.part))),
            id: fields.string("id"), location: location(of: fields.node))
    }

    /// The trigger or the step that is meant by a text in the place of a trigger: `{button: hall, event: click}` for `hall`;
    /// `nil` if the text is neither a declared name nor a time.
    private func hint(forTrigger text: String, _ node: YAMLNode, isAwaited: Bool) -> Hint? {
        if buttons[text] != nil || ruleSet.groups[text] != nil || text == "any" {
            return .write("{button: \(text), event: click}")
        }
        if ruleSet.states.contains(where: { $0.name == text }) { return .write("{state: \(text)}") }
        switch try? TimeOfDay(text) {
        case .time?: return .write("{at: \"\(text)\"}")
        case .sun(let mark, let offset)?:
            let beside = offset == 0 ? "" : ", offset: \(DurationText.text(milliseconds: offset))"
            return .write("{at: \(mark.rawValue)\(beside)}")
        case nil:
            guard isAwaited, RuleSetReader.isDuration(text) else { return nil }
            return Hint(
                "to wait for a time, write delay: \(text)",
                checker.changes(ofKey: "wait_for", before: node, into: "delay"))
        }
    }

    private static func isDuration(_ text: String) -> Bool { (try? DurationText.milliseconds(text)) != nil }

    /// Reports `until` in a trigger of `wait_for`, and returns whether it is there. It belongs to the step `wait`.
    private mutating func reportsUntil(_ node: YAMLNode) -> Bool {
        guard case .mapping(let entries) = node.content, let entry = entries.first(where: { $0.key.text == "until" })
        else { return false }
        checker.error(
            "E201", at: entry.key, "unknown key \"until\" in a trigger",
            hint: Hint(
                "to wait for an expression, write wait: {until: …, timeout: …}",
                checker.changes(ofKey: "wait_for", before: node, into: "wait")))
        return true
    }

    /// True if another step is meant by the value of `wait_for`, which has no timeout: `5s`, `{until: …}`.
    static func isOtherWait(_ node: YAMLNode) -> Bool { node.scalar.map(isDuration) ?? (node["until"] != nil) }

    /// The table of triggers. Its hints depend on which trigger of another program the mapping is, and on whether a
    /// `wait_for` has the trigger, beside which some keys belong.
    private func triggerTable(for node: YAMLNode, isAwaited: Bool) -> MappingTable {
        guard case .mapping(let entries) = node.content else { return .trigger }
        let kind = entries.first { ["platform", "trigger"].contains($0.key.text) }?.value.scalar
        let table = isAwaited ? RuleSetReader.awaitedTrigger : .trigger
        switch kind {
        case "time", "time_pattern", "sun":
            return table.hinting(["platform": "write at:", "trigger": "write at:"])
        case "state", "numeric_state":
            return table.hinting([
                "platform": "write state:", "trigger": "write state:",
                "entity_id": "use state:, with a name under states:",
            ])
        default: return table
        }
    }

    private static let awaitedTrigger = {
        let outer: Set = ["timeout", "then", "else", "claim", "save_as"]
        let hints = outer.map { ($0, "write \($0): beside wait_for:, not in the trigger") }
        return MappingTable.trigger.hinting(Dictionary(uniqueKeysWithValues: hints), outerKeys: outer)
    }()

    /// Reports keys that belong to other kinds of triggers (E210).
    ///
    /// - Parameter kinds: the kinds that have the keys.
    private mutating func rejectKeys(_ keys: [String], of kinds: String..., in fields: CheckedMapping) {
        for key in keys {
            guard let key = fields.key(key) else { continue }
            let list = kinds.map { "\"\($0)\"" }.joined(separator: " and ")
            checker.error("E210", at: key, "\"\(key.text)\" is allowed only with \(list)")
        }
    }

    private mutating func rejectKeysOfButtons(in fields: CheckedMapping) {
        rejectKeys(["event"], of: "button", "chord", in: fields)
        rejectKeys(["clicks", "pattern", "part", "collect"], of: "button", in: fields)
        rejectKeys(["for"], of: "button", "state", in: fields)
        rejectKeys(["within"], of: "chord", in: fields)
        rejectKeys(["from", "to"], of: "state", in: fields)
    }

    // MARK: Buttons

    /// An entry under `button` and the buttons it stands for.
    struct WrittenSelector {
        var selectors: [ButtonSelector]
        /// True if the entry names a group, of which at least one button must have the event.
        var isGroup = false
        var node: YAMLNode
    }

    private mutating func readSelectors(_ node: YAMLNode) -> [WrittenSelector] {
        var selectors: [WrittenSelector] = []
        for node in checker.oneOrMany(node, empty: "an empty list of buttons never matches") {
            guard let selector = readSelector(node) else { continue }
            memberCount += selector.selectors.count
            guard memberCount <= RuleSetReader.maximumMembers else {
                checker.error(
                    "E112", at: node, "triggers name more than \(RuleSetReader.maximumMembers) buttons together")
                break
            }
            selectors.append(selector)
        }
        return selectors
    }

    private mutating func readSelector(_ node: YAMLNode) -> WrittenSelector? {
        if case .mapping = node.content {
            guard let description = checker.fields(node, .hardware).flatMap({ readHardware($0) }) else { return nil }
            let selector = hardware[description].map { ButtonSelector.declared($0.button) } ?? .hardware(description)
            return WrittenSelector(selectors: [selector], node: node)
        }
        guard let name = checker.plainText(node, key: "button", wanted: "a button") else { return nil }
        if name == "any" { return WrittenSelector(selectors: [.any], node: node) }
        if let button = buttons[name] { return WrittenSelector(selectors: [.declared(button)], node: node) }
        if let members = ruleSet.groups[name] {
            return WrittenSelector(selectors: members.map { .declared($0) }, isGroup: true, node: node)
        }
        reportUnknownButton(name, node)
        return nil
    }

    // MARK: Events

    /// An event and the node in which it is written.
    struct WrittenEvent {
        var event: TriggerEvent
        var node: YAMLNode
    }

    mutating func readEvents(_ fields: CheckedMapping, owner: String = "a trigger") -> [WrittenEvent] {
        let keys = ["event", "clicks", "pattern"]
        let written = keys.filter { fields.has($0) }
        guard written.count <= 1 else {
            let second = written.compactMap { fields.key($0) }.sorted { $0.start < $1.start }[1]
            checker.error("E210", at: second, "give only one of \"event\", \"clicks\" and \"pattern\"")
            return []
        }
        guard let key = written.first else {
            // A missing or misspelt `button` is already reported.
            if fields.has("button"), keys.allSatisfy({ !fields.misspelt.contains($0) }) {
                checker.missing("event", in: fields, owner: owner)
            }
            return []
        }
        var events: [WrittenEvent] = []
        var isWhole = true
        if let node = fields.node(key) {
            switch key {
            case "clicks":
                let count = fields.integer("clicks") ?? 1
                events = [WrittenEvent(event: .pattern(Array(repeating: .short, count: count)), node: node)]
            case "pattern":
                events =
                    readPattern(node, fields.key("pattern")).map { [WrittenEvent(event: .pattern($0), node: node)] }
                    ?? []
            default:
                // An entry of a list has no key of its own.
                let key = node.scalar == nil ? nil : fields.key("event")
                for node in checker.oneOrMany(node, empty: "an empty list of events never matches") {
                    if let event = readEvent(node, key) {
                        events.append(WrittenEvent(event: event, node: node))
                    } else {
                        isWhole = false
                    }
                }
            }
        }
        if isWhole, !events.isEmpty { apply("for", "event: hold", to: &events, fields) }
        if isWhole, !events.isEmpty { apply("collect", "rotate events", to: &events, fields) }
        return events
    }

    /// Applies `for` or `collect` to the events. Reports E210 when an event is of another kind.
    private mutating func apply(
        _ name: String, _ kind: String, to events: inout [WrittenEvent], _ fields: CheckedMapping
    ) {
        guard fields.has(name) else { return }
        for index in events.indices {
            switch (events[index].event, name) {
            case (.hold, "for"):
                let range = Duration.milliseconds(1)...Duration.seconds(30)
                if let node = fields.node("for"), let duration = checker.duration(node, key: "for", range) {
                    events[index].event = .hold(after: duration)
                }
            case (.rotate(let direction, _), "collect"):
                if let duration = fields.duration("collect") {
                    events[index].event = .rotate(direction, collect: duration)
                }
            case (.down, _), (.up, _), (.pattern, _), (.hold, _), (.holdRelease, _), (.swipe, _), (.rotate, _),
                (.connected, _), (.disconnected, _), (.batteryLow, _):
                if let key = fields.last(of: [name, "event", "clicks", "pattern"]) {
                    checker.error("E210", at: key, "\"\(name)\" is allowed only with \(kind)")
                }
                return
            }
        }
    }

    private mutating func readPattern(_ node: YAMLNode, _ key: YAMLNode.Key?) -> [PressLength]? {
        guard case .sequence(let nodes) = node.content else {
            if !node.isInvalid {
                checker.error("E203", at: node, "\"pattern\" must be a list", hint: "write [short, short, long]")
            }
            return nil
        }
        let entries = checker.oneOrMany(node, empty: "an empty pattern never matches")
        let presses = entries.compactMap {
            checker.oneOf($0, key: "pattern", PressLength.words).flatMap(PressLength.init(rawValue:))
        }
        guard presses.count == nodes.count, !nodes.isEmpty else { return nil }
        guard (2...8).contains(presses.count) else {
            let event: String? = presses == [.short] ? "click" : presses == [.long] ? "hold" : nil
            let hint = event.map { event in
                Hint("use event: \(event)", checker.changes(of: key, with: node, into: "event: \(event)"))
            }
            checker.error(
                "E205", at: node, "\"pattern\" must have 2 to 8 presses, not \(presses.count)", hint: hint)
            return nil
        }
        return presses
    }

    private mutating func readEvent(_ node: YAMLNode, _ key: YAMLNode.Key?) -> TriggerEvent? {
        guard let text = checker.plainText(node, key: "event", wanted: "an event") else { return nil }
        if let event = TriggerEvent.byName[text] { return event }
        let near = checker.nearest(to: text, among: TriggerEvent.fileNames).map { Hint.meant($0) }
        checker.error(
            "E204", at: node, "unknown event \"\(checker.shown(text))\"", hint: foreign(text, node, key) ?? near)
        return nil
    }

    /// The hint for the name of an event in other systems. Events that may stand in its place are changes.
    private func foreign(_ name: String, _ node: YAMLNode, _ key: YAMLNode.Key?) -> Hint? {
        guard let hint = TriggerEvent.foreignHints[name] else { return nil }
        if let clicks = hint.firstRange(of: "clicks: ") {
            return Hint(hint, checker.changes(of: key, with: node, into: String(hint[clicks.lowerBound...])))
        }
        guard hint.hasPrefix("use ") else { return Hint(hint) }
        let words = hint.dropFirst("use ".count).split { !($0.isLetter || $0 == "_") }.filter { $0 != "or" }
        return Hint(hint, words.map { Hint.Change(nil, String($0)) })
    }

    private mutating func readParts(_ fields: CheckedMapping) -> [(part: ButtonPart, node: YAMLNode)] {
        guard let node = fields.node("part") else { return [] }
        return checker.oneOrMany(node, empty: "an empty list of parts never matches").compactMap { node in
            checker.oneOf(node, key: "part", ButtonPart.allCases.map(\.rawValue))
                .flatMap(ButtonPart.init(rawValue:)).map { ($0, node) }
        }
    }

    // MARK: Chords

    private mutating func readChord(_ fields: CheckedMapping) -> Trigger? {
        rejectKeys(["clicks", "pattern", "for", "part", "collect"], of: "button", in: fields)
        var event: ChordEvent? = .down
        if fields.isWritten("event") {
            event = fields.node("event").flatMap { checker.oneOf($0, key: "event", ChordEvent.words) }
                .flatMap(ChordEvent.init(rawValue:))
        }
        guard let node = fields.node("chord"), let members = readMembers(node), let event else { return nil }
        let within = fields.duration("within") ?? Chord(members: []).within
        uses.markUsed(members)
        return Trigger(
            origin: .chord(members, within: within, event), id: fields.string("id"), location: location(of: fields.node)
        )
    }

    private mutating func readMembers(_ node: YAMLNode) -> [Int]? {
        guard case .sequence(let nodes) = node.content else {
            if !node.isInvalid {
                checker.error(
                    "E203", at: node, "\"chord\" must be a list of buttons", hint: "write [\(exampleButtons)]")
            }
            return nil
        }
        var members: [Int] = []
        var names: Set<String> = []
        var isWhole = true
        for node in checker.oneOrMany(node, emptyCode: "E503", empty: "a chord needs at least two different buttons") {
            guard let name = checker.plainText(node, key: "chord", wanted: "a button") else {
                isWhole = false
                continue
            }
            if !names.insert(name).inserted, nodes.count > 2 {
                checker.error("E503", at: node, "\"\(checker.shown(name))\" occurs twice in this chord")
                isWhole = false
            }
            if let button = buttons[name] {
                members.append(button)
            } else {
                isWhole = false
                if ruleSet.groups[name] != nil || name == "any" {
                    checker.error(
                        "E301", at: node, "\"\(name)\" is \(name == "any" ? "not a button" : "a group")",
                        hint: "name each button of the chord")
                } else {
                    reportUnknownButton(name, node)
                }
            }
        }
        guard isWhole, !nodes.isEmpty else { return nil }
        guard Set(members).count > 1 else {
            checker.error("E503", at: node, "a chord needs at least two different buttons")
            return nil
        }
        guard members.count <= 4 else {
            checker.error("E503", at: node, "a chord has at most four buttons, not \(members.count)")
            return nil
        }
        return members
    }
}

extension PressLength {
    fileprivate static let words = allCases.map(\.rawValue)
}

extension ChordEvent {
    fileprivate static let words = allCases.map(\.rawValue)
}
