import ButtonModel
import Expressions

extension Step {
    /// What people are told: its alias, else its path.
    var name: String { alias ?? path }
}

extension Run {
    /// Octets of a text in a trace. A longer one is left out, not cut: of half a secret nobody can tell that it is one.
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
        // To look at characters takes longer than all else a step does.
        guard text.utf8.contains(where: { $0 < 0x20 || $0 >= 0x80 }) else { return text }
        return String(text.map { $0.isNewline ? " " : $0 })
    }

    /// What a program complained of, or a server answered.
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

    /// What an action is about. Of a request neither headers nor body, of a program neither environment nor input.
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
