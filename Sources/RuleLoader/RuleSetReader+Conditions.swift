import Expressions
import Rules
import YAMLFiles

extension RuleSetReader {
    /// Reads one condition or a list of them. Faulty conditions are reported and left out.
    mutating func readConditions(_ node: YAMLNode, key: String, in scope: Scope) -> [Condition] {
        let nodes = checker.oneOrMany(
            node, empty: "an empty list of conditions is always true; remove \"\(key)\" or add a condition")
        var conditions: [Condition] = []
        conditions.reserveCapacity(nodes.count)
        for node in nodes {
            guard let test = test(node, key: key, in: scope) else { continue }
            conditions.append(Condition(test.0, text: test.source, location: location(of: node)))
        }
        return conditions
    }

    private mutating func test(
        _ node: YAMLNode, key: String, in scope: Scope
    ) -> (Condition.Test, source: String)? {
        guard case .mapping = node.content else {
            if case .sequence = node.content {
                checker.error(
                    "E203", at: node, "a condition must be an expression or time:, not a list",
                    hint: "all entries of \"\(key)\" must be true; for alternatives write a or b")
                return nil
            }
            guard !checker.reportsMissingSpace(node, keys: { $0 == "time" }),
                let expression = expression(node, key: key, in: scope, expecting: .condition)
            else { return nil }
            if case .scalar(let text, .plain) = node.content { return (.expression(expression), text) }
            return (.expression(expression), expression.source)
        }
        guard let fields = checker.fields(node, conditionTable(for: node, in: scope)) else { return nil }
        guard let time = fields.node("time") else {
            if !fields.isWritten("time"), case .mapping(let entries) = node.content, entries.isEmpty {
                checker.missing("time", in: fields, owner: "a condition")
            }
            return nil
        }
        return timeCondition(time, in: scope).map { (.time($0.condition), "time: " + $0.source) }
    }

    /// The table of conditions. If the mapping is a condition of another program, the hints contain a state of the file:
    /// the one that the mapping names, or else the first.
    private func conditionTable(for node: YAMLNode, in scope: Scope) -> MappingTable {
        let foreign = ["condition", "state", "numeric_state", "entity_id"]
        guard case .mapping(let entries) = node.content, entries.contains(where: { foreign.contains($0.key.text) })
        else { return .condition }
        let named = entries.lazy.compactMap(\.value.scalar).first { scope.states[$0] != nil }
        let isNumeric = entries.contains { $0.key.text == "numeric_state" || $0.value.scalar == "numeric_state" }
        let example = scope.exampleOfCondition(naming: named, isNumeric: isNumeric)
        return MappingTable.condition.hinting(
            Dictionary(uniqueKeysWithValues: foreign.map { ($0, "write an expression such as \(example)") }))
    }

    private mutating func timeCondition(
        _ node: YAMLNode, in scope: Scope
    ) -> (condition: TimeCondition, source: String)? {
        if let written = node.scalar {
            checker.noMapping(
                "E203", at: node, "\"time\" must be a mapping",
                hint: .write("time", "{after: \(written)}", shown: "{after: \(checker.shown(written))}"))
            return nil
        }
        guard let fields = checker.fields(node, .time, owner: "\"time\"") else { return nil }
        let keys = ["after", "before", "weekday"]
        guard keys.contains(where: fields.isWritten) else {
            let (start, end) = checker.firstKey(of: node)
            if case .mapping(let entries) = node.content, entries.isEmpty {
                checker.error(
                    "E202", from: start, to: end, alias: node.alias,
                    "\"time\" has none of \"after\", \"before\" and \"weekday\"", hint: "add after: 22:00 to it")
            }
            return nil
        }
        var time = TimeCondition()
        var source: [String] = []
        if let node = fields.node("after") {
            time.after = clock(node, key: "after", in: scope)
            source.append("after \(node.scalar ?? "")")
        }
        if let node = fields.node("before") {
            time.before = clock(node, key: "before", in: scope)
            source.append("before \(node.scalar ?? "")")
        }
        if let node = fields.node("weekday") {
            time.weekdays = weekdays(node)
            source.append(
                LocalTime.Weekday.allCases.filter(time.weekdays.contains).map(\.rawValue).joined(separator: " "))
        }
        if let after = time.after, after == time.before, let node = fields.node("before") {
            checker.error(
                "E205", at: node, "\"after\" and \"before\" are the same time",
                hint: "leave both out for the whole day")
        }
        return (time, source.joined(separator: ", "))
    }

