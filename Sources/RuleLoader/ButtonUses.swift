import ButtonModel
import Diagnostics
import Gestures
import Rules

/// What all rules together want of each button, and which rule wants it first.
struct ButtonUses {
    struct Use {
        /// In `RuleSet.rules`; `nil` for a rule that has no name.
        var rule: Int?
        /// Where the event is written; `nil` when the table was made from a set that is loaded already.
        var source: Source?

        /// Whether this stands before the other in the set.
        func isBefore(_ other: Use) -> Bool {
            let (left, right) = (rule ?? .max, other.rule ?? .max)
            guard left == right, let source, let before = other.source else { return left < right }
            return (source.document, source.node.start) < (before.document, before.node.start)
        }
    }

    struct Source {
        var document: Int
        var node: YAMLNode
    }

    /// What is wanted of one button, or of all.
    struct Wanted {
        var isUsed = false
        var patterns: [[PressLength]: Use] = [:]
        /// By `for`; `nil`: the button's `hold_after`.
        var stages: [Duration?: Use] = [:]
        var holdRelease: Use?
    }

    /// By place in `RuleSet.buttons`.
    private var buttons: [Int: Wanted] = [:]
    /// `button: any`.
    private(set) var any = Wanted()

    init() {}

    init(_ set: RuleSet) {
        for (index, rule) in set.rules.enumerated() {
            for trigger in rule.triggers {
                guard case .buttons(let selectors, let events, _) = trigger.source else { continue }
                for event in events {
                    for selector in selectors { note(event, on: selector, Use(rule: index)) }
                }
            }
        }
    }

    mutating func note(_ event: TriggerEvent, on selector: ButtonSelector, _ use: Use) {
        switch selector {
        case .any: any.note(event, use)
        case .declared(let button): buttons[button, default: Wanted()].note(event, use)
        case .hardware: break
        }
    }

    /// Buttons that are named otherwise: by a chord, by an expression.
    mutating func use(_ members: [Int]) {
        for button in members { buttons[button, default: Wanted()].isUsed = true }
    }

    /// By rules that name it, or a group it is in.
    func wanted(of button: Int) -> Wanted { buttons[button] ?? Wanted() }

    /// By these and by those for any button.
    func allWanted(of button: Int) -> Wanted {
        var wanted = wanted(of: button)
        wanted.isUsed = wanted.isUsed || any.isUsed
        wanted.patterns.merge(any.patterns) { first, second in ButtonUses.first(first, second) }
        wanted.stages.merge(any.stages) { first, second in ButtonUses.first(first, second) }
        if let release = any.holdRelease {
            wanted.holdRelease = wanted.holdRelease.map { ButtonUses.first($0, release) } ?? release
        }
        return wanted
    }

    /// Of two rules the one that stands first in the set.
    static func first(_ left: Use, _ right: Use) -> Use {
        right.isBefore(left) ? right : left
    }
}

extension ButtonUses.Wanted {
    fileprivate mutating func note(_ event: TriggerEvent, _ use: ButtonUses.Use) {
        isUsed = true
        switch event {
        case .pattern(let presses): if patterns[presses] == nil { patterns[presses] = use }
        case .hold(let after): if stages[after] == nil { stages[after] = use }
        case .holdRelease: if holdRelease == nil { holdRelease = use }
        case .down, .up, .swipe, .rotate, .connected, .disconnected, .batteryLow: break
        }
    }

    /// The first rule that wants a long press to be a hold.
    var hold: ButtonUses.Use? {
        (Array(stages.values) + [holdRelease].compactMap(\.self)).reduce(nil) { first, use in
            first.map { ButtonUses.first($0, use) } ?? use
        }
    }

    /// The first rule with a pattern of this kind.
    func first(where isMeant: ([PressLength]) -> Bool) -> ButtonUses.Use? {
        patterns.reduce(nil) { first, pattern in
            guard isMeant(pattern.key) else { return first }
            return first.map { ButtonUses.first($0, pattern.value) } ?? pattern.value
        }
    }

    /// For each beginning of a longer pattern, the first rule because of which it waits.
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

    var isEmpty: Bool { patterns.isEmpty && stages.isEmpty && holdRelease == nil }
}
