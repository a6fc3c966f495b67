import Bytes
import Foundation
import JSON
import Testing

/// The files of `Vectors/`, produced by running the reference implementations with a test root key.
///
/// | file                                            | tests that use it                               |
/// |-------------------------------------------------|-------------------------------------------------|
/// | `battery`                                       | `BatteryTests`                                  |
/// | `chaskey-…`                                     | `ChaskeyTests`                                  |
/// | `ed25519-variants`, `test-root`                 | `CertificateTests`                              |
/// | `duo`                                           | `DuoVectorTests`                                |
/// | `events`                                        | `EventTests`, `FlicPeripheralTests`             |
/// | `framing`                                       | `FramingTests`                                  |
/// | `full-verify`, `quick-verify`, `test-unpaired`  | `KeyDerivationTests`                            |
/// | `name`                                          | `MaintenanceReplayTests`                        |
/// | `queued-events`                                 | `QueuedEventsTests`                             |
/// | `twist`                                         | `TwistVectorTests`                              |
/// | `transcript-pair-events`                        | `TranscriptReplayTests`, `PeripheralReplayTests`|
/// | `transcript-unpaired`, `transcript-failures`    | `TranscriptReplayTests`                         |
/// | `transcript-maintenance`, `transcript-firmware` | `MaintenanceReplayTests`, `PeripheralReplayTests`|
/// | `transcript-second-host`                        | `PeripheralReplayTests`                         |
enum Vectors {
    static func load(_ name: String) throws -> JSONValue {
        let url = try #require(Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Vectors"))
        return try JSONValue(parsing: [UInt8](Data(contentsOf: url)))
    }

    static func cases(_ name: String, _ member: String = "cases") throws -> [JSONValue] {
        try load(name).values(member)
    }
}

extension JSONValue {
    func values(_ name: String) throws -> [JSONValue] { try #require(self[name]?.arrayValue, "no array \(name)") }
    func text(_ name: String) throws -> String { try #require(self[name]?.stringValue, "no string \(name)") }
    func octets(_ name: String) throws -> [UInt8] { try #require([UInt8](hex: text(name)), "no octets \(name)") }

    func integer<T: FixedWidthInteger>(_ name: String, as type: T.Type = T.self) throws -> T {
        let value = try #require(self[name]?.integerValue, "no integer \(name)")
        return try #require(T(exactly: value))
    }

    func seconds(_ name: String = "t") throws -> Double {
        switch self[name] {
        case .number(let value): value
        case .integer(let value): Double(value)
        default: throw NoSeconds()
        }
    }

    private struct NoSeconds: Error {}
}
