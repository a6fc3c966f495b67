import ButtonModel
import Diagnostics
import Gestures
import Rules
import YAMLFiles

/// The button events that the rules of a set use, by button, each with the first rule that uses it.
struct ButtonUses {
    struct Use {
        /// An index in `RuleSet.rules`; `nil` for a rule without a valid id, or with that of an earlier rule.
        var rule: Int?
        /// Where the event is written.
        var source: Origin

        /// True if this use comes before the other one in the order of the set.
        func isBefore(_ other: Use) -> Bool {
            let (left, right) = (rule ?? .max, other.rule ?? .max)
            guard left == right else { return left < right }
            return (source.document, source.node.start) < (other.source.document, other.source.node.start)
        }
    }

    struct Origin {
        var document: Int
        var node: YAMLNode
    }

    /// The events that rules use of one button, or of `button: any`.
    struct UsedEvents {
        var isUsed = false
        var patterns: [[PressLength]: Use] = [:]
        /// `hold` triggers by their `for`; the key is `nil` where the button's `hold_after` applies.
        var stages: [Duration?: Use] = [:]
        var holdRelease: Use?
    }

    /// By index in `RuleSet.buttons`.
    private var buttons: [Int: UsedEvents] = [:]
    /// Events of triggers with `button: any`.
    private(set) var any = UsedEvents()

    mutating func note(_ event: TriggerEvent, on selector: ButtonSelector, _ use: Use) {
        switch selector {
        case .any: any.note(event, use)
        case .declared(let button): buttons[button, default: UsedEvents()].note(event, use)
        case .hardware: break
        }
    }

    /// Marks the buttons of a chord as used.
    mutating func markUsed(_ members: [Int]) {
        for button in members { buttons[button, default: UsedEvents()].isUsed = true }
    }

    /// Events used by rules that name the button, or a group that contains it. Rules for `button: any` are left out.
    func usedEvents(of button: Int) -> UsedEvents { buttons[button] ?? UsedEvents() }

    /// Events used by rules that name the button and by rules for `button: any`.
    func allUsedEvents(of button: Int) -> UsedEvents {
        var wanted = usedEvents(of: button)
        wanted.isUsed = wanted.isUsed || any.isUsed
        wanted.patterns.merge(any.patterns) { first, second in ButtonUses.first(first, second) }
        wanted.stages.merge(any.stages) { first, second in ButtonUses.first(first, second) }
        if let release = any.holdRelease {
            wanted.holdRelease = wanted.holdRelease.map { ButtonUses.first($0, release) } ?? release
        }
        return wanted
    }

    /// The use that comes first in the set.
    static func first(_ left: Use, _ right: Use) -> Use {
        right.isBefore(left) ? right : left
    }
}

extension ButtonUses.UsedEvents {
    fileprivate mutating func note(_ event: TriggerEvent, _ use: ButtonUses.Use) {
        isUsed = true
        switch event {
        case .pattern(let presses): if patterns[presses] == nil { patterns[presses] = use }
        case .hold(let after): if stages[after] == nil { stages[after] = use }
        case .holdRelease: if holdRelease == nil { holdRelease = use }
        case .down, .up, .swipe, .rotate, .connected, .disconnected, .batteryLow: break
        }
    }

    /// The first rule with a `hold` or `hold_release` trigger, which makes a long press a hold.
    var hold: ButtonUses.Use? {
        (Array(stages.values) + [holdRelease].compactMap(\.self)).reduce(nil) { first, use in
            first.map { ButtonUses.first($0, use) } ?? use
        }
    }

    /// The first rule that uses a pattern for which `isMeant` is true.
    func first(where isMeant: ([PressLength]) -> Bool) -> ButtonUses.Use? {
        patterns.reduce(nil) { first, pattern in
            guard isMeant(pattern.key) else { return first }
            return first.map { ButtonUses.first($0, pattern.value) } ?? pattern.value
        }
    }

    /// The proper prefixes of all patterns, after which the recogniser waits, each with its first longer pattern.
    var beginnings: [[PressLength]: (pattern: [PressLength], use: ButtonUses.Use)] {
        var beginnings: [[PressLength]: (pattern: [PressLength], use: ButtonUses.Use)] = [:]
        for (pattern, use) in patterns {
            for length in 1..<max(1, pattern.count) {
                let beginning = Array(pattern.prefix(length))
                if let known = beginnings[beginning], !use.isBefore(known.use) { continue }
                beginnings[beginning] = (pattern, use)
            }
        }
        return beginnings
    }
}
