import Diagnostics
import Expressions
import RuleLoader
import Rules
import Testing
import YAMLFiles

/// Steps in a house where there is something of everything.
enum LoadedSteps {
    static let declarations = """
        location: {latitude: 52.09, longitude: 5.12}
        buttons: {kitchen: BF12-C34567, hall: BF12-C34568, desk: {serial: TA01-T00007, model: twist}}
        groups: {downstairs: [kitchen, hall]}
        states:
          lux: {topic: home/lux, type: number}
          lamp: {topic: home/lamp, default: "OFF"}
          open: {topic: home/door, type: boolean, default: false}
        variables:
          scene: {initial: day, values: [day, evening, night]}
          volume: 30
          ratio: 0.5
          guest: false
        scripts:
          greet:
            inputs: {whom: {type: string}, often: {type: integer, default: 2}, ratio: {type: number, default: 1}}
            actions: {log: "hello {{ inputs.whom }}"}
          end: {actions: [{stop: here}]}
        """

    static func text(_ steps: String, rest: String = "") -> String {
        let lines = steps.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n      ")
        return """
            \(declarations)
            rules:
              - id: one
                triggers: {button: [kitchen, hall, desk], event: hold}
                actions:
                  \(lines.isEmpty ? "{log: a}" : lines)
              - {id: two, triggers: {button: hall, event: down}, actions: {log: b}}
            \(rest)
            """
    }

    /// The steps of the first rule.
    static func steps(_ steps: String, _ location: Testing.SourceLocation = #_sourceLocation) throws -> [Step] {
        let set = try LoadedText.good(text(steps), in: LoadInputs(), location)
        return try #require(set.rules.first, sourceLocation: location).steps
    }

    static func action(_ step: String, _ location: Testing.SourceLocation = #_sourceLocation) throws -> StepAction {
        let lines = step.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n  ")
        return try #require(try steps("- \(lines)", location).first, sourceLocation: location).action
    }

    /// Codes in source order.
    static func codes(_ steps: String, rest: String = "") -> [String] {
        LoadedText.set(text(steps, rest: rest)).diagnostics.filter { $0.severity == .error }.map(\.code)
    }
}

extension Template {
    /// The step as it is written in a file.
    var written: String {
        parts.map { part in
            switch part {
            case .literal(let text): text
            case .expression(let expression, _): "{{ \(expression.source) }}"
            }
        }.joined()
    }
}
