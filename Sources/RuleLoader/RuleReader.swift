import Almanac
import ButtonModel
import Diagnostics
import Expressions
import Rules

/// Reads the documents of one rule set: first everything that is declared in any of them, then what uses it, and last
/// what can only be seen from all of it together.
struct RuleReader {
    static let languageVersion = 1

    /// The entry file first, then what it includes.
    var documents: [Document]
    /// The document that is being read.
    var current = 0
    var set = RuleSet()
    /// Every declared name, for expressions: a rule's or a script's own scope begins as a copy.
    var scope = Scope()
    var defaults = RuleDefaults()
    /// A zone is written, right or wrong.
    var hasTimeZone = false
    /// Buttons and groups share their names.
    var buttonNames = DeclaredNames("button")
    var stateNames = DeclaredNames("state")
    var variableNames = DeclaredNames("variable")
    var scriptNames = DeclaredNames("script")
    var ruleNames = DeclaredNames("rule")
    /// Places in `set.buttons` and `set.scripts`.
    var buttons: [String: Int] = [:]
    var scripts: [String: Int] = [:]
    /// By script: the inputs that could not be declared.
    var wrongInputs: [Int: Set<String>] = [:]
    /// The first button of each hardware: its place, and where it is declared.
    var hardware: [DeclaredButton.Hardware: (button: Int, place: DeclaredNames.Place)] = [:]
    /// Of each mode the first button that is fixed to it.
    var firstFixed: [TriggerMode: Int] = [:]
    /// How many buttons all triggers name together.
    var memberCount = 0
    /// What triggers say, for the checks that need all of them.
    var uses = ButtonUses()
    var contents = SetFingerprints()
    /// By place in `set.scripts`.
    var scriptDelays: [LiteralDelays] = []
    var scriptEffects: [ScriptEffect] = []

    /// What stands at the top of one document.
    private struct Part {
        var document: Int
        var fields: Fields
    }

    /// A rule whose name is known and whose content is not yet read.
    private struct UnreadRule {
        var document: Int
        /// In `set.rules`; `nil` for one that has no name, or another's.
        var index: Int?
        var node: YAMLNode
    }

    /// Of the document that is being read.
    var checker: Checker {
        _read { yield documents[current].checker }
        _modify { yield &documents[current].checker }
    }

    static func load(_ documents: consuming [Document]) -> Loaded<RuleSet> {
        var reader = RuleReader(documents: documents)
        reader.read()
        for document in reader.documents { reader.set.confidential.formUnion(document.checker.confidential) }
        return Loaded(
            reader.set, reader.documents.flatMap(\.checker.diagnostics),
            programs: reader.documents.map(\.checker.programs))
    }

    private init(documents: [Document]) {
        self.documents = documents
        if !documents.allSatisfy(\.isWhole) { leaveOutWhatIsMissing() }
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
        forEach(parts, "tests") { reader, node in tests.append((reader.current, node)) }

        // From here on each rule's part of the tree goes when the rule is there: of a large set, only one of the two is
        // in memory.
        (parts, entry) = ([], [])
        for index in documents.indices { documents[index].root = nil }
        // Rules need to know what the scripts they call do.
        readScriptSteps(scripts)
        for index in rules.indices {
            current = rules[index].document
            readRule(rules[index].node, index: rules[index].index)
            rules[index].node.content = .invalid
        }
        for (document, node) in tests {
            current = document
            for test in node.elements { contents.tests.combine(test) }
            readTests(node)
        }
        let graph = ScriptGraph(set)
        checkSet()
        if !documents.contains(where: \.checker.hasErrors) { setFingerprints(graph) }
    }

