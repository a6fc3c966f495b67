import Almanac
import ButtonModel
import Diagnostics
import Expressions
import Rules
import YAMLFiles

/// Reads the documents of one rule set: first all declarations, then the scripts, rules and tests that use them, and
/// last the checks that need the whole set.
struct RuleSetReader {
    static let languageVersion = 1

    /// The entry file first, then the included files.
    var documents: [RuleDocument]
    let inputs: LoadInputs
    /// The index of the document that is being read.
    var currentDocument = 0
    var ruleSet = RuleSet()
    /// All declared names, for expressions. The scope of a rule or a script begins as a copy.
    var scope = Scope()
    /// True when all declarations are in `scope`, which does not change any more.
    private(set) var isEverythingDeclared = false
    var compiled = CompiledTexts()
    var defaults = RuleDefaults()
    /// True if the entry file sets a time zone, even a faulty one.
    var hasTimeZone = false
    /// The names of buttons and groups, which share one namespace.
    var buttonNames = DeclaredNames("button")
    var stateNames = DeclaredNames("state")
    var variableNames = DeclaredNames("variable")
    var scriptNames = DeclaredNames("script")
    var ruleNames = DeclaredNames("rule")
    /// Indices in `ruleSet.buttons` and `ruleSet.scripts`.
    var buttons: [String: Int] = [:]
    var scripts: [String: Int] = [:]
    /// The inputs that could not be declared, by index of the script.
    var wrongInputs: [Int: Set<String>] = [:]
    /// The first button that is declared for each piece of hardware: its index, and the position of its declaration.
    var hardware: [DeclaredButton.Hardware: (button: Int, declaration: DeclaredNames.Declaration)] = [:]
    /// For each trigger mode, the first button that is fixed to it.
    var firstFixed: [TriggerMode: Int] = [:]
    /// The number of buttons in all triggers together, with groups expanded.
    var memberCount = 0
    /// The events of all triggers, for the checks that need all of them.
    var uses = ButtonUses()
    /// The nodes that are read, for the fingerprint of the set.
    var contents = FingerprintParts()
    /// By index in `ruleSet.scripts`.
    var scriptDelays: [LiteralDelays] = []
    var scriptEffects: [ScriptEffect] = []

    /// The keys at the top level of one document.
    private struct Part {
        var document: Int
        var fields: CheckedMapping
    }

    /// A rule whose id is declared and whose content is not yet read.
    private struct UnreadRule {
        var document: Int
        /// The index in `ruleSet.rules`; `nil` when the rule has no valid id, or that of an earlier rule.
        var index: Int?
        var node: YAMLNode
    }

    /// The checker of the document that is being read.
    var checker: Checker {
        _read { yield documents[currentDocument].checker }
        _modify { yield &documents[currentDocument].checker }
    }

    static func load(_ documents: consuming [RuleDocument], in inputs: LoadInputs) -> LoadResult<RuleSet> {
        var reader = RuleSetReader(documents: documents, inputs: inputs)
        reader.read()
        for checker in reader.documents.map(\.checker) {
            reader.ruleSet.confidential.formUnion(checker.confidential)
            reader.ruleSet.secretValues.formUnion(checker.secretValues)
            reader.ruleSet.placeholders.merge(checker.placeholders, uniquingKeysWith: min)
        }
        return LoadResult(
            reader.ruleSet, reader.documents.flatMap(\.checker.diagnostics),
            programs: reader.documents.map(\.checker.programs),
            isComplete: reader.documents.allSatisfy(\.isComplete))
    }

    private init(documents: [RuleDocument], inputs: LoadInputs) {
        self.documents = documents
        self.inputs = inputs
        if !documents.allSatisfy(\.isComplete) { leaveOutEverything() }
    }

    private mutating func read() {
        var parts = documents.indices.compactMap { readTop(of: $0) }
        var entry = parts.filter { documents[$0.document].isEntry }
        forEach(entry, "location") { reader, node in reader.readLocation(node) }
        forEach(entry, "defaults") { reader, node in reader.readDefaults(node) }
        setTimeZone()
        forEach(parts, "buttons") { reader, node in reader.readButtons(node) }
        var groups = UnresolvedGroups()
        forEach(parts, "groups") { reader, node in reader.readGroups(node, &groups) }
        resolve(groups)
        forEach(parts, "states") { reader, node in reader.readStates(node) }
        forEach(parts, "variables") { reader, node in reader.readVariables(node) }
        var scripts: [(script: Int, document: Int, node: YAMLNode)] = []
        forEach(parts, "scripts") { reader, node in reader.readScripts(node, &scripts) }
        var rules: [UnreadRule] = []
        forEach(parts, "rules") { reader, node in reader.findRules(node, &rules) }

        var tests: [(document: Int, node: YAMLNode)] = []
        forEach(parts, "tests") { reader, node in tests.append((reader.currentDocument, node)) }

        // From here on, the nodes of each rule are freed as soon as the rule is read, so that a large set is not in
        // memory twice.
        (parts, entry) = ([], [])
        for index in documents.indices { documents[index].root = nil }
        isEverythingDeclared = true
        // Scripts come first, because rules need the `ScriptEffect` of the scripts they call.
        readScriptSteps(scripts)
        for index in rules.indices {
            currentDocument = rules[index].document
            readRule(rules[index].node, index: rules[index].index)
            rules[index].node.content = .invalid
        }
        for (document, node) in tests {
            currentDocument = document
            for test in node.elements { contents.tests.combine(test) }
            readTests(node)
        }
        let graph = ScriptGraph(ruleSet)
        checkSet()
        if !documents.contains(where: \.checker.hasErrors) { setFingerprints(graph) }
    }

