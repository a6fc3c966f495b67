import ButtonModel
import Foundation
import JSON
import MQTTTopics
import Testing

/// A button and a bridge, and their form in `Golden/`.
enum Examples {
    static let button = ButtonDevice(
        id: ButtonID(address), address: address, name: name, serial: "BA00-A00001", firmwareVersion: 10,
        clickCounts: [6, 3], hasFirmwareFile: true)
    static let duo = ButtonDevice(
        id: ButtonID(address), address: address, name: "Sofa", serial: "DA01-D00042", firmwareVersion: 5, model: .duo,
        clickCounts: [3], usedDials: [.part(.small)])
    static let twist = ButtonDevice(
        id: ButtonID(address), address: address, name: "Desk", serial: "TA01-T00007", firmwareVersion: 3, model: .twist,
        usedDials: [.free])
    static let discovery = Discovery(
        topics: Topics(base: "tryck"), prefix: "homeassistant", installationID: "5a1f", version: "0.1.0",
        acceptsRequests: true, acceptsRestart: true)
    static let name = "Nightstand \"left\" 🛏️"
    static let address = BluetoothAddress(rawValue: 0x80E4_DA01_0203)
    static let time = UTCTime(milliseconds: 1_795_228_200_123)

    static func golden(_ name: String) throws -> JSONValue {
        let url = try #require(Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Golden"))
        return try JSONValue(parsing: [UInt8](Data(contentsOf: url)))
    }
}

extension JSONValue {
    var names: [String] { objectValue?.map(\.name) ?? [] }

    /// Every value in it, itself first.
    var everything: [JSONValue] {
        switch self {
        case .array(let values): [self] + values.flatMap(\.everything)
        case .object(let members): [self] + members.flatMap(\.value.everything)
        default: [self]
        }
    }
}
