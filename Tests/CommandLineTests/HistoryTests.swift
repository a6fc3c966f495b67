import ButtonModel
import JSON
import Rules
import Testing

@testable import CommandSupport
@testable import ReplayCommands

@Suite("tryck history and tryck what-if")
struct HistoryTests {
    /// A local time, so that the texts are the same in each time zone.
    static func time(_ text: String) throws -> UTCTime {
        try #require(HistoryTime.parse(text, now: UTCTime(milliseconds: 0)))
    }

    @Test("the past is shown in local time, with a line for each day")
    func text() throws {
        var reader = try RecordingReader(ReplayTests.path)
        var run = ReplayRun()
        var screen = HistoryScreen()
        var text = ""
        let times = ["2026-11-21T23:59:58", "2026-11-22T00:00:01"]
        while let line = try reader.next() {
            for case .line(let line, _) in try run.take(line) {
                text += screen.text(line, at: try Self.time(times[text.count > 1500 ? 1 : 0]), style: .plain)
            }
        }
        expectGolden(text, "history.txt")
    }

    @Test("a history that this user may not read is not said to be absent")
    func hidden() {
        let hidden = HistoryFiles.absence(in: "/var/lib/tryck/history", isHidden: true).sentence
        #expect(hidden.hasSuffix("only by root and the user of the daemon: sudo tryck history"))
        #expect(HistoryFiles.absence(in: "/x", isHidden: false).sentence.hasPrefix("There is no history in /x."))
    }

    @Test("since when", arguments: ["2h", "3d", "90s"])
    func durations(text: String) throws {
        let now = UTCTime(milliseconds: 1_795_000_000_000)
        let seconds: [String: Int64] = ["2h": 7200, "3d": 259_200, "90s": 90]
        #expect(HistoryTime.parse(text, now: now) == now + .seconds(-(seconds[text] ?? 0)))
    }

    @Test("days begin at local midnight")
    func days() throws {
        let now = try Self.time("2026-11-21T14:30:05")
        #expect(HistoryTime.parse("today", now: now) == (try Self.time("2026-11-21")))
        #expect(HistoryTime.parse("yesterday", now: now) == (try Self.time("2026-11-20")))
        #expect(HistoryTime.dayAndTime(now) == ("2026-11-21", "14:30:05.000"))
    }

    @Test(
        "other times are refused",
        arguments: [
            "", "tomorrow", "2026", "2026-13-01", "2026-11-21T24:00", "2026-11-21T", "2026-11-21 10:00", "-2h",
            "2026-11--1",
            "99999999999999999999d", "2026-11-21T10:00:00:00",
        ])
    func refused(text: String) {
        #expect(HistoryTime.parse(text, now: UTCTime(milliseconds: 0)) == nil)
    }

    private static func result() throws -> Comparison.Result {
        func event(_ time: String, _ name: String, button: String = "80e4da000001", rule: String = "") throws
            -> RuleLedger.Event
        {
            RuleLedger.Event(at: try Self.time(time), button: button, name: name, rule: rule)
        }
        return Comparison.Result(
            eventCount: 312,
            differences: [
                .init(
                    event: try event("2026-11-21T02:14:07", "click"), button: "kitchen", lateness: 41_200,
                    before: [
                        .init(
                            rule: "kitchen_toggle", kind: "publish",
                            text: #"zigbee2mqtt/kitchen/set {"state":"TOGGLE"}"#)
                    ], after: [.init(rule: "kitchen_toggle", kind: "dropped_queued", text: "", counts: false)]),
                .init(
                    event: try event("2026-11-22T07:00:00", "double_click"), button: "hall",
                    before: [
                        .init(rule: "scene", kind: "publish", text: "home/scene 1"),
                        .init(rule: "scene", kind: "publish", text: "home/scene 2"),
                    ],
                    after: [
                        .init(rule: "scene", kind: "publish", text: "home/scene 1"),
                        .init(rule: "measure", kind: "run", text: "measure 1"),
                        .init(
                            rule: "measure", after: .init(total: .milliseconds(2000)), kind: "publish",
                            text: "home/measured 0",
                            isUncertain: true),
                        .init(rule: "scene", kind: "failed", text: "actions[0].publish: R801 states.door is unknown"),
                    ]),
                .init(
                    event: try event("2026-11-22T08:00:00", "at", button: "", rule: "morning"), button: "",
                    before: [.init(rule: "morning", kind: "log", text: "info: good morning")], after: []),
            ],
            errors: [
                RuleLedger.StepError(
                    rule: "scene", step: "actions[0].publish",
                    location: Rules.SourceLocation(file: "home.yaml", line: 9, column: 5),
                    reason: "R801 states.door is unknown")
            ],
            notes: ["state door: messages on home/door were not received then, so it is unknown"])
    }

    @Test("what-if shows for each event what the rules did and would have done")
    func comparison() throws {
        let text = WhatIfText.lines(try Self.result()).map { $0.rendered(.plain) + "\n" }.joined()
        expectGolden(text, "what-if.txt")
    }

    @Test("what-if says once that a rule is disabled, and names the condition that is false")
    func notRun() throws {
        var result = try Self.result()
        result.differences = [result.differences[0]]
        result.differences[0].after = [
            .init(rule: "kitchen_toggle", kind: "disabled", text: "disabled", counts: false),
            .init(rule: "hall", kind: "dropped_conditions", text: "states.door == 'open'", counts: false),
        ]
        let text = WhatIfText.lines(result).map { $0.rendered(.plain) }
        #expect(text.contains("  + kitchen_toggle  does not run: it is disabled"))
        #expect(text.contains("  + hall            does not run: its conditions are false (states.door == 'open')"))
    }

    @Test("what-if says that nothing differs")
    func nothing() {
        let text = WhatIfText.lines(Comparison.Result(eventCount: 1)).map { $0.rendered(.plain) }
        #expect(text == ["0 of 1 event end otherwise. 0 errors."])
    }

    @Test("as JSON, what-if has the events that differ with what each deed depends on")
    func json() throws {
        var result = try Self.result()
        for index in result.differences.indices {
            result.differences[index].event.at = UTCTime(milliseconds: 1_795_000_000_000)
        }
        expectGolden(WhatIfText.json(result).description + "\n", "what-if-json.txt")
    }
}
