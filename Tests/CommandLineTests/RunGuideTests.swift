import CommandSupport
import JSON
import MQTTTopics
import Platform
import Testing

@testable import DaemonCommands

@Suite("Running a rule to its end")
struct RunGuideTests {
    private static let request = JSONValue.request(RuleRequestName.run, ["id": "lamp"])
    private static let ok: JSONValue = ["status": "ok", "data": [:]]

    private static func answer(_ result: JSONValue) -> JSONValue {
        ["status": "ok", "data": ["trace": ["run": 7, "result": result]]]
    }

    private static func line(_ outcome: JSONValue, run: JSONValue = 7) -> JSONValue {
        ["kind": "rule", "rule": "lamp", "run": run, "outcome": outcome]
    }

    private static func traces(_ result: JSONValue) -> JSONValue {
        ["status": "ok", "data": ["runs": [["run": 6, "result": "failed"], ["run": 7, "result": result]]]]
    }

    private static func effects(of inputs: [RunGuide.Input]) -> [RunGuide.Effect] {
        var guide = RunGuide(rule: "lamp", request: request)
        let first = guide.handle(.connected)
        #expect(first == [.send(.request(ControlRequestName.watch))])
        #expect(guide.handle(.received(ok)) == [.send(request)])
        return inputs.flatMap { guide.handle($0) }
    }

    @Test("a run that has ended in the answer is shown; its result is the result of the command")
    func endedAtOnce() {
        #expect(
            Self.effects(of: [.received(Self.answer("completed"))])
                == [.show(["run": 7, "result": "completed"]), .finish])
        #expect(
            Self.effects(of: [.received(Self.answer("failed"))])
                == [.show(["run": 7, "result": "failed"]), .fail(.silent(.negativeResult))])
    }

    @Test("a run that goes on is waited for, whether its end is told before the answer or after it")
    func waits() {
        let trace = RunGuide.Effect.send(.request(RuleRequestName.trace, ["id": "lamp"]))
        let end: [RunGuide.Effect] = [trace, .show(["run": 7, "result": "completed"]), .finish]
        #expect(
            Self.effects(of: [
                .received(Self.answer(.null)), .received(Self.line("started")), .received(Self.line("step_failed")),
                .received(Self.line("completed", run: 8)),
                .received(["kind": "event", "run": 7, "outcome": "completed"]),
                .received(Self.line("completed")), .received(Self.traces("completed")),
                .received(Self.line("completed")),
            ]) == end)
        #expect(
            Self.effects(of: [
                .received(Self.line("completed")), .received(Self.answer(.null)), .received(Self.traces("completed")),
            ]) == end)
    }

    @Test("a refusal fails with its sentence, and an interruption says that the run goes on")
    func failures() {
        let refusal: JSONValue = ["status": "error", "error": "rule lamp did not run"]
        #expect(
            Self.effects(of: [.received(refusal), .interrupted])
                == [.fail(Failure(.negativeResult, "rule lamp did not run"))])
        #expect(
            Self.effects(of: [.received(Self.answer(.null)), .interrupted])
                == [
                    .fail(
                        Failure(
                            .negativeResult, "The run goes on, and ends by itself. To see it: tryck rule lamp trace"))
                ])
    }
}
