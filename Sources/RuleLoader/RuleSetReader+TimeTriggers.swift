import ButtonModel
import Expressions
import Rules
import YAMLFiles

/// The trigger `at`, and the keys beside it.
extension RuleSetReader {
    mutating func readTimeTrigger(_ fields: CheckedMapping) -> Trigger? {
        var offset: Int64?
        if let node = fields.node("offset") {
            guard let read = readOffset(node) else { return nil }
            offset = read
        }
        var times: [TimeOfDay] = []
        guard let node = fields.node("at") else { return nil }
        let nodes = checker.oneOrMany(node, empty: "an empty list of times never comes")
        for node in nodes {
            guard let time = clock(node, key: "at", takesOffset: false, in: scope) else { continue }
            switch time {
            case .time: times.append(time)
            case .sun(let event, _): times.append(.sun(event, offsetMilliseconds: offset ?? 0))
            }
        }
        guard !times.isEmpty, times.count == nodes.count else { return nil }
        if offset != nil, times.contains(where: { $0.mark == nil }), let key = fields.key("offset") {
            checker.error("E210", at: key, "\"offset\" is allowed only with sunrise, sunset, dawn and dusk")
            return nil
        }
        let weekdays = fields.node("weekday").map { self.weekdays($0) } ?? []
        return Trigger(
            origin: .times(TimeTrigger(times, on: weekdays, missed: fields.duration("missed") ?? .zero)),
            id: fields.string("id"), location: location(of: fields.node))
    }

    /// Reads a duration that may be negative, in milliseconds.
    private mutating func readOffset(_ node: YAMLNode) -> Int64? {
        guard let text = checker.plainText(node, key: "offset", wanted: "a duration such as -30m") else { return nil }
        let sign: Int64 = text.hasPrefix("-") ? -1 : 1
        do {
            let offset = try DurationText.milliseconds(text.hasPrefix("-") ? String(text.dropFirst()) : text)
            guard offset <= TimeTrigger.longestOffset.milliseconds else {
                checker.error("E205", at: node, "\"offset\" must be from -12h to 12h, not \(checker.shown(text))")
                return nil
            }
            return sign * offset
        } catch {
            checker.error(
                "E206", at: node, "\"\(checker.shown(text))\" \(error.message)",
                hint: RuleSetReader.offset(meantBy: text).map { .write($0) } ?? error.hint)
            return nil
        }
    }

    /// The offset that a text means which has a plus or is written as in other programs: `30m` for `+30m`, `-30m` for
    /// `-00:30:00`.
    private static func offset(meantBy text: String) -> String? {
        let sign = text.hasPrefix("-") ? "-" : ""
        let rest = text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : text[...]
        if let written = try? DurationText.milliseconds(String(rest)) {
            return sign + DurationText.text(milliseconds: written)
        }
        let numbers = rest.split(separator: ":", omittingEmptySubsequences: false).compactMap { part in
            part.utf8.count <= 2 && part.utf8.allSatisfy(YAMLNumber.isDigit) ? Int64(part) : nil
        }
        guard (2...3).contains(numbers.count), rest.count(where: { $0 == ":" }) == numbers.count - 1 else { return nil }
        let seconds = numbers[0] * 3600 + numbers[1] * 60 + (numbers.count == 3 ? numbers[2] : 0)
        return (seconds == 0 ? "" : sign) + DurationText.text(milliseconds: seconds * 1000)
    }

    /// Reports what applies only to presses, in a rule without a button (E210).
    mutating func rejectKeysOfPresses(_ triggers: [Trigger], _ fields: CheckedMapping) {
        guard !triggers.isEmpty, !triggers.contains(where: \.isOfButton) else { return }
        var rejected: [(key: YAMLNode.Key?, text: String)] = [(fields.key("queued"), "queued")]
        if fields.boolean("fallback") == true { rejected.append((fields.key("fallback"), "fallback: true")) }
        if fields.string("scope") == Rule.LimitScope.button.rawValue {
            rejected.append((fields.key("scope"), "scope: button"))
        }
        for case (let key?, let text) in rejected {
            checker.error("E210", at: key, "\"\(text)\" is allowed only in a rule with a button")
        }
    }
}
