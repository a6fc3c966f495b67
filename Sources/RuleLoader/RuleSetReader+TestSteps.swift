import ButtonModel
import Expressions
import Rules
import YAMLFiles

/// Reads the steps of a test.
extension RuleSetReader {
    private static let stepKeys = Set(MappingTable.testStep.keys.map(\.name))

    mutating func testStep(_ node: YAMLNode) -> TestStep? {
        if let bare = bareStep(node) { return bare }
        if case .scalar(let text, _) = node.content {
            checker.noMapping(
                "E203", at: node, "a step of a test must be a mapping, not the text \"\(checker.shown(text))\"",
                hint: checker.nearest(to: text, among: RuleSetReader.stepKeys.sorted()).map { Hint("write \($0): …") })
            return nil
        }
        guard let fields = checker.fields(node, .testStep),
            let key = checker.action(
                of: RuleSetReader.stepKeys, in: fields, "a step of a test",
                hint: "add event:, advance:, expect: or another"),
            let value = fields.node(key.text), let kind = testStepKind(key, value, fields)
        else { return nil }
        return TestStep(kind, location: location(of: key))
    }

    /// Reads `- reload` and `- restart` without a value, with or without a colon.
    private mutating func bareStep(_ node: YAMLNode) -> TestStep? {
        var name = node.scalar
        var stepLocation = location(of: node)
        if case .mapping(let entries) = node.content, entries.count == 1, entries[0].value.isNull {
            name = entries[0].key.text
            stepLocation = self.location(of: entries[0].key)
        }
        switch name {
        case "reload": return TestStep(.reload(nil), location: stepLocation)
        case "restart": return TestStep(.restart(stoppedFor: .zero), location: stepLocation)
        default: return nil
        }
    }

    private mutating func testStepKind(_ key: YAMLNode.Key, _ node: YAMLNode, _ fields: CheckedMapping) -> TestStep
        .Kind?
    {
        switch key.text {
        case "event": return simulatedEvent(node).map(TestStep.Kind.event)
        case "down": return button(node, key: "down").map(TestStep.Kind.down)
        case "up": return button(node, key: "up").map(TestStep.Kind.up)
        case "press": return readTestPress(node)
        case "chord": return readTestChord(node)
        case "advance": return fields.duration("advance").map(TestStep.Kind.advance)
        case "time": return clockSetting(node)
        case "state": return .state(assignedStates(node, key: "state"))
        case "broker": return fields.string("broker").map { .broker(isOnline: $0 == "online") }
        case "random": return readRandom(node)
        case "run": return ruleID(node, key: "run").map(TestStep.Kind.run)
        case "reload":
            // Without a set for its path the step is left out: see `RuleDocument.reloads`.
            let file = checker.plainText(node, key: "reload", wanted: "the path of a file")
            return file.flatMap { documents[currentDocument].reloads[$0] }.map { .reload($0) }
        case "restart": return fields.duration("restart").map { .restart(stoppedFor: $0) }
        case "expect": return expectedEffects(node).map(TestStep.Kind.expect)
        case "expect_variables": return .expectVariables(assignedVariables(node, key: key.text, code: "E603"))
        default: return expectedOutcomes(node).map(TestStep.Kind.expectRules)
        }
    }

    // MARK: Buttons

    /// Reads the name of a single button; reports a group or `any` (E602).
    private mutating func button(_ node: YAMLNode, key: String) -> String? {
        guard let name = checker.plainText(node, key: key, wanted: "the name of a button") else { return nil }
        if buttons[name] != nil { return name }
        if ruleSet.groups[name] != nil || name == "any" {
            checker.error(
                "E602", at: node, name == "any" ? "\"any\" is not one button" : "\"\(name)\" is a group",
                hint: "name one of its buttons")
        } else {
            reportUnknown(name, of: buttonNames, at: node)
        }
        return nil
    }

    private mutating func simulatedEvent(_ node: YAMLNode) -> SimulatedEvent? {
        guard let fields = checker.fields(node, .simulatedEvent, owner: "\"event\"") else { return nil }
        let name = fields.node("button").flatMap { button($0, key: "button") }
        let events = readEvents(fields, owner: "\"event\"")
        if events.count > 1 {
            checker.error("E602", at: events[1].node, "a step has exactly one event", hint: "write a step for each")
            return nil
        }
        guard let name, let index = buttons[name], let event = events.first else { return nil }
        let selector = WrittenSelector(selectors: [.declared(index)], node: node)
        check(event, [selector])
        let part = fields.string("part").flatMap(ButtonPart.init(rawValue:))
        if let part, let node = fields.node("part") { check((part, node), [selector]) }
        guard let steps = rotation(event.event, fields) else { return nil }
        checkSituation(of: event.event, fields)
        if let key = fields.key("slot"), !ruleSet.buttons[index].model.hasSlots {
            checker.error("E501", at: key, "a \(ruleSet.buttons[index].model.rawValue) has no slots")
        }
        return SimulatedEvent(
            button: name, event: event.event, part: part, steps: steps, position: fields.integer("position"),
            slot: fields.integer("slot"), heldFor: fields.duration("held_for"),
            wasQueued: fields.boolean("queued") ?? false, wasQueuedLast: fields.boolean("last") ?? false,
            age: fields.duration("age") ?? .zero)
    }

