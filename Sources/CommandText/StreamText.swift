import ButtonModel
package import CommandSupport
package import JSON
import MQTTTopics

/// Formats the lines of the daemon's live stream: kind, name, and what happened.
///
///     event    kitchen  click
///     rule     evening_light  runs
///     mqtt     home/hall/light TOGGLE
///     program  date +%H:%M  exit 0, 1.2 ms
///              │ 13:02
package enum StreamText {
    /// The columns of the first word of a line, with the spaces behind it.
    static let kindColumns = 9
    /// The most lines that are shown of each output of a program.
    static let maximumOutputLines = 12

    /// The text for a line; nothing for a line that people need not see, and for a kind that this version does not
    /// know.
    package static func lines(_ line: JSONValue, style: Style) -> [Line] {
        switch StreamKind(line) {
        case .event: [event(line)]
        case .rule: [rule(line)]
        case .publish: [publish(line)]
        case .process: process(line, style: style)
        case .http: [web(line)]
        case .variable:
            [titled("variable", .plain) + (line.text("variable"), .strong) + " = " + (line["value"]?.shown ?? "")]
        case .rules: [rules(line)]
        case .ruleLog: [log(line)]
        case .stateFault:
            [
                titled("state", .doubtful) + (line.text("state"), .strong) + "  "
                    + ("\(line.text("message")) (\(line.text("code")))", .doubtful)
            ]
        case .pairing: PairingText.line(line, style: style).map { [titled("pairing", .strong) + $0] } ?? []
        case .button: [button(line)]
        case .firmware: [firmware(line)]
        case .sessionFailed:
            [titled("button", .faint) + (line.text("button"), .strong) + "  " + (line.text("advice"), .doubtful)]
        case .linkShortage: [space(line)]
        case .adapter: [state(line, "adapter", good: "powered_on")]
        case .source: [source(line)]
        case .broker: [state(line, "broker", good: "connected")]
        case .disconnected, .changed, nil: []
        }
    }

    /// True for a line that few need: `down` and `up`, and the messages that Tryck itself publishes for each press and state,
    /// which belong to no rule.
    package static func isDetail(_ line: JSONValue) -> Bool {
        switch StreamKind(line) {
        case .event: RawEvent(rawValue: line.text("event")) != nil
        case .publish: line["rule"] == nil
        case .rule, .process, .http, .variable, .rules, .ruleLog, .stateFault, .pairing, .button, .firmware,
            .sessionFailed,
            .linkShortage, .adapter, .source, .broker, .disconnected, .changed, nil:
            false
        }
    }

    private static func web(_ line: JSONValue) -> Line {
        let request = titled("web", .program) + "\(line.text("method")) \(line.text("url"))  "
        guard let status = line["status"]?.integerValue else { return request + (line.text("reason"), .bad) }
        return request + ("\(status)", (200..<300).contains(status) ? .good : .bad)
            + (line["duration_ms"].map { ", \($0) ms" } ?? "")
    }

    private static func rules(_ line: JSONValue) -> Line {
        guard line.text("state") != "ok" else {
            return titled("rules", .plain) + (
                "\(Quantity.count(line["rules"]?.integerValue ?? 0, "rule")) loaded", .good
            )
        }
        let problem = line["problems"]?.arrayValue?.first { $0.text("severity") == "error" } ?? .null
        let location = "\(problem.text("file")):\(problem["line"] ?? 0):\(problem["column"] ?? 0)"
        return titled("rules", .plain) + ("the old rules stay in use: \(location): \(problem.text("message"))", .bad)
    }

    private static func event(_ line: JSONValue) -> Line {
        let event = line.text("event")
        let isRaw = RawEvent(rawValue: event) != nil
        var text = titled("event", isRaw ? .faint : .press)
        text.append(line.text("button"), isRaw ? .faint : .strong)
        text.append("  ")
        text.append(event, isRaw ? .faint : .press)
        if let part = line["part"]?.stringValue { text.append("  \(part)", .faint) }
        if let steps = line["steps"]?.integerValue {
            text.append("  by \(steps) to \(line["position"] ?? 0)", .press)
            if let slot = line["slot"] { text.append(", slot \(slot)", .press) }
        }
        if line["queued"]?.boolValue == true, let age = line["age_ms"]?.integerValue {
            let age = Quantity.seconds(milliseconds: age)
            let isLinkLost = line["reason"]?.stringValue == PressReport.linkLost
            text.append(
                isLinkLost ? "  the link was lost at least \(age) ago" : "  stored by the button, \(age) old",
                .doubtful)
        }
        return text
    }

    private static func rule(_ line: JSONValue) -> Line {
        var text = titled("rule", .plain)
        text.append(line.text("rule"), .strong)
        text.append("  ")
        switch line.text("outcome") {
        case "started":
            text.append(cause(line), .good)
        case "completed": text.append("done", .good)
        case "failed": text.append("failed", .bad)
        case "cancelled", "interrupted": text.append("was \(line.text("outcome"))", .doubtful)
        case "step_failed":
            text.append("\(line.text("step")) failed: \(line.text("reason")) (\(line.text("code")))", .bad)
        case "dropped_queued": text.append("did not run: the press is too old (dropped_queued)", .doubtful)
        case "dropped_rate": text.append("did not run: the rate limit is reached (dropped_rate)", .doubtful)
        case "dropped_busy":
            let reason = line.text("reason")
            text.append(
                "did not run: \(reason.isEmpty ? "another run is not finished" : reason) (dropped_busy)", .doubtful)
        case let other: text.append("did not run (\(other))", .doubtful)
        }
        return text
    }

    /// The cause of a run that has started, as text.
    private static func cause(_ line: JSONValue) -> String {
        let (button, event) = (line.text("button"), line.text("event"))
        return switch event {
        case _ where !button.isEmpty: "runs: \(button) \(event)"
        case "at": "runs: its time has come"
        case "state": "runs: \(ChangeText.text(line) ?? "a state has changed")"
        default: "runs by request"
        }
    }

    /// Messages that the daemon publishes for every press are fainter than those of rules.
    private static func publish(_ line: JSONValue) -> Line {
        let payload = line.text("payload")
        let isReport = payload.hasPrefix(#"{"event_type":"#) || line.text("topic").hasSuffix("/action")
        var text = titled("mqtt", isReport ? .faint : .message)
        text.append(line.text("topic"), isReport ? .faint : .message)
        text.append(" ")
        text.append(payload, isReport ? .faint : .plain)
        if line["retain"]?.boolValue == true { text.append(" (retained)", .faint) }
        return text
    }

    private static func process(_ line: JSONValue, style: Style) -> [Line] {
        let status = line["status"]?.integerValue ?? 0
        var text = titled("program", .program)
        text.append((line["command"]?.arrayValue ?? []).compactMap(\.stringValue).joined(separator: " "), .strong)
        text.append("  ")
        text.append("exit \(status)", status == 0 ? .good : .bad)
        if let duration = line["duration_ms"] { text.append(", \(duration) ms", .faint) }
        return [text] + output(line.text("stdout"), .plain, style) + output(line.text("stderr"), .doubtful, style)
    }

    private static func output(_ text: String, _ ink: Ink, _ style: Style) -> [Line] {
        var rows = text.split(separator: "\n", omittingEmptySubsequences: false)
        if rows.last?.isEmpty == true { rows.removeLast() }
        let indent = String(repeating: " ", count: kindColumns)
        var lines = rows.prefix(maximumOutputLines).map { row in
            Line(indent) + ("\(style.bar) ", .program) + (String(row), ink)
        }
        let more = rows.count - maximumOutputLines
        if more > 0 { lines.append(Line(indent) + ("\(style.bar) and \(more) more lines", .faint)) }
        return lines
    }

    private static func log(_ line: JSONValue) -> Line {
        let ink: Ink =
            switch LogLevel(rawValue: line.text("level")) {
            case .error: .bad
            case .warning: .doubtful
            case .info, .debug, nil: .plain
            }
        return titled("log", ink) + (line.text("rule"), .strong) + "  " + (line.text("message"), ink)
    }

    private static func button(_ line: JSONValue) -> Line {
        let state = line.text("state")
        var text = titled("button", .faint) + (line.text("button"), .strong) + "  "
        switch state {
        case "ready":
            text.append(state, .good)
            if let radio = line["radio"]?.stringValue { text.append(", through \(radio)", .faint) }
        case "unpaired": text.append("unpaired: the button was reset or has deleted the pairing; pair it again", .bad)
        case "removed": text.append(state, .doubtful)
        default: text.append(state, .faint)
        }
        return text
    }

    private static func firmware(_ line: JSONValue) -> Line {
        let text = titled("firmware", .plain) + (line.text("button"), .strong) + "  "
        return switch line.text("state") {
        case "waiting": text + ("waiting for the button to connect; press it", .doubtful)
        case "transferring": text + ("\(line["percentage"]?.integerValue ?? 0) %", .plain)
        case "finished": text + ("done; the button restarts", .good)
        default: text + (line.text("advice"), .bad)
        }
    }

    private static func space(_ line: JSONValue) -> Line {
        let waiting = (line["waiting"]?.arrayValue ?? []).compactMap(\.stringValue)
        guard !waiting.isEmpty else {
            return titled("adapter", .faint) + ("has a connection for every button again", .good)
        }
        return titled("adapter", .faint)
            + ("no space for a new connection: \(waiting.joined(separator: ", "))", .doubtful)
    }

    private static func state(_ line: JSONValue, _ title: String, good: String) -> Line {
        let state = line.text("state")
        var text = titled(title, .faint) + (state.wordsSpaced, state == good ? .good : .bad)
        let detail = line["reason"]?.stringValue ?? line["address"]?.stringValue
        if let detail { text.append("  \(detail)", .faint) }
        return text
    }

    private static func source(_ line: JSONValue) -> Line {
        let text = titled("source", .faint) + (line.text("url"), .strong) + "  "
        guard line["connected"]?.boolValue == true else { return text + ("lost: \(line.text("reason"))", .bad) }
        let adapter = line.text("adapter")
        guard adapter != "powered_on" else { return text + ("connected", .good) }
        return text + ("connected, and its adapter is \(adapter.wordsSpaced)", .doubtful)
    }

    private static func titled(_ title: String, _ ink: Ink) -> Line { Line(title.padded(to: kindColumns), ink) }
}

extension JSONValue {
    /// The text of a member, empty when there is none.
    package func text(_ name: String) -> String { self[name]?.stringValue ?? "" }
}

extension String {
    /// The text with spaces for underscores: `powered_on` becomes `powered on`.
    package var wordsSpaced: String { String(map { $0 == "_" ? " " : $0 }) }
}

extension JSONValue {
    /// The value as text, a string without its quotes.
    fileprivate var shown: String { stringValue ?? description }
}
