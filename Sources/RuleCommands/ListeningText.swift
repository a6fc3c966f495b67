import ButtonModel
import CommandSupport
import CommandText
import RuleTesting
import Rules

/// How the presses of each declared button are read, and how long a click waits because of that.
///
///       kitchen  click_and_double_click  a click waits 500ms (kitchen_scenes)
///
/// Another line below a button says how its clicks could be faster.
enum ListeningText {
    static func lines(_ set: RuleSet) -> [Line] {
        let explainer = RuleExplainer(set)
        let width = set.buttons.map(\.name.columns).max() ?? 0
        let rows = set.buttons.compactMap { button in explainer.clickTiming(of: button.name).map { (button.name, $0) } }
        let modeWidth = rows.map { word($0.1).columns }.max() ?? 0
        let faster = Dictionary(set.fasterClicks().map { ($0.button, $0) }, uniquingKeysWith: { first, _ in first })
        var lines: [Line] = []
        for (name, listening) in rows {
            lines.append(
                Line("  ") + (name.padded(to: width + 2), .strong) + word(listening).padded(to: modeWidth + 2)
                    + (wait(listening), .faint))
            if let faster = faster[name] {
                lines.append(Line("".padded(to: width + 4)) + (advice(faster.change, faster.timing), .faint))
            }
        }
        return lines
    }

    private static func advice(_ change: FasterClicks, _ timing: ClickTiming) -> String {
        switch change {
        case .withoutTriggerMode: "without its `trigger_mode`, \(wait(timing))"
        case .withoutDisabledRules: "without its rules that are disabled, \(wait(timing))"
        case .withoutSameGesture:
            "its rules do the same for a click and for more presses; with `click` alone, \(wait(timing))"
        }
    }

    private static func word(_ listening: ClickTiming) -> String {
        listening.mode?.rawValue ?? "by the rules' own times"
    }

    private static func wait(_ listening: ClickTiming) -> String {
        let cause = listening.cause.map { " (\($0))" } ?? ""
        guard let wait = listening.clickWait else { return "a click waits for the release" + cause }
        return wait == .zero ? "a click does not wait" : "a click waits \(Quantity.duration(wait))" + cause
    }
}
