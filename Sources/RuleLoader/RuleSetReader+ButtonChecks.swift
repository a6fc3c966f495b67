import ButtonModel
import Diagnostics
import Expressions
import Rules
import YAMLFiles

/// Checks the events and parts of triggers against the declarations of their buttons. Each event is reported once.
extension RuleSetReader {
    mutating func check(_ event: WrittenEvent, _ selectors: [WrittenSelector]) {
        let name = "event \(event.event.notation)"
        guard !reportsModel(name, event.event.models, event.node, selectors) else { return }
        for selector in selectors {
            for meant in selector.selectors {
                switch meant {
                case .any:
                    for button in firstFixed.values.sorted() where reportsMode(of: button, event) { return }
                case .declared(let button): if reportsMode(of: button, event) { return }
                case .hardware: break
                }
            }
        }
    }

    mutating func check(_ part: (part: ButtonPart, node: YAMLNode), _ selectors: [WrittenSelector]) {
        _ = reportsModel("part \(part.part.rawValue)", part.part.models, part.node, selectors)
    }

    /// Reports E501 and returns true when buttons lack an event or a part. A named button must have it, and so must at
    /// least one button of a group.
    private mutating func reportsModel(
        _ name: String, _ models: [FlicModel], _ node: YAMLNode, _ selectors: [WrittenSelector]
    ) -> Bool {
        for selector in selectors {
            let declared = selector.selectors.compactMap { meant -> DeclaredButton? in
                if case .declared(let button) = meant { ruleSet.buttons[button] } else { nil }
            }
            guard let button = declared.first(where: { !models.contains($0.model) }),
                !selector.isGroup || !declared.contains(where: { models.contains($0.model) })
            else { continue }
            let file = button.location.file == checker.source.name ? "" : "\(button.location.file):"
            let location = "\(file)\(button.location.line):\(button.location.column)"
            let wanted = models.map(\.rawValue).joined(separator: " or ")
            checker.error(
                "E501", at: node, "a \(button.model.rawValue) has no \(name)",
                hint: "\"\(button.name)\" is declared at \(location) without model: \(wanted)")
            return true
        }
        return false
    }

    private mutating func reportsMode(of button: Int, _ event: WrittenEvent) -> Bool {
        let button = ruleSet.buttons[button]
        guard let mode = button.triggerMode, !mode.supports(event.event) else { return false }
        checker.error(
            "E502", at: event.node,
            "\"\(button.name)\" is fixed to \(mode.rawValue), which cannot give \(event.event.notation)",
            hint: Hint("use trigger_mode: auto", changes(ofMode: mode, of: button)))
        return true
    }

    /// The change of `trigger_mode` where the button is declared, if that is in this file.
    private func changes(ofMode mode: TriggerMode, of button: DeclaredButton) -> [Hint.Change] {
        let source = checker.source
        let start = SourcePosition(line: button.location.line, column: button.location.column)
        guard checker.reportsExactly, button.location.file == source.name,
            let key = source.find(
                "trigger_mode: \(mode.rawValue)", from: start,
                to: source.clamped(SourcePosition(line: source.lineCount + 1, column: 1)))
        else { return [] }
        let value = key.advanced(by: "trigger_mode: ".count)
        let end = value.advanced(by: mode.rawValue.unicodeScalars.count)
        return [Hint.Change(source.octets(from: value, to: end), "auto", isGuess: true)]
    }

    /// Records an event for the checks that need all triggers of the set.
    mutating func note(_ event: WrittenEvent, _ selectors: [WrittenSelector], rule: Int?) {
        let use = ButtonUses.Use(rule: rule, source: .init(document: currentDocument, node: event.node))
        for selector in selectors {
            for meant in selector.selectors { uses.note(event.event, on: meant, use) }
        }
    }
}
