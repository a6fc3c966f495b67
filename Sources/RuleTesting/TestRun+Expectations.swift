import ButtonModel
import Expressions
import Rules

extension TestRun {
    mutating func check(_ wanted: [ExpectedEffect], _ location: SourceLocation) -> RuleTestFailure? {
        let seen = performed.filter { entry in !entry.isQuietLog || wanted.contains { $0.matches(entry) } }
        // When a log line is expected, all log lines are shown, because one of them may be the expected line in other
        // words.
        let shown = wanted.contains(where: \.isLog) ? performed : seen
        defer { forget() }
        guard seen.count != wanted.count || !zip(wanted, seen).allSatisfy({ $0.matches($1) }) else { return nil }
        let showsTime = wanted.contains { $0.at != nil }
        return failure(
            at: location, expected: wanted.map(\.text),
            happened: shown.map { showsTime ? "\($0.text) at \($0.after.milliseconds)ms" : $0.text })
    }

    func check(variables wanted: [RuleTest.Assigned], _ location: SourceLocation) -> RuleTestFailure? {
        let wrong = wanted.filter { !(engine.value(of: $0.name)?.isEqual(to: $0.value) ?? false) }
        guard !wrong.isEmpty else { return nil }
        return failure(
            at: location, expected: wrong.map { "\($0.name) = \($0.value.shown)" },
            happened: wrong.map { "\($0.name) = \(engine.value(of: $0.name)?.shown ?? "not declared")" })
    }

    func check(outcomes wanted: [ExpectedOutcome], _ location: SourceLocation) -> RuleTestFailure? {
        let wrong = wanted.filter { outcome(of: $0.rule) != $0.outcome }
        guard !wrong.isEmpty else { return nil }
        return failure(
            at: location, expected: wrong.map { "\($0.rule): \($0.outcome.rawValue)" },
            happened: wrong.map { "\($0.rule): \(outcome(of: $0.rule).rawValue)" })
    }

    private func outcome(of rule: String) -> Outcome { outcomes[rule] ?? .notMatched }

    private func failure(at location: SourceLocation, expected: [String], happened: [String]) -> RuleTestFailure {
        RuleTestFailure(
            location: location, expected: expected.map { redaction($0) }, performed: happened.map { redaction($0) },
            reasons: (reasons + traceLines).suffix(TestRun.maximumReasons).map { redaction($0) })
    }
}

extension Value {
    fileprivate var shown: String {
        if case .string(let text) = self { return "\"\(text)\"" }
        return text ?? "unknown"
    }
}
