import ArgumentParser
import ButtonModel

/// The rules that `BenchPress` measures. Each publishes the same 16 octets when its button is clicked.
///
/// A button reports a click at once in all cases, because no rule needs double clicks or holds.
enum BenchPressRules: String, CaseIterable, ExpressibleByArgument {
    /// A rule for each button. Its payload is a constant, so a press evaluates no expression.
    case plain
    /// The rules of `plain`, each with a condition and a template.
    case template
    /// The rules of `plain`, and 100 rules for other buttons.
    case hundred
    /// The rules of `plain`, whose messages have QoS 1.
    case qos1
    /// No rules. What is measured is the message about the click itself, for which Home Assistant and Node-RED wait.
    case none

    /// True for the topic of the message that is measured.
    func isAwaited(_ topicName: String) -> Bool {
        self == .none ? topicName.hasPrefix("tryck/") && topicName.hasSuffix("/action") : topicName == "bench/press"
    }

    /// - Parameter addresses: one for each button.
    func text(addresses: [BluetoothAddress]) -> String {
        var text = "version: 1\n"
        guard self != .none else {
            text += "buttons:\n"
            for (number, address) in addresses.enumerated() {
                text += "  bench\(number): {address: \"\(address)\", trigger_mode: click}\n"
            }
            return text
        }
        if self == .template { text += "variables: {mode: day, digits: 89abcdef}\n" }
        text += "rules:\n"
        for (number, address) in addresses.enumerated() {
            text += """
                  - id: bench\(number)
                    triggers: {button: {address: "\(address)"}, event: click}
                \(self == .template ? "    conditions: variables.mode == 'day'" : "")
                    actions:
                      - publish: {topic: bench/press, \(message)}

                """
        }
        guard self == .hundred else { return text }
        for number in 0..<100 {
            let other = BluetoothAddress(rawValue: 0x80E4_DA00_1000 + UInt64(number))
            text += """
                  - id: other\(number)
                    triggers: {button: {address: "\(other)"}, event: click}
                    actions:
                      - publish: {topic: bench/other, payload: "\(number)"}

                """
        }
        return text
    }

    private var message: String {
        switch self {
        case .plain, .hundred, .none: #"payload: "0123456789abcdef""#
        case .template: #"payload: "01234567{{ variables.digits }}""#
        case .qos1: #"payload: "0123456789abcdef", qos: 1"#
        }
    }
}
