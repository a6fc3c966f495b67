import Almanac
import Diagnostics
import Expressions
import Rules

extension RuleReader {
    /// Reads the entries of a mapping whose keys are names, each declared once in the whole set.
    ///
    /// - Parameters:
    ///   - names: where they are kept.
    ///   - root: where expressions find them.
    ///   - example: one entry, for who wrote none.
    ///   - body: reads one value and returns whether it could be declared. Its name is `nil` when it may not have it.
    mutating func forEachDeclared(
        _ node: YAMLNode, key: String, _ names: WritableKeyPath<RuleReader, DeclaredNames>, as noun: String,
        root: Root?, example: String, _ body: (inout RuleReader, YAMLNode.Entry, String?) -> Bool
    ) {
        guard case .mapping(let entries) = node.content else {
            leaveOut(key)
            guard !node.isInvalid else { return }
            checker.error(
                "E203", at: node, "\"\(key)\" must be a mapping of name to \(noun)", hint: "write \(example)")
            return
        }
        for entry in entries {
            let key = entry.key
            let isName = checker.checkName(
                key.text, isPlain: key.isPlain, from: key.start, to: key.end, alias: key.alias)
            let before = self[keyPath: names].declare(
                key.text, as: noun, in: checker.source.name, at: key.start)
            if isName, let before {
                checker.error(
                    "E303", at: key, "\"\(key.text)\" is already the name of a \(before.noun), at \(before.text)")
            }
            guard !entry.value.isNull else {
                checker.error(
                    "E114", at: key, "\"\(checker.shown(key.text))\" has no value", hint: "write \(example)")
                if let root, before == nil { scope.leaveOut(key.text, of: root) }
                continue
            }
            let isDeclared = body(&self, entry, isName && before == nil ? key.text : nil)
            if let root, !isDeclared, before == nil { scope.leaveOut(key.text, of: root) }
        }
    }

    /// As messages call the place of a declaration: with its file where there are several.
    private func text(of key: YAMLNode.Key) -> String {
        let place = "\(key.start.line):\(key.start.column)"
        return documents.count == 1 ? place : "\(checker.source.name):\(place)"
    }

    // MARK: States

    mutating func readStates(_ node: YAMLNode) {
        forEachDeclared(
            node, key: "states", \.stateNames, as: "state", root: .states,
            example: "hall_light: {topic: zigbee2mqtt/hall, value: /state}"
        ) { reader, entry, name in
            guard let state = reader.readState(entry, named: name) else { return false }
            reader.set.states.append(state)
            reader.contents.states.append((state.name, entry.value))
            return true
        }
    }

    private mutating func readState(_ entry: YAMLNode.Entry, named name: String?) -> DeclaredState? {
        guard let fields = checker.fields(entry.value, .state, owner: .init("state", named: entry.key.text)) else {
            return nil
        }
        let hasRightType = !fields.isWritten("type") || fields.node("type") != nil
        let type = fields.string("type").flatMap(ExpressionType.Scalar.init(rawValue:)) ?? .string
        let topicName = fields.string("topic").flatMap { topic in
            fields.node("topic").flatMap { checkTopicName(topic, $0) ? topic : nil }
        }
        let pointer = fields.string("value") ?? ""
        var isRight = hasRightType
        if JSONPointer(pointer) == nil, let node = fields.node("value") {
            let hint = pointer.hasPrefix("/") ? "write ~0 for ~ and ~1 for / in a name" : "write /\(pointer)"
            checker.error(
                "E203", at: node, "\"value\" must be a JSON Pointer, not \"\(checker.shown(pointer, of: node))\"",
                hint: node.tag == nil ? hint : nil)
            isRight = false
        }
        var fallback: Value?
        if hasRightType, let node = fields.node("default") {
            fallback = value(node, key: "default", type)
            if fallback == nil { isRight = false }
        }
        for key in ["value", "default", "max_age"] where fields.isWritten(key) && fields.node(key) == nil {
            isRight = false
        }
        guard isRight, let topicName, let name else { return nil }
        let isOptional = fallback == nil
        scope.states[name] = Scope.Declared(
            slot: set.states.count, type: ExpressionType(.scalar(type), isOptional: isOptional),
            place: text(of: entry.key), remedy: fields.isWritten("type") ? nil : .giveType)
        return DeclaredState(
            name: name, topicName: topicName, pointer: pointer, type: type, fallback: fallback,
            maximumAge: fields.duration("max_age"), place: place(entry.key))
    }

