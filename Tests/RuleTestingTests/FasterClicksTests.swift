import Diagnostics
import Foundation
import RuleLoader
import RuleTesting
import Rules
import Testing
import YAMLFiles

@Suite("Rules whose clicks could be faster")
struct FasterClicksTests {
    private static func rule(_ id: String, _ trigger: String, more: String = "") -> String {
        """
          - id: \(id)
            triggers: {button: a, \(trigger)}
            \(more)
            actions: {log: x}

        """
    }

    private static let twice = rule("twice", "event: double_click")

    @Test(
        "the first change that makes a click faster is found, and none if there is none",
        arguments: [
            // A click that does not wait, and one that has to.
            (rule("one", "event: click"), nil),
            (rule("one", "event: click") + twice, nil),
            (
                rule("one", "event: click") + rule("two", "event: double_click", more: "enabled: false"),
                FasterClicks.withoutDisabledRules
            ),
            (rule("one", "event: click") + rule("long", "event: hold", more: "enabled: false"), .withoutDisabledRules),
            (rule("both", "event: [click, double_click]"), .withoutSameGesture),
            // The rule would not do the same.
            (
                rule("both", "event: [click, double_click]", more: "conditions: trigger.event == 'click'"),
                nil
            ),
            // Another rule needs the wait, too.
            (rule("both", "event: [click, double_click]") + twice, nil),
        ] as [(String, FasterClicks?)])
    func change(rules: String, expected: FasterClicks?) throws {
        let set = try Tested.set("rules:\n" + rules)
        #expect(set.fasterClicks().map(\.change) == [expected].compactMap(\.self))
        #expect(set.fasterClicks().allSatisfy { $0.button == "a" && $0.timing.clickWait == .zero })
    }

    @Test("a fixed trigger mode that no rule needs is found, also if only the release is waited for")
    func fixedMode() throws {
        for (mode, isFaster) in [("click_and_double_click", true), ("click_and_hold", true), ("click", false)] {
            let loaded = FileLoader.rules(
                SourceFile(
                    name: "home.yaml",
                    text: Array(
                        """
                        version: 1
                        buttons:
                          a: {serial: BF12-C00001, trigger_mode: \(mode)}
                        rules:
                        \(Self.rule("one", "event: click"))
                        """.utf8)), in: LoadInputs())
            let set = try #require(loaded.value)
            #expect(set.fasterClicks().map(\.change) == (isFaster ? [.withoutTriggerMode] : []))
        }
    }
}