    /// The top level of a document; `nil` where there is none.
    private mutating func readTop(of document: Int) -> Part? {
        current = document
        let isEntry = documents[document].isEntry
        guard let root = documents[document].root else {
            if isEntry, !checker.hasErrors {
                checker.error(
                    "E202", from: .start, to: .start.advanced(by: 1), "the file has no \"version\"",
                    hint: "begin it with version: 1")
            }
            return nil
        }
        guard let fields = checker.fields(root, .rulesFile) else {
            leaveOutWhatIsMissing()
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
        if let version = fields.integer("version"), version != RuleReader.languageVersion,
            let node = fields.node("version")
        {
            checker.error("E204", at: node, "this program understands version \(RuleReader.languageVersion)")
        }
        if fields.isWritten("location") { scope.absent[.sun] = nil }
        for key in ["buttons", "groups", "states", "variables", "scripts", "rules"]
        where fields.isWritten(key) && fields.node(key) == nil {
            leaveOut(key)
        }
        return Part(document: document, fields: fields)
    }

    private mutating func forEach(_ parts: [Part], _ key: String, _ body: (inout RuleReader, YAMLNode) -> Void) {
        for part in parts {
            guard let node = part.fields.node(key) else { continue }
            current = part.document
            body(&self, node)
        }
    }

    // MARK: Rules

    /// Their names, so that everything can name them.
    private mutating func findRules(_ node: YAMLNode, _ rules: inout [UnreadRule]) {
        guard case .sequence(let nodes) = node.content else {
            leaveOut("rules")
            guard !node.isInvalid else { return }
            checker.error("E203", at: node, "\"rules\" must be a list", hint: "begin each rule with - id:")
            return
        }
        rules.reserveCapacity(rules.count + nodes.count)
        for node in nodes {
            let index = declareRule(node)
            rules.append(UnreadRule(document: current, index: index, node: node))
        }
    }

    private mutating func declareRule(_ node: YAMLNode) -> Int? {
        guard let id = RuleReader.id(of: node), case .scalar(let name, _) = id.content else { return nil }
        guard id.tag == nil, NameRules.isDeclarable(name) else {
            scope.leaveOut(name, of: .rules)
            _ = ruleNames.declare(name, in: checker.source.name, at: id.start)
            return nil
        }
        if let before = ruleNames.declare(name, in: checker.source.name, at: id.start) {
            checker.error("E303", at: id, "rule id \"\(name)\" is already used at \(before.text)")
            return nil
        }
        let index = set.rules.count
        scope.rules[name] = index
        set.rules.append(Rule(id: name, triggers: [], steps: [], place: place(id)))
        contents.rules.append(node)
        return index
    }

    /// What stands at `id`, right or wrong.
    static func id(of node: YAMLNode) -> YAMLNode? {
        guard case .mapping(let entries) = node.content else { return nil }
        return entries.first { $0.key.text == "id" }?.value
    }

    // MARK: What could not be declared

    /// The declarations under a key could not be read: nothing of that kind is unknown.
    mutating func leaveOut(_ key: String) {
        switch key {
        case "buttons", "groups":
            buttonNames.isComplete = false
            scope.leaveOutAll(of: .buttons)
        case "states":
            stateNames.isComplete = false
            scope.leaveOutAll(of: .states)
        case "variables":
            variableNames.isComplete = false
            scope.leaveOutAll(of: .variables)
        case "scripts": scriptNames.isComplete = false
        default:
            ruleNames.isComplete = false
            scope.leaveOutAll(of: .rules)
        }
    }

    private mutating func leaveOutWhatIsMissing() {
        for key in ["buttons", "states", "variables", "scripts", "rules"] { leaveOut(key) }
        scope.absent[.sun] = nil
    }

    /// Where a node stands.
    func place(_ node: YAMLNode) -> Place {
        Place(file: checker.source.name, line: node.start.line, column: node.start.column)
    }

    func place(_ key: YAMLNode.Key) -> Place {
        Place(file: checker.source.name, line: key.start.line, column: key.start.column)
    }
}

/// `defaults:` — what rules and steps that say nothing have.
struct RuleDefaults {
    var queued = QueuedPolicy.standard
    var mode = Rule.Mode.single
    /// What `mode` says is wrong, so nobody knows what goes with it.
    var hasWrongMode = false
    var cooldown = Duration.zero
    var rateLimit = Rule.Rate.standard
    var qos = 0
    var retain = false
    /// Of a publish.
    var maximumAge = Duration.seconds(5)
    /// Of every step that can wait; `nil`: each kind's own.
    var timeout: Duration?
}
