import ButtonModel
import Hub
import JSON
import RuleLoader
import Rules
import Simulator
import TestSupport
import Testing

@testable import ReplayCommands

/// A replay of rules with `!secret` and `!env_var`, whose values a recording does not contain.
@Suite("Secrets in a history")
struct HistorySecretsTests {
    private static func rules(
        hall: String = "\"80:E4:DA:00:00:02\"", topic: String = "home/lux", mode: String = "'on'", limit: Int = 20,
        log: String = "!env_var FOO", payload: String = "1", _ values: [String: String] = [:]
    ) -> HouseRules {
        var values = values
        values["FOO"] = values["FOO"] ?? "nothing else"
        return HouseRules(
            """
            version: 1
            buttons: {kitchen: "80:E4:DA:00:00:01", hall: {address: \(hall)}}
            states:
              lux: {topic: \(topic), type: integer}
              mode: {topic: home/mode}
            variables: {last: ""}
            rules:
              - id: dark
                triggers: {button: hall, event: click}
                conditions: (states.lux ?? 99) < \(limit)
                actions: [{publish: {topic: home/dark, payload: \(payload)}}, {log: \(log)}]
              - id: mode
                triggers: {button: hall, event: click}
                conditions: (states.mode ?? '') == \(mode)
                actions: {publish: {topic: home/is, payload: \(payload)}}
              - id: last
                triggers: {button: hall, event: click}
                conditions: variables.last == \(mode)
                actions: {publish: {topic: home/last, payload: \(payload)}}
              - id: keep
                triggers: {state: mode}
                actions: {set: {last: "{{ states.mode ?? '' }}"}}
            """, in: LoadInputs(variables: values))
    }

    /// The rules as `tryck what-if` compares them.
    private static func compared(_ rules: HouseRules) throws -> HouseRules {
        var rules = rules
        rules.set = try ReplayRun.load(rules.recorded, as: rules.set)
        return rules
    }

    /// Two lives of a daemon, each with messages and a press of the hall's button.
    private static func house(_ rules: HouseRules, topic: String = "home/lux", mode: String = "on") -> Household {
        var house = Household(rules: rules, history: HouseHistory(), isWitnessed: true)
        house.pairAll()
        for _ in 0..<2 {
            house.say("7", on: topic)
            house.say("before", on: "home/mode")
            house.say(mode, on: "home/mode")
            house.wait(.seconds(60))
            house.press("hall", .click)
            house.wait(.seconds(30))
            house.crash(for: .seconds(10))
        }
        return house
    }

    private static func essential(_ lines: [JSONValue]) -> [JSONValue] {
        let kinds: Set = ["event", "rule", "log", "variable", "publish"]
        // Tryck's own topics name the address of a button, which the live stream hides.
        return lines.filter { line in
            line["kind"]?.stringValue.map { kinds.contains($0) } ?? false
                && line["topic"]?.stringValue?.hasPrefix("tryck/") != true
        }
    }

    /// What rules did. The live stream hides short values in other lines, too.
    private static func outcomes(_ lines: [JSONValue]) -> [[JSONValue?]] {
        lines.filter { $0["kind"] == "rule" }.map { [$0["rule"], $0["outcome"]] }
    }

    private static func runs(_ lines: [JSONValue]) -> [String] {
        lines.filter { $0["outcome"] == "started" }.map { $0["rule"]?.stringValue ?? "" }
    }

    @Test("a state whose topic is of !env_var has its messages in a replay", arguments: ["home/hall/lux", "lux"])
    func topic(name: String) throws {
        let then = Self.rules(topic: "!env_var LUXT", ["LUXT": name])
        let house = Self.house(then, topic: name)
        #expect(Self.runs(house.told) == ["keep", "dark", "mode", "last", "keep", "dark", "mode", "last"])
        #expect(Self.essential(try HistoryScenarioTests.shown(house).lines) == Self.essential(house.told))
        func differing(_ limit: Int) throws -> Int {
            let rules = try Self.compared(Self.rules(topic: "!env_var LUXT", limit: limit, ["LUXT": name]))
            return try HistoryScenarioTests.compare(house, with: rules).differences.count
        }
        #expect(try differing(20) == 0)
        #expect(try differing(5) == 2)
    }

