import JSON

/// What `tryck status` prints.
///
///     ✓ daemon   0.1.0, up 3 min
///     ✓ adapter  hci:0, powered on, 00:1a:7d:da:71:13
///     ✗ broker   mqtt://localhost:1883, disconnected
enum StatusText {
    static func lines(_ status: JSONValue, style: Style) -> [Line] {
        let adapter = status["adapter"] ?? .null
        let broker = status["broker"] ?? .null
        let rules = status["rules"] ?? .null
        let buttons = status["buttons"] ?? .null

        func row(_ title: String, isGood: Bool, _ parts: [String?]) -> Line {
            Line(isGood ? style.checkMark : style.cross, isGood ? .good : .bad)
                + (" " + title.padded(to: 9), .strong) + parts.compactMap { $0 }.joined(separator: ", ")
        }

        var lines = [
            row(
                "daemon", isGood: true,
                [
                    status.text("version"),
                    (status["uptime_s"]?.integerValue).map { "up \(Quantity.span(seconds: $0))" },
                ]),
            row(
                "adapter", isGood: adapter.text("state") == "powered_on" || adapter.text("transport") == "none",
                [adapter.text("transport"), adapter.text("state").wordsSpaced, adapter["address"]?.stringValue]),
            row(
                "broker", isGood: broker.text("state") != "disconnected",
                [broker.text("url"), broker.text("state") == "none" ? nil : broker.text("state")]),
            row(
                "rules", isGood: rules.text("state") == "ok",
                [
                    Quantity.count(rules["loaded"]?.integerValue ?? 0, "rule"),
                    rules.text("state") == "ok" ? nil : "the file on disk has errors",
                ]),
            row(
                "buttons", isGood: true,
                [
                    "\(buttons["paired"]?.integerValue ?? 0) paired", "\(buttons["ready"]?.integerValue ?? 0) ready",
                    status["permit_join"]?.boolValue == true ? "looking for new ones" : nil,
                    (adapter["no_space_for"]?.arrayValue?.count).flatMap { $0 > 0 ? "no space for \($0)" : nil },
                ]),
        ]
        for fault in status["faults"]?.arrayValue ?? [] {
            lines.append(Line("\(style.cross) ", .bad) + (fault.stringValue ?? "", .bad))
        }
        return lines
    }
}
