import ButtonModel
import CommandSupport
import CommandText
import JSON

/// Formats one run of a rule, step by step.
///
///     run 12  kitchen click  2026-11-21 02:30:00.123  completed in 1s204ms
///          0s  actions[0].publish  completed
///     stopped  2026-11-21 02:31:10.400  kitchen click  dropped_conditions  states.lux < 20 is false (states.lux = 31)
enum TraceText {
    /// The answer to a request for the trace of a rule: its runs, then the matches that a gate stopped.
    static func lines(of rule: String, _ answer: JSONValue) -> [Line] {
        let runs = (answer["runs"]?.arrayValue ?? []).flatMap { lines($0) }
        let stopped = (answer["stopped"]?.arrayValue ?? []).map(stopped)
        return (runs.isEmpty ? [Line("\(rule) has not run since the start.")] : runs) + stopped
    }

    private static func stopped(_ match: JSONValue) -> Line {
        let cause = [match["button"]?.stringValue, match["event"]?.stringValue].compactMap(\.self).filter {
            !$0.isEmpty
        }
        return Line("stopped", .doubtful) + ("  \(Quantity.localTime(match.text("at")))  ", .faint)
            + (cause.isEmpty ? "requested" : cause.joined(separator: " ")) + "  \(match.text("gate"))  "
            + (match.text("reason"), .faint)
    }

    /// `1s204ms`, as in the texts of the steps.
    private static func duration(_ milliseconds: JSONValue?) -> String {
        Quantity.duration(.milliseconds(milliseconds?.integerValue ?? 0))
    }

    static func lines(_ run: JSONValue) -> [Line] {
        var head = Line("run \(run["run"]?.integerValue ?? 0)", .strong)
        let event = ChangeText.text(run) ?? run["event"]?.stringValue
        let cause = [run["button"]?.stringValue, event].compactMap(\.self).filter { !$0.isEmpty }
        head.append("  " + (cause.isEmpty ? "requested" : cause.joined(separator: " ")))
        head.append("  \(Quantity.localTime(run.text("started_at")))  ", .faint)
        switch run["result"]?.stringValue {
        case nil: head.append("in progress", .doubtful)
        case "completed"?: head.append("completed in \(duration(run["duration_ms"]))", .good)
        case let result?: head.append("\(result) after \(duration(run["duration_ms"]))", .bad)
        }
        let steps = run["steps"]?.arrayValue ?? []
        let width = steps.map { $0.text("step").columns }.max() ?? 0
        var lines = [head]
        for step in steps {
            let after = duration(step["after_ms"])
            lines.append(
                Line(String(repeating: " ", count: max(0, 8 - after.count)) + after + "  ", .faint)
                    + step.text("step").padded(to: width + 2) + step.text("text"))
        }
        let omitted = run["omitted"]?.integerValue ?? 0
        if omitted > 0 { lines.append(Line("          and \(omitted) more", .faint)) }
        return lines
    }
}
