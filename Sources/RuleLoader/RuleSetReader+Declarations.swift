import Diagnostics
import Expressions
import Rules
import YAMLFiles

extension RuleSetReader {
    /// Reads the entries of a mapping whose keys are names, each declared once in the whole set.
    ///
    /// - Parameters:
    ///   - names: the declared names of this kind.
    ///   - root: the root under which expressions find the names; `nil` if they do not.
    ///   - example: one entry, for hints.
    ///   - body: reads one entry and returns whether it was declared. The name it receives is `nil` when it is used
    ///     already or not allowed.
    mutating func forEachDeclared(
        _ node: YAMLNode, key: String, _ names: WritableKeyPath<RuleSetReader, DeclaredNames>, as noun: String,
        root: Root?, example: String, _ body: (inout RuleSetReader, YAMLNode.Entry, String?) -> Bool
    ) {
        guard case .mapping(let entries) = node.content else {
            markIncomplete(key)
            guard !node.isInvalid else { return }
            checker.noMapping(
                "E203", at: node, "\"\(key)\" must be a mapping of name to \(noun)", hint: "write \(example)")
            return
        }
        for entry in entries {
            let key = entry.key
            if reportsIndentedSection(entry, among: noun) { continue }
            if let meant = checker.reportsMissingSpace(entry) {
                if self[keyPath: names].declare(meant, as: noun, in: checker.source.name, at: key.start) == nil,
                    let root
                {
                    scope.markInvalid(meant, of: root)
                }
                continue
            }
            let example = "\(checker.shown(key.text)): " + example.drop { $0 != " " }.dropFirst()
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
                if let root, before == nil { scope.markInvalid(key.text, of: root) }
                continue
            }
            let isDeclared = body(&self, entry, isName && before == nil ? key.text : nil)
            if let root, !isDeclared, before == nil { scope.markInvalid(key.text, of: root) }
        }
    }

    /// Reports a section of the file, such as `rules:`, that is indented and therefore reads as a name.
    private mutating func reportsIndentedSection(_ entry: YAMLNode.Entry, among noun: String) -> Bool {
        let key = entry.key.text
        guard MappingTable.rulesFile.key(key) != nil else { return false }
        switch entry.value.content {
        case .invalid: return false
        case .scalar(let text, _):
            // Variables and states may be called so, and these are possible values of a variable.
            guard noun == "button", key == "version" && Int(text) != nil || key == "include" && text.hasSuffix(".yaml")
            else { return false }
        case .sequence: guard noun != "group" || NameRules.reserved.contains(key) else { return false }
        case .mapping(let entries):
            guard NameRules.reserved.contains(key) || isSection(key, entries, among: noun) else { return false }
        }
        checker.error(
            "E209", at: entry.key, "\"\(key)\" is indented, and would be the name of a \(noun)",
            hint: checker.reportsExactly
                ? checker.source.withoutIndentation(at: entry.key.start) : "a key of the file begins in column 1")
        markIncomplete(key)
        return true
    }

    /// True if the entries are those of a section of the file, and no declaration of something that is called like the
    /// section.
    private func isSection(_ section: String, _ entries: [YAMLNode.Entry], among noun: String) -> Bool {
        let declarations: [String: MappingTable] = [
            "button": .button, "state": .state, "variable": .variable, "script": .script,
        ]
        guard let declaration = declarations[noun], !entries.contains(where: { declaration.key($0.key.text) != nil })
        else { return false }
        switch section {
        case "location": return entries.contains { MappingTable.location.key($0.key.text) != nil }
        case "defaults": return entries.contains { MappingTable.defaults.key($0.key.text) != nil }
        case "groups": return entries.contains { if case .sequence = $0.value.content { true } else { false } }
        case "scripts": return entries.contains { $0.value["actions"] != nil }
        default: return false
        }
    }

    /// The position of a declaration for messages, with its file when the set has several.
    func text(of key: YAMLNode.Key) -> String {
        let position = "\(key.start.line):\(key.start.column)"
        return documents.count == 1 ? position : "\(checker.source.name):\(position)"
    }

    // MARK: Scripts

    /// Reads the names and inputs of scripts, and adds the scripts to `unread`: their steps are read when all names are
    /// declared.
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
            let index = reader.ruleSet.scripts.count
            if !wrong.isEmpty { reader.wrongInputs[index] = wrong }
            reader.scripts[name] = index
            reader.ruleSet.scripts.append(Script(name: name, inputs: inputs, location: reader.location(of: entry.key)))
            reader.contents.scripts.append(entry.value.fingerprint)
            found.append((index, reader.currentDocument, entry.value))
            return true
        }
        unread += found
    }

    /// - Parameter wrong: receives the names of inputs that could not be declared.
    private mutating func readInputs(_ node: YAMLNode, wrong: inout Set<String>) -> [Script.Input] {
        guard case .mapping(let entries) = node.content else {
            guard !node.isInvalid else { return [] }
            checker.noMapping(
                "E203", at: node, "\"inputs\" must be a mapping of name to input", hint: "write name: {type: string}")
            return []
        }
        var inputs: [Script.Input] = []
        for entry in entries {
            let key = entry.key
            if let meant = checker.reportsMissingSpace(entry) {
                wrong.insert(meant)
                continue
            }
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
        return Script.Input(name: name, type: type, defaultValue: fallback)
    }
}