    private mutating func checkTopicName(_ topic: String, _ node: YAMLNode) -> Bool {
        if topic.isEmpty {
            checker.error("E508", at: node, "a state's topic cannot be empty")
        } else if let wildcard = topic.first(where: { $0 == "#" || $0 == "+" }) {
            let start = checker.place(of: String(wildcard), in: node)
            checker.error(
                "E508", from: start, to: start.advanced(by: 1), alias: node.alias,
                "a state's topic cannot contain # or +", hint: "declare a state for each topic")
        } else if topic.utf8.contains(0) {
            checker.error("E508", at: node, "a state's topic cannot contain NUL")
        } else if topic.utf8.count > 65_535 {
            checker.error("E508", at: node, "a state's topic is at most 65535 bytes long")
        } else {
            return true
        }
        return false
    }

    // MARK: Variables

    mutating func readVariables(_ node: YAMLNode) {
        forEachDeclared(
            node, key: "variables", \.variableNames, as: "variable", root: .variables, example: "guest: false"
        ) { reader, entry, name in
            guard let variable = reader.readVariable(entry, named: name) else { return false }
            reader.set.variables.append(variable)
            reader.contents.variables.append((variable.name, entry.value))
            return true
        }
    }

    private mutating func readVariable(_ entry: YAMLNode.Entry, named name: String?) -> DeclaredVariable? {
        let node = entry.value
        let text = entry.key.text
        guard case .mapping = node.content else {
            if case .sequence = node.content {
                checker.error(
                    "E203", at: node, "\"\(checker.shown(text))\" must be a value or a mapping, not a list",
                    hint: "write {initial: …, values: […]}")
                return nil
            }
            guard let initial = value(node, key: text), let name, let type = initial.scalar else { return nil }
            declare(name, type, [], at: entry.key, remedy: remedy(for: initial, node))
            return DeclaredVariable(name: name, type: type, initial: initial, place: place(entry.key))
        }
        guard let fields = checker.fields(node, .variable, owner: .init("variable", named: text)) else { return nil }
        var initial: Value?
        var type = fields.string("type").flatMap(ExpressionType.Scalar.init(rawValue:))
        if let node = fields.node("initial") {
            if let type {
                initial = value(node, key: "initial", type)
            } else if !fields.isWritten("type") {
                initial = value(node, key: "initial")
                type = initial?.scalar
            }
        }
        guard let type else { return nil }
        let values = readValues(fields, type)
        let areRangesRight = checkRange(fields, type, initial)
        guard let initial, let values, areRangesRight else { return nil }
        if !values.isEmpty, !values.contains(where: { $0.isSame(as: initial) }), let node = fields.node("initial") {
            let list = Checker.list(
                values.prefix(20).map { value in
                    let text = value.text ?? ""
                    return checker.confidential.contains(text) ? "***" : checker.shown(text)
                })
            let written = initial.text ?? ""
            checker.error(
                "E204", at: node, "\"initial\" must be \(list), not \"\(checker.shown(written, of: node))\"",
                hint: checker.nearest(to: written, among: values.compactMap(\.text)).map { "did you mean \($0)?" })
            return nil
        }
        guard let name, !fields.isWritten("persist") || fields.boolean("persist") != nil else { return nil }
        let remedy = fields.isWritten("type") ? nil : fields.node("initial").flatMap { self.remedy(for: initial, $0) }
        declare(name, type, values, at: entry.key, remedy: remedy)
        return DeclaredVariable(
            name: name, type: type, initial: initial, values: values, minimum: fields.number("min"),
            maximum: fields.number("max"), isPersisted: fields.boolean("persist") ?? true, place: place(entry.key))
    }

    private mutating func declare(
        _ name: String, _ type: ExpressionType.Scalar, _ values: [Value], at key: YAMLNode.Key, remedy: Scope.Remedy?
    ) {
        scope.variables[name] = Scope.Declared(
            slot: set.variables.count, type: ExpressionType(type), values: values, place: text(of: key),
            remedy: remedy)
    }

    /// `"0"` would be a number without its quotes.
    private func remedy(for initial: Value, _ node: YAMLNode) -> Scope.Remedy? {
        guard case .string(let text) = initial, node.tag == nil, YAMLNumber.isDecimal(text) else { return nil }
        return .removeQuotes
    }

    /// What the variable may hold; `nil` when that is wrong.
    private mutating func readValues(_ fields: Fields, _ type: ExpressionType.Scalar) -> [Value]? {
        guard fields.isWritten("values") else { return [] }
        guard let node = fields.node("values") else { return nil }
        guard case .sequence(let nodes) = node.content else {
            if !node.isInvalid { checker.error("E203", at: node, "\"values\" must be a list", hint: "write [a, b]") }
            return nil
        }
        let entries = checker.oneOrMany(node, empty: "an empty list of values allows none")
        let values = entries.compactMap { value($0, key: "values", type) }
        return values.count == nodes.count && !nodes.isEmpty ? values : nil
    }

