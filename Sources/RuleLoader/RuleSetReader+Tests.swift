import Almanac
import ButtonModel
import Diagnostics
import Expressions
import Rules
import YAMLFiles

extension RuleSetReader {
    /// Reads `tests:` of one document. The names that tests use are checked against the set (E601).
    mutating func readTests(_ node: YAMLNode) {
        guard case .sequence(let nodes) = node.content else {
            if !node.isInvalid {
                checker.error("E203", at: node, "\"tests\" must be a list", hint: "begin each test with - name:")
            }
            return
        }
        for node in nodes where !checker.reportsNullEntry(node) {
            if let test = test(node) { ruleSet.tests.append(test) }
        }
    }

    private mutating func test(_ node: YAMLNode) -> RuleTest? {
        guard let fields = checker.fields(node, .test) else { return nil }
        let given = fields.node("given").map { self.given($0) } ?? RuleTest.Given()
        guard let steps = fields.node("steps") else { return nil }
        guard case .sequence(let nodes) = steps.content else {
            if !steps.isInvalid {
                checker.error("E203", at: steps, "\"steps\" must be a list", hint: "begin each step with a dash")
            }
            return nil
        }
        guard !nodes.isEmpty else {
            checker.error(
                "E212", from: steps.start, to: steps.start.advanced(by: 1), alias: steps.alias,
                "a test needs at least one step")
            return nil
        }
        let read = nodes.compactMap { checker.reportsNullEntry($0) ? nil : testStep($0) }
        guard let name = fields.string("name") else { return nil }
        return RuleTest(name: name, given: given, steps: read, location: location(of: node))
    }

    // MARK: given

    private mutating func given(_ node: YAMLNode) -> RuleTest.Given {
        var given = RuleTest.Given()
        guard let fields = checker.fields(node, .given) else { return given }
        if let now = fields.node("now") {
            given.now = moment(now, key: "now", fold: fields.integer("fold"), foldNode: fields.node("fold"))
        } else if let key = fields.key("fold"), !fields.isWritten("now") {
            checker.error("E210", at: key, "\"fold\" is allowed only with \"now\"")
        }
        if let states = fields.node("states") { given.states = assignedStates(states, key: "states") }
        if let variables = fields.node("variables") {
            given.variables = assignedVariables(variables, key: "variables")
        }
        given.brokerIsOnline = fields.string("broker") != "offline"
        if let disabled = fields.node("disabled") {
            let nodes = checker.oneOrMany(disabled, empty: "an empty list of rules; remove \"disabled\"")
            given.disabled = nodes.compactMap { ruleID($0, key: "disabled") }
        }
        if let results = fields.node("results") { given.results = simulatedResults(results) }
        return given
    }

    /// A day with a time of day, where only the time is written: `2026-01-15 20:59`.
    private static func day(with text: String) -> String? {
        guard case .time? = try? TimeOfDay(text) else { return nil }
        return "2026-01-15 \(text)"
    }

    /// Reads a local time in the time zone of the set.
    mutating func moment(_ node: YAMLNode, key: String, fold: Int?, foldNode: YAMLNode? = nil) -> UTCTime? {
        guard let text = checker.plainText(node, key: key, wanted: "a local time such as 2026-01-15 12:00") else {
            return nil
        }
        guard let written = WrittenTime(text) else {
            checker.error(
                "E203", at: node, "\"\(checker.shown(text))\" is not a local time",
                hint: RuleSetReader.day(with: text).map { .write($0) } ?? "write 2026-01-15 12:00")
            return nil
        }
        guard written.isPossible else {
            checker.error("E602", at: node, "\(text) is not a valid date and time")
            return nil
        }
        let moments = ruleSet.timeZone.moments(
            year: written.year, month: written.month, day: written.day, hour: written.hour, minute: written.minute,
            second: written.second)
        guard let first = moments.first, let last = moments.last else {
            checker.error("E602", at: node, "\(text) does not exist in \(ruleSet.timeZone.name)")
            return nil
        }
        if fold == 1, moments.count == 1, let node = foldNode {
            checker.error(
                "E602", at: node, "\(text) occurs only once in \(ruleSet.timeZone.name)",
                hint: Hint("remove fold:", checker.removal(ofKey: "fold", before: node)))
        }
        return fold == 1 ? last : first
    }

    private mutating func simulatedResults(_ node: YAMLNode) -> [RuleTest.SimulatedResult] {
        guard case .sequence(let nodes) = node.content else {
            if !node.isInvalid {
                checker.error(
                    "E203", at: node, "\"results\" must be a list",
                    hint: "begin each result with - run:, shell: or http:")
            }
            return []
        }
        return nodes.compactMap { checker.reportsNullEntry($0) ? nil : simulatedResult($0) }
    }

