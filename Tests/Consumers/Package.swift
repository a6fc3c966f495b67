// swift-tools-version: 6.2
import PackageDescription

// A program of somebody else, who uses Tryck's libraries and nothing that is not public.

let package = Package(
    name: "consumers",
    dependencies: [.package(name: "tryck", path: "../..")],
    targets: [
        .executableTarget(
            name: "PairAButton",
            dependencies: [
                .product(name: "BluetoothHost", package: "tryck"),
                .product(name: "Flic", package: "tryck"),
                .product(name: "Simulator", package: "tryck"),
            ])
    ]
)