    /// What to write instead of `at: sunset - 30m`.
    private func hintForOffset(_ offset: Int64, of clock: TimeOfDay, _ key: String, _ node: YAMLNode) -> Hint {
        let entry = "offset: \(DurationText.text(milliseconds: offset))"
        let mark = clock.mark?.rawValue ?? ""
        return Hint(
            "write \(entry)",
            checker.changes(ofEntry: key, before: node, into: "\(key): \(mark)", entry))
    }

    /// - Parameter takesOffset: false if a key of its own has the offset of a sun word.
    mutating func clock(_ node: YAMLNode, key: String, takesOffset: Bool = true, in scope: Scope) -> TimeOfDay? {
        guard let text = checker.plainText(node, key: key, wanted: "a time of day such as 22:00") else { return nil }
        do {
            let clock = try TimeOfDay(text)
            if !takesOffset, case .sun(_, let offset) = clock, offset != 0 {
                checker.error(
                    "E207", at: node, "\"\(key)\" must be a time of day, without an offset",
                    hint: hintForOffset(offset, of: clock, key, node))
                return nil
            }
            if let mark = clock.mark, scope.absent[.sun] != nil {
                checker.error("E512", at: node, "\(mark.rawValue) needs location: with latitude and longitude")
            }
            return clock
        } catch {
            let marks = TimeOfDay.SunEvent.allCases.map(\.rawValue)
            let near = checker.nearest(to: text, among: marks).map { Hint.meant($0) }
            checker.error("E207", at: node, error.message, hint: error.hint ?? near)
            return nil
        }
    }

    mutating func weekdays(_ node: YAMLNode) -> Set<LocalTime.Weekday> {
        let nodes = checker.oneOrMany(node, empty: "an empty list of weekdays never holds")
        var days: Set<LocalTime.Weekday> = []
        for node in nodes {
            guard let text = checker.plainText(node, key: "weekday", wanted: "mon … sun, or a range such as mon-fri")
            else {
                continue
            }
            if let range = RuleSetReader.weekdays(text) {
                days.formUnion(range)
            } else {
                checker.error(
                    "E204", at: node,
                    "\"weekday\" must be mon, tue, wed, thu, fri, sat or sun, or a range such as mon-fri, not "
                        + "\"\(checker.shown(text))\"", hint: weekdayHint(text))
            }
        }
        return days
    }

    /// Parses a weekday or a range, which may go past Sunday: `mon`, `mon-fri`, `fri-mon`.
    private static func weekdays(_ text: String) -> [LocalTime.Weekday]? {
        if let day = LocalTime.Weekday(rawValue: text) { return [day] }
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        let all = LocalTime.Weekday.allCases
        guard ends.count == 2, let first = LocalTime.Weekday(rawValue: String(ends[0])),
            let last = LocalTime.Weekday(rawValue: String(ends[1])), let start = all.firstIndex(of: first),
            let end = all.firstIndex(of: last)
        else { return nil }
        return start <= end ? Array(all[start...end]) : Array(all[start...] + all[...end])
    }

    private func weekdayHint(_ text: String) -> Hint? {
        let lower = text.lowercased()
        switch lower {
        case "weekday", "weekdays", "workday", "workdays": return .write("mon-fri")
        case "weekend", "weekends": return .write("sat-sun")
        default: break
        }
        let days = LocalTime.Weekday.allCases.map(\.rawValue)
        if let day = days.first(where: { lower.hasPrefix($0) }), lower.count > 3 || lower != text {
            return .write(day)
        }
        return checker.nearest(to: text, among: days).map { .meant($0) }
    }
}
