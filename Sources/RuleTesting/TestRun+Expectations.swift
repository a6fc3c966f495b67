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
        let alignment = EffectAlignment(expected: wanted.count, happened: shown.count) { wanted[$0].matches(shown[$1]) }
        return failure(
            at: location,
            expected: zip(wanted, alignment.agreesInExpected).map { .init(text: $0.text, differs: !$1) },
            happened: zip(shown, alignment.agreesInHappened).map { action, agrees in
                let text = action.text(besides: wanted)
                return .init(
                    text: showsTime ? "\(text) at \(action.after.milliseconds)ms" : text,
                    differs: !agrees && !(action.isQuietLog && !wanted.contains(where: \.isLog)))
            },
            differences: alignment.pairs.flatMap { wanted[$0.expected].differences(of: shown[$0.happened]) })
    }

    func check(variables wanted: [RuleTest.Assigned], _ location: SourceLocation) -> RuleTestFailure? {
        let wrong = wanted.filter { !(engine.value(of: $0.name)?.isEqual(to: $0.value) ?? false) }
        guard !wrong.isEmpty else { return nil }
        return failure(
            at: location, expected: wrong.map { .init(text: "\($0.name) = \($0.value.shown)", differs: true) },
            happened: wrong.map {
                .init(text: "\($0.name) = \(engine.value(of: $0.name)?.shown ?? "not declared")", differs: true)
            })
    }

    func check(outcomes wanted: [ExpectedOutcome], _ location: SourceLocation) -> RuleTestFailure? {
        let wrong = wanted.filter { outcome(of: $0.rule) != $0.outcome }
        guard !wrong.isEmpty else { return nil }
        return failure(
            at: location, expected: wrong.map { .init(text: "\($0.rule): \($0.outcome.rawValue)", differs: true) },
            happened: wrong.map { .init(text: "\($0.rule): \(outcome(of: $0.rule).rawValue)", differs: true) })
    }

    /// The failure of a test whose rules have drawn a random number that the test does not give, or that does not fit.
    ///
    /// - Parameter location: the step during which the number was drawn.
    func randomFailure(at location: SourceLocation) -> RuleTestFailure? {
        func lines(_ text: String) -> [RuleTestFailure.Line] { [.init(text: text, differs: true)] }
        switch engine.draws.problem {
        case nil: return nil
        case .noneLeft(let first, let last):
            return failure(
                at: location, expected: lines("a number for random(\(first), \(last))"),
                happened: lines("none is left; give it before this step, such as random: [\(first)]"))
        case .outOfRange(let number, let first, let last):
            return failure(
                at: randomLocation ?? location, expected: lines("a number for random(\(first), \(last))"),
                happened: lines("E602 \(number) is not in the range from \(first) to \(last)"))
        }
    }

    private func outcome(of rule: String) -> Outcome { outcomes[rule] ?? .notMatched }

    private func failure(
        at location: SourceLocation, expected: [RuleTestFailure.Line], happened: [RuleTestFailure.Line],
        differences: [String] = []
    ) -> RuleTestFailure {
        func redacted(_ lines: [RuleTestFailure.Line]) -> [RuleTestFailure.Line] {
            lines.map { .init(text: redaction($0.text), differs: $0.differs) }
        }
        let reasons = (reasons + traceLines).suffix(TestRun.maximumReasons) + unmatched.prefix(TestRun.maximumReasons)
        return RuleTestFailure(
            location: location, expected: redacted(expected), performed: redacted(happened),
            differences: differences.prefix(TestRun.maximumReasons).map { redaction($0) },
            reasons: reasons.map { redaction($0) })
    }
}

extension Value {
    fileprivate var shown: String {
        if case .string(let text) = self { return "\"\(text)\"" }
        return text ?? "unknown"
    }
}
