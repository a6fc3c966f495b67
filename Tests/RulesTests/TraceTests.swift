import ButtonModel
import Expressions
import Gestures
import TestSupport
import Testing

@testable import Rules

@Suite("Traces and statistics of rules")
struct TraceTests {
    @Test("the traces of a rule's last twenty runs are kept, and the trace of a run that goes on follows them")
    func traces() {
        var talk = House.talk(.on(.click, do: .say("hello")), .on(.down, id: "slow", do: .work))
        for _ in 0..<25 { talk.given(.event(.pattern([.short]), at: talk.now)) }
        #expect(talk.machine.traces(of: "rule").map(\.run.rawValue) == Array(6...25))
        #expect(talk.machine.traces(of: "rule").allSatisfy { $0.result == .completed })
        talk.given(.event(.down, at: talk.now))
        #expect(talk.machine.traces(of: "slow").map(\.result) == [nil])
        #expect(talk.machine.traces(of: "nothing") == [])
    }

    @Test("all traces together are bounded, and the oldest are removed first")
    func bound() {
        var archive = TraceArchive()
        let lines = Array(repeating: RunTrace.Line(after: .zero, step: "step", text: "text"), count: 99)
        for number in 0..<UInt64(1000) {
            var trace = RunTrace(
                run: RunID(rawValue: number), rule: "rule_\(number)", cause: RunCause(at: House.noon),
                startedAt: House.noon)
            trace.lines = lines
            archive.add(trace)
        }
        let kept = (0..<1000).filter { !archive.traces(of: "rule_\($0)").isEmpty }
        #expect((150...200).contains(kept.count))
        #expect(kept == Array(1000 - kept.count..<1000))
        archive.forget("rule_999")
        #expect(archive.traces(of: "rule_999").isEmpty)
    }

    @Test("every outcome is counted, and the durations of the last hundred runs are kept")
    func statistics() throws {
        var talk = House.talk(.on(.click, do: .work))
        for number in 0..<UInt64(120) {
            talk.given(.event(.pattern([.short]), at: talk.now))
            talk.wait(.milliseconds(Int(number)))
            talk.given(.actionFinished(ActionID(run: RunID(rawValue: number + 1), index: 0), .completed(nil)))
        }
        let statistics = try #require(talk.machine.statistics(of: "rule"))
        #expect(statistics.counts == [.started: 120, .completed: 120])
        #expect(statistics.durations == (20..<120).map { .milliseconds($0) })
        #expect(talk.machine.latestOutcome(of: "rule") == .completed)
        #expect(talk.machine.latestOutcome(of: "nothing") == nil)
        #expect(House.talk(.on(.click, do: .work)).machine.latestOutcome(of: "rule") == .notMatched)
    }
}

@Suite("Explanations of an event")
struct ExplanationTests {
    static let click = RecognisedEvent.Kind.pattern([.short])

