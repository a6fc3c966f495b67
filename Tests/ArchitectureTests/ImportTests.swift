import RegexBuilder
import Testing

/// The permitted imports, as in ARCHITECTURE.md and Package.swift.
@Suite("Imports")
struct ImportTests {
    /// The modules that each module may import, besides the standard library.
    static let table: [String: Set<String>] = [
        "ButtonModel": [],
        "Bytes": [],
        "JSON": [],
        "Diagnostics": ["JSON"],
        "Cryptography": ["CCrypto"],
        "BluetoothHost": ["Bytes", "ButtonModel"],
        "Flic": ["Bytes", "ButtonModel", "Cryptography"],
        "FlicdProtocol": ["Bytes", "ButtonModel"],
        "Gestures": ["ButtonModel"],
        "Expressions": ["ButtonModel", "JSON"],
        "Almanac": ["Bytes", "ButtonModel", "Expressions"],
        "Rules": ["ButtonModel", "JSON", "Gestures", "Expressions", "Almanac"],
        "Settings": ["ButtonModel", "ESPHome", "Rules"],
        "YAMLFiles": ["Diagnostics", "Expressions", "CYAML"],
        "ConfigurationLoader": [
            "ButtonModel", "Diagnostics", "ESPHome", "Expressions", "Rules", "Settings", "YAMLFiles",
        ],
        "RuleLoader": [
            "ButtonModel", "JSON", "Diagnostics", "Gestures", "Expressions", "Almanac", "Rules", "YAMLFiles",
            "ConfigurationLoader",
        ],
        "RuleTesting": ["ButtonModel", "JSON", "Gestures", "Expressions", "Almanac", "Rules"],
        "LanguageServer": [
            "ButtonModel", "JSON", "Diagnostics", "Expressions", "Rules", "Settings", "YAMLFiles",
            "ConfigurationLoader", "RuleLoader", "RuleTesting",
        ],
        "MQTTTopics": ["ButtonModel", "JSON"],
        "Feed": ["ButtonModel", "JSON", "MQTTTopics", "Cryptography"],
        "ESPHome": ["Bytes", "Cryptography", "CCrypto"],
        "Radios": ["BluetoothHost", "ButtonModel", "ESPHome"],
        "Buttons": ["Radios", "Flic", "ButtonModel"],
        "Hub": [
            "Bytes", "ButtonModel", "JSON", "Diagnostics", "FlicdProtocol", "Flic", "Radios", "Buttons", "Gestures",
            "Expressions", "Rules", "MQTTTopics", "Feed",
        ],
        "Simulator": ["Bytes", "ButtonModel", "BluetoothHost", "Flic"],
        "Reactor": ["CLinux", "Glibc", "Synchronization"],
        "Platform": ["ButtonModel", "JSON", "Reactor", "CLinux", "Glibc"],
        "Edges": [
            "Bytes", "ButtonModel", "JSON", "BluetoothHost", "FlicdProtocol", "Radios", "Expressions", "Rules",
            "MQTTTopics", "Hub", "Reactor", "Platform", "CLinux", "CBluetooth", "CCurl", "CMosquitto", "CSQLite",
            "CSystemBus", "Logging", "Glibc", "Synchronization",
        ],
        "Setup": [
            "Bytes", "ButtonModel", "JSON", "Diagnostics", "ESPHome", "Radios", "Rules", "Settings", "YAMLFiles",
            "ConfigurationLoader", "RuleLoader",
            "RuleTesting",
            "MQTTTopics", "Feed", "Hub", "Platform", "Edges", "Cryptography", "CCrypto", "Glibc",
        ],
        "Daemon": [
            "ButtonModel", "JSON", "BluetoothHost", "Radios", "Rules", "Settings", "MQTTTopics", "Hub", "Reactor",
            "Platform", "Edges", "Setup", "CLinux", "Logging", "Glibc", "Synchronization",
        ],
        "TrialEdges": [
            "ButtonModel", "Settings", "Simulator", "Reactor", "Platform", "Edges", "CLinux", "Glibc",
        ],
        "tryckd": ["Daemon", "Glibc"],
        "ControlClient": ["JSON", "YAMLFiles", "ConfigurationLoader", "Reactor", "Platform", "CLinux", "Glibc"],
        "CommandSupport": [
            "Expressions",
            "JSON", "MQTTTopics", "Reactor", "Platform", "ControlClient", "CLinux", "ArgumentParser", "Glibc",
            "Synchronization",
        ],
        "CommandText": ["ButtonModel", "JSON", "Expressions", "MQTTTopics", "CommandSupport"],
        "DaemonCommands": [
            "Bytes", "ButtonModel", "JSON", "MQTTTopics", "Reactor", "Platform", "ControlClient", "CommandSupport",
            "CommandText", "ArgumentParser", "Glibc",
        ],
        "RuleCommands": [
            "ButtonModel", "JSON", "Diagnostics", "Expressions", "Almanac", "Rules", "Settings", "YAMLFiles",
            "ConfigurationLoader", "RuleLoader",
            "RuleTesting", "MQTTTopics", "Platform", "Setup", "CommandSupport", "CommandText", "ArgumentParser",
        ],
        "ReplayCommands": [
            "ButtonModel", "JSON", "Diagnostics", "Expressions", "Rules", "YAMLFiles", "RuleLoader", "MQTTTopics",
            "Hub", "Platform",
            "Edges", "Setup", "CommandSupport", "CommandText", "ArgumentParser", "Glibc",
        ],
        "DemoCommands": [
            "Bytes", "ButtonModel", "JSON", "Gestures", "Rules", "MQTTTopics", "Hub", "Simulator", "Reactor",
            "Platform",
            "Edges", "TrialEdges", "Setup", "ControlClient", "CommandSupport", "CommandText", "RuleCommands", "CLinux",
            "ArgumentParser", "Glibc", "Synchronization",
        ],
        "DoctorCommands": [
            "ButtonModel", "JSON", "Diagnostics", "Radios", "Rules", "Settings", "YAMLFiles", "ConfigurationLoader",
            "RuleLoader", "RuleTesting",
            "MQTTTopics", "Reactor", "Platform", "Edges", "Setup", "ControlClient", "CommandSupport", "CommandText",
            "RuleCommands", "ArgumentParser", "Glibc",
        ],
        "RadioCommands": ["Reactor", "Platform", "Edges", "CommandSupport", "ArgumentParser", "Glibc"],
        "ExportCommands": [
            "ButtonModel", "JSON", "Hub", "Platform", "Edges", "Setup", "ControlClient", "CommandSupport",
            "CommandText",
            "ArgumentParser", "Glibc",
        ],
        "LanguageServerCommands": [
            "ButtonModel", "JSON", "RuleLoader", "LanguageServer", "MQTTTopics", "Reactor", "Platform", "Setup",
            "ControlClient", "CommandSupport", "CommandText", "ArgumentParser", "Glibc", "Synchronization",
        ],
        "tryck": [
            "ButtonModel", "Hub", "Simulator", "Platform", "TrialEdges", "Daemon", "CommandSupport",
            "DaemonCommands", "RuleCommands", "ReplayCommands", "DemoCommands", "DoctorCommands", "RadioCommands",
            "ExportCommands", "LanguageServerCommands", "ArgumentParser", "Glibc",
        ],
        "WebService": [
            "Bytes", "ButtonModel", "JSON", "Diagnostics", "Rules", "Settings", "YAMLFiles", "RuleLoader",
            "RuleTesting",
            "LanguageServer",
            "MQTTTopics", "Platform", "Setup", "ControlClient", "Cryptography", "Glibc", "Synchronization",
        ],
        "TryckWeb": [
            "Bytes", "ButtonModel", "JSON", "Settings", "Reactor", "Platform", "Edges", "Setup", "ControlClient",
            "WebService", "ReplayCommands", "DoctorCommands", "CommandSupport", "CLinux", "Hummingbird",
            "HummingbirdCore", "HTTPTypes", "NIOCore", "NIOPosix", "Logging", "Glibc", "Synchronization",
        ],
        "tryck-bench": [
            "Bytes", "ButtonModel", "JSON", "Diagnostics", "FlicdProtocol", "Expressions", "Rules", "Hub", "YAMLFiles",
            "RuleLoader",
            "LanguageServer", "Simulator", "Reactor", "Platform", "Edges", "TrialEdges", "Setup", "CommandSupport",
            "CLinux", "CMosquitto", "ArgumentParser", "Glibc", "Synchronization",
        ],
    ]

