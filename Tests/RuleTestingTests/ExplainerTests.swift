import Almanac
import Expressions
import JSON
import RuleTesting
import Rules
import Testing

@Suite("Explanations without a daemon")
struct ExplainerTests {
    private static let rules = """
        rules:
          - {id: short, triggers: {button: b, event: hold}, actions: {log: x}}
          - {id: long, triggers: {button: b, event: hold, for: 2s}, actions: {log: x}}
          - {id: secret, triggers: {button: a, pattern: [short, long]}, actions: {log: x}}
        """

    private func rules(for event: SimulatedEvent) throws -> [String]? {
        RuleExplainer(try Tested.set(Self.rules)).explain(event)?.verdicts.map(\.rule)
    }

    @Test(
        "a hold of a given time is explained at the last stage that it reaches",
        arguments: [(500, []), (600, ["short"]), (1999, ["short"]), (2000, ["long"]), (9000, ["long"])]
            as [(Int, [String])])
    func hold(milliseconds: Int, expected: [String]) throws {
        let event = SimulatedEvent(button: "b", event: .hold(after: nil), heldFor: .milliseconds(milliseconds))
        #expect(try rules(for: event) == expected)
    }

    private static let others = """
        location: {latitude: 52.09, longitude: 5.12, timezone: UTC}
        states: {lux: {topic: lux, type: integer, default: 0}, door: {topic: door}}
        variables: {guest: false}
        rules:
          - {id: pill, triggers: {at: ["07:30", "21:00"]}, conditions: not variables.guest, actions: {log: "pill {{ trigger.at }}"}}
          - {id: later, triggers: {at: "21:00:30"}, actions: {log: later}}
          - {id: dark, triggers: {state: lux, from: old > 10, to: new <= 10, for: 5m}, actions: {log: "{{ trigger.old }} to {{ states.lux }}"}}
          - {id: every, triggers: {state: lux}, conditions: states.lux > 90, actions: {log: every}}
        """

    @Test("the next triggers of times within a minute are explained with their gates and steps")
    func times() throws {
        func explained(_ hour: Int, _ minute: Int, guest: Bool = false) throws -> Explanation {
            let set = try Tested.set(Self.others)
            var given = RuleTest.Given()
            given.now = set.timeZone.moments(year: 2026, month: 3, day: 1, hour: hour, minute: minute, second: 0).first
            given.variables = [RuleTest.Assigned("guest", .boolean(guest))]
            return RuleExplainer(set, given: given).explainTimes()
        }
        let explanation = try explained(21, 0)
        #expect(explanation.verdicts.map(\.rule) == ["pill"])
        #expect(explanation.verdicts[0].stoppedBy == nil)
        #expect(!explanation.verdicts[0].reasons.contains { $0.hasPrefix("queued") })
        #expect(explanation.verdicts[0].steps.joined().contains("pill 2026-03-01T21:00:00"), "\(explanation)")
        #expect(try explained(21, 0, guest: true).verdicts.map(\.stoppedBy) == [.conditions])
        #expect(try explained(20, 59).verdicts == [])
        #expect(try explained(7, 30).verdicts.map(\.rule) == ["pill"])
    }

    @Test("the next time of each rule with at triggers is said, also if none is within a minute")
    func nextTimes() throws {
        func next(_ hour: Int, _ minute: Int) throws -> Explanation {
            let set = try Tested.set(Self.others)
            var given = RuleTest.Given()
            given.now = set.timeZone.moments(year: 2026, month: 3, day: 1, hour: hour, minute: minute, second: 0).first
            return RuleExplainer(set, given: given).explainTimes()
        }
        let due = try next(21, 0)
        #expect(due.nextTimes.map(\.rule) == ["pill", "later"])
        #expect(due.nextTimes.map { $0.at.prefix(19) } == ["2026-03-01T21:00:00", "2026-03-01T21:00:30"])
        let evening = try next(21, 1)
        #expect(evening.verdicts == [])
        #expect(evening.nextTimes.map { $0.at.prefix(19) } == ["2026-03-02T07:30:00", "2026-03-02T21:00:30"])
        #expect(evening.json["next"]?.arrayValue?.map { $0["id"] } == ["pill", "later"])
    }

