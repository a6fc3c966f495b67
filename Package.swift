// swift-tools-version: 6.2
import PackageDescription

// Every module and what it may import. ARCHITECTURE.md has the same table, and `Tests/ArchitectureTests` compares the
// import lines of `Sources/` with it.

let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
    // Tests treat warnings as errors. Installations do not, because a newer compiler may have new warnings.
    + (Context.environment["TRYCK_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)])

/// Optimized modules make the tests of values about eight times faster, and show mistakes that only an optimized program has.
/// Assertions and `#if DEBUG` remain.
let optimization: [SwiftSetting] =
    Context.environment["TRYCK_STRICT"] == nil ? [] : [.unsafeFlags(["-O"], .when(configuration: .debug))]

func module(_ name: String, _ dependencies: Target.Dependency...) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings + optimization)
}

func tests(
    _ name: String, _ dependencies: Target.Dependency..., exclude: [String] = [], resources: [Resource] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["TestSupport"], exclude: exclude, resources: resources,
        swiftSettings: settings)
}

/// What the fuzz targets import. They are tests that replay the corpus. When `Tests/FuzzTests/run` builds this package,
/// they are the program that extends the corpus.
let fuzzImports: [Target.Dependency] = [
    "BluetoothHost", "ButtonModel", "Bytes", "Diagnostics", "ESPHome", "Edges", "Expressions", "Feed", "Flic",
    "FlicdProtocol", "Gestures", "MQTTTopics", "Hub", "JSON", "LanguageServer", "Platform", "Radios",
    "YAMLFiles", "ConfigurationLoader", "RuleLoader", "Rules", "Setup", "WebService",
]
let fuzzing: Target =
    Context.environment["TRYCK_FUZZ"] == nil
    ? .testTarget(
        name: "FuzzTests", dependencies: fuzzImports, exclude: ["Corpus", "Dictionaries", "Driver", "run"],
        swiftSettings: settings)
    : .executableTarget(
        name: "fuzz", dependencies: fuzzImports, path: "Tests/FuzzTests", sources: ["Driver", "Targets"],
        swiftSettings: settings)