    @Test("an explanation lists each rule's gates up to the one that refuses, and changes nothing")
    func gates() throws {
        var talk = House.talk(
            .on(.click, id: "dark", if: [try .that("states.lux < 20")], do: .say("dark")),
            .on(.click, id: "slow", mode: .queued, max: 2, cooldown: .seconds(9), do: .work),
            .on(.click, id: "nothing", fallback: true, do: .say("nothing")),
            .on(.click, id: "off", isEnabled: false, do: .say("off")), .on(.up, id: "other", do: .say("other")))
        talk.given(.event(.pattern([.short]), at: talk.now))
        talk.wait(.seconds(5))
        let event = RecognisedEvent(button: House.kitchen, kind: ExplanationTests.click, at: talk.now)
        let explanation = talk.machine.explain(event, at: talk.now)
        #expect(
            explanation.verdicts == [
                Explanation.RuleExplanation(
                    rule: "dark", stoppedBy: .conditions,
                    reasons: [
                        "enabled: enabled", "queued: not stored by the button",
                        "conditions: states.lux < 20 is false (states.lux = 30)",
                    ]),
                Explanation.RuleExplanation(
                    rule: "slow", stoppedBy: .cooldown,
                    reasons: [
                        "enabled: enabled", "queued: not stored by the button", "conditions: none",
                        "cooldown: for another 4s",
                    ]),
                Explanation.RuleExplanation(rule: "off", stoppedBy: .enabled, reasons: ["enabled: disabled"]),
            ])
        #expect(explanation.notConsidered == ["nothing"])
        #expect(talk.machine.statistics(of: "dark")?.counts == [.droppedConditions: 1])
    }

    @Test("an explanation of a rule that would start lists all its gates")
    func runs() {
        let talk = House.talk(.on(.click, do: .say("hello")))
        let event = RecognisedEvent(
            button: House.kitchen, kind: ExplanationTests.click, wasQueued: true, age: .seconds(2), at: talk.now)
        #expect(
            talk.machine.explain(event, at: talk.now).verdicts == [
                Explanation.RuleExplanation(
                    rule: "rule", stoppedBy: nil,
                    reasons: [
                        "enabled: enabled", "queued: stored by the button for 2s, at most 3s", "conditions: none",
                        "cooldown: over", "rate_limit: 0 of 600 runs in 1m", "mode: single",
                    ])
            ])
    }

    @Test("an explanation of a rule that keeps the last stored event also lists the gates after queued")
    func keepLast() throws {
        let talk = House.talk(
            .on(
                .click, if: [try .that("states.lux < 20")], queued: .limited(maximumAge: .seconds(9), keepLast: true),
                do: .say("hello")))
        let event = RecognisedEvent(
            button: House.kitchen, kind: ExplanationTests.click, wasQueued: true, age: .seconds(2), at: talk.now)
        let verdict = try #require(talk.machine.explain(event, at: talk.now).verdicts.first)
        #expect(verdict.stoppedBy == .conditions)
        #expect(
            verdict.reasons.suffix(2) == [
                "queued: stored by the button for 2s, at most 9s; only the last one is used",
                "conditions: states.lux < 20 is false (states.lux = 30)",
            ])
    }

    @Test("connections and low batteries can be explained as well")
    func otherEvents() {
        let talk = House.talk(.on(.batteryLow, of: .any, do: .say("low")))
        #expect(talk.machine.explain(.batteryLow, of: House.hall, at: talk.now).verdicts.map(\.rule) == ["rule"])
        #expect(talk.machine.explain(.connected, of: House.hall, at: talk.now) == Explanation())
    }

    /// Compares each explanation with what then happens.
    @Test("an explanation names the gate that then stops the rule", arguments: UInt64(0)..<20)
    func agrees(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var talk = House.talk(try RandomHouse.set(&random))
        for _ in 0..<60 {
            talk.wait(.milliseconds(Int.random(in: 0...900, using: &random)))
            let event = RandomHouse.recognised(&random, at: talk.now)
            let explanation = talk.machine.explain(event, at: talk.now)
            // A run that the event continues may claim it, or end and let added rotations start its rule.
            let continuesRuns = !talk.machine.runs(waitingFor: event).isEmpty
            // A stored event that was kept is decided first, and may start a run.
            let decidesKept = !talk.machine.kept.isEmpty(for: event.button)
            var outcomes: [String: Gate?] = [:]
            for effect in talk.given(.given(.recognised(event))) {
                if case .started(_, let rule, let cause) = effect, cause.facts.wasQueued == event.wasQueued {
                    outcomes[rule] = .some(nil)
                }
                if case .stopped(let rule, let gate, let cause, _) = effect, cause.facts.age == event.age {
                    outcomes[rule] = gate
                }
            }
            guard !event.wasQueued, !continuesRuns, !decidesKept else { continue }
            for verdict in explanation.verdicts where outcomes[verdict.rule] != nil {
                #expect(outcomes[verdict.rule] == .some(verdict.stoppedBy))
            }
        }
    }
}
