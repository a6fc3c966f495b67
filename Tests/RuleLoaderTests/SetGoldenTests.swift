import Diagnostics
import Foundation
import RuleLoader
import Testing
import YAMLFiles

/// Each folder under `Golden/sets` is a rule set, with the expected diagnostics in a file beside it. `UPDATE_GOLDEN=1`
/// rewrites these files. The entry file is the `home.yaml` at the smallest depth.
@Suite("What people see when a set of files is wrong")
struct SetGoldenTests {
    @Test("the text for a set is the one we promised, and shows its code", arguments: SetGoldenTests.sets)
    func text(set: String) throws {
        let files = try SetGoldenTests.files(of: set)
        let entry = try #require(
            files.values.filter { $0.name.hasSuffix("home.yaml") }.min { $0.name.utf8.count < $1.name.utf8.count })
        let secrets = files.values.first { $0.name.hasSuffix("secrets.yaml") }
        let loaded = FileLoader.rules(entry, in: LoadInputs(secrets: secrets, files: files))
        let text = DiagnosticReport(loaded.diagnostics, sources: files.mapValues(\.text)).text()
        let goldenURL = SetGoldenTests.folder.appending(path: set + ".txt")
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
            try text.write(to: goldenURL, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: goldenURL, encoding: .utf8) == text)
        #expect(loaded.diagnostics.map(\.code).contains(String(set.prefix(4))))
    }

    private static let folder = Project.golden.appending(path: "sets")

    private static let sets: [String] = {
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (names ?? []).filter { !$0.hasSuffix(".txt") }.sorted()
    }()

    private static func files(of set: String) throws -> [String: SourceFile] {
        let url = folder.appending(path: set)
        var files: [String: SourceFile] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: url.path) where name.hasSuffix(".yaml") {
            let text = [UInt8](try Data(contentsOf: url.appending(path: name)))
            files[name] = SourceFile(name: name, text: text, isReadableByOthers: true)
        }
        return files
    }
}
