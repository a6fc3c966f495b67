import ButtonModel
import CommandSupport
import CommandText
import JSON

/// The output of `tryck rules`.
enum RuleTable {
    /// - Parameter now: the wall clock, to tell how long ago a rule ran.
    static func lines(_ rules: [JSONValue], at now: UTCTime) -> [Line] {
        guard !rules.isEmpty else { return ["No rule is loaded. Write rules into rules/home.yaml beside tryck.yaml."] }
        let rows = [["RULE", "STATE", "LAST RUN", "RAN", "STOPPED"]] + rules.map { row($0, at: now) }
        let widths = rows[0].indices.map { column in rows.map { $0[column].visible.columns }.max() ?? 0 }
        return rows.enumerated().map { number, cells in
            var line = Line()
            for (column, cell) in cells.enumerated() {
                let text = column == cells.count - 1 ? cell : cell.visible.padded(to: widths[column] + 2)
                line.append(text, number == 0 ? .faint : ink(cell, column))
            }
            return line
        }
    }

    private static func ink(_ cell: String, _ column: Int) -> Ink {
        switch (column, cell) {
        case (0, _): .strong
        case (1, "disabled"): .doubtful
        case (2, _) where cell.hasPrefix("failed") || cell.hasPrefix("interrupted"): .bad
        default: .plain
        }
    }

    private static func row(_ rule: JSONValue, at now: UTCTime) -> [String] {
        let counts = rule["stats"] ?? .null
        func count(_ name: String) -> Int64 { counts[name]?.integerValue ?? 0 }
        let stopped = counts.objectValue?.reduce(Int64(0)) { sum, member in
            member.name.hasPrefix("dropped_") ? sum + (member.value.integerValue ?? 0) : sum
        }
        let isRunning = rule["running"]?.integerValue ?? 0 > 0
        let lastRun = rule["last_run"] ?? .null
        let time = lastRun["started_at"]?.stringValue.flatMap { UTCTime(parsing: $0) }
        let ago = time.map { ", \(Quantity.span(seconds: (now.milliseconds - $0.milliseconds) / 1000)) ago" } ?? ""
        return [
            rule.text("id"), rule["enabled"]?.boolValue == false ? "disabled" : "enabled",
            isRunning ? "running" : lastRun["result"]?.stringValue.map { $0 + ago } ?? "never",
            String(count("started")), String(stopped ?? 0) + lastStopped(rule["last_stopped"] ?? .null),
        ]
    }

    /// The gate that stopped the latest match, and its reason with the values that it saw.
    private static func lastStopped(_ match: JSONValue) -> String {
        guard let gate = match["gate"]?.stringValue else { return "" }
        let reason = match.text("reason")
        return ", last \(gate)" + (reason.isEmpty ? "" : ": \(reason)")
    }
}