    /// `min` and `max`, and whether `initial` lies between them.
    private mutating func checkRange(_ fields: Fields, _ type: ExpressionType.Scalar, _ initial: Value?) -> Bool {
        let written = ["min", "max"].compactMap { fields.key($0) }
        guard !written.isEmpty else { return true }
        guard type == .integer || type == .number else {
            let isSpeltAsText = if case .string(let text)? = initial { YAMLNumber.isDecimal(text) } else { false }
            for key in written {
                checker.error(
                    "E210", at: key, "\"\(key.text)\" goes only with numbers; this is a \(type.rawValue)",
                    hint: isSpeltAsText ? "remove the quotes from initial" : nil)
            }
            return false
        }
        let minimum = fields.number("min")
        let maximum = fields.number("max")
        guard written.allSatisfy({ fields.number($0.text) != nil }) else { return false }
        if let minimum, let maximum, minimum > maximum, let key = fields.last(of: ["min", "max"]) {
            checker.error("E205", at: key, "\"max\" is less than \"min\"")
            return false
        }
        guard let initial, let number = initial.double, let node = fields.node("initial"),
            number < minimum ?? number || number > maximum ?? number
        else { return true }
        let low = minimum.flatMap { Value.number($0).text }
        let high = maximum.flatMap { Value.number($0).text }
        let bounds =
            switch (low, high) {
            case (let low?, let high?): "between \(low) and \(high)"
            case (let low?, nil): "at least \(low)"
            case (nil, let high): "at most \(high ?? "")"
            }
        checker.error("E205", at: node, "\"initial\" must be \(bounds), not \(initial.text ?? "")")
        return false
    }

    // MARK: Scripts

    /// Their names and inputs; their steps are read when everything has a name.
    mutating func readScripts(_ node: YAMLNode, _ unread: inout [(script: Int, document: Int, node: YAMLNode)]) {
        var found: [(script: Int, document: Int, node: YAMLNode)] = []
        forEachDeclared(
            node, key: "scripts", \.scriptNames, as: "script", root: nil, example: "all_off: {actions: […]}"
        ) { reader, entry, name in
            let owner = Checker.Owner("script", named: entry.key.text)
            guard let fields = reader.checker.fields(entry.value, .script, owner: owner) else { return false }
            var wrong: Set<String> = []
            let inputs = fields.node("inputs").map { reader.readInputs($0, wrong: &wrong) } ?? []
            guard let name else { return false }
            let index = reader.set.scripts.count
            if !wrong.isEmpty { reader.wrongInputs[index] = wrong }
            reader.scripts[name] = index
            reader.set.scripts.append(Script(name: name, inputs: inputs, place: reader.place(entry.key)))
            reader.contents.scripts.append(entry.value)
            found.append((index, reader.current, entry.value))
            return true
        }
        unread += found
    }

    /// - Parameter wrong: what could not be declared.
    private mutating func readInputs(_ node: YAMLNode, wrong: inout Set<String>) -> [Script.Input] {
        guard case .mapping(let entries) = node.content else {
            guard !node.isInvalid else { return [] }
            checker.error(
                "E203", at: node, "\"inputs\" must be a mapping of name to input", hint: "write lamp: {type: string}")
            return []
        }
        var inputs: [Script.Input] = []
        for entry in entries {
            let key = entry.key
            let isName = checker.checkName(
                key.text, isPlain: key.isPlain, from: key.start, to: key.end, alias: key.alias)
            if let input = readInput(entry), isName { inputs.append(input) } else { wrong.insert(key.text) }
        }
        return inputs
    }

    private mutating func readInput(_ entry: YAMLNode.Entry) -> Script.Input? {
        let name = entry.key.text
        guard !entry.value.isNull else {
            checker.error(
                "E114", at: entry.key, "\"\(checker.shown(name))\" has no value", hint: "write {type: string}")
            return nil
        }
        guard let fields = checker.fields(entry.value, .scriptInput, owner: .init("input", named: name)),
            let type = fields.string("type").flatMap(ExpressionType.Scalar.init(rawValue:))
        else { return nil }
        guard fields.isWritten("default") else { return Script.Input(name: name, type: type) }
        guard let fallback = fields.node("default").flatMap({ value($0, key: "default", type) }) else { return nil }
        return Script.Input(name: name, type: type, fallback: fallback)
    }
}

extension Value {
    /// Of one value the language has a type for.
    fileprivate var scalar: ExpressionType.Scalar? {
        switch self {
        case .boolean: .boolean
        case .integer: .integer
        case .number: .number
        case .string: .string
        case .duration: .duration
        case .unknown, .list: nil
        }
    }

    fileprivate var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .unknown, .boolean, .string, .duration, .list: nil
        }
    }
}
