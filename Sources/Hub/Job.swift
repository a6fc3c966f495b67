import ButtonModel
import JSON
import MQTTTopics
package import Rules

/// The work of a step of a rule that an edge does for the hub, and that ends with a `JobResult`.
///
/// A new kind of job needs a case in the enums of this file, in `ExternalAction`, and in the recording of inputs
/// (`RecordedInput+JSON.swift`). `JobEdges` passes it to an edge.
package enum Job: Hashable, Sendable {
    case process(ProcessRequest)
    case http(HTTPAction)

    /// - Parameters:
    ///   - environment: the variables of all programs.
    ///   - directory: the working directory of a program whose step names none.
    init(_ action: ExternalAction, _ environment: [String], in directory: String) {
        switch action {
        case .process(let process): self = .process(ProcessRequest(process, environment, in: directory))
        case .http(let request): self = .http(request)
        }
    }

    package var kind: JobKind {
        switch self {
        case .process: .process
        case .http: .http
        }
    }

    /// The texts that are equal in a recording and in its replay if the job is the same. Variables of a step, and headers, are
    /// added only where there are some, so a job without them is found in older recordings, too.
    ///
    /// - Parameter configuration: the one with which the job was created. Recordings do not have its environment of programs,
    ///   and the facts of the event follow from the recorded event.
    func identifyingTexts(in configuration: HubConfiguration) -> [String] {
        switch self {
        case .process(let request):
            request.arguments + [String(decoding: request.standardInput, as: UTF8.self)]
                + request.variables.filter {
                    !ProcessAction.isFact($0) && !configuration.processEnvironment.contains($0)
                }
        case .http(let request):
            [request.method, request.url, String(decoding: request.body, as: UTF8.self)] + request.headers
        }
    }
}

/// The kinds of jobs.
package enum JobKind: CaseIterable, Hashable, Sendable {
    case process, http

    init(of action: ExternalAction) {
        switch action {
        case .process: self = .process
        case .http: self = .http
        }
    }

    /// The result of a job that was cancelled; `nil` if the hub does not wait for the end of such a job, because clients
    /// that watch do not see it.
    package var resultWhenCancelled: JobResult? {
        switch self {
        case .process: .process(ProcessResult(status: .signalled(15)))
        case .http: nil
        }
    }

    /// The result of a job that has succeeded without any output.
    package func success(after duration: Duration) -> JobResult {
        switch self {
        case .process: .process(ProcessResult(status: .exited(0), duration: duration))
        case .http: .http(HTTPResult(outcome: .answered(status: 200), duration: duration))
        }
    }

    /// The result of a job that could not be done.
    ///
    /// - Parameter reason: a sentence for users.
    func failure(_ reason: String) -> JobResult {
        switch self {
        case .process: .process(ProcessResult(status: .couldNotStart(reason)))
        case .http: .http(HTTPResult(outcome: .failed(reason)))
        }
    }
}

/// How a job has ended.
package enum JobResult: Hashable, Sendable {
    case process(ProcessResult)
    case http(HTTPResult)

    /// The outcome for the step that waits for the job.
    var stepOutcome: ActionResult {
        switch self {
        case .process(let result): result.stepOutcome
        case .http(let result): result.stepOutcome
        }
    }

    /// The octets that the job has received, such as the output of a program.
    package var received: [UInt8] {
        switch self {
        case .process(let result): result.standardOutput + result.standardError
        case .http(let result): result.body
        }
    }

    /// A line of the log about the result; `nil` for most results.
    var note: String? {
        switch self {
        case .process: nil
        case .http(let result): result.note
        }
    }
}

/// A job that has ended, and the action for which it was done.
enum EndedJob: Hashable, Sendable {
    case process(ProcessAction, ProcessResult)
    case http(HTTPAction, HTTPResult)

    /// `nil` if the result is that of another kind of job.
    init?(_ action: ExternalAction, _ result: JobResult) {
        switch (action, result) {
        case (.process(let action), .process(let result)): self = .process(action, result)
        case (.http(let action), .http(let result)): self = .http(action, result)
        case (.process, _), (.http, _): return nil
        }
    }

    /// The kind of its line in the live stream.
    var streamKind: StreamKind {
        switch self {
        case .process: .process
        case .http: .http
        }
    }

    /// The members of its line in the live stream.
    func members(rule: String) -> [JSONValue.Member] {
        switch self {
        case .process(let action, let result): result.members(of: action, rule: rule)
        case .http(let action, let result): result.members(of: action, rule: rule)
        }
    }
}
