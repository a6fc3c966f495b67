import Diagnostics
import Expressions
import RuleLoader
import Rules
import Testing
import YAMLFiles

@Suite("What a condition says")
struct ConditionTests {
    private static func text(_ conditions: String, location: Bool = true) -> String {
        let declarations =
            location
            ? LoadedSteps.declarations
            : LoadedSteps.declarations.replacing("location: {latitude: 52.09, longitude: 5.12}", with: "x-no: y")
        return """
            \(declarations)
            rules:
              - id: one
                triggers: {button: [kitchen, hall, desk], event: hold}
                conditions: \(conditions)
                actions: {log: a}
            """
    }

    private func conditions(_ text: String, _ location: Testing.SourceLocation = #_sourceLocation) throws -> [Condition]
    {
        let set = try LoadedText.good(ConditionTests.text(text), location)
        return try #require(set.rules.first, sourceLocation: location).conditions
    }

    private func time(_ text: String, _ location: Testing.SourceLocation = #_sourceLocation) throws -> TimeCondition {
        guard case .time(let time) = try conditions("{time: \(text)}", location).first?.test else {
            Issue.record("not a time", sourceLocation: location)
            return TimeCondition()
        }
        return time
    }

    @Test("one condition and a list of one are the same, and each is kept as it was written")
    func oneOrMany() throws {
        #expect(try conditions("variables.guest") == conditions("[variables.guest]"))
        let both = try conditions(
            "[not variables.guest, \"states.lamp == 'ON'\", {time: {before: 7:30}}]".replacing("7:30", with: "07:30"))
        #expect(both.map(\.text) == ["not variables.guest", "states.lamp == 'ON'", "time: before 07:30"])
        #expect(both.map(\.location.column) == [18, 39, 62])
    }

    @Test("a window of the day has ends and days")
    func window() throws {
        #expect(
            try time("{after: 22:00, before: 06:30:15}")
                == TimeCondition(after: .time(secondOfDay: 79_200), before: .time(secondOfDay: 23_415)))
        #expect(
            try time("{after: sunset - 30m}") == TimeCondition(after: .sun(.sunset, offsetMilliseconds: -1_800_000)))
        #expect(try time("{weekday: mon}") == TimeCondition(weekdays: [.mon]))
        #expect(try time("{weekday: [mon-wed, sat]}") == TimeCondition(weekdays: [.mon, .tue, .wed, .sat]))
        #expect(try time("{weekday: sat-mon}") == TimeCondition(weekdays: [.sat, .sun, .mon]))
        #expect(
            try conditions("{time: {after: dusk, weekday: fri-sun}}").map(\.text) == ["time: after dusk, fri sat sun"]
        )
    }

    @Test(
        "what is no condition is refused",
        arguments: [
            ("variables.volume", "E404"), ("states.lux", "E404"), ("known(states.lux) and states.lux > 3", "E405"),
            ("\"{{ variables.guest }}\"", "E401"), ("\"\"", "E401"), ("[]", "E212"), ("[null]", "E114"),
            ("null", "E114"),
            ("[[variables.guest]]", "E203"), ("!literal variables.guest", "E203"), ("variables.gest", "E304"),
            ("states.lap == 'ON'", "E305"), ("rules.three.enabled", "E311"), ("buttons.attic.held", "E301"),
            ("inputs.whom == 'a'", "E402"), ("error.code == 'R801'", "E402"), ("repeat.index == 3", "E402"),
            ("results.a.ok", "E402"), ("{and: [variables.guest]}", "E201"), ("{or: [variables.guest]}", "E201"),
            ("{not: variables.guest}", "E201"), ("{}", "E202"), ("{time: {}}", "E202"), ("{time: 22:00}", "E203"),
            ("{time: {after: 7:00}}", "E207"), ("{time: {after: 24:00}}", "E207"), ("{time: {after: noon}}", "E207"),
            ("{time: {after: sunset + 5}}", "E207"), ("{time: {after: 22:00, before: 22:00}}", "E205"),
            ("{time: {after: sunset, before: sunset}}", "E205"), ("{time: {weekday: monday}}", "E204"),
            ("{time: {weekday: []}}", "E212"), ("{time: {weekday: mon-fry}}", "E204"),
            ("{time: {since: 22:00}}", "E201"),
            ("{time: {after: [22:00]}}", "E203"), ("{time: {after: '{{ states.lamp }}'}}", "E407"),
        ])
    func mistakes(conditions: String, code: String) {
        let loaded = LoadedText.set(ConditionTests.text(conditions))
        #expect(loaded.diagnostics.map(\.code) == [code])
    }

    @Test("words of the sun need a location")
    func sun() {
        for condition in ["{time: {after: sunset}}", "sun.is_up", "\"in_time('06:00', 'dusk')\""] {
            #expect(LoadedText.set(ConditionTests.text(condition)).diagnostics.map(\.code) == [])
            #expect(LoadedText.set(ConditionTests.text(condition, location: false)).diagnostics.map(\.code) == ["E512"])
        }
    }
}