    /// Modules of the toolchain, which Package.swift does not name.
    static let ofToolchain: Set<String> = [
        "Glibc", "Dispatch", "Foundation", "FoundationEssentials", "Synchronization",
    ]
    /// The modules that touch the world. All other modules are pure.
    static let edges: Set<String> = [
        "Reactor", "Platform", "Edges", "Setup", "Daemon", "TrialEdges", "tryckd", "ControlClient", "CommandSupport",
        "CommandText",
        "DaemonCommands", "RuleCommands", "ReplayCommands", "DemoCommands", "DoctorCommands", "ExportCommands",
        "RadioCommands", "LanguageServerCommands", "tryck", "tryck-bench", "WebService", "TryckWeb",
    ]

    @Test("every import line is in the table")
    func imports() throws {
        for file in try Repository.swiftFiles(under: "Sources") {
            let module = String(file.path.split(separator: "/")[1])
            let allowed = ImportTests.table[module] ?? []
            for (index, line) in file.lines.enumerated() {
                guard let imported = ImportTests.imported(by: line) else { continue }
                #expect(allowed.contains(imported), "\(file.path):\(index + 1): \(module) may not import \(imported)")
            }
        }
    }

    @Test("an import line is recognised however it is written")
    func recognition() {
        #expect(ImportTests.imported(by: "import Glibc") == "Glibc")
        #expect(ImportTests.imported(by: "package import ButtonModel") == "ButtonModel")
        #expect(ImportTests.imported(by: "@preconcurrency public import Logging // why") == "Logging")
        #expect(ImportTests.imported(by: "@_spi(Tests) import Hub") == "Hub")
        #expect(ImportTests.imported(by: "    internal import struct Foundation.URL") == "Foundation")
        #expect(ImportTests.imported(by: "// import Glibc") == nil)
        #expect(ImportTests.imported(by: "importRules(from: file)") == nil)
    }

