// swift-tools-version: 6.2
import PackageDescription

// Every module and what it may import. The same table stands in ARCHITECTURE.md, and
// `Tests/ArchitectureTests` holds the import lines of `Sources/` against it.

let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
    // A warning is an error where we test; a newer compiler must not stop somebody's installation.
    + (Context.environment["TRYCK_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)])

func module(_ name: String, _ dependencies: Target.Dependency...) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(
    _ name: String, _ dependencies: Target.Dependency..., exclude: [String] = [], resources: [Resource] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["TestSupport"], exclude: exclude, resources: resources,
        swiftSettings: settings)
}

let daemonImports: [Target.Dependency] = [
    "Bytes", "ButtonModel", "JSON", "Diagnostics", "Rules", "HomeAssistant", "Hub", "RuleLoader", "Simulator",
    "Reactor",
    "CLinux", "CBluetooth", "CMosquitto", "CSQLite", "CCrypto",
    .product(name: "Logging", package: "swift-log"),
]

let package = Package(
    name: "tryck",
    products: [
        .executable(name: "tryck", targets: ["tryck"]),
        .executable(name: "tryckd", targets: ["tryckd"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        // Vocabulary
        module("ButtonModel"),
        module("Bytes"),
        module("JSON"),
        module("Diagnostics"),

        // Protocols: pure
        module("BluetoothHost", "Bytes", "ButtonModel"),
        module("Flic", "Bytes", "ButtonModel", "CCrypto"),

        // Behaviour: pure
        module("Gestures", "ButtonModel"),
        module("Expressions", "ButtonModel", "JSON", "Diagnostics"),
        module("Rules", "ButtonModel", "JSON", "Gestures"),
        module("RuleLoader", "ButtonModel", "JSON", "Diagnostics", "Gestures", "Rules", "CYAML"),
        module("HomeAssistant", "ButtonModel", "JSON"),
        module("Buttons", "BluetoothHost", "Flic", "ButtonModel"),
        module("Hub", "Bytes", "ButtonModel", "JSON", "Diagnostics", "Buttons", "Gestures", "Rules", "HomeAssistant"),
        module("Simulator", "Bytes", "ButtonModel", "BluetoothHost", "Flic"),

        // Edges
        .target(name: "CLinux"),
        .systemLibrary(name: "CBluetooth", pkgConfig: "bluez", providers: [.apt(["libbluetooth-dev"])]),
        .systemLibrary(name: "CMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        module("Reactor", "CLinux"),
        .target(name: "Daemon", dependencies: daemonImports, swiftSettings: settings),
        .executableTarget(name: "tryckd", dependencies: ["Daemon"], swiftSettings: settings),
        .executableTarget(
            name: "tryck",
            dependencies: daemonImports + [
                "Daemon", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),

        // Tests
        .target(name: "TestSupport", dependencies: ["ButtonModel"], path: "Tests/TestSupport", swiftSettings: settings),
        .target(
            name: "ReactorTestSupport", dependencies: ["Reactor"], path: "Tests/ReactorTestSupport",
            swiftSettings: settings),
        tests("ButtonModelTests", "ButtonModel"),
        tests("BytesTests", "Bytes"),
        tests("JSONTests", "JSON"),
        tests("DiagnosticsTests", "Diagnostics"),
        tests("BluetoothHostTests", "BluetoothHost", "Bytes", "ButtonModel"),
        tests("FlicTests", "Flic", "Bytes", "ButtonModel", "JSON", resources: [.copy("Vectors")]),
        tests("GesturesTests", "Gestures", "ButtonModel", "JSON"),
        tests("ExpressionsTests", "Expressions", "ButtonModel", "JSON", "Diagnostics"),
        tests("RulesTests", "Rules", "ButtonModel", "JSON"),
        tests(
            "RuleLoaderTests", "RuleLoader", "Rules", "Diagnostics", "ButtonModel", "JSON", resources: [.copy("Golden")]
        ),
        tests("HomeAssistantTests", "HomeAssistant", "ButtonModel", "JSON"),
        tests("ButtonsTests", "Buttons", "BluetoothHost", "Flic", "ButtonModel", "Simulator"),
        tests("SimulatorTests", "Simulator", "BluetoothHost", "Flic", "ButtonModel", "Bytes"),
        tests("ScenarioTests", "Hub", "Simulator", "Rules", "ButtonModel", "JSON", "BluetoothHost"),
        tests("ReactorTests", "Reactor", "ReactorTestSupport", "CLinux"),
        tests(
            "DaemonTests", "Daemon", "Hub", "Reactor", "ReactorTestSupport", "CLinux", "Bytes", "JSON", "ButtonModel"),
        tests(
            "CommandLineTests", "tryck", "Daemon", "Diagnostics", "ButtonModel", "JSON", "Simulator",
            .product(name: "ArgumentParser", package: "swift-argument-parser"), resources: [.copy("Golden")]),
        tests("ArchitectureTests"),
        tests("IntegrationTests", "JSON", exclude: ["support"]),
    ]
)