    /// Reads the top level of a document; `nil` when it is empty or not a mapping.
    private mutating func readTop(of document: Int) -> Part? {
        currentDocument = document
        let isEntry = documents[document].isEntry
        guard let root = documents[document].root else {
            if isEntry, !checker.hasErrors {
                checker.error(
                    "E202", from: .start, to: .start.advanced(by: 1), "the file has no \"version\"",
                    hint: Hint("begin it with version: 1", [checker.source.versionLine(at: .start)]))
            }
            return nil
        }
        guard !reportsMissingRules(root), let fields = checker.fields(root, .rulesFile) else {
            leaveOutEverything()
            return nil
        }
        if isEntry {
            if !fields.isWritten("version") { checker.missing("version", in: fields, owner: "the file") }
        } else {
            for key in ["version", "location", "defaults"] {
                guard let key = fields.key(key) else { continue }
                checker.error("E210", at: key, "\"\(key.text)\" belongs in the entry file only")
            }
        }
        if let version = fields.integer("version"), version != RuleSetReader.languageVersion,
            let node = fields.node("version")
        {
            checker.error("E204", at: node, "this program understands version \(RuleSetReader.languageVersion)")
        }
        if fields.isWritten("location") { scope.absent[.sun] = nil }
        for key in ["buttons", "groups", "states", "variables", "scripts", "rules"]
        where fields.isWritten(key) && fields.node(key) == nil {
            markIncomplete(key)
        }
        return Part(document: document, fields: fields)
    }

    private mutating func forEach(_ parts: [Part], _ key: String, _ body: (inout RuleSetReader, YAMLNode) -> Void) {
        for part in parts {
            guard let node = part.fields.node(key) else { continue }
            currentDocument = part.document
            body(&self, node)
        }
    }

    // MARK: Rules

    /// Declares the ids of rules before anything is read that may use them.
    private mutating func findRules(_ node: YAMLNode, _ rules: inout [UnreadRule]) {
        guard case .sequence(let nodes) = node.content else {
            markIncomplete("rules")
            guard !node.isInvalid else { return }
            checker.error("E203", at: node, "\"rules\" must be a list", hint: "begin each rule with - id:")
            return
        }
        rules.reserveCapacity(rules.count + nodes.count)
        ruleSet.rules.reserveCapacity(ruleSet.rules.count + nodes.count)
        for node in nodes {
            let index = declareRule(node)
            rules.append(UnreadRule(document: currentDocument, index: index, node: node))
        }
    }

    private mutating func declareRule(_ node: YAMLNode) -> Int? {
        guard let id = RuleSetReader.id(of: node), case .scalar(let name, _) = id.content else { return nil }
        guard id.tag == nil, NameRules.isDeclarable(name) else {
            scope.markInvalid(name, of: .rules)
            _ = ruleNames.declare(name, in: checker.source.name, at: id.start)
            return nil
        }
        if let before = ruleNames.declare(name, in: checker.source.name, at: id.start) {
            checker.error("E303", at: id, "rule id \"\(name)\" is already used at \(before.text)")
            return nil
        }
        let index = ruleSet.rules.count
        scope.rules[name] = index
        ruleSet.rules.append(Rule(id: name, triggers: [], steps: [], location: location(of: id)))
        contents.rules.append(node.fingerprint)
        return index
    }

    /// The value of `id`, whether it is valid or not.
    static func id(of node: YAMLNode) -> YAMLNode? {
        guard case .mapping(let entries) = node.content else { return nil }
        return entries.first { $0.key.text == "id" }?.value
    }

    // MARK: Declarations that could not be read

    /// Records that the declarations under a key could not be read, so that no name of that kind is reported as
    /// unknown.
    mutating func markIncomplete(_ key: String) {
        switch key {
        case "buttons", "groups":
            buttonNames.isComplete = false
            scope.markAllInvalid(of: .buttons)
        case "states":
            stateNames.isComplete = false
            scope.markAllInvalid(of: .states)
        case "variables":
            variableNames.isComplete = false
            scope.markAllInvalid(of: .variables)
        case "scripts": scriptNames.isComplete = false
        default:
            ruleNames.isComplete = false
            scope.markAllInvalid(of: .rules)
        }
    }

    private mutating func leaveOutEverything() {
        for key in ["buttons", "states", "variables", "scripts", "rules"] { markIncomplete(key) }
        scope.absent[.sun] = nil
    }

    /// The position of a node, with the name of its file.
    func location(of node: YAMLNode) -> SourceLocation {
        SourceLocation(file: checker.source.name, line: node.start.line, column: node.start.column)
    }

    func location(of key: YAMLNode.Key) -> SourceLocation {
        SourceLocation(file: checker.source.name, line: key.start.line, column: key.start.column)
    }
}

/// The values of `defaults:`, which apply to keys that rules and steps leave out.
struct RuleDefaults {
    var queued = QueuedPolicy.standard
    var mode = Rule.Mode.single
    /// True if `mode` is faulty, so that `max` cannot be checked against it.
    var hasWrongMode = false
    var cooldown = Duration.zero
    var rateLimit = Rule.Rate.standard
    var qos = 0
    var retain = false
    /// `max_age` of a `publish` step.
    var maximumAge = Duration.seconds(5)
    /// `timeout` of steps that can have one; `nil`: each kind of step has its own.
    var timeout: Duration?
}