    @Test("a short text in a message is no secret", arguments: ["on", "1", "seven77"])
    func short(text: String) throws {
        let then = Self.rules(mode: "'\(text)'", ["FOO": text])
        let house = Self.house(then, mode: text)
        #expect(Self.runs(house.told).contains("mode"))
        #expect(Self.outcomes(try HistoryScenarioTests.shown(house).lines) == Self.outcomes(house.told))
    }

    @Test("a long secret is in no message of a recording, and what reads it is said to be uncertain")
    func long() throws {
        let secret = "a secret text"
        let then = Self.rules(mode: "'\(secret)'", ["FOO": secret])
        let house = Self.house(then, mode: secret)
        #expect(house.history?.text.contains("\"payload\":\"\(secret)\"") == false)
        #expect(house.history?.text.contains("***FOO***") == true)
        let other = try Self.compared(Self.rules(mode: "'***FOO***'", payload: "2"))
        let result = try HistoryScenarioTests.compare(house, with: other)
        let deeds = result.differences.flatMap(\.after)
        #expect(deeds.filter { $0.rule == "mode" }.map(\.isUncertain) == [true, true])
        #expect(deeds.filter { $0.rule == "last" }.map(\.isUncertain) == [true, true])
        #expect(deeds.contains { $0.rule == "dark" } && deeds.allSatisfy { $0.rule != "dark" || !$0.isUncertain })
        #expect(result.notes.contains { $0.contains("state mode") && $0.contains("secret") }, "\(result.notes)")
    }

    @Test("what follows a program is uncertain if its output was a long secret", arguments: [true, false])
    func output(isSecret: Bool) throws {
        func rules(_ payload: String) -> HouseRules {
            HouseRules(
                """
                version: 1
                buttons: {hall: "80:E4:DA:00:00:02"}
                rules:
                  - id: hall
                    triggers: {button: hall, event: click}
                    actions: [{run: [measure]}, {publish: {topic: home/is, payload: \(payload)}}, {log: !env_var FOO}]
                """, in: LoadInputs(variables: ["FOO": "a secret text"]))
        }
        var house = Household(rules: rules("1"), history: HouseHistory(), isWitnessed: true)
        house.pairAll()
        house.programsEnd = false
        house.press("hall", .click)
        house.wait(.seconds(5))
        house.endPrograms(saying: isSecret ? "a secret text" : "another text")
        house.wait(.seconds(5))
        let result = try HistoryScenarioTests.compare(house, with: rules("2"))
        let deeds = result.differences.flatMap(\.after).filter { $0.kind == "publish" }
        #expect(deeds.map(\.isUncertain) == [isSecret])
    }

    @Test("a button whose address is of !env_var is known in a replay", arguments: ["a long value", "on"])
    func button(foo: String) throws {
        let values = ["HALL": "80:E4:DA:00:00:02", "FOO": foo]
        let then = Self.rules(hall: "!env_var HALL", values)
        let house = Self.house(then)
        #expect(Self.runs(house.told).contains("dark"))
        let (lines, gaps) = try HistoryScenarioTests.shown(house)
        #expect(gaps == [])
        #expect(Self.outcomes(lines) == Self.outcomes(house.told))
        let same = try HistoryScenarioTests.compare(house, with: try Self.compared(then))
        #expect(same.differences == [] && same.notes == [])
        #expect(same.eventCount > 0)
        let plain = try Self.compared(Self.rules(values))
        #expect(try HistoryScenarioTests.compare(house, with: plain).differences == [])
        let before = Self.house(Self.rules(values))
        #expect(try HistoryScenarioTests.compare(before, with: try Self.compared(then)).differences == [])
    }
}
