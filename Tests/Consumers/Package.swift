// swift-tools-version: 6.2
import PackageDescription

// Stands for a program outside this project: it uses Tryck's libraries and only their public declarations.

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