    /// Reads the steps of a rotation, positive for clockwise. The event determines the direction: steps of a
    /// counter-clockwise event may be written with either sign.
    private mutating func rotation(_ event: TriggerEvent, _ fields: CheckedMapping) -> Int? {
        guard case .rotate(let direction, _) = event else {
            for name in ["steps", "position", "slot"] {
                guard let key = fields.key(name) else { continue }
                checker.error("E210", at: key, "\"\(name)\" is allowed only with rotate events")
                return nil
            }
            return 1
        }
        guard fields.isWritten("steps") else { return direction == .clockwise ? 1 : -1 }
        guard let steps = fields.integer("steps"), let node = fields.node("steps") else { return nil }
        guard steps != 0, steps > 0 || direction == .counterClockwise else {
            checker.error(
                "E602", at: node, "\(direction.rawValue) has at least one step in its direction, not \(steps)",
                hint: steps == 0
                    ? nil
                    : Hint(
                        "write rotate_counter_clockwise",
                        checker.changes(ofEntry: "event", in: fields, into: "event: rotate_counter_clockwise")))
            return nil
        }
        return direction == .clockwise ? steps : -abs(steps)
    }

    private mutating func checkSituation(of event: TriggerEvent, _ fields: CheckedMapping) {
        if let key = fields.key("held_for") {
            switch event {
            case .hold, .holdRelease: break
            case .down, .up, .pattern, .swipe, .rotate, .connected, .disconnected, .batteryLow:
                checker.error("E210", at: key, "\"held_for\" is allowed only with hold and hold_release")
            }
        }
        if let key = fields.key("last"), fields.boolean("last") == true, fields.boolean("queued") != true {
            checker.error("E210", at: key, "\"last\" is allowed only with queued: true")
        }
    }

    private mutating func readTestPress(_ node: YAMLNode) -> TestStep.Kind? {
        if case .scalar(let text, _) = node.content {
            checker.noMapping(
                "E203", at: node, "\"press\" must be a mapping",
                hint: .write("press", "{button: \(text)}", shown: "{button: \(checker.shown(text))}"))
            return nil
        }
        guard let fields = checker.fields(node, .press, owner: "\"press\""),
            let name = fields.node("button").flatMap({ button($0, key: "button") })
        else { return nil }
        return .press(
            name, times: fields.integer("times") ?? 1, gap: fields.duration("gap") ?? .milliseconds(150),
            duration: fields.duration("for") ?? .milliseconds(80))
    }

    private mutating func readTestChord(_ node: YAMLNode) -> TestStep.Kind? {
        guard case .sequence(let nodes) = node.content else {
            if !node.isInvalid {
                checker.error(
                    "E203", at: node, "\"chord\" must be a list of buttons", hint: "write chord: [\(exampleButtons)]")
            }
            return nil
        }
        var names: [String] = []
        for node in nodes where !checker.reportsNullEntry(node) {
            guard let name = button(node, key: "chord") else { continue }
            guard !names.contains(name) else {
                checker.error("E602", at: node, "\"\(name)\" cannot be pressed twice at once")
                continue
            }
            names.append(name)
        }
        guard names.count == nodes.count else { return nil }
        guard names.count > 1 else {
            checker.error("E602", at: node, "a chord needs at least two different buttons")
            return nil
        }
        return .chord(names)
    }

    /// Reads the time to which a step sets the clock: a time of day, or a day and a time.
    private mutating func clockSetting(_ node: YAMLNode) -> TestStep.Kind? {
        let wanted = "a time such as 23:59:50 or 2026-01-15 12:00"
        guard let text = checker.plainText(node, key: "time", wanted: wanted) else { return nil }
        if let hint = hintForClock(text, node) {
            checker.error("E203", at: node, "\"\(checker.shown(text))\" is not a time of the clock", hint: hint)
            return nil
        }
        if case .time(let second)? = try? TimeOfDay(text) { return .time(.ofDay(second: second)) }
        return moment(node, key: "time", fold: nil).map { .time(.moment($0)) }
    }

    /// What to write instead of a duration, a time of the sun or a faulty time of day; `nil` for another text.
    private func hintForClock(_ text: String, _ node: YAMLNode) -> Hint? {
        if (try? DurationText.milliseconds(text)) != nil {
            return Hint(
                "to let this time pass, write advance: \(text)",
                checker.changes(ofKey: "time", before: node, into: "advance"))
        }
        do {
            switch try TimeOfDay(text) {
            case .time: return nil
            case .sun: return "write a time such as 21:30, because a test sets the clock itself"
            }
        } catch {
            // A day and a time are a moment.
            guard !text.contains("-") else { return nil }
            return error.hint ?? "write a time from 00:00 to 23:59:59, or a day and a time: 2026-01-15 12:00"
        }
    }

