import ButtonModel
import CommandSupport
import CommandText
import JSON

/// The output of `tryck button NAME`: one value on each line, after its title.
enum ButtonText {
    private static let titleColumns = 17

    static func lines(_ button: JSONValue, at now: UTCTime) -> [Line] {
        var lines = [
            titled("name") + (button.text("name"), .strong),
            state(button),
            battery(button),
            titled("signal") + (ButtonTable.signal(button), .plain),
            titled("radio") + (radio(button), .plain),
            titled("last seen") + (ButtonTable.lastSeen(button, at: now), .plain),
            presses(button),
        ]
        lines += settings(button)
        for (title, key) in [("serial", "serial"), ("address", "address"), ("uuid", "uuid"), ("paired", "paired_at")] {
            // Only the time of the pairing is a time. It is shown in the local time zone, as in `tryck watch`.
            lines.append(titled(title) + (Quantity.localTime(button.text(key)), .plain))
        }
        lines.append(titled("model") + (button.text("model"), .plain))
        lines.append(titled("firmware") + ("\(button["firmware"]?.integerValue ?? 0)", .plain))
        return lines
    }

    /// What else an answer says, such as that a setting of a site's button is only that of this engine.
    static func note(_ answer: JSONValue) -> [Line] {
        (answer["note"]?.stringValue).map { [Line($0, .faint)] } ?? []
    }

    /// The settings that `tryck button NAME set` can change.
    static func settings(_ button: JSONValue) -> [Line] {
        let isPending = button["nickname_pending"]?.boolValue == true
        let time = button["auto_disconnect_time"]?.integerValue
        let mode = button.text("trigger_mode")
        let isAutomatic = button["trigger_mode_chosen"] == "auto"
        var lines = [titled("trigger mode") + (isAutomatic ? "auto (\(mode))" : mode, .plain)]
        if let mode = button["latency_mode"]?.stringValue { lines.append(titled("latency mode") + (mode, .plain)) }
        lines.append(
            titled("nickname") + (button.text("nickname"), .plain)
                + (isPending ? "  (sent to the button when it connects)" : "", .faint))
        if button["latency_mode"]?.stringValue != nil {
            lines.append(
                titled("auto disconnect") + (time.map { "after \($0) s without a press" } ?? "never", .plain))
        }
        if let mode = button["led_mode"]?.stringValue { lines.append(titled("lights") + (mode, .plain)) }
        if let positions = button["positions"]?.objectValue {
            let words = positions.map { "\($0.name) \($0.value)" }
            lines.append(titled("positions") + (words.joined(separator: ", "), .plain))
        }
        return lines
    }

    private static func presses(_ button: JSONValue) -> Line {
        var line = titled("presses") + ("\(button["press_count"]?.integerValue ?? 0)", .plain)
        if let missed = button["missed_presses"]?.integerValue, missed > 0 {
            line.append("  \(missed) more never arrived here since the daemon was started", .doubtful)
        }
        return line
    }

    private static func state(_ button: JSONValue) -> Line {
        let state = button.text("state")
        var line = titled("state") + (state, state == "ready" ? .good : .plain)
        if button["waits_for_space"]?.boolValue == true { line.append("  no space for a new connection", .doubtful) }
        if button["is_connection_wanted"]?.boolValue == false {
            line.append("  stays disconnected, as requested", .faint)
        }
        return line
    }

    /// `hall, -61 dBm (attic -84 dBm, 3 min ago)`: the radio that has the button or looks for it, and what the radios heard.
    private static func radio(_ button: JSONValue) -> String {
        let name = button["radio"]?.stringValue
        let heard = button["radios"]?.arrayValue ?? []
        func strength(_ radio: JSONValue) -> String { "\(radio["rssi"]?.integerValue ?? 0) dBm" }
        let others = heard.filter { $0["name"]?.stringValue != name }.map {
            let age = $0["age_s"]?.integerValue ?? 0
            return "\($0.text("name")) \(strength($0))" + (age < 10 ? "" : ", \(Quantity.span(seconds: age)) ago")
        }
        guard let name else { return button["source"]?.stringValue ?? "none" }
        let own = heard.first { $0["name"]?.stringValue == name }.map { ", " + strength($0) } ?? ""
        return name + own + (others.isEmpty ? "" : " (\(others.joined(separator: "; ")))")
    }

    private static func battery(_ button: JSONValue) -> Line {
        let isLow = button["battery_low"]?.boolValue == true
        guard let millivolts = button["battery_mv"]?.integerValue else {
            // A flicd reports only the percentage.
            let percentage = button["battery"]?.integerValue.map { "\($0) %" }
            return titled("battery") + (percentage ?? "unknown", isLow ? .bad : .plain)
        }
        var line = titled("battery") + (Quantity.volts(millivolts: millivolts), isLow ? .bad : .plain)
        if let percentage = button["battery"]?.integerValue { line.append(", about \(percentage) %", .faint) }
        if let weeks = button["battery_weeks"], let since = weeks["since"]?.stringValue,
            let voltages = weeks["mv"]?.arrayValue, voltages.count > 1, let first = voltages.first?.integerValue
        {
            line.append(", \(Quantity.volts(millivolts: first)) in the week of \(since.prefix(10))", .faint)
        }
        if isLow { line.append("  change it: a CR2032", .bad) }
        return line
    }

    private static func titled(_ title: String) -> Line { Line(title.padded(to: titleColumns), .faint) }
}
