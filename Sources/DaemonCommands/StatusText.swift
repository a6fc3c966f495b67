import ButtonModel
import CommandSupport
import CommandText
import JSON

/// The output of `tryck status`.
///
///     ✓ daemon   0.1.0, up 3 min
///     ✓ adapter  hci:0, powered on, 00:1a:7d:da:71:13, reset 2 times, last fault 3 days ago
///     ✗ broker   mqtt://localhost:1883, disconnected
///     ✓ rules    12 rules, ran 340 times, failed 2 times
///     ! buttons  2 paired, 1 ready, 512 presses, low battery: hall
///     ✗ the connection to localhost:1883 was refused: is mosquitto running there, and listening on that port?
///
///     lately
///       3 min ago  the connection to localhost:1883 was refused (7 times)
enum StatusText {
    private typealias Row = (String, Judgement, [String?]) -> Line

    private static func adapterRow(_ adapter: JSONValue, _ row: Row) -> Line {
        row(
            "adapter",
            .good(where: adapter.text("state") == "powered_on" || adapter.text("transport") == "none"),
            [
                adapter.text("transport"),
                adapter.text("transport") == "none" ? nil : adapter.text("state").wordsSpaced,
                adapter["address"]?.stringValue,
                adapter["shared"]?.boolValue == true ? "shared with BlueZ" : nil,
                (adapter["resets"]?.integerValue).flatMap { $0 > 0 ? "reset \(Quantity.count($0, "time"))" : nil },
                (adapter["last_fault"]?["age_s"]?.integerValue).map { "last fault \(Quantity.span(seconds: $0)) ago" },
            ])
    }

    /// The row of a radio. It is shown if there are several.
    private static func radioRow(_ radio: JSONValue, _ row: Row) -> Line {
        row(
            "radio", .good(where: radio.text("state") == "ready"),
            [
                radio.text("name"), radio.text("transport"), radio.text("state"), radio["address"]?.stringValue,
                Quantity.count(radio["links"]?.integerValue ?? 0, "link"),
            ])
    }

    /// The site's connection to its engine.
    private static func uplinkRow(_ uplink: JSONValue, _ row: Row) -> Line {
        let isConnected = uplink["connected"]?.boolValue == true
        let hasEngine = uplink["engine_online"]?.boolValue == true
        let unclaimed = uplink["unclaimed"]?.integerValue ?? 0
        let dropped = uplink["dropped"]?.integerValue ?? 0
        let isWarned = uplink["warnings"]?.arrayValue?.isEmpty == false
        return row(
            "uplink", isConnected && hasEngine && !isWarned && dropped == 0 ? .good : .doubtful,
            [
                uplink.text("topic"), isConnected ? nil : "not connected to \(uplink.text("broker"))",
                isConnected && !hasEngine ? "no engine is online" : nil,
                Quantity.count(uplink["buttons"]?.integerValue ?? 0, "button"),
                unclaimed == 0 ? nil : "\(Quantity.count(unclaimed, "message")) not claimed",
                dropped == 0 ? nil : "\(Quantity.count(dropped, "message")) dropped",
            ])
    }

    /// This engine of sites.
    private static func engineRow(_ engine: JSONValue, _ row: Row) -> Line {
        let isWarned = engine["warnings"]?.arrayValue?.isEmpty == false
        let isDoubtful = engine.text("state") == "fenced" || engine["fault"]?.stringValue != nil || isWarned
        return row(
            "engine", isDoubtful ? .doubtful : .good,
            [
                engine.text("name"), engine.text("state").wordsSpaced,
                engine.text("share") == "1 of 1" ? nil : "share \(engine.text("share"))",
                Quantity.count(Int64(engine["sites"]?.arrayValue?.count ?? 0), "site"),
            ])
    }

