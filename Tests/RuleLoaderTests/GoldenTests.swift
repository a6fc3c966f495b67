import ConfigurationLoader
import Diagnostics
import Foundation
import RuleLoader
import Rules
import Testing
import YAMLFiles

/// Each file under `Golden`, but for those of `sets`, and the exact text a person sees for it. `UPDATE_GOLDEN=1` writes the texts anew.
@Suite("What people see when a file is wrong")
struct GoldenTests {
    @Test("the text for a file is the one we promised", arguments: GoldenTests.files)
    func text(file: String) throws {
        let url = Project.golden.appending(path: file)
        let source = SourceFile(name: url.lastPathComponent, text: [UInt8](try Data(contentsOf: url)))
        let text = DiagnosticReport(
            GoldenTests.diagnostics(for: source, in: file),
            sources: [source.name: source.text, "secrets.yaml": GoldenTests.secrets]
        ).text()
        let goldenURL = url.deletingPathExtension().appendingPathExtension("txt")
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
            try text.write(to: goldenURL, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: goldenURL, encoding: .utf8) == text)
    }

    @Test("each file shows the code it is named after", arguments: GoldenTests.files)
    func code(file: String) throws {
        let url = Project.golden.appending(path: file)
        let source = SourceFile(name: url.lastPathComponent, text: [UInt8](try Data(contentsOf: url)))
        let code = String(url.lastPathComponent.prefix(4))
        #expect(GoldenTests.diagnostics(for: source, in: file).map(\.code).contains(code))
    }

    static let files: [String] = {
        let names = try? FileManager.default.subpathsOfDirectory(atPath: Project.golden.path)
        return (names ?? []).filter { $0.hasSuffix(".yaml") && !$0.hasPrefix("sets/") }.sorted()
    }()

    static let secrets = [UInt8]("token: hunter2\n".utf8)

    private static let zones = (try? Project.zone("Europe/Amsterdam")).map { ["Europe/Amsterdam": $0] } ?? [:]

    private static func diagnostics(for source: SourceFile, in path: String) -> [Diagnostic] {
        let environment = LoadInputs(
            secrets: SourceFile(name: "secrets.yaml", text: secrets, isReadableByOthers: path.contains("W703")),
            variables: ["HOME": "/root"], forbiddenSteps: path.contains("forbidden") ? [.shell, .http] : [],
            timeZones: zones, hasNoBroker: path.contains("W710"))
        if path.hasPrefix("configuration/") {
            return FileLoader.configuration(source, in: environment.fileInputs).diagnostics
        }
        if path.hasPrefix("simulator/") { return FileLoader.simulator(source).diagnostics }
        var loaded = FileLoader.rules(source, in: environment)
        if path.contains("W702") { loaded.report(missing: loaded.programs.subtracting(["mpc"])) }
        return loaded.diagnostics
    }
}
