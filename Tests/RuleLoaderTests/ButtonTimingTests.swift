import ButtonModel
import RuleLoader
import Testing

@Suite("What a click waits for")
struct ButtonTimingTests {
    /// Of a button that has these keys, with a rule for each trigger: `r0`, `r1`, ….
    private func timing(_ keys: String = "", _ triggers: [String]) throws -> ButtonTiming {
        let rules = triggers.enumerated().map { number, trigger in
            let button = trigger.hasPrefix("button") || trigger.hasPrefix("chord") ? "" : "button: a, "
            return "  - {id: r\(number), triggers: {\(button)\(trigger)}, actions: {log: done}}"
        }
        let set = try LoadedText.good(
            """
            buttons: {a: {serial: BF12-C34567, \(keys)}, b: BF12-C34568}
            groups: {both: [b, a]}
            rules:
            \(rules.joined(separator: "\n"))
            """)
        return try #require(ButtonTiming.all(of: set).first)
    }

    @Test(
        "the mode is the smallest that serves, and a click waits no longer than that asks for",
        arguments: [
            (["event: down"], TriggerMode.clickAndDoubleClickAndHold, ButtonTiming.Wait.gap(.milliseconds(500)), nil),
            (["event: click"], .click, .none, nil), (["event: click", "event: up"], .click, .none, nil),
            (["clicks: 1", "event: hold"], .clickAndHold, .untilUp, "r1"),
            (["event: hold_release"], .clickAndHold, .untilUp, "r0"),
            (["event: click", "event: hold, for: 1s"], .clickAndHold, .untilUp, "r1"),
            (["event: click", "clicks: 2"], .clickAndDoubleClick, .gap(.milliseconds(500)), "r1"),
            (
                ["event: click", "button: any, event: double_click"], .clickAndDoubleClick, .gap(.milliseconds(500)),
                "r1"
            ),
            (
                ["event: click", "button: both, event: double_click"], .clickAndDoubleClick, .gap(.milliseconds(500)),
                "r1"
            ),
            (["event: click", "button: b, event: double_click"], .click, .none, nil),
            (
                ["event: hold", "event: double_click", "clicks: 2"], .clickAndDoubleClickAndHold,
                .gap(.milliseconds(500)), "r1"
            ),
            (["clicks: 3"], nil, .gap(.milliseconds(500)), "r0"),
            (["event: click", "pattern: [long, short]"], nil, .untilUp, "r1"),
            (["event: click", "event: hold, for: 2s"], nil, .untilUp, "r1"),
            (["chord: [a, b]"], .clickAndDoubleClickAndHold, .gap(.milliseconds(500)), nil),
        ] as [([String], TriggerMode?, ButtonTiming.Wait, String?)])
    func derived(triggers: [String], mode: TriggerMode?, wait: ButtonTiming.Wait, cause: String?) throws {
        #expect(
            try timing("", triggers)
                == ButtonTiming(button: "a", mode: mode, isFixed: false, wait: wait, cause: cause))
    }

    @Test("a button with times of its own is read here, and waits by them")
    func ownTimes() throws {
        #expect(
            try timing("click_gap: 400ms", ["event: double_click"])
                == ButtonTiming(button: "a", mode: nil, isFixed: false, wait: .gap(.milliseconds(400)), cause: "r0"))
        #expect(try timing("hold_after: 2s", ["event: click"]).mode == nil)
        #expect(try timing("hold_after: 2s", ["event: click"]).wait == .none)
        #expect(try timing("hold_after: 2s", ["event: connected"]).mode == .clickAndDoubleClickAndHold)
    }

    @Test("a fixed mode makes a click wait, whatever the rules want")
    func fixed() throws {
        #expect(
            try timing("trigger_mode: click_and_double_click", ["event: click"])
                == ButtonTiming(
                    button: "a", mode: .clickAndDoubleClick, isFixed: true, wait: .gap(.milliseconds(500)), cause: nil))
        #expect(try timing("trigger_mode: click_and_hold", ["event: click"]).wait == .untilUp)
        #expect(try timing("trigger_mode: click", ["event: click"]).wait == .none)
    }
}
