import ButtonModel
import Expressions
import Gestures

/// Lists, because triggers can have any number of buttons, times and values, and a line of a trace should stay short.
private enum Listing {
    private static let mostListed = 4

    /// The items in words: `a, b or c`, or `a, b, c, d or 20 more`.
    static func text<Items: Collection>(
        _ items: Items, last conjunction: String = "or", _ word: (Items.Element) -> String
    ) -> String {
        var words = items.prefix(mostListed).map(word)
        if items.count > mostListed { words.append("\(items.count - mostListed) more") }
        guard words.count > 1, let last = words.popLast() else { return words.first ?? "" }
        return "\(words.joined(separator: ", ")) \(conjunction) \(last)"
    }

    /// The triggers in words, each after `or`, because a trigger itself can be a list.
    static func text(ofTriggers words: [String]) -> String {
        var shown = Array(words.prefix(mostListed))
        if words.count > mostListed { shown.append("\(words.count - mostListed) more") }
        return shown.joined(separator: ", or ")
    }
}

extension [Trigger] {
    /// A text for users that names the events for which a `wait_for` with these triggers waits: `click of hall, or 22:00`.
    func awaitedText(in set: RuleSet) -> String {
        var known: Set<String> = []
        return Listing.text(ofTriggers: map { $0.awaitedText(in: set) }.filter { known.insert($0).inserted })
    }
}

extension Trigger {
    fileprivate func awaitedText(in set: RuleSet) -> String {
        switch origin {
        case .buttons(let buttons, let events, let parts):
            let names = Listing.text(buttons) { $0.name(in: set) }
            let order = ButtonPart.allCases.filter(parts.contains)
            return Listing.text(events, \.messageName) + " of " + names
                + (order.isEmpty ? "" : " (\(Listing.text(order, \.rawValue)))")
        case .chord(let members, _, let event):
            let names = Listing.text(members, last: "and") { ButtonSelector.declared($0).name(in: set) }
            return (event == .hold ? "the held chord of " : "the chord of ") + names
        case .times(let timed):
            let days = LocalTime.Weekday.allCases.filter(timed.times.weekdays.contains)
            return Listing.text(timed.times.times, \.text)
                + (days.isEmpty ? "" : " on \(Listing.text(days, \.rawValue))")
        case .states(let use):
            var text = "a change of " + Listing.text(use.states) { $0 }
            let from = use.from.map(\.shownText) + use.fromExpressions.map(\.source)
            let to = use.to.map(\.shownText) + use.toExpressions.map(\.source)
            if !from.isEmpty { text += " from " + Listing.text(from, Run.traceText) }
            if !to.isEmpty { text += " to " + Listing.text(to, Run.traceText) }
            if use.duration > .zero { text += " for \(use.duration.text)" }
            return text
        }
    }
}

extension ButtonSelector {
    fileprivate func name(in set: RuleSet) -> String {
        switch self {
        case .any: "any button"
        case .declared(let index): set.buttons[index].name
        case .hardware(.uuid(let text)), .hardware(.serial(let text)), .hardware(.nickname(let text)): text
        case .hardware(.address(let id)): id.description
        }
    }
}

extension Value {
    /// The value as text. The values of a trigger are neither unknown nor lists.
    fileprivate var shownText: String { text ?? "" }
}
