import ButtonModel
import Hub
import JSON

/// The output of `tryck replay --json`: the lines of `tryck watch --json`, each with its time.
enum ReplayJSON {
    static func line(_ occurrence: ReplayRun.Occurrence) -> String {
        switch occurrence {
        case .began(let header, let ruleCount):
            let configuration = header.configuration
            return text([
                "time": .string("\(header.startedAt)"), "kind": "start", "version": .string(configuration.version),
                "rules": .integer(Int64(ruleCount)),
                "buttons": .integer(Int64(header.stored.buttons.count)),
            ])
        case .line(let line, let time): return text(value(line, at: time))
        }
    }

    /// A line of the live stream with its time.
    static func value(_ line: JSONValue, at time: UTCTime) -> JSONValue {
        guard case .object(let members) = line else { return line }
        return .object([.init("time", .string("\(time)"))] + members)
    }

    static func line(_ summary: ReplayRun.Summary) -> String {
        text([
            "kind": "summary", "presses": .integer(Int64(summary.presses)),
            "gestures": .integer(Int64(summary.gestures)), "runs": .integer(Int64(summary.runs)),
            "messages": .integer(Int64(summary.messages)), "programs": .integer(Int64(summary.programs)),
            "cut_off": .bool(summary.isCutOff),
        ])
    }

    private static func text(_ line: JSONValue) -> String { line.description + "\n" }
}