    @Test("a change of a state is explained from its known value, with the rules whose values fit")
    func changes() throws {
        func explained(_ old: Int64?, _ new: Int64) throws -> Explanation? {
            var given = RuleTest.Given()
            given.states = old.map { [RuleTest.Assigned("lux", .integer($0))] } ?? []
            return RuleExplainer(try Tested.set(Self.others), given: given).explain(change: "lux", to: .integer(new))
        }
        let explanation = try #require(try explained(20, 10))
        #expect(explanation.verdicts.map(\.rule) == ["dark", "every"])
        #expect(explanation.verdicts.map(\.stoppedBy) == [nil, .conditions])
        #expect(explanation.verdicts[0].steps.joined().contains("20 to 10"), "\(explanation)")
        let lasting = "for: judged 5m later, if the state stays so"
        #expect(explanation.verdicts.map { $0.reasons.contains(lasting) } == [true, false])
        #expect(!explanation.verdicts.flatMap(\.reasons).contains { $0.hasPrefix("queued") })
        #expect(try explained(10, 9)?.verdicts.map(\.rule) == ["every"])
        #expect(try explained(10, 95)?.verdicts.map(\.stoppedBy) == [nil])
        #expect(try explained(10, 10)?.verdicts == [])
        // A default is no known value.
        #expect(try explained(nil, 5) == nil)
    }

    @Test("a chord is explained with its gates, and only if a rule has it")
    func chord() throws {
        let rules = """
            rules:
              - {id: both, triggers: {chord: [a, b]}, conditions: "1 > 2", actions: {log: x}}
              - {id: one, triggers: {button: a, event: click}, actions: {log: x}}
            """
        let explainer = RuleExplainer(try Tested.set(rules))
        let explanation = try #require(explainer.explain(chord: ["b", "a"]))
        #expect(explanation.verdicts.map(\.rule) == ["both"])
        #expect(explanation.verdicts[0].stoppedBy == .conditions)
        #expect(explainer.explain(chord: ["a"]) == nil)
        #expect(explainer.explain(chord: ["a", "stranger"]) == nil)
    }

    @Test("the steps of a rule that runs are shown with the branches that they take, and those of another rule are not")
    func steps() throws {
        let rules = """
            rules:
              - id: runs
                triggers: {button: a, event: click}
                actions:
                  - {if: 1 < 2, then: {log: yes}, else: {log: no}}
                  - delay: 2s
                  - log: later
              - {id: stops, triggers: {button: a, event: click}, conditions: "1 > 2", actions: {log: x}}
            """
        let event = SimulatedEvent(button: "a", event: .click)
        let verdicts = try #require(RuleExplainer(try Tested.set(rules)).explain(event)).verdicts
        #expect(verdicts.map(\.rule) == ["runs", "stops"])
        #expect(verdicts[0].steps.contains { $0.hasPrefix("actions[0].if: ") })
        #expect(verdicts[0].steps.last?.hasPrefix("after 2s: actions[2].log") == true)
        #expect(verdicts[1].steps == [])
    }

    /// The steps of a rule with this `wait_for`, which is the first of its steps, after a click of `a`.
    private func steps(waitingFor rest: String) throws -> [String] {
        let rules = """
            states: {door: {topic: door, type: boolean}, word: {topic: word}, lux: {topic: lux, type: integer}}
            groups: {upstairs: [a, b, desk]}
            rules:
              - id: waits
                triggers: {button: a, event: click}
                actions:
                  - {wait_for: \(rest)}
                  - log: end
            """
        let explanation = RuleExplainer(try Tested.set(rules)).explain(SimulatedEvent(button: "a", event: .click))
        return try #require(explanation?.verdicts.first).steps
    }

