import Almanac
import ButtonModel
import Expressions
import Rules

// The rules that nothing has matched, for the message of a test that fails.
extension TestRun {
    /// For each rule that nothing has matched since the latest `expect`, although it has a trigger for a button that had an
    /// event, for a state that had a message, or for a time that came on another weekday or comes later: what happened and what
    /// the rule needs. A rule that another one replaced, because it is a fallback, is listed, too.
    var unmatched: [String] {
        rules.rules.filter { !judgedRules.contains($0.id) }.compactMap { rule in
            let reasons = [unmatchedPress(rule)].compactMap(\.self) + (stateReasons[rule.id] ?? [])
            guard
                let text = reasons.isEmpty ? otherWeekday(rule) ?? laterTime(rule) : reasons.joined(separator: "; ")
            else { return nil }
            return "\(rule.id) › not_matched: \(text)"
        }
    }

    private func unmatchedPress(_ rule: Rule) -> String? {
        for (button, names) in heard {
            let needs = engine.events(of: button, thatTrigger: rule.id)
            guard !needs.isEmpty else { continue }
            let happened = "\(engine.declaredName(of: button) ?? "the button") had \(names.joined(separator: ", "))"
            guard needs.contains(where: names.contains) else {
                return "\(happened), and it needs \(needs.joined(separator: " or "))"
            }
            if rule.isFallback { return "it is a fallback, and another rule matched" }
            return "\(happened), but of another part, time or button of its trigger, or it was claimed"
        }
        return nil
    }

    /// The sentence about a time of a rule that has come since the latest `expect`, on a day that is not in its `weekday`.
    private func otherWeekday(_ rule: Rule) -> String? {
        let now = wallClock
        for trigger in rule.triggers {
            guard case .times(let trigger) = trigger.origin, !trigger.times.weekdays.isEmpty else { continue }
            for time in trigger.times.times {
                guard let moment = time.moment(onDayOf: now, in: rules.timeZone), moment > clockAtExpect, moment <= now
                else { continue }
                let day = rules.timeZone.localTime(at: moment).weekday
                guard !trigger.times.weekdays.contains(day) else { continue }
                return "its time came on \(day.rawValue), which weekday: does not contain"
            }
        }
        return nil
    }

    /// The sentence about the next time of a rule on this day, if time has passed since the latest `expect`, no button had an
    /// event and no state a message: the test probably waits for that time, and `advance` ends before it.
    private func laterTime(_ rule: Rule) -> String? {
        let now = wallClock
        guard now > clockAtExpect, heard.isEmpty, stateReasons.isEmpty else { return nil }
        let moments = rule.triggers.flatMap { trigger -> [UTCTime] in
            guard case .times(let trigger) = trigger.origin else { return [] }
            return trigger.times.times.compactMap { $0.moment(onDayOf: now, in: rules.timeZone) }.filter { moment in
                let day = rules.timeZone.localTime(at: moment).weekday
                return moment > now && (trigger.times.weekdays.isEmpty || trigger.times.weekdays.contains(day))
            }
        }
        guard let next = moments.min() else { return nil }
        let rest = DurationText.text(milliseconds: next.milliseconds - now.milliseconds)
        return "its time comes \(rest) after this step; write a longer advance: before it"
    }
}
