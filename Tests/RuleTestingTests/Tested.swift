import Diagnostics
import Foundation
import RuleLoader
import RuleTesting
import Rules
import Testing
import YAMLFiles

/// Loads rules and tests from a text and runs the tests.
enum Tested {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static let buttons = """
        buttons:
          a: BF12-C00001
          b: {serial: BF12-C00002, hold_after: 600ms}
          desk: {serial: TA01-T00003, model: twist}

        """

    /// - Parameter files: the files that `reload` and `include` find.
    static func set(
        _ text: String, files: [String: String] = [:], secrets: String = "",
        _ location: Testing.SourceLocation = #_sourceLocation
    ) throws -> RuleSet {
        var environment = LoadInputs(files: files.mapValues { SourceFile(name: "", text: Array($0.utf8)) })
        for name in environment.files.keys { environment.files[name]?.name = name }
        if !secrets.isEmpty {
            environment.fileInputs.secrets = SourceFile(name: "secrets.yaml", text: Array(secrets.utf8))
        }
        let loaded = FileLoader.rules(
            SourceFile(name: "home.yaml", text: Array("version: 1\n\(buttons)\(text)\n".utf8)), in: environment)
        #expect(loaded.diagnostics.filter { $0.severity == .error } == [], sourceLocation: location)
        return try #require(loaded.value, sourceLocation: location)
    }

    static func report(
        _ text: String, files: [String: String] = [:], secrets: String = "",
        _ location: Testing.SourceLocation = #_sourceLocation
    ) throws -> RuleTestReport {
        RuleTestRunner.run(try set(text, files: files, secrets: secrets, location))
    }

    /// Expects at least one test, and that all tests pass.
    static func passes(
        _ text: String, files: [String: String] = [:], secrets: String = "",
        _ location: Testing.SourceLocation = #_sourceLocation
    ) throws {
        let report = try report(text, files: files, secrets: secrets, location)
        #expect(!report.results.isEmpty, sourceLocation: location)
        for result in report.failures {
            Issue.record("\(result.failure?.text(of: result.name) ?? "")", sourceLocation: location)
        }
    }

    /// Expects a test with these steps to pass for these rules.
    static func passes(
        _ rules: String, given: String = "{}", steps: String, files: [String: String] = [:],
        _ location: Testing.SourceLocation = #_sourceLocation
    ) throws {
        try passes(text(rules, given: given, steps: steps), files: files, secrets: "", location)
    }

    /// The text of the only failure, without its first line.
    static func failure(
        _ rules: String, given: String = "{}", steps: String, secrets: String = "",
        _ location: Testing.SourceLocation = #_sourceLocation
    ) throws -> String {
        let report = try report(text(rules, given: given, steps: steps), secrets: secrets, location)
        let failure = try #require(report.results.first?.failure, sourceLocation: location)
        return failure.text(of: "it").split(separator: "\n").dropFirst().joined(separator: "\n")
    }

    static func text(_ rules: String, given: String, steps: String) -> String {
        let steps = steps.split(separator: "\n").map { "      \($0)\n" }.joined()
        return "\(rules)\ntests:\n  - name: it\n    given: \(given)\n    steps:\n\(steps)"
    }
}
