import ButtonModel
import Expressions
import JSON
import RuleLoader
import RuleTesting
import Rules

extension LanguageServer {
    /// The time that a click waits, as the end of a sentence: `waits 500ms, because of the rule ...`.
    static func wait(_ timing: ClickTiming) -> String {
        let cause = timing.cause.map { ", because of the rule `\($0)`" } ?? ""
        guard let wait = timing.clickWait else { return "waits for the release\(cause)" }
        return wait == .zero ? "does not wait" : "waits \(DurationText.text(milliseconds: wait.milliseconds))\(cause)"
    }

    /// Beside each trigger for a click, how long the click waits, if it does.
    mutating func inlayHints(_ parameters: JSONValue) throws(ResponseError) -> JSONValue {
        let (path, document) = try document(parameters)
        guard let start = TextLines.Position(parameters["range"]?["start"]),
            let end = TextLines.Position(parameters["range"]?["end"])
        else { throw ResponseError(.invalidParams, "range is missing or not a range.") }
        guard let outline = outline(of: path, document), let set = lastValidSet(of: path) else { return [] }
        var hints: [JSONValue] = []
        for trigger in outline.clickTriggers {
            let position = document.lines.position(of: trigger.end, client.encoding)
            guard position >= start, position <= end else { continue }
            let timings = set.buttonNames(of: trigger.buttons).compactMap { name in
                sets.timing(of: name, path).map { (name, $0) }
            }
            let waiting = timings.filter { $0.1.clickWait != .zero }
            // A click that lasts until the release waits longer than any time.
            let longest = waiting.max { ($0.1.clickWait ?? .seconds(3600)) < ($1.1.clickWait ?? .seconds(3600)) }
            guard let (_, timing) = longest else { continue }
            let wait = timing.clickWait.map { DurationText.text(milliseconds: $0.milliseconds) } ?? "for the release"
            let lines = waiting.map { name, timing in "A click of `\(name)` \(Self.wait(timing))." }
            hints.append([
                "position": position.json,
                "label": .string("waits \(wait)"), "paddingLeft": true,
                "tooltip": ["kind": "markdown", "value": .string(lines.joined(separator: "\n\n"))],
            ])
        }
        return .array(hints)
    }
}

extension RuleSet {
    /// The names with those of groups replaced by the names of their members.
    func buttonNames(of names: [String]) -> [String] {
        names.flatMap { name in groups[name]?.map { buttons[$0].name } ?? [name] }
    }
}
