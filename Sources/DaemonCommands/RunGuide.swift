import CommandSupport
import JSON
import MQTTTopics
import Platform

/// The course of `tryck rule ID run --wait`, from the first request to the end of the run.
///
/// It sends `watch` before the rule runs, so that the end of the run is not missed.
///
/// | state    | on                                | becomes | and we                                |
/// |----------|-----------------------------------|---------|---------------------------------------|
/// | watching | the answer                        | running | run the rule                          |
/// | running  | the answer, of a run that goes on | waiting |                                       |
/// | running  | the answer, of a run that ended   | done    | finish                                |
/// | waiting  | the end of this run               | tracing | ask for the traces of the rule        |
/// | waiting  | interrupted                       | done    | fail: the run goes on                 |
/// | tracing  | the answer                        | done    | finish                                |
/// | any      | an answer that is an error        | done    | fail with its sentence                |
///
/// To finish is to fail when the run was not completed. The daemon answers requests in order, so answers need no names.
struct RunGuide: Guide {
    private enum State: Hashable {
        case watching, running, tracing, done
        case waiting(run: Int64)
    }

    private let rule: String
    private let request: JSONValue
    private var state = State.watching
    private var run: Int64 = 0
    /// The outcomes of runs that ended before the answer told the number of this run.
    private var ended: Set<Int64> = []

    /// - Parameter request: the request that runs the rule.
    init(rule: String, request: JSONValue) {
        self.rule = rule
        self.request = request
    }

    mutating func handle(_ input: Input) -> [Effect] {
        switch (state, input) {
        case (.done, _): return []
        case (.watching, .connected): return [.send(.request(ControlRequestName.watch))]
        case (.running, .connected), (.waiting, .connected), (.tracing, .connected): return []
        case (_, .interrupted):
            state = .done
            return [
                .fail(
                    Failure(
                        .negativeResult, "The run goes on, and ends by itself. To see it: tryck rule \(rule) trace"))
            ]
        case (_, .received(let line)): return line["kind"] == nil ? answered(line) : happened(line)
        }
    }

    private mutating func answered(_ answer: JSONValue) -> [Effect] {
        switch (state, answer.requestOutcome) {
        case (.done, _), (.waiting, _): return []
        case (_, .failure(let failure)):
            state = .done
            return [.fail(failure)]
        case (.watching, .success):
            state = .running
            return [.send(request)]
        case (.running, .success(let data)):
            let trace = data["trace"] ?? .null
            run = trace["run"]?.integerValue ?? 0
            if trace["result"]?.stringValue != nil { return finish(trace) }
            state = .waiting(run: run)
            return ended.contains(run) ? askForTrace() : []
        case (.tracing, .success(let data)):
            let trace = data["runs"]?.arrayValue?.first { $0["run"]?.integerValue == run }
            return finish(trace ?? .null)
        }
    }

    private mutating func happened(_ line: JSONValue) -> [Effect] {
        guard StreamKind(line) == .rule, line["rule"]?.stringValue == rule, let number = line["run"]?.integerValue,
            let outcome = line["outcome"]?.stringValue, outcome != "started", outcome != "step_failed"
        else { return [] }
        switch state {
        case .running:
            ended.insert(number)
            return []
        case .waiting(run: number): return askForTrace()
        case .watching, .waiting, .tracing, .done: return []
        }
    }

    private mutating func askForTrace() -> [Effect] {
        state = .tracing
        return [.send(.request(RuleRequestName.trace, ["id": .string(rule)]))]
    }

    private mutating func finish(_ trace: JSONValue) -> [Effect] {
        state = .done
        let show = trace == .null ? [] : [Effect.show(trace)]
        // The trace has the reason.
        return show + [trace["result"] == "completed" ? .finish : .fail(.silent(.negativeResult))]
    }
}
