import Testing

@Suite("Names in expressions")
struct NameTests {
    @Test(
        "every root reads its part of the environment",
        arguments: [
            (
                "trigger.held_for ~ ' ' ~ trigger.steps ~ ' ' ~ trigger.at ~ trigger.id",
                "string '1s250ms -3 2026-03-29T01:30:00+01:00'"
            ),
            ("trigger.manual", "boolean false"),
            ("buttons.kitchen.battery", "integer or unknown 88"),
            ("buttons.hall.battery", "integer or unknown null"),
            ("buttons.hall.last_event_age", "duration or unknown null"),
            ("rules.goodnight.last_run_age", "duration or unknown 1m30s"),
            ("results.answer.status", "integer 200"),
            ("results.later.ok", "boolean null"),
            ("inputs.fade * 2", "duration 4s"),
            ("error.code", "string 'R822'"),
            ("now.hour + now.minute", "integer 31"),
            ("now.weekday ~ now.date ~ now.time", "string 'sun2026-03-2901:30:00'"),
            ("now.unix", "integer 1774744200"),
            ("sun.elevation", "number -12.5"),
            ("sun.is_up", "boolean false"),
            ("broker.connected", "boolean true"),
            ("repeat.index", "integer 4"),
            ("repeat.elapsed", "duration 800ms"),
            ("variables.scene in ['cosy', 'off'] and not variables.guest", "boolean false"),
        ])
    func names(text: String, outcome: String) throws {
        #expect(try House.outcome(text) == outcome)
    }
}