    @Test(
        "a rule that waits for an event says for which one, and for how long",
        arguments: [
            ("{button: a, event: click}", "click of a"),
            ("{button: [a, b], event: [down, hold]}", "down or hold of a or b"),
            ("{button: b, event: hold, for: 2s}", "hold for 2s of b"),
            ("{button: b, clicks: 3}", "clicks_3 of b"),
            ("{button: a, pattern: [short, long]}", "pattern [short, long] of a"),
            ("{button: upstairs, event: click}", "click of a, b or desk"),
            ("{button: any, event: down}", "down of any button"),
            ("{button: {serial: BF12-C00009}, event: down}", "down of BF12-C00009"),
            ("{button: desk, event: rotate_clockwise, part: push}", "rotate_clockwise of desk (push)"),
            ("{chord: [a, b]}", "the chord of a and b"),
            ("{chord: [b, a], event: hold}", "the held chord of b and a"),
            ("{at: ['21:00', '22:30']}", "21:00 or 22:30"),
            ("{at: '21:00', weekday: [sat, sun]}", "21:00 on sat or sun"),
            ("{state: door}", "a change of door"),
            ("{state: door, to: false}", "a change of door to false"),
            ("{state: word, from: [x, y], to: z}", "a change of word from x or y to z"),
            (
                "{state: lux, from: old <= 25, to: [5, new > 25], for: 30s}",
                "a change of lux from old <= 25 to 5 or new > 25 for 30s"
            ),
            ("[{state: [door, word]}, {button: b, event: click}]", "a change of door or word, or click of b"),
            ("[{button: b, event: click, id: x}, {button: b, event: click, id: y}]", "click of b"),
        ])
    func awaited(trigger: String, expected: String) throws {
        #expect(
            try steps(waitingFor: "\(trigger), timeout: 5m") == [
                "actions[0].wait_for: waits for \(expected), at most 5m",
                "after 5m: actions[0].wait_for: 5m is over", "after 5m: actions[1].log: info: end",
            ])
    }

    @Test("the text about what a rule waits for stays short, whatever is listed in it")
    func longAwaited() throws {
        let values = (1...100).map(String.init).joined(separator: ", ")
        #expect(
            try steps(waitingFor: "{state: lux, to: [\(values)]}, timeout: 5m").first
                == "actions[0].wait_for: waits for a change of lux to 1, 2, 3, 4 or 96 more, at most 5m")
        let times = (0..<60).map { "{at: '21:\($0 < 10 ? "0" : "")\($0)'}" }.joined(separator: ", ")
        #expect(
            try steps(waitingFor: "[\(times)], timeout: 5m").first
                == "actions[0].wait_for: waits for 21:00, or 21:01, or 21:02, or 21:03, or 56 more, at most 5m")
        let text = String(repeating: "x", count: 300)
        #expect(
            try steps(waitingFor: "{state: word, to: \(text)}, timeout: 5m").first
                == "actions[0].wait_for: waits for a change of word to (300 octets), at most 5m")
    }

    @Test("only a wait_for with else is said to continue there, and then is not shown, because nothing else happens")
    func otherwise() throws {
        let rest = "{button: b, event: click}, timeout: 5s, then: {log: came}"
        #expect(
            try steps(waitingFor: rest).dropFirst() == [
                "after 5s: actions[0].wait_for: 5s is over", "after 5s: actions[1].log: info: end",
            ])
        #expect(
            try steps(waitingFor: "\(rest), else: {log: no}").dropFirst() == [
                "after 5s: actions[0].wait_for: else: 5s is over",
                "after 5s: actions[0].wait_for.else[0].log: info: no", "after 5s: actions[1].log: info: end",
            ])
    }

    @Test("a pattern is written as short,long")
    func pattern() throws {
        let event = try #require(RuleExplainer.pattern("short,long"))
        #expect(try rules(for: SimulatedEvent(button: "a", event: event)) == ["secret"])
        let nine = String(repeating: "long,", count: 8) + "long"
        for text in ["", "short", "short,", "short, long", "short,lang", nine] {
            #expect(RuleExplainer.pattern(text) == nil)
        }
    }
}
