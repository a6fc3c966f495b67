import ButtonModel
import CommandSupport
import CommandText
import JSON

/// The output of `tryck buttons`.
enum ButtonTable {
    private struct Cell {
        var text: String
        var ink = Ink.plain
    }

    /// - Parameter now: the wall clock, to tell how long ago a button was seen.
    static func lines(_ buttons: [JSONValue], at now: UTCTime) -> [Line] {
        guard !buttons.isEmpty else { return ["No button is paired yet. Pair one with: tryck pair"] }
        let titles = ["NAME", "SERIAL", "STATE", "BATTERY", "SIGNAL", "LAST SEEN", "MODE", "A CLICK WAITS"]
        let header = titles.map { Cell(text: $0, ink: .faint) }
        let rows = [header] + buttons.map { row($0, at: now) }
        let widths = header.indices.map { column in rows.map { $0[column].text.visible.columns }.max() ?? 0 }
        return rows.map { row in
            var line = Line()
            for (column, cell) in row.enumerated() {
                let isLast = column == row.count - 1
                line.append(isLast ? cell.text : cell.text.visible.padded(to: widths[column] + 2), cell.ink)
            }
            return line
        }
    }

    private static func row(_ button: JSONValue, at now: UTCTime) -> [Cell] {
        let state = button.text("state")
        let battery =
            button["battery_mv"]?.integerValue.map(Quantity.volts) ?? button["battery"]?.integerValue.map { "\($0) %" }
        let isLow = button["battery_low"]?.boolValue == true
        let isWaiting = button["waits_for_space"]?.boolValue == true
        return [
            Cell(text: button.text("name"), ink: .strong), Cell(text: button.text("serial")),
            Cell(text: isWaiting ? "no space" : state, ink: state == "ready" ? .good : .plain),
            Cell(text: (battery ?? "unknown") + (isLow ? " low" : ""), ink: isLow ? .bad : .plain),
            Cell(text: signal(button)), Cell(text: lastSeen(button, at: now)),
            Cell(text: button.text("trigger_mode")), Cell(text: clickWait(button)),
        ]
    }

    /// How long a click waits, and because of which rule: `500ms (kitchen_scenes)`.
    private static func clickWait(_ button: JSONValue) -> String {
        let cause = button["click_wait_rule"]?.stringValue.map { " (\($0))" } ?? ""
        switch button["click_wait_ms"]?.integerValue {
        case nil: return "for the release" + cause
        case 0?: return "not at all"
        case let milliseconds?: return Quantity.duration(.milliseconds(milliseconds)) + cause
        }
    }

    static func signal(_ button: JSONValue) -> String {
        button["rssi"]?.integerValue.map { "\($0) dBm" } ?? "unknown"
    }

    static func lastSeen(_ button: JSONValue, at now: UTCTime) -> String {
        if button.text("state") == "ready" { return "now" }
        guard let text = button["last_seen"]?.stringValue else { return "never" }
        guard let time = UTCTime(parsing: text) else { return text }
        return "\(Quantity.span(seconds: (now.milliseconds - time.milliseconds) / 1000)) ago"
    }
}
