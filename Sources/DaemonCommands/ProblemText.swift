import CommandSupport
import CommandText
import JSON

/// The problems in rule files that the daemon has found, as `tryck check` prints them, but without the lines of the files,
/// which may have changed since.
///
///     rules/home.yaml:14:15: error[E301]: unknown button "kitchn"
///       hint: did you mean "kitchen"?
///     the rules on disk have errors; the old rules stay in use
enum ProblemText {
    /// The report for standard error, which ends with a line feed.
    ///
    /// - Parameter sentence: why the daemon refused the rules. It ends with a colon and the first problem.
    static func report(_ problems: [JSONValue], because sentence: String) -> String {
        var style = Output.standardError.style
        style.width = nil
        return lines(problems, because: sentence).map { $0.rendered(style) + "\n" }.joined()
    }

    static func lines(_ problems: [JSONValue], because sentence: String) -> [Line] {
        let reason = sentence.firstRange(of: ": ").map { sentence[..<$0.lowerBound] } ?? sentence[...]
        return problems.flatMap(lines) + [Line(String(reason))]
    }

    private static func lines(_ problem: JSONValue) -> [Line] {
        let (message, code) = (problem.text("message"), problem.text("code"))
        // The last element of the list may be the number of errors that were left out.
        guard problem["more"] == nil else { return [Line(message)] }
        let hint = problem["hint"]?.stringValue
        // The hint of a failed test is its whole report.
        if code == "test", let hint { return hint.split(separator: "\n").map { Line(String($0)) } }
        let severity = problem.text("severity")
        var lines = [
            Line("\(place(of: problem)): ", .strong)
                + ("\(severity)[\(code)]: ", severity == "error" ? .bad : .doubtful) + message
        ]
        if let hint { lines.append(Line("  hint: \(hint)")) }
        for note in problem["related"]?.arrayValue ?? [] {
            lines.append(Line("  note: \(note.text("message")) at \(place(of: note))"))
        }
        return lines
    }

    private static func place(of problem: JSONValue) -> String {
        "\(problem.text("file")):\(problem["line"] ?? 0):\(problem["column"] ?? 0)"
    }
}
