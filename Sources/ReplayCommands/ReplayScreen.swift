import ButtonModel
import CommandSupport
import CommandText
import Hub
import JSON

/// The output of `tryck replay`: the lines of `tryck watch` with the times of the recording, in UTC.
struct ReplayScreen: Sendable {
    /// The day that was shown last: `2026-11-21`.
    private var day = ""

    mutating func text(_ occurrence: ReplayRun.Occurrence, style: Style) -> String {
        let lines =
            switch occurrence {
            case .began(let header, let ruleCount): lines(header, ruleCount: ruleCount)
            case .line(let line, let time): lines(line, at: time, style: style)
            }
        return ReplayScreen.text(lines, style)
    }

    static func text(_ summary: ReplayRun.Summary, style: Style) -> String {
        func count(_ number: Int, _ one: String, _ many: String) -> String { "\(number) \(number == 1 ? one : many)" }
        let counts = [
            count(summary.presses, "press", "presses"), count(summary.gestures, "gesture", "gestures"),
            count(summary.runs, "run", "runs"), count(summary.messages, "message", "messages"),
            count(summary.programs, "program", "programs"),
        ]
        return text(["", Line(counts.joined(separator: ", "), .strong)], style)
    }

    private static func text(_ lines: [Line], _ style: Style) -> String {
        lines.map { $0.rendered(style) + "\n" }.joined()
    }

    private mutating func lines(_ header: RecordingHeader, ruleCount: Int) -> [Line] {
        let (start, configuration) = (header.startedAt.dayAndTime, header.configuration)
        defer { day = start.day }
        let rules = Quantity.count(Int64(ruleCount), "rule")
        let buttons = Quantity.count(Int64(header.stored.buttons.count), "button")
        return (day.isEmpty ? [] : [""]) + [
            Line("tryckd \(configuration.version)", .strong)
                + " started on \(start.day) at \(start.time) UTC with \(rules) and \(buttons)",
            "",
        ]
    }

    private mutating func lines(_ line: JSONValue, at time: UTCTime, style: Style) -> [Line] {
        let texts = StreamText.lines(line, style: style)
        guard !texts.isEmpty else { return [] }
        let (day, clock) = time.dayAndTime
        let indent = Line(String(repeating: " ", count: Clock.columns + 2))
        var lines = day == self.day ? [] : [Line(day, .faint)]
        self.day = day
        for (index, text) in texts.enumerated() {
            lines.append((index == 0 ? Line("\(clock)  ", .faint) : indent) + text)
        }
        return lines
    }
}

extension UTCTime {
    /// The day `2026-11-21` and the time `02:30:00.123`.
    fileprivate var dayAndTime: (day: String, time: String) {
        let parts = description.split(separator: "T", maxSplits: 1)
        return (String(parts.first ?? ""), String(parts.last?.dropLast() ?? ""))
    }
}
