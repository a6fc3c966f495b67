import ButtonModel
import Expressions
import JSON
import Rules

/// A program to start.
package struct ProcessRequest: Hashable, Sendable {
    /// At least one argument; the first is the program. A name without a slash is looked up in
    /// `ProcessEdge.searchPath`.
    package var arguments: [String]
    /// The environment of all programs: `NAME=value`. It is not put together with `variables` before that is needed, so that all
    /// requests share one array.
    package var commonVariables: [String]
    /// Further variables. They take precedence over `commonVariables`.
    package var variables: [String]
    /// The working directory; `nil`: that of the daemon.
    package var directory: String?
    /// The octets on its standard input, before the end of file.
    package var standardInput: [UInt8]

    package init(
        arguments: [String], environment: [String] = [], directory: String? = nil, standardInput: [UInt8] = []
    ) {
        self.arguments = arguments
        commonVariables = []
        variables = environment
        self.directory = directory
        self.standardInput = standardInput
    }

    /// The complete environment, in this order.
    package var environment: [String] {
        commonVariables.filter { common in !variables.contains { $0.hasName(of: common) } } + variables
    }
}

/// How a program ended, and the first 64 KiB of each of its output streams.
package struct ProcessResult: Hashable, Sendable {
    package enum Status: Hashable, Sendable {
        case exited(Int32)
        case signalled(Int32)
        /// The reason, as a sentence for users.
        case couldNotStart(String)
    }

    package var status: Status
    package var standardOutput, standardError: [UInt8]
    /// From the start to the end of the program itself, whether or not processes that it started go on.
    package var duration: Duration

    package init(
        status: Status, standardOutput: [UInt8] = [], standardError: [UInt8] = [], duration: Duration = .zero
    ) {
        self.status = status
        self.standardOutput = standardOutput
        self.standardError = standardError
        self.duration = duration
    }

    /// The exit status; 128 + the signal's number if the program was killed; 127 if it could not be started.
    package var exitStatus: Int64 {
        switch status {
        case .exited(let status): Int64(status)
        case .signalled(let signal): 128 + Int64(signal)
        case .couldNotStart: 127
        }
    }
}

extension ProcessRequest {
    /// - Parameters:
    ///   - environment: the variables of all programs.
    ///   - directory: the working directory, unless the action has another one.
    init(_ action: ProcessAction, _ environment: [String], in directory: String) {
        arguments = action.arguments
        commonVariables = environment
        variables = action.environment
        self.directory = action.directory ?? directory
        standardInput = action.standardInput
    }
}

extension ProcessResult {
    /// The outcome for the step that started the program.
    var stepOutcome: ActionResult {
        var facts = ResultFacts()
        facts.isOK = status == .exited(0)
        facts.status = exitStatus
        facts.stdout = String(decoding: standardOutput, as: UTF8.self).withoutLastNewline
        facts.stderr = String(decoding: standardError, as: UTF8.self).withoutLastNewline
        facts.duration = duration
        switch status {
        case .exited(0): return .completed(facts)
        case .exited(let status):
            let reason = String(decoding: standardError, as: UTF8.self).prefix { !$0.isNewline }
            return .failed(
                code: "R822", message: "exit status \(status)" + (reason.isEmpty ? "" : ": \(reason)"), facts)
        case .signalled(let signal): return .failed(code: "R822", message: "ended by signal \(signal)", facts)
        case .couldNotStart(let reason): return .failed(code: "R822", message: reason, facts)
        }
    }

    /// The members of its line in the live stream.
    func members(of action: ProcessAction, rule: String) -> [JSONValue.Member] {
        let arguments = action.isShell ? Array(action.arguments.dropFirst(2).prefix(1)) : action.arguments
        return [
            .init("rule", .string(rule)), .init("command", .array(arguments.map(JSONValue.string))),
            .init("shell", .bool(action.isShell)), .init("status", .integer(exitStatus)),
            .init("stdout", .string(String(decoding: standardOutput, as: UTF8.self))),
            .init("stderr", .string(String(decoding: standardError, as: UTF8.self))),
            .init("duration_ms", .number(Double(duration.nanoseconds / 10_000) / 100)),
        ]
    }
}

extension String {
    /// True if both are variables, `NAME=value`, of the same name. Octets are compared, as programs compare them.
    fileprivate func hasName(of other: String) -> Bool {
        for (octet, otherOctet) in zip(utf8, other.utf8) {
            guard octet == otherOctet else { return false }
            if octet == UInt8(ascii: "=") { return true }
        }
        return false
    }

    fileprivate var withoutLastNewline: String {
        guard utf8.last == UInt8(ascii: "\n") else { return self }
        return String(Substring(utf8.dropLast(utf8.dropLast().last == UInt8(ascii: "\r") ? 2 : 1)))
    }
}