    @Test("the table has a row for each module, and no other")
    func rows() {
        #expect(Set(ImportTests.table.keys) == Repository.modules())
    }

    @Test("a pure module imports nothing that touches the world")
    func purity() {
        let world = ImportTests.ofToolchain.union([
            "Logging", "CLinux", "CBluetooth", "CCurl", "CMosquitto", "CSQLite", "CSystemBus",
        ])
        for (module, imports) in ImportTests.table where !ImportTests.edges.contains(module) {
            #expect(imports.isDisjoint(with: world.union(ImportTests.edges)), "\(module)")
        }
    }

    @Test("Package.swift names the same dependencies")
    func manifest() throws {
        let manifest = Manifest(try Repository.text("Package.swift"))
        #expect(Set(manifest.dependencies.keys) == Set(ImportTests.table.keys))
        for (module, dependencies) in manifest.dependencies {
            let allowed = (ImportTests.table[module] ?? []).subtracting(ImportTests.ofToolchain)
            #expect(dependencies == allowed, "\(module): \(dependencies.symmetricDifference(allowed).sorted())")
        }
    }

    @Test(
        "the privileged program and the page contain neither the simulator nor the private broker",
        arguments: ["tryckd", "TryckWeb"])
    func withoutTrials(program: String) {
        var contents: Set<String> = []
        var added: Set = [program]
        while !added.isEmpty {
            contents.formUnion(added)
            added = Set(added.flatMap { ImportTests.table[$0] ?? [] }).subtracting(contents)
        }
        #expect(contents.contains("Edges"))
        #expect(contents.isDisjoint(with: ["Simulator", "TrialEdges"]))
    }

    @Test("ARCHITECTURE.md shows the same table")
    func document() throws {
        let documented = try ImportTests.tableInDocument()
        #expect(Set(documented.keys) == Set(ImportTests.table.keys))
        for (module, imports) in documented {
            let allowed = ImportTests.table[module] ?? []
            #expect(imports == allowed, "\(module): \(imports.symmetricDifference(allowed).sorted())")
        }
    }

    /// The module an import line names; `nil` for other lines.
    static func imported(by line: Substring) -> String? {
        guard line.contains("import ") else { return nil }
        let attributes = /\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?/
        let kind = /(?:(?:struct|class|enum|protocol|typealias|func|var|let)\s+)?/
        let importLine = Regex {
            attributes
            "import "
            kind
            Capture { OneOrMore(.word) }
        }
        return line.prefixMatch(of: importLine).map { String($0.1) }
    }

    /// Rows look like `| Reactor | CLinux, Glibc |`; modules that share a row are separated by commas.
    private static func tableInDocument() throws -> [String: Set<String>] {
        let lines = try Repository.text("ARCHITECTURE.md").split(separator: "\n", omittingEmptySubsequences: false)
        let rows = lines.drop { $0 != "| module | may import |" }.dropFirst(2).prefix { $0.hasPrefix("|") }
        var table: [String: Set<String>] = [:]
        for row in rows {
            let cells = row.split(separator: "|").map { $0.matches(of: /[\w-]+/).map { String($0.0) } }
            guard cells.count == 2 else { continue }
            for module in cells[0] { table[module] = cells[1] == ["nothing"] ? [] : Set(cells[1]) }
        }
        return table
    }
}
