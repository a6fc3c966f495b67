import ButtonModel
import Expressions

extension Step {
    /// The name in traces: the alias, or else the path.
    var name: String { alias ?? path }
}

extension Run {
    /// The maximum length of text in a trace, in octets. Longer text is omitted and not truncated, because `Redaction`
    /// would not recognise a truncated secret.
    private static let longestShown = 200

    mutating func note(_ step: Step, _ text: String, at now: Instant) {
        guard trace.lines.count < RunTrace.maximumLines else {
            trace.omitted += 1
            trace.omittedPlaces.insert(step.place.description)
            return
        }
        trace.lines.append(RunTrace.Line(after: now - startedAt, step: step.name, text: text, place: step.place))
    }

    static func shown(_ text: String) -> String {
        let length = text.utf8.count
        guard length <= longestShown else { return "(\(length) octets)" }
        // Fast path: iterating over characters would take longer than the rest of the step.
        guard text.utf8.contains(where: { $0 < 0x20 || $0 >= 0x80 }) else { return text }
        return String(text.map { $0.isNewline ? " " : $0 })
    }

    /// The first line of a program's error output, or the status of a server's response.
    static func remark(on facts: ResultFacts, of step: Step) -> String {
        switch step.action {
        case .process:
            let line = firstLine(of: facts.stderr)
            return line.isEmpty ? "" : ": \(shown(line))"
        case .http: return facts.status == 0 ? "" : ": status \(facts.status)"
        case .publish, .delay, .wait, .set, .cycle, .repeat, .choose, .script, .enable, .log, .stop: return ""
        }
    }

    static func firstLine(of text: String) -> String { String(text.prefix { !$0.isNewline }) }

    /// A summary of an action, without headers, body, environment and standard input.
    static func summary(of action: Action) -> String {
        switch action {
        case .publish(let message):
            let payload = String(decoding: message.payload, as: UTF8.self)
            return "publish \(shown(message.topicName))" + (payload.isEmpty ? "" : " \(shown(payload))")
        case .process(let process):
            let arguments = process.isShell ? Array(process.arguments.dropFirst(2)) : process.arguments
            return "\(action.word) \(shown(arguments.joined(separator: " ")))"
        case .http(let request):
            return "http \(request.method) \(shown(request.url))"
        case .log(let level, let text):
            return "\(level.rawValue): \(shown(text))"
        }
    }
}
