import ArgumentParser
import JSON
import Platform

/// The last output of a command, and its exit status.
///
/// With `--json` among the arguments, an error is a line of JSON on standard output, because programs that start commands
/// usually read only that stream:
///
///     {"error":"tryckd is not running","hint":"Start it: systemctl start tryck.","code":69}
struct CommandEnding: Hashable, Sendable {
    var status: Int32
    /// A text for standard output, or for standard error.
    var text = ""
    var isError = false

    static let success = CommandEnding(status: ExitStatus.success.rawValue)

    /// - Parameters:
    ///   - error: what the command threw.
    ///   - arguments: those of the process, without its name.
    ///   - command: the command that was started, which knows how to show errors in arguments.
    init(_ error: any Error, arguments: [String], of command: any ParsableCommand.Type) {
        let isJSON = arguments.prefix { $0 != "--" }.contains("--json")
        if let failure = error as? Failure {
            let isSilent = failure.sentence.isEmpty
            self.init(status: failure.status.rawValue)
            if isSilent { return }
            if isJSON {
                text = Self.json(failure.sentence, failure.problems, code: status)
            } else {
                isError = true
                text = failure.report ?? "\(command.configuration.commandName ?? "tryck"): \(failure.sentence)\n"
            }
            return
        }
        let code = command.exitCode(for: error)
        let unknown =
            code.isSuccess && arguments.first != "help" ? nil : UnknownCommand.find(in: arguments, of: command)
        self.init(status: unknown == nil ? code.rawValue : ExitStatus.usage.rawValue)
        if let unknown {
            isError = !isJSON
            text = isJSON ? Self.json(unknown.sentences, [], code: status) : "Error: \(unknown.sentences)\n"
        } else if isJSON, !code.isSuccess {
            text = Self.json(Self.sentence(command.message(for: error)) + " See tryck --help.", [], code: status)
        } else {
            let message = command.fullMessage(for: error)
            if !message.isEmpty { text = message + "\n" }
            isError = !code.isSuccess
        }
    }

    private init(status: Int32) { self.status = status }

    /// The text with a full stop, unless it is a question such as "Did you mean '--for'?".
    private static func sentence(_ text: String) -> String {
        text.hasSuffix("?") || text.hasSuffix(".") ? text : text + "."
    }

    /// The first sentence is the error, and the others are the hint.
    private static func json(_ sentences: String, _ problems: [JSONValue], code: Int32) -> String {
        var (error, hint) = (sentences[...], JSONValue.null)
        if let end = sentences.firstRange(of: ". ") {
            error = sentences[..<end.lowerBound]
            hint = .string(String(sentences[end.upperBound...]))
        } else if error.hasSuffix(".") {
            error = error.dropLast()
        }
        var members: [JSONValue.Member] = [
            .init("error", .string(String(error))), .init("hint", hint), .init("code", .integer(Int64(code))),
        ]
        if !problems.isEmpty { members.append(.init("problems", .array(problems))) }
        return JSONValue.object(members).description + "\n"
    }
}
