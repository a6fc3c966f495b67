import Diagnostics
import Foundation
import JSON
import Rules
import Testing
import YAMLFiles

@testable import RuleLoader

/// Rules files, and what the loader and an editor make of them.
struct SchemaCorpus {
    /// Paths from the root of the repository.
    static let valid = files(below: "Tests/RuleLoaderTests/Schema/valid")
    static let invalid = files(below: "Tests/RuleLoaderTests/Schema/invalid")
    static let others =
        files(below: "Tests/RuleLoaderTests/Examples") + files(below: "Tests/RuleLoaderTests/Golden/rules")
        + files(below: "rules").filter { !$0.hasSuffix("simulator.yaml") }

    static func files(below path: String) -> [String] {
        let names = try? FileManager.default.subpathsOfDirectory(atPath: Project.root.appending(path: path).path)
        return (names ?? []).filter { $0.hasSuffix(".yaml") }.map { "\(path)/\($0)" }.sorted()
    }

    static let environment: LoadInputs = {
        let zones = ["Europe/Amsterdam", "Europe/London", "America/New_York", "Australia/Lord_Howe"]
        return LoadInputs(
            timeZones: Dictionary(
                zones.compactMap { name in (try? Project.zone(name)).map { (name, $0) } }, uniquingKeysWith: { $1 }),
            hasPlaceholders: true)
    }()

    static func load(_ file: SourceFile) -> LoadResult<RuleSet> { FileLoader.rules(file, in: environment) }

    /// The file as an editor reads it; `nil` if it is empty or not YAML.
    static func json(_ file: SourceFile) -> JSONValue? {
        Document(file, in: environment.fileInputs, .rules).root.map(JSONValue.init(editing:))
    }
}
