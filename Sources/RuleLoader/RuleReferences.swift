import ButtonModel
import Diagnostics
import Rules

/// The names of a rules file: where they are declared, where they are used, and whether the two fit.
struct RuleReferences {
    private struct Use {
        var selectors: [(ButtonSelector, YAMLNode)]
        var events: [(TriggerEvent, YAMLNode)]
    }

    /// `false` when the declarations could not be read: then no name is unknown.
    var knowsAllButtons = true
    private var buttons: [YAMLNode.Key] = []
    private var hardware: [DeclaredButton.Hardware: SourcePosition] = [:]
    private var rules: [String: SourcePosition] = [:]
    private var uses: [Use] = []

    /// A name that is declared, even if its declaration is wrong.
    mutating func declare(button key: YAMLNode.Key) { buttons.append(key) }

    mutating func declare(_ description: DeclaredButton.Hardware, _ key: YAMLNode.Key, _ checker: inout Checker) {
        guard let first = hardware[description] else {
            hardware[description] = key.start
            return
        }
        checker.error(
            "E303", from: key.start, to: key.end, alias: key.alias,
            "the button of \"\(key.text)\" is already named at \(checker.source.name):\(first.line):\(first.column)")
    }

    mutating func declare(rule id: String, _ node: YAMLNode, _ checker: inout Checker) {
        guard let first = rules[id] else {
            rules[id] = node.start
            return
        }
        checker.error(
            "E303", at: node,
            "rule id \"\(id)\" is already used at \(checker.source.name):\(first.line):\(first.column)")
    }

    mutating func use(_ selectors: [(ButtonSelector, YAMLNode)], for events: [(TriggerEvent, YAMLNode)]) {
        uses.append(Use(selectors: selectors, events: events))
    }

    // MARK: Checks

    mutating func check(_ set: RuleSet, _ checker: inout Checker) {
        let declared = Dictionary(set.buttons.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let byHardware = Dictionary(set.buttons.map { ($0.hardware, $0) }, uniquingKeysWith: { first, _ in first })
        let names = Set(buttons.map(\.text))
        let fixed = set.buttons.filter { $0.triggerMode != nil }
        var used: Set<String> = []
        for use in uses {
            for (selector, node) in use.selectors {
                let meant: [DeclaredButton]
                switch selector {
                case .any:
                    used.formUnion(names)
                    meant = fixed
                case .named(let name):
                    used.insert(name)
                    meant = declared[name].map { [$0] } ?? []
                    if !names.contains(name) { reportUnknown(name, node, &checker) }
                case .hardware(let description):
                    meant = byHardware[description].map { [$0] } ?? []
                    used.formUnion(meant.map(\.name))
                }
                for button in meant { checkMode(of: button, use.events, &checker) }
            }
        }
        guard !checker.hasErrors else { return }
        for key in buttons where !used.contains(key.text) {
            checker.warning("W704", at: key, "button \"\(key.text)\" is never used")
        }
    }

    private func reportUnknown(_ name: String, _ node: YAMLNode, _ checker: inout Checker) {
        guard knowsAllButtons else { return }
        let near = checker.nearest(to: name, among: buttons.map(\.text))
        checker.error(
            "E301", from: node.start, to: node.end, alias: node.alias, "unknown button \"\(checker.shown(name))\"",
            hint: near.map { "did you mean \"\($0)\"?" },
            notes: buttons.first.map {
                [.init(message: "buttons are declared", file: checker.source.name, position: $0.start)]
            } ?? [])
    }

    private func checkMode(
        of button: DeclaredButton, _ events: [(TriggerEvent, YAMLNode)], _ checker: inout Checker
    ) {
        guard let mode = button.triggerMode else { return }
        for case (.gesture(let gesture), let node) in events where !mode.gives(gesture) {
            checker.error(
                "E502", at: node,
                "\"\(button.name)\" is fixed to \(mode.rawValue), which cannot give \(gesture.rawValue)",
                hint: "use trigger_mode: auto")
        }
    }
}

extension TriggerMode {
    fileprivate func gives(_ gesture: Gesture) -> Bool {
        switch gesture {
        case .click: true
        case .doubleClick: self == .clickAndDoubleClick || self == .clickAndDoubleClickAndHold
        case .hold, .holdRelease: self == .clickAndHold || self == .clickAndDoubleClickAndHold
        }
    }
}
