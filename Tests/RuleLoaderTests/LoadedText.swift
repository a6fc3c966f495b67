import Diagnostics
import RuleLoader
import Rules
import Testing
import YAMLFiles

/// A rules file from its text alone.
enum LoadedText {
    static func set(_ text: String, in environment: LoadInputs = LoadInputs()) -> LoadResult<RuleSet> {
        FileLoader.rules(SourceFile(name: "home.yaml", text: Array("version: 1\n\(text)\n".utf8)), in: environment)
    }

    /// The set of a text without errors.
    static func good(
        _ text: String, in environment: LoadInputs = LoadInputs(),
        _ location: Testing.SourceLocation = #_sourceLocation
    ) throws -> RuleSet {
        let loaded = set(text, in: environment)
        #expect(loaded.diagnostics.filter { $0.severity == .error } == [], sourceLocation: location)
        return try #require(loaded.value, sourceLocation: location)
    }

    /// A rule on the click of a button, with these lines beside.
    static func rule(_ lines: String, _ location: Testing.SourceLocation = #_sourceLocation) throws -> Rule {
        let set = try good(rules(with: lines), in: LoadInputs(), location)
        return try #require(set.rules.first, sourceLocation: location)
    }

    static func rules(with lines: String) -> String {
        """
        buttons: {kitchen: BF12-C34567}
        rules:
          - id: one
            triggers: {button: kitchen, event: click}
            actions: {log: done}
            \(lines)
        """
    }

    /// A trigger of a rule in a house with buttons of every model.
    static func trigger(
        _ text: String, states: String = "{}", _ location: Testing.SourceLocation = #_sourceLocation
    ) throws -> Trigger {
        let set = try good(triggers(text, states: states), in: LoadInputs(), location)
        return try #require(set.rules.first?.triggers.first, sourceLocation: location)
    }

    static func triggers(_ text: String, states: String = "{}") -> String {
        """
        buttons:
          kitchen: BF12-C34567
          hall: BF12-C34568
          sofa: {serial: DA01-D00042, model: duo}
          desk: {serial: TA01-T00007, model: twist}
        groups: {everyone: [kitchen, hall], mixed: [hall, sofa]}
        states: \(states)
        rules:
          - id: one
            triggers: \(text)
            actions: {log: done}
        """
    }

    /// The diagnostics, in the form `E204 message; hint`.
    static func complaints(_ text: String, in environment: LoadInputs = LoadInputs()) -> [String] {
        set(text, in: environment).diagnostics.filter { $0.code != "W704" }.map { diagnostic in
            let hint = diagnostic.hint.map { "; \($0)" } ?? ""
            return "\(diagnostic.code) \(diagnostic.message)\(hint)"
        }
    }
}
