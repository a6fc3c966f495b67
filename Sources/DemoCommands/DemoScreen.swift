import ButtonModel
import CommandSupport
import CommandText
import JSON
import MQTTTopics

/// The output of the demo for people: a log that grows downwards, and can be scrolled and copied.
struct DemoScreen: Hashable, Sendable {
    /// True if more than presses, rules and their effects is shown.
    private let showsAll: Bool
    /// True if a gesture was recognised since the last press began. At the start it is true if lines may be shown before the
    /// first press, which then stands apart from them.
    private var hasGesture: Bool
    /// True if a press has begun of which nothing is shown yet.
    private var isNewPress = false

    init(showsAll: Bool) {
        self.showsAll = showsAll
        hasGesture = showsAll
    }

    /// The text for one line of the daemon; nothing for a line that people need not see.
    ///
    /// - Parameter clock: the time of day, as `Clock` writes it.
    mutating func lines(_ line: JSONValue, clock: String, style: Style) -> [Line] {
        if beginsPress(line) { isNewPress = true }
        guard isInteresting(line) else { return [] }
        let texts = StreamText.lines(line, style: style)
        guard !texts.isEmpty else { return [] }
        defer { isNewPress = false }
        let indent = Line(String(repeating: " ", count: clock.columns + 2))
        let stamped = texts.enumerated().map { ($0.offset == 0 ? Line("\(clock)  ", .faint) : indent) + $0.element }
        return (isNewPress ? [""] : []) + stamped
    }

    /// True if a line is shown. Of pairing only a failure is, because the user has nothing to do for it.
    private func isInteresting(_ line: JSONValue) -> Bool {
        guard !showsAll else { return true }
        let kind = StreamKind(line)
        if kind == .pairing { return line["step"] == "failed" }
        if kind == .event { return RawEvent(rawValue: line.text("event")) == nil }
        return kind != .publish || !isOwn(topicName: line.text("topic"))
    }

    /// True for the topics on which Tryck itself publishes: reports of presses, states and announcements.
    private func isOwn(topicName: String) -> Bool {
        ["tryck", "homeassistant"].contains { topicName.hasPrefix("\($0)/") }
    }

    /// True if a line begins a press, which is set apart. The second press of a double click is not.
    private mutating func beginsPress(_ line: JSONValue) -> Bool {
        guard StreamKind(line) == .event else { return false }
        switch RawEvent(rawValue: line.text("event")) {
        case .down:
            defer { hasGesture = false }
            return hasGesture
        case .up: return false
        case nil:
            hasGesture = true
            return false
        }
    }

    /// The lines above the log.
    static func header(rules: String) -> [Line] {
        [
            "",
            Line("  Tryck demo", .strong) + "  simulated buttons and a private broker",
            Line("  rules ", .faint) + rules,
            "",
        ]
    }

    /// The keys and what they do.
    static func help(_ map: DemoKeyMap) -> [Line] {
        let width = map.entries.map(\.title.columns).max() ?? 0
        let keys = map.entries.map { entry in
            let key = String(entry.key)
            return Line("  \(entry.title.padded(to: width))  ", .strong) + (" \(key) ", .press) + " click   "
                + ("\(key) \(key)", .press) + " double click   " + (key.uppercased(), .press)
                + " hold, press again to release"
        }
        var more: [Line] = []
        let indent = Line("  \("".padded(to: width))  ")
        if map.entries.contains(where: { !$0.model.swipes.isEmpty }) {
            more.append(indent + (" ← → ↑ ↓ ", .press) + " swipe over the Duo, whichever button was pressed last")
        }
        if map.entries.contains(where: { !$0.model.rotations.isEmpty }) {
            more.append(indent + (" + - ", .press) + " turn the Twist, or the button that is held down")
        }
        return [""] + keys + more + [indent + (" q ", .press) + " quit    " + ("?", .press) + " this help", ""]
    }

    /// How to watch the demo from another terminal.
    static func hints(broker: String, controlSocket: String) -> [Line] {
        let path = broker.hasPrefix("unix:") ? String(broker.dropFirst(5)) : broker
        return [
            Line("  From another terminal:", .faint),
            Line("    mosquitto_sub --unix \(path) -vt '#'", .faint),
            Line("    tryck watch --control-socket \(controlSocket)", .faint),
        ]
    }
}

extension DemoKeyMap.Entry {
    fileprivate var title: String { part == .small ? "\(button), small" : button }
}