    private mutating func simulatedResult(_ node: YAMLNode) -> RuleTest.SimulatedResult? {
        guard let fields = checker.fields(node, .simulatedResult),
            let key = only(of: RuleTest.SimulatedResult.Kind.allCases.map(\.rawValue), in: fields, "a result"),
            let kind = RuleTest.SimulatedResult.Kind(rawValue: key.text), let prefix = fields.string(key.text)
        else { return nil }
        for name in MappingTable.simulatedResult.keys.map(\.name) {
            let kinds = RuleTest.SimulatedResult.Kind.allCases.filter { $0.ownKeys.contains(name) }
            guard !kinds.isEmpty, !kinds.contains(kind), let written = fields.key(name) else { continue }
            checker.error(
                "E210", at: written, "\"\(name)\" is allowed only with \(StepKind.listed(kinds.map(\.rawValue)))")
        }
        return RuleTest.SimulatedResult(
            kind: kind, prefix: prefix, exit: fields.integer("exit") ?? 0, stdout: fields.string("stdout") ?? "",
            stderr: fields.string("stderr") ?? "", status: fields.integer("status") ?? 200,
            body: fields.string("body") ?? "", takes: fields.duration("takes") ?? .zero)
    }

    // MARK: Names

    /// The only one of several keys that is written. Reports none (E202) and more than one (E210).
    private mutating func only(of names: [String], in fields: CheckedMapping, _ owner: String) -> YAMLNode.Key? {
        var written = names.compactMap { fields.key($0) }
        if written.count > 1 {
            written.sort { $0.start < $1.start }
            checker.error(
                "E210", at: written[1], "\(owner) has exactly one of \(Checker.list(names)); this one has two")
            return nil
        }
        guard let key = written.first else {
            if fields.misspelt.isEmpty, checker.knowsAllKeys(of: fields) {
                let (start, end) = checker.firstKey(of: fields.node)
                checker.error(
                    "E202", from: start, to: end, alias: fields.node.alias,
                    "\(owner) has none of \(Checker.list(names))")
            }
            return nil
        }
        return key
    }

    mutating func ruleID(_ node: YAMLNode, key: String) -> String? {
        guard let id = checker.plainText(node, key: key, wanted: "the id of a rule") else { return nil }
        if isRule(id) { return id }
        reportUnknown(id, of: ruleNames, at: node)
        return nil
    }

    func isRule(_ id: String) -> Bool { scope.rules[id] != nil }

    mutating func reportUnknown(_ name: String, of names: DeclaredNames, at node: YAMLNode) {
        reportUnknown(name, of: names, from: node.start, to: node.end, alias: node.alias)
    }

    mutating func reportUnknown(_ name: String, of names: DeclaredNames, at key: YAMLNode.Key) {
        reportUnknown(name, of: names, from: key.start, to: key.end, alias: key.alias)
    }

    private mutating func reportUnknown(
        _ name: String, of names: DeclaredNames, from start: SourcePosition, to end: SourcePosition,
        alias: YAMLNode.Alias?
    ) {
        guard names.isUnknown(name) else { return }
        let near = checker.nearest(to: name, among: names.declarations.keys.sorted())
        checker.error(
            "E601", from: start, to: end, alias: alias, "unknown \(names.noun) \"\(checker.shown(name))\"",
            hint: near.map { .meant($0) })
    }
}

/// A local time, with or without seconds: `2026-01-10 23:15`.
private struct WrittenTime {
    var year, month, day, hour, minute, second: Int

    init?(_ text: String) {
        let octets = Array(text.utf8)
        let separators: [Int: Character] = [4: "-", 7: "-", 10: " ", 13: ":", 16: ":"]
        guard octets.count == 16 || octets.count == 19 else { return nil }
        for (index, octet) in octets.enumerated() {
            guard let separator = separators[index] else {
                guard YAMLNumber.isDigit(octet) else { return nil }
                continue
            }
            guard octet == separator.asciiValue else { return nil }
        }
        func number(_ range: Range<Int>) -> Int {
            octets[range].reduce(0) { $0 * 10 + Int($1) - 0x30 }
        }
        (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
        (hour, minute, second) = (number(11..<13), number(14..<16), octets.count == 19 ? number(17..<19) : 0)
    }

    var isPossible: Bool {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return year >= 1970 && (1...12).contains(month) && (1...lengths[month - 1]).contains(day) && hour < 24
            && minute < 60 && second < 60
    }
}