    static func lines(_ status: JSONValue, style: Style) -> [Line] {
        let adapter = status["adapter"] ?? .null
        let broker = status["broker"] ?? .null
        let rules = status["rules"] ?? .null
        let buttons = status["buttons"] ?? .null

        let contradictions = (rules["contradictions"]?.arrayValue ?? []).compactMap(\.stringValue)
        // With rules, a notice is about buttons that are not paired.
        let advice = rules["loaded"]?.integerValue ?? 0 > 0 ? ": tryck pair" : ""
        let notices = (rules["notices"]?.arrayValue ?? []).compactMap(\.stringValue).map { $0 + advice }
        let lowBatteries = (buttons["battery_low"]?.arrayValue ?? []).compactMap(\.stringValue)

        func row(_ title: String, _ judgement: Judgement, _ parts: [String?]) -> Line {
            judgement.mark(style) + (" " + title.padded(to: 9), .strong)
                + parts.compactMap { $0 }.joined(separator: ", ")
        }

        var lines = [
            row(
                "daemon", .good,
                [
                    status.text("version"),
                    (status["uptime_s"]?.integerValue).map { "up \(Quantity.span(seconds: $0))" },
                ])
        ]
        let radios = status["radios"]?.arrayValue ?? []
        lines += radios.count > 1 ? radios.map { radioRow($0, row) } : [adapterRow(adapter, row)]
        if let engine = status["engine"] { lines.append(engineRow(engine, row)) }
        if let uplink = status["uplink"] { lines.append(uplinkRow(uplink, row)) }
        lines += (status["sources"]?.arrayValue ?? []).map { source in
            let isConnected = source["connected"]?.boolValue == true
            return row(
                "source", !isConnected ? .bad : source.text("adapter") == "powered_on" ? .good : .doubtful,
                [
                    source.text("url"), isConnected ? "connected" : "not connected",
                    isConnected ? source.text("adapter").wordsSpaced : nil,
                ])
        }
        lines += [
            row(
                "broker", .good(where: broker.text("state") != "disconnected"),
                [
                    broker.text("url"), broker.text("state") == "none" ? nil : broker.text("state"),
                    (broker["malformed_packets"]?.integerValue).flatMap {
                        $0 > 0 ? "broke the protocol \(Quantity.count($0, "time"))" : nil
                    },
                ]),
            row(
                "rules", rules.text("state") != "ok" ? .bad : (contradictions + notices).isEmpty ? .good : .doubtful,
                [
                    Quantity.count(rules["loaded"]?.integerValue ?? 0, "rule"), times("ran", rules["started"]),
                    times("failed", rules["failed"]),
                    (rules["runtime_errors"]?.integerValue).flatMap {
                        $0 > 0 ? "\(Quantity.count($0, "message")) of states of the wrong type" : nil
                    },
                    rules.text("state") == "ok" ? nil : "the file on disk has errors",
                ]),
            row(
                "buttons", lowBatteries.isEmpty ? .good : .doubtful,
                [
                    "\(buttons["paired"]?.integerValue ?? 0) paired", "\(buttons["ready"]?.integerValue ?? 0) ready",
                    (buttons["presses"]?.integerValue).flatMap {
                        $0 > 0 ? Quantity.count($0, "press", "presses") : nil
                    },
                    lowBatteries.isEmpty ? nil : "low battery: \(lowBatteries.joined(separator: " and "))",
                    status["permit_join"]?.boolValue == true ? "looking for new ones" : nil,
                    (adapter["no_space_for"]?.arrayValue?.count).flatMap { $0 > 0 ? "no space for \($0)" : nil },
                ]),
        ]
        if let flicd = status["flicd"], flicd["address"]?.stringValue != nil {
            lines.append(
                row(
                    "flicd", .good(where: flicd["listening"]?.boolValue == true),
                    [
                        flicd.text("address"), Quantity.count(flicd["clients"]?.integerValue ?? 0, "client"),
                        Quantity.count(flicd["channels"]?.integerValue ?? 0, "channel"),
                    ]))
        }
        for fault in status["faults"]?.arrayValue ?? [] {
            lines.append(Line("\(style.cross) ", .bad) + (fault.stringValue ?? "", .bad))
        }
        let warnings = (status["warnings"]?.arrayValue ?? []).compactMap(\.stringValue)
        for sentence in warnings + contradictions + notices {
            lines.append(Line("! ", .doubtful) + (sentence, .doubtful))
        }
        return lines + lately(status["last_errors"]?.arrayValue ?? [])
    }

    /// The latest warnings and errors, the newest last.
    private static func lately(_ errors: [JSONValue]) -> [Line] {
        guard !errors.isEmpty else { return [] }
        let rows = errors.suffix(maximumErrors).map { error in
            (
                age: Quantity.span(seconds: error["age_s"]?.integerValue ?? 0) + " ago",
                text: error.text("message")
                    + ((error["count"]?.integerValue).flatMap { $0 > 1 ? " (\($0) times)" : nil } ?? ""),
                ink: error.text("level") == LogLevel.error.rawValue ? Ink.bad : .plain
            )
        }
        let width = rows.map(\.age.columns).max() ?? 0
        return [Line(), Line("lately", .faint)]
            + rows.map { Line("  " + $0.age.padded(to: width + 2), .faint) + ($0.text, $0.ink) }
    }

    private static let maximumErrors = 5

    private enum Judgement {
        case good
        /// The part works, but needs attention.
        case doubtful
        case bad

        static func good(where isGood: Bool) -> Judgement { isGood ? .good : .bad }

        func mark(_ style: Style) -> Line {
            let width = style.cross.columns
            return switch self {
            case .good: Line(style.checkMark.padded(to: width), .good)
            case .doubtful: Line("!".padded(to: width), .doubtful)
            case .bad: Line(style.cross.padded(to: width), .bad)
            }
        }
    }

    /// `ran 3 times`; `nil` when the count is 0.
    private static func times(_ word: String, _ count: JSONValue?) -> String? {
        guard let count = count?.integerValue, count > 0 else { return nil }
        return "\(word) \(Quantity.count(count, "time"))"
    }
}
