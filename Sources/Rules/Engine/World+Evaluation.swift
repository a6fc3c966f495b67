import ButtonModel
import Expressions

extension World {
    /// Evaluates a condition. The reason contains the values that it read: `states.lux < 20 is false (states.lux =
    /// 31)`. An evaluation error counts as false.
    func evaluate(
        on condition: Condition, in environment: inout EvaluationContext, time: UTCTime
    ) -> (holds: Bool, reason: String, isError: Bool) {
        switch condition.test {
        case .time(let window):
            guard let explanation = reasonTimeIsUnknown else {
                let (holds, reason) = window.evaluate(at: environment.now, sun: environment.sun)
                return (holds, "time: " + reason, false)
            }
            return (false, "time: " + explanation, false)
        case .expression(let expression):
            let source = condition.text.isEmpty ? expression.source : condition.text
            environment.draws.shown = []
            do {
                let holds = try expression.isTrue(in: &environment)
                return (holds, "\(source) is \(holds)" + valuesRead(by: expression, in: environment), false)
            } catch {
                let reason = "\(source) is false: \(error.code.rawValue) \(error.message)"
                return (false, reason + valuesRead(by: expression, in: environment), true)
            }
        }
    }

    /// Evaluates conditions until the first that is false.
    ///
    /// - Parameter isExplaining: whether to include the reasons of conditions that are true.
    func evaluate(
        on conditions: [Condition], in environment: inout EvaluationContext, time: UTCTime, isExplaining: Bool
    ) -> (holds: Bool, reasons: [String], hasErrors: Bool) {
        var reasons: [String] = []
        for condition in conditions {
            // Another evaluation of an expression with `random` would give another value.
            if !isExplaining, case .expression(let expression) = condition.test, !expression.drawsRandom,
                (try? expression.isTrue(in: &environment)) == true
            {
                continue
            }
            let verdict = evaluate(on: condition, in: &environment, time: time)
            reasons.append(verdict.reason)
            guard verdict.holds else { return (false, reasons, verdict.isError) }
        }
        return (true, reasons, false)
    }

    private var reasonTimeIsUnknown: String? {
        if clock == nil { return "false, the time is not known yet" }
        return clockIsPlausible ? nil : "false, the clock is earlier than this program"
    }

    /// The values that an expression read, in parentheses; empty if the expression consists only of a name.
    private func valuesRead(by expression: Expression, in environment: EvaluationContext) -> String {
        var values = expression.reads.compactMap { slot in
            name(of: slot).flatMap { name in
                name == expression.source ? nil : "\(name) = \(environment.value(of: slot).shown)"
            }
        }
        values.sort()
        values += environment.draws.shown.map { "random gave \($0)" }
        if expression.hasTimeWindow, let reasonTimeIsUnknown { values.append("in_time is " + reasonTimeIsUnknown) }
        return values.isEmpty ? "" : " (" + values.joined(separator: ", ") + ")"
    }

    /// The name in rule files. Results and inputs are omitted, because the set does not contain their names.
    private func name(of slot: ValueReference) -> String? {
        func declared<Element>(_ root: String, _ index: Int, in list: [Element], _ name: (Element) -> String) -> String?
        {
            list.indices.contains(index) ? root + "." + name(list[index]) : nil
        }
        return switch slot {
        case .trigger(let field): "trigger." + field.rawValue
        case .state(let index): declared("states", index, in: set.states, \.name)
        case .variable(let index): declared("variables", index, in: set.variables, \.name)
        case .button(let index, let field):
            declared("buttons", index, in: set.buttons, \.name).map { "\($0).\(field.rawValue)" }
        case .rule(let index, let field):
            declared("rules", index, in: set.rules, \.id).map { "\($0).\(field.rawValue)" }
        case .error(let field): "error." + field.rawValue
        case .now(let field): "now." + field.rawValue
        case .sun(let field): "sun." + field.rawValue
        case .broker(let field): "broker." + field.rawValue
        case .repeat(let field): "repeat." + field.rawValue
        case .change(let value): value.rawValue
        case .result, .input: nil
        }
    }
}

extension Value {
    /// The value for display: text in quotes, truncated if it is long.
    var shown: String {
        switch self {
        case .unknown: "unknown"
        case .string(let text):
            text.prefix(80).endIndex < text.endIndex ? "\"\(text.prefix(80))…\"" : "\"\(text)\""
        case .list(let values): "[" + values.prefix(10).map(\.shown).joined(separator: ", ") + "]"
        case .boolean, .integer, .number, .duration: text ?? ""
        }
    }
}

extension LocalTime {
    fileprivate var shown: String { TimeOfDay.shown(millisecondOfDay: millisecondOfDay) }

    fileprivate var millisecondOfDay: Int64 { (Int64(hour) * 3600 + Int64(minute) * 60 + Int64(second)) * 1000 }
}

extension TimeOfDay {
    /// The time of day as `16:17`, with seconds unless they are zero.
    fileprivate static func shown(millisecondOfDay: Int64) -> String {
        func digits(_ value: Int64) -> String { (value < 10 ? "0" : "") + String(value) }
        let seconds = millisecondOfDay / 1000
        let time = digits(seconds / 3600) + ":" + digits(seconds / 60 % 60)
        return seconds % 60 == 0 ? time : time + ":" + digits(seconds % 60)
    }
}

extension TimeCondition {
    /// - Returns: whether the time is in the window, and a description such as `23:15 is in 16:17…08:46`.
    fileprivate func evaluate(at now: LocalTime, sun: SunFacts) -> (Bool, String) {
        let moment = now.millisecondOfDay
        let start = after?.millisecondOfDay(sun) ?? 0
        let end = before.map { $0.millisecondOfDay(sun) }
        let isInside: Bool
        if let after, let before {
            isInside = TimeWindow(after: after, before: before).contains(now, sun: sun)
        } else {
            isInside = start <= moment && end.map { moment < $0 } ?? true
        }
        let shownEnd = end.map(TimeOfDay.shown(millisecondOfDay:)) ?? "24:00"
        var text = "\(now.shown) is \(isInside ? "" : "not ")in \(TimeOfDay.shown(millisecondOfDay: start))…\(shownEnd)"
        switch sun.polar {
        case .neverRises? where after?.mark != nil || before?.mark != nil: text += ", the sun does not rise that day"
        case .neverSets? where after?.mark != nil || before?.mark != nil: text += ", the sun does not set that day"
        case .neverRises?, .neverSets?, nil: break
        }
        guard isInside, !weekdays.isEmpty else { return (isInside, text) }
        // After midnight, a window that spans midnight began on the day before.
        let beganYesterday = after != nil && end.map { $0 <= start } ?? false && moment < start
        let day = beganYesterday ? now.weekday.before : now.weekday
        guard !weekdays.contains(day) else { return (true, "\(text), which began on \(day.rawValue)") }
        let wanted = LocalTime.Weekday.allCases.filter(weekdays.contains).map(\.rawValue).joined(separator: ", ")
        return (false, "\(text), but that began on \(day.rawValue), not \(wanted)")
    }
}

extension LocalTime.Weekday {
    fileprivate var before: LocalTime.Weekday {
        let days = LocalTime.Weekday.allCases
        guard let index = days.firstIndex(of: self) else { return self }
        return days[(index + days.count - 1) % days.count]
    }
}
