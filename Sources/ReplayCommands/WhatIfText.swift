import ButtonModel
import CommandSupport
import CommandText
import JSON
import Rules

/// The output of `tryck what-if`.
enum WhatIfText {
    // MARK: For people

    /// An event that ends otherwise, and what the rules did and would have done:
    ///
    ///     2026-11-21
    ///     kitchen  02:14:07  click (late by 41 s)
    ///       - kitchen_toggle  publishes zigbee2mqtt/kitchen/set {"state":"TOGGLE"}
    ///       + kitchen_toggle  does not run: the press is too old
    static func lines(_ result: Comparison.Result) -> [Line] {
        var lines: [Line] = []
        var day = ""
        for difference in result.differences {
            let (newDay, clock) = HistoryTime.dayAndTime(difference.event.at)
            if newDay != day { lines.append(Line(newDay, .faint)) }
            day = newDay
            var title = Line(difference.event.button.isEmpty ? difference.event.rule : difference.button, .strong)
            title.append("  \(clock.prefix(8))  ")
            title.append(difference.event.name, .press)
            if let lateness = difference.lateness {
                title.append(" (late by \(Quantity.span(seconds: lateness / 1000)))", .doubtful)
            }
            lines.append(title)
            // Deeds that are equal in both cases are not shown.
            let changes = difference.after.difference(from: difference.before)
            let (removed, inserted) = (changes.removals.map(\.deed), changes.insertions.map(\.deed))
            let width = (removed + inserted).map(\.rule.count).max() ?? 0
            lines += removed.map { line("-", $0, .bad, width) }
            lines += inserted.map { line("+", $0, .good, width) }
        }
        if !lines.isEmpty { lines.append("") }
        if result.differences.contains(where: { ($0.before + $0.after).contains(where: \.isUncertain) }) {
            lines.append(
                Line("?  ", .doubtful)
                    + "follows a program or a web request whose result is unknown and was taken as good, or a message with a "
                    + "secret")
        }
        lines += result.errors.map { Line("error  ", .bad) + $0.text }
        lines += result.notes.map { Line("note  ", .doubtful) + $0 }
        let count = result.differences.count
        let ends = count == 1 ? "ends" : "end"
        lines.append(
            Line(
                "\(count) of \(Quantity.count(Int64(result.eventCount), "event")) \(ends) otherwise. "
                    + "\(Quantity.count(Int64(result.errors.count), "error")).", .strong))
        return lines
    }

    private static func line(_ sign: String, _ deed: RuleLedger.Deed, _ ink: Ink, _ width: Int) -> Line {
        var line = Line("  \(sign) ", ink) + (deed.rule.padded(to: width) + "  ", .plain) + (words(deed), .plain)
        if deed.after.total > .zero { line.append(delay(of: deed), .faint) }
        if deed.isUncertain { line.append(" ?", .doubtful) }
        return line
    }

    /// A deed without colours and columns: `kitchen publishes home/lamp on, after 3 s ?`.
    private static func sentence(_ deed: RuleLedger.Deed) -> String {
        "\(deed.rule) \(words(deed))\(delay(of: deed))" + (deed.isUncertain ? " ?" : "")
    }

    /// `, after 3 s`; empty for a deed at the beginning of its run.
    private static func delay(of deed: RuleLedger.Deed) -> String {
        deed.after.total > .zero ? ", after \(Quantity.duration(deed.after.total))" : ""
    }

    private static func words(_ deed: RuleLedger.Deed) -> String {
        if let verb = StepKind(rawValue: deed.kind)?.verb {
            return "\(verb) \(deed.text)" + (deed.remark.isEmpty ? "" : " (\(deed.remark))")
        }
        return switch deed.kind {
        case "started": "runs"
        case "variable": "sets \(deed.text)"
        case "failed": "fails: \(deed.text)"
        case "cancelled", "interrupted": "is \(deed.kind)"
        default: "does not run: \(reason(deed))"
        }
    }

    private static func reason(_ deed: RuleLedger.Deed) -> String {
        // The text is "disabled" or "disabled at run time".
        if deed.kind == Gate.enabled.rawValue, !deed.text.isEmpty { return "it is \(deed.text)" }
        let reason =
            switch Gate(rawValue: deed.kind) {
            case .enabled: "it is disabled"
            case .queued: "the press is too old"
            case .conditions: "its conditions are false"
            case .cooldown: "its cooldown is not over"
            case .rateLimit: "the rate limit is reached"
            case .mode: "another run is not finished"
            case nil: deed.kind
            }
        return deed.text.isEmpty ? reason : "\(reason) (\(deed.text))"
    }

    // MARK: For programs

    static func json(_ result: Comparison.Result) -> JSONValue {
        [
            "events": .integer(Int64(result.eventCount)), "errors": .array(result.errors.map(\.json)),
            "notes": .array(result.notes.map { .string($0) }), "differ": .array(result.differences.map(json)),
        ]
    }

    private static func json(_ difference: Comparison.Difference) -> JSONValue {
        [
            "at": .string("\(difference.event.at)"),
            "button": difference.event.button.isEmpty ? .null : .string(difference.button),
            "event": .string(difference.event.name), "late_ms": difference.lateness.map { .integer($0) } ?? .null,
            "before": .array(difference.before.map(json)), "after": .array(difference.after.map(json)),
        ]
    }

    private static func json(_ deed: RuleLedger.Deed) -> JSONValue {
        [
            "rule": .string(deed.rule), "does": .string(deed.kind), "text": .string(deed.text),
            "remark": deed.remark.isEmpty ? .null : .string(deed.remark), "sentence": .string(sentence(deed)),
            "after_ms": .integer(deed.after.total.milliseconds), "certain": .bool(!deed.isUncertain),
        ]
    }
}

extension CollectionDifference<RuleLedger.Deed>.Change {
    fileprivate var deed: RuleLedger.Deed {
        switch self {
        case .insert(_, let deed, _), .remove(_, let deed, _): deed
        }
    }
}
