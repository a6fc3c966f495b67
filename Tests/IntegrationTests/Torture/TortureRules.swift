import Foundation

/// The rules of `Torture`, which are selected by the code of a press.
enum TortureRules {
    enum Kind: Int, CaseIterable {
        /// A message.
        case message
        /// A line that a program writes.
        case line
        /// A message, a delay, and another message.
        case slow
        /// A delay that is resumed after a restart, and a message.
        case resumed
        /// A message, if the press is not late.
        case punctual
        /// A message for the last stored press.
        case last

        init(code: Int) { self = Kind.allCases[code % Kind.allCases.count] }

        /// The number of marks that the rule leaves.
        var steps: Int { self == .slow ? 2 : 1 }

        var maximumAge: Duration {
            switch self {
            case .punctual: .milliseconds(800)
            case .last: .seconds(10)
            case .message, .line, .slow, .resumed: .seconds(86_400)
            }
        }

        fileprivate var settings: String {
            switch self {
            case .message, .line, .slow: "queued: accept"
            case .resumed: "queued: accept\n    on_restart: resume"
            case .punctual: "queued: {max_age: 800ms}"
            case .last: "queued: {max_age: 10s, keep: last}"
            }
        }

        fileprivate func actions(_ code: Int, marks: String) -> [String] {
            func message(_ step: Int = 0) -> String {
                "publish: {topic: \"mark/\(mark(code, step))\", qos: 1, max_age: 60s}\n        timeout: 60s"
            }
            return switch self {
            case .message, .punctual, .last: [message()]
            case .line: ["shell: {script: 'echo \"$1\" >> \(marks)', args: [\"\(mark(code))\"]}"]
            case .slow: [message(), "delay: 250ms", message(1)]
            case .resumed: ["delay: 150ms", message()]
            }
        }
    }

    /// `CODE_STEP_ADDRESS_HELD_AT`, which identifies the press, as a topic level.
    private static func mark(_ code: Int, _ step: Int = 0) -> String {
        "\(code)_\(step)_{{ trigger.address }}_{{ milliseconds(trigger.held_for) }}_{{ slice(trigger.at, 0, 19) }}"
    }

    /// - Parameter marks: the file to which programs write.
    static func text(marks: String) -> String {
        let rules = (0..<AirButton.codeCount).map { code in
            let kind = Kind(code: code)
            let actions = kind.actions(code, marks: marks).map { "      - \($0)\n" }.joined()
            return """
                  - id: press_\(code)
                    triggers: {button: any, event: up}
                    conditions: milliseconds(trigger.held_for) // \(AirButton.unit) % \(AirButton.codeCount) == \(code)
                    \(kind.settings)
                    mode: parallel
                    max: 100
                    rate_limit: 1000/1s
                    on_error: {log: {level: warning, message: "failed \(mark(code))"}}
                    actions:
                \(actions)
                """
        }
        return "version: 1\nlocation: {timezone: UTC}\nrules:\n\(rules.joined())"
    }
}