    /// Reads the numbers that the function `random` returns.
    private mutating func readRandom(_ node: YAMLNode) -> TestStep.Kind? {
        guard case .sequence(let nodes) = node.content else {
            if !node.isInvalid {
                checker.error(
                    "E203", at: node, "\"random\" must be a list of integers",
                    hint: node.scalar.flatMap(Int64.init).map { .write("random", "[\($0)]", shown: "[\($0)]") })
            }
            return nil
        }
        guard !nodes.isEmpty else {
            checker.error("E602", at: node, "\"random\" needs at least one number")
            return nil
        }
        var numbers: [Int64] = []
        for node in nodes where !checker.reportsNullEntry(node) {
            guard case .integer(let number)? = value(node, key: "random", .integer) else { continue }
            numbers.append(number)
        }
        return numbers.count == nodes.count ? .random(numbers) : nil
    }

    // MARK: States and variables

    /// Reads the payloads that set states in a test, each in the form that the type of the state requires.
    mutating func assignedStates(_ node: YAMLNode, key: String) -> [RuleTest.Assigned] {
        assigned(node, key: key, code: "E203", of: "state") { reader, entry in
            let name = entry.key.text
            guard let slot = reader.scope.states[name]?.slot else {
                reader.reportUnknown(name, of: reader.stateNames, at: entry.key)
                return []
            }
            let state = reader.ruleSet.states[slot]
            if state.combination != nil { return reader.assignedTopics(entry.value, of: state) }
            return reader.payload(entry.value, key: name, state.type).map { [.init(name, .string($0))] } ?? []
        }
    }

    /// Reads the payloads of the topics of a state with `as`.
    private mutating func assignedTopics(_ node: YAMLNode, of state: DeclaredState) -> [RuleTest.Assigned] {
        let filter = TopicFilter(state.topicName)
        guard case .mapping(let entries) = node.content else {
            if !node.isInvalid {
                let topicName = state.topicName.replacing("+", with: "a").replacing("#", with: "a")
                checker.error(
                    "E203", at: node, "\"\(state.name)\" has several topics, and needs a mapping of topic to value",
                    hint: "write \(state.name): {\(topicName): …}")
            }
            return []
        }
        return entries.compactMap { entry in
            let topicName = entry.key.text
            guard !checker.reportsNull(entry) else { return nil }
            guard filter.matches(topicName), !TopicFilter(topicName).hasWildcards else {
                checker.error(
                    "E602", at: entry.key, "\"\(checker.shown(topicName))\" is not one of the topics \(state.topicName)"
                )
                return nil
            }
            return payload(entry.value, key: topicName, state.messageType)
                .map { .init(state.name, .string($0), topicName: topicName) }
        }
    }

    private mutating func payload(_ node: YAMLNode, key: String, _ type: ExpressionType.Scalar) -> String? {
        switch type {
        case .string, .duration: return checker.text(node, key: key, .areForbidden)?.string
        case .boolean:
            let words = ["ON", "OFF", "on", "off", "1", "0"]
            if node.tag == nil, let word = node.scalar, words.contains(word) { return word }
            return checker.boolean(node, key: key).map { $0 ? "true" : "false" }
        case .integer, .number: return value(node, key: key, type) == nil ? nil : node.scalar
        }
    }

    mutating func assignedVariables(_ node: YAMLNode, key: String, code: String = "E203") -> [RuleTest.Assigned] {
        assigned(node, key: key, code: code, of: "variable") { reader, entry in
            let name = entry.key.text
            guard let slot = reader.scope.variables[name]?.slot else {
                reader.reportUnknown(name, of: reader.variableNames, at: entry.key)
                return []
            }
            let declared = reader.ruleSet.variables[slot]
            guard let value = reader.value(entry.value, key: name, declared.type) else { return [] }
            return reader.isAmong(declared.values, value, entry.value, key: name) ? [.init(name, value)] : []
        }
    }

    private mutating func assigned(
        _ node: YAMLNode, key: String, code: String, of noun: String,
        _ values: (inout RuleSetReader, YAMLNode.Entry) -> [RuleTest.Assigned]
    ) -> [RuleTest.Assigned] {
        guard case .mapping(let entries) = node.content else {
            if !node.isInvalid {
                checker.noMapping(
                    code, at: node, "\"\(key)\" must be a mapping of \(noun) to value",
                    hint: "write \(key): {name: value}")
            }
            return []
        }
        return entries.flatMap { entry in
            checker.reportsMissingSpace(entry) != nil || checker.reportsNull(entry) ? [] : values(&self, entry)
        }
    }
}