let package = Package(
    name: "tryck",
    products: [
        .executable(name: "tryck", targets: ["tryck"]),
        .executable(name: "tryckd", targets: ["tryckd"]),
        .executable(name: "tryck-web", targets: ["TryckWeb"]),
        // Libraries for other programs. Each contains the modules whose types it exposes.
        .library(name: "BluetoothHost", targets: ["BluetoothHost", "ButtonModel"]),
        .library(name: "Flic", targets: ["Flic", "ButtonModel"]),
        .library(name: "Simulator", targets: ["Simulator", "BluetoothHost", "Flic", "ButtonModel"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        // Only tryck-web links these. Hummingbird also uses the others.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ]
        // Only for `make docs`.
        + (Context.environment["TRYCK_DOCS"] == nil
            ? [] : [.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.4.0")]),
    targets: [
        // Vocabulary
        module("ButtonModel"),
        module("Bytes"),
        module("JSON"),
        module("Diagnostics", "JSON"),
        module("Cryptography", "CCrypto"),

        // Protocols: pure
        module("BluetoothHost", "Bytes", "ButtonModel"),
        module("Flic", "Bytes", "ButtonModel", "Cryptography"),
        module("FlicdProtocol", "Bytes", "ButtonModel"),

        // Behaviour: pure
        module("Gestures", "ButtonModel"),
        module("Expressions", "ButtonModel", "JSON"),
        module("Almanac", "Bytes", "ButtonModel", "Expressions"),
        module("Rules", "ButtonModel", "JSON", "Gestures", "Expressions", "Almanac"),
        module(
            "RuleTesting", "ButtonModel", "JSON", "Gestures", "Expressions", "Almanac", "Rules"),
        module("Settings", "ButtonModel", "ESPHome", "Rules"),
        module("YAMLFiles", "Diagnostics", "Expressions", "CYAML"),
        module(
            "ConfigurationLoader", "ButtonModel", "Diagnostics", "ESPHome", "Expressions", "Rules", "Settings",
            "YAMLFiles"),
        module(
            "RuleLoader", "ButtonModel", "JSON", "Diagnostics", "Gestures", "Expressions", "Almanac", "Rules",
            "YAMLFiles", "ConfigurationLoader"),
        module(
            "LanguageServer", "ButtonModel", "JSON", "Diagnostics", "Expressions", "Rules", "Settings", "YAMLFiles",
            "ConfigurationLoader", "RuleLoader",
            "RuleTesting"),
        module("MQTTTopics", "ButtonModel", "JSON"),
        module("Feed", "ButtonModel", "JSON", "MQTTTopics", "Cryptography"),
        module("ESPHome", "Bytes", "Cryptography", "CCrypto"),
        module("Radios", "BluetoothHost", "ButtonModel", "ESPHome"),
        module("Buttons", "Radios", "Flic", "ButtonModel"),
        module(
            "Hub", "Bytes", "ButtonModel", "JSON", "Diagnostics", "FlicdProtocol", "Flic", "Radios", "Buttons",
            "Gestures", "Expressions", "Rules", "MQTTTopics", "Feed"),
        module("Simulator", "Bytes", "ButtonModel", "BluetoothHost", "Flic"),

        // Edges
        .target(name: "CLinux"),
        // Only libcurl's headers (Debian: libcurl4-openssl-dev); the library is opened at run time.
        .target(name: "CCurl", linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        // Only its headers (Debian: libsystemd-dev); the library is opened at run time.
        .target(name: "CSystemBus"),
        // Debian: libmosquitto-dev, libssl-dev.
        .target(name: "CMosquitto", linkerSettings: [.linkedLibrary("mosquitto"), .linkedLibrary("ssl")]),
        .systemLibrary(name: "CBluetooth", providers: [.apt(["libbluetooth-dev"])]),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        module("Reactor", "CLinux"),
        module("Platform", "ButtonModel", "JSON", "Reactor", "CLinux"),
        module(
            "Edges", "Bytes", "ButtonModel", "JSON", "BluetoothHost", "FlicdProtocol", "Radios", "Expressions", "Rules",
            "MQTTTopics", "Hub", "Reactor", "Platform", "CLinux", "CBluetooth", "CCurl", "CMosquitto", "CSQLite",
            "CSystemBus",
            .product(name: "Logging", package: "swift-log")),
        module(
            "Setup", "Bytes", "ButtonModel", "JSON", "Diagnostics", "ESPHome", "Radios", "Rules", "Settings",
            "YAMLFiles", "ConfigurationLoader", "RuleLoader",
            "RuleTesting", "MQTTTopics", "Feed", "Hub", "Platform", "Edges", "Cryptography", "CCrypto"),
        module(
            "Daemon", "ButtonModel", "JSON", "BluetoothHost", "Radios", "Rules", "Settings", "MQTTTopics", "Hub",
            "Reactor", "Platform", "Edges", "Setup", "CLinux", .product(name: "Logging", package: "swift-log")),
        // What only trials need. `tryckd` does not contain it.
        module(
            "TrialEdges", "ButtonModel", "Settings", "Simulator", "Reactor", "Platform", "Edges", "CLinux"),
        // Only this small target is recompiled for each commit.
        .executableTarget(name: "tryckd", dependencies: ["Daemon"], swiftSettings: settings, plugins: ["CommitPlugin"]),
        .plugin(name: "CommitPlugin", capability: .buildTool(), path: "Plugins/Commit"),

        // Commands
        module("ControlClient", "JSON", "YAMLFiles", "ConfigurationLoader", "Reactor", "Platform", "CLinux"),
        module(
            "CommandSupport", "JSON", "Expressions", "MQTTTopics", "Reactor", "Platform", "ControlClient", "CLinux",
            .product(name: "ArgumentParser", package: "swift-argument-parser")),
        module("CommandText", "ButtonModel", "JSON", "Expressions", "MQTTTopics", "CommandSupport"),
        module(
            "DaemonCommands", "Bytes", "ButtonModel", "JSON", "MQTTTopics", "Reactor", "Platform", "ControlClient",
            "CommandSupport", "CommandText", .product(name: "ArgumentParser", package: "swift-argument-parser")),
        module(
            "RuleCommands", "ButtonModel", "JSON", "Diagnostics", "Expressions", "Almanac", "Rules", "Settings",
            "YAMLFiles", "ConfigurationLoader", "RuleLoader", "RuleTesting", "MQTTTopics", "Platform", "Setup",
            "CommandSupport", "CommandText",
            .product(name: "ArgumentParser", package: "swift-argument-parser")),
        module(
            "ReplayCommands", "ButtonModel", "JSON", "Diagnostics", "Expressions", "Rules", "YAMLFiles", "RuleLoader",
            "MQTTTopics",
            "Hub", "Platform", "Edges", "Setup", "CommandSupport", "CommandText",
            .product(name: "ArgumentParser", package: "swift-argument-parser")),
        module(
            "DemoCommands", "Bytes", "ButtonModel", "JSON", "Gestures", "Rules", "MQTTTopics", "Hub", "Simulator",
            "Reactor", "Platform", "Edges", "TrialEdges", "Setup", "ControlClient", "CommandSupport", "CommandText",
            "RuleCommands", "CLinux",
            .product(name: "ArgumentParser", package: "swift-argument-parser")),
        module(
            "DoctorCommands", "ButtonModel", "JSON", "Diagnostics", "Radios", "Rules", "Settings", "YAMLFiles",
            "ConfigurationLoader", "RuleLoader",
            "RuleTesting", "MQTTTopics", "Reactor", "Platform", "Edges", "Setup", "ControlClient", "CommandSupport",
            "CommandText",
            "RuleCommands",
            .product(name: "ArgumentParser", package: "swift-argument-parser")),
        module(
            "ExportCommands", "ButtonModel", "JSON", "Hub", "Platform", "Edges", "Setup", "ControlClient",
            "CommandSupport", "CommandText", .product(name: "ArgumentParser", package: "swift-argument-parser")),
        module(
            "RadioCommands", "Reactor", "Platform", "Edges", "CommandSupport",
            .product(name: "ArgumentParser", package: "swift-argument-parser")),
        module(
            "LanguageServerCommands", "ButtonModel", "JSON", "RuleLoader", "LanguageServer", "MQTTTopics", "Reactor",
            "Platform", "Setup", "ControlClient", "CommandSupport", "CommandText",
            .product(name: "ArgumentParser", package: "swift-argument-parser")),
        .executableTarget(
            name: "tryck",
            dependencies: [
                "ButtonModel", "Hub", "Simulator", "Platform", "TrialEdges", "Daemon", "CommandSupport",
                "RadioCommands", "DaemonCommands", "RuleCommands", "ReplayCommands", "DemoCommands", "DoctorCommands",
                "ExportCommands", "LanguageServerCommands",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings, plugins: ["CommitPlugin"]),

        // The page
        module(
            "WebService", "Bytes", "ButtonModel", "JSON", "Diagnostics", "Rules", "Settings", "YAMLFiles", "RuleLoader",
            "RuleTesting",
            "LanguageServer",
            "MQTTTopics", "Platform", "Setup", "ControlClient", "Cryptography"),
        .executableTarget(
            name: "TryckWeb",
            dependencies: [
                "Bytes", "ButtonModel", "JSON", "Settings", "Reactor", "Platform", "Edges", "Setup",
                "ControlClient", "WebService", "ReplayCommands", "DoctorCommands", "CommandSupport", "CLinux",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"), .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            exclude: ["Public"], swiftSettings: settings),
        // Benchmarks. The Debian package does not contain them.
        .executableTarget(
            name: "tryck-bench",
            dependencies: [
                "Bytes", "ButtonModel", "JSON", "Diagnostics", "FlicdProtocol", "Expressions", "Rules", "Hub",
                "YAMLFiles", "RuleLoader", "Simulator", "Reactor", "Platform", "Edges", "TrialEdges", "Setup",
                "CommandSupport",
                "LanguageServer", "CLinux", "CMosquitto",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),

        // Tests
        .target(name: "TestSupport", dependencies: ["ButtonModel"], path: "Tests/TestSupport", swiftSettings: settings),
        .target(
            name: "ReactorTestSupport", dependencies: ["Reactor"], path: "Tests/ReactorTestSupport",
            swiftSettings: settings),
        .target(name: "CDisk", path: "Tests/CDisk"),
        .target(
            name: "DiskTestSupport", dependencies: ["TestSupport", "CDisk"], path: "Tests/DiskTestSupport",
            swiftSettings: settings),
        .target(
            name: "PictureTransfer", dependencies: ["BluetoothHost", "Bytes", "ButtonModel"],
            path: "Tests/PictureTransfer", swiftSettings: settings),
        tests("ButtonModelTests", "ButtonModel"),
        tests("BytesTests", "Bytes"),
        tests("JSONTests", "JSON"),
        tests("DiagnosticsTests", "Diagnostics", "JSON"),
        tests("CryptographyTests", "Cryptography"),
        tests("BluetoothHostTests", "BluetoothHost", "Bytes", "ButtonModel"),
        tests(
            "FlicTests", "Flic", "Cryptography", "Bytes", "ButtonModel", "JSON",
            resources: [.copy("Vectors"), .copy("Golden")]),
        tests(
            "FlicdProtocolTests", "FlicdProtocol", "Bytes", "ButtonModel", "JSON", resources: [.copy("Vectors")]),
        tests("GesturesTests", "Gestures", "ButtonModel", "JSON"),
        tests("ExpressionsTests", "Expressions", "ButtonModel", "JSON"),
        tests(
            "AlmanacTests", "Almanac", "Expressions", "ButtonModel", resources: [.copy("Zones"), .copy("Tables")]),
        tests("RulesTests", "Rules", "Gestures", "Expressions", "Almanac", "ButtonModel", "JSON"),
        tests("YAMLFilesTests", "YAMLFiles", "Diagnostics"),
        tests(
            "ConfigurationLoaderTests", "ConfigurationLoader", "YAMLFiles", "Settings", "Rules", "ESPHome",
            "Diagnostics", "ButtonModel"),
        tests(
            "RuleLoaderTests", "YAMLFiles", "ConfigurationLoader", "RuleLoader", "Settings", "Rules", "Gestures",
            "Expressions", "Almanac", "Diagnostics",
            "ButtonModel", "JSON", resources: [.copy("Golden"), .copy("Examples"), .copy("Schema")]),
        tests(
            "RuleTestingTests", "RuleTesting", "YAMLFiles", "RuleLoader", "Rules", "Expressions", "Almanac",
            "Diagnostics",
            "ButtonModel",
            "JSON"),
        tests(
            "LanguageServerTests", "LanguageServer", "Settings", "YAMLFiles", "ConfigurationLoader", "RuleLoader",
            "Rules", "Diagnostics", "ButtonModel",
            "JSON"),
        tests("MQTTTopicsTests", "MQTTTopics", "ButtonModel", "JSON", resources: [.copy("Golden")]),
        tests("FeedTests", "Feed", "ButtonModel", "JSON", "MQTTTopics"),
        tests("ESPHomeTests", "ESPHome", "Cryptography", "Bytes", "JSON", resources: [.copy("Vectors")]),
        tests("RadiosTests", "Radios", "BluetoothHost", "ButtonModel", "ESPHome"),
        tests("ButtonsTests", "Buttons", "Radios", "BluetoothHost", "ESPHome", "Flic", "ButtonModel", "Simulator"),
        tests(
            "HubTests", "Hub", "Feed", "Radios", "Buttons", "Flic", "FlicdProtocol", "MQTTTopics", "Expressions",
            "Gestures",
            "Rules",
            "ButtonModel",
            "JSON"),
        tests("SimulatorTests", "Simulator", "BluetoothHost", "Flic", "ButtonModel", "Bytes"),
        tests(
            "ScenarioTests", "Hub", "Radios", "ESPHome", "Simulator", "Flic", "FlicdProtocol", "YAMLFiles",
            "RuleLoader",
            "RuleTesting",
            "Rules",
            "Expressions",
            "Diagnostics",
            "ButtonModel",
            "JSON",
            "BluetoothHost", "PictureTransfer", "DiskTestSupport", "ReplayCommands", "Feed", "MQTTTopics"),
        tests("ReactorTests", "Reactor", "ReactorTestSupport", "CLinux"),
        tests("PlatformTests", "Platform", "Reactor", "ReactorTestSupport", "DiskTestSupport"),
        tests(
            "EdgesTests", "Edges", "TrialEdges", "Radios", "Platform", "ControlClient", "CCurl", "CMosquitto",
            "BluetoothHost", "FlicdProtocol", "Hub",
            "MQTTTopics", "Gestures", "Rules", "Reactor", "ReactorTestSupport", "DiskTestSupport", "CLinux", "CDisk",
            "Expressions",
            "Bytes",
            "JSON", "ButtonModel", "Feed", .product(name: "Logging", package: "swift-log")),
        tests("SetupTests", "Setup", "Settings", "Platform", "Hub", "Rules", "Bytes", "ButtonModel", "DiskTestSupport"),
        tests(
            "CommandLineTests", "tryck", "tryck-bench", "CommandSupport", "CommandText", "DaemonCommands",
            "RuleCommands", "ReplayCommands", "DemoCommands", "DoctorCommands", "ExportCommands", "ControlClient",
            "Platform", "Edges", "Setup", "Hub", "Radios", "Rules", "Settings", "YAMLFiles", "ConfigurationLoader",
            "RuleLoader", "Diagnostics",
            "ButtonModel", "JSON",
            "Simulator",
            "Reactor", "ReactorTestSupport", "DiskTestSupport",
            .product(name: "ArgumentParser", package: "swift-argument-parser"), resources: [.copy("Golden")]),
        tests(
            "WebServiceTests", "WebService", "Settings", "RuleLoader", "Setup", "ButtonModel", "JSON", "DiskTestSupport"
        ),
        tests("ArchitectureTests"),
        fuzzing,
        tests(
            "IntegrationTests", "JSON", "BluetoothHost", "ButtonModel", "Platform", "Edges", "Setup", "ControlClient",
            "Reactor", "ReactorTestSupport",
            "CLinux",
            "Simulator", "Flic",
            "PictureTransfer", exclude: ["support"]),
    ]
)
