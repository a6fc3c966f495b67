import ButtonModel
import Diagnostics
import Rules

/// Reads a rules file: shape first, then what its parts say about one another.
struct RuleReader {
    static let languageVersion = 1

    var checker: Checker
    var set = RuleSet()
    /// What the cross-references are checked against and reported at.
    var references = RuleReferences()

    static func load(_ file: SourceFile, in environment: LoadEnvironment) -> Loaded<RuleSet> {
        let document = Document(file, in: environment)
        var reader = RuleReader(checker: document.checker)
        if let root = document.root {
            reader.read(root)
            reader.references.check(reader.set, &reader.checker)
        } else if !reader.checker.hasErrors {
            reader.checker.error(
                "E202", from: .start, to: .start.advanced(by: 1), "the file has no \"version\"",
                hint: "begin it with version: 1")
        }
        reader.set.confidential = reader.checker.confidential
        return Loaded(reader.set, reader.checker.diagnostics)
    }

    private mutating func read(_ root: YAMLNode) {
        guard let fields = checker.fields(root, .rulesFile) else { return }
        if let version = fields.integer("version"), version != RuleReader.languageVersion,
            let node = fields.node("version")
        {
            checker.error("E204", at: node, "this program understands version \(RuleReader.languageVersion)")
        }
        references.knowsAllButtons = !fields.misspelt.contains("buttons") && !fields.misspelt.contains("groups")
        if let buttons = fields.node("buttons") { readButtons(buttons) }
        if let rules = fields.node("rules") { readRules(rules) }
    }

    private mutating func readRules(_ node: YAMLNode) {
        guard case .sequence(let nodes) = node.content else {
            if case .invalid = node.content { return }
            checker.error("E203", at: node, "\"rules\" must be a list", hint: "begin each rule with - id:")
            return
        }
        for node in nodes { readRule(node) }
    }

    private mutating func readRule(_ node: YAMLNode) {
        guard !node.isNull else {
            checker.error(
                "E114", from: node.start, to: node.start.advanced(by: 1), "this rule is empty", hint: "remove the dash")
            return
        }
        guard let fields = checker.fields(node, .rule, owner: ruleName(node)) else { return }
        var triggers: [Trigger] = []
        if let node = fields.node("triggers") {
            for node in checker.oneOrMany(node, empty: "an empty list of triggers never matches") {
                if let trigger = readTrigger(node, rule: fields.string("id")) { triggers.append(trigger) }
            }
        }
        let queued = fields.node("queued").flatMap { readQueuedPolicy($0) }
        var actions: [Action] = []
        if let node = fields.node("actions") { actions = checker.steps(node) }
        guard let id = fields.string("id") else { return }
        if let idNode = fields.node("id") { references.declare(rule: id, idNode, &checker) }
        set.rules.append(
            Rule(id: id, alias: fields.string("alias"), triggers: triggers, queued: queued, actions: actions))
    }

    /// How messages call a rule whose fields are not read yet.
    private func ruleName(_ node: YAMLNode) -> String {
        guard case .mapping(let entries) = node.content,
            let value = entries.first(where: { $0.key.text == "id" })?.value, case .scalar(let id, _) = value.content
        else { return "a rule" }
        return "rule \"\(checker.shown(id))\""
    }

    // MARK: Triggers

    private mutating func readTrigger(_ node: YAMLNode, rule: String?) -> Trigger? {
        guard let fields = checker.fields(node, .trigger, owner: "a trigger") else { return nil }
        var selectors: [(ButtonSelector, YAMLNode)] = []
        if let node = fields.node("button") {
            for node in checker.oneOrMany(node, empty: "an empty list of buttons never matches") {
                if let selector = readSelector(node) { selectors.append((selector, node)) }
            }
        }
        var events: [(TriggerEvent, YAMLNode)] = []
        if let node = fields.node("event") {
            for node in checker.oneOrMany(node, empty: "an empty list of events never matches") {
                if let event = readEvent(node) { events.append((event, node)) }
            }
        }
        references.use(selectors, for: events)
        return Trigger(buttons: selectors.map(\.0), events: events.map(\.0), id: fields.string("id"))
    }

    private mutating func readSelector(_ node: YAMLNode) -> ButtonSelector? {
        if case .mapping = node.content {
            guard let fields = checker.fields(node, .hardware) else { return nil }
            return readHardware(fields).map(ButtonSelector.hardware)
        }
        guard let text = checker.text(node, key: "button", .areForbidden)?.string else { return nil }
        return text == "any" ? .any : .named(text)
    }

    private static let events: [String: TriggerEvent] = {
        var events: [String: TriggerEvent] = [:]
        for gesture in Gesture.allCases { events[gesture.rawValue] = .gesture(gesture) }
        for event in RawEvent.allCases { events[event.rawValue] = .raw(event) }
        return events
    }()
    private static let plannedEvents = [
        "swipe_left", "swipe_right", "swipe_up", "swipe_down", "rotate_clockwise", "rotate_counter_clockwise",
        "connected", "disconnected", "battery_low",
    ]
    private static let foreignEvents = [
        "press": "use down, or click", "single": "use click", "single_click": "use click", "double": "use double_click",
        "triple_click": "three clicks are part of the language but this version does not do them yet",
        "long": "use hold", "long_press": "use hold", "release": "use up, or hold_release",
    ]

    private mutating func readEvent(_ node: YAMLNode) -> TriggerEvent? {
        guard let text = checker.text(node, key: "event", .areForbidden)?.string else { return nil }
        if let event = RuleReader.events[text] { return event }
        if RuleReader.plannedEvents.contains(text) {
            checker.error("E204", at: node, checker.notYet(text))
            return nil
        }
        let words = (Gesture.allCases.map(\.rawValue) + RawEvent.allCases.map(\.rawValue)) + RuleReader.plannedEvents
        let near = checker.nearest(to: text, among: words).map { "did you mean \"\($0)\"?" }
        checker.error(
            "E204", at: node, "unknown event \"\(checker.shown(text))\"", hint: RuleReader.foreignEvents[text] ?? near)
        return nil
    }
}
