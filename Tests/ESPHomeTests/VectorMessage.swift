import JSON
import Testing

@testable import ESPHome

/// Makes the message that a vector describes by the names of its fields. Fields that are left out have their default
/// value, 64-bit numbers are text, and octets are base64.
struct VectorMessage {
    let name: String
    let fields: JSONValue

    init(_ name: String, _ fields: JSONValue?) {
        self.name = name
        self.fields = fields ?? .object([])
    }

    static let ids: [String: UInt32] = [
        "DeviceCapabilitiesRequest": 149, "DeviceCapabilitiesResponse": 150, "PingRequest": 7,
        "BluetoothConnectionsFreeResponse": 81, "BluetoothDeviceConnectionResponse": 69,
        "BluetoothGATTErrorResponse": 82, "BluetoothLERawAdvertisementsResponse": 93,
        "BluetoothGATTGetServicesResponse": 71, "BluetoothGATTNotifyDataResponse": 79,
    ]

    var message: ESPHomeMessage {
        get throws {
            switch name {
            case "HelloRequest":
                .hello(
                    HelloRequest(
                        clientInfo: fields.string("client_info"), major: fields.number("api_version_major"),
                        minor: fields.number("api_version_minor")))
            case "HelloResponse":
                .helloResponse(
                    HelloResponse(
                        major: fields.number("api_version_major"), minor: fields.number("api_version_minor"),
                        serverInfo: fields.string("server_info"), name: fields.string("name")))
            case "DeviceInfoRequest": .deviceInfoRequest
            case "DeviceInfoResponse": .deviceInfo(deviceInfo)
            case "DisconnectRequest": .disconnectRequest
            case "DisconnectResponse": .disconnectResponse
            case "PingRequest": .pingRequest
            case "PingResponse": .pingResponse
            case "SubscribeBluetoothLEAdvertisementsRequest": .subscribeAdvertisements(flags: fields.number("flags"))
            case "UnsubscribeBluetoothLEAdvertisementsRequest": .unsubscribeAdvertisements
            case "SubscribeBluetoothConnectionsFreeRequest": .subscribeConnectionsFree
            case "BluetoothScannerStateResponse":
                .scannerState(
                    ScannerState(rawValue: fields.number("state")), mode: ScannerMode(rawValue: fields.number("mode")),
                    configuredMode: ScannerMode(rawValue: fields.number("configured_mode")))
            case "BluetoothScannerSetModeRequest": .setScannerMode(isActive: fields.number("mode") != 0)
            case "BluetoothConnectionsFreeResponse":
                .connectionsFree(
                    free: fields.number("free"), limit: fields.number("limit"),
                    allocated: fields.list("allocated").map(\.uint64))
            case "BluetoothLERawAdvertisementsResponse":
                .rawAdvertisements(try fields.list("advertisements").map(Self.advertisement))
            case "DeviceCapabilitiesRequest": .other(149)
            case "DeviceCapabilitiesResponse": .other(150)
            default: try aboutButton
            }
        }
    }

    private var aboutButton: ESPHomeMessage {
        get throws {
            let address = (fields["address"] ?? .null).uint64
            let handle = fields.number("handle")
            return switch name {
            case "BluetoothDeviceRequest":
                .deviceRequest(
                    address: address, DeviceRequestKind(rawValue: fields.number("request_type")),
                    addressType: fields.flag("has_address_type") ? fields.number("address_type") : nil)
            case "BluetoothDeviceConnectionResponse":
                .deviceConnection(
                    address: address, isConnected: fields.flag("connected"), mtu: fields.number("mtu"),
                    error: fields.signed("error"))
            case "BluetoothGATTGetServicesRequest": .getServices(address: address)
            case "BluetoothGATTGetServicesResponse":
                .services(address: address, fields.list("services").map(Self.service))
            case "BluetoothGATTGetServicesDoneResponse": .servicesDone(address: address)
            case "BluetoothGATTWriteRequest":
                .write(
                    address: address, handle: handle, withResponse: fields.flag("response"),
                    value: try fields.data("data"))
            case "BluetoothGATTWriteDescriptorRequest":
                .writeDescriptor(address: address, handle: handle, value: try fields.data("data"))
            case "BluetoothGATTNotifyRequest":
                .notify(address: address, handle: handle, isEnabled: fields.flag("enable"))
            case "BluetoothGATTNotifyDataResponse":
                .notified(address: address, handle: handle, value: try fields.data("data"))
            case "BluetoothGATTWriteResponse": .writeResponse(address: address, handle: handle)
            case "BluetoothGATTNotifyResponse": .notifyResponse(address: address, handle: handle)
            case "BluetoothGATTErrorResponse":
                .gattError(address: address, handle: handle, error: fields.signed("error"))
            case "BluetoothSetConnectionParamsRequest":
                .setConnectionParameters(
                    address: address, minimumInterval: fields.number("min_interval"),
                    maximumInterval: fields.number("max_interval"), latency: fields.number("latency"),
                    timeout: fields.number("timeout"))
            case "BluetoothSetConnectionParamsResponse":
                .connectionParametersSet(address: address, error: fields.signed("error"))
            default: throw UnknownMessage(name: name)
            }
        }
    }

    private struct UnknownMessage: Error { var name: String }

    private var deviceInfo: DeviceInfo {
        DeviceInfo(
            name: fields.string("name"), macAddress: fields.string("mac_address"),
            version: fields.string("esphome_version"), model: fields.string("model"),
            manufacturer: fields.string("manufacturer"), friendlyName: fields.string("friendly_name"),
            features: BluetoothProxyFeatures(rawValue: fields.number("bluetooth_proxy_feature_flags")),
            suggestedArea: fields.string("suggested_area"), bluetoothMACAddress: fields.string("bluetooth_mac_address"))
    }

    private static func advertisement(_ value: JSONValue) throws -> RawAdvertisement {
        RawAdvertisement(
            address: (value["address"] ?? .null).uint64, rssi: value.signed("rssi"),
            addressType: value.number("address_type"), data: try value.data("data"))
    }

    private static func service(_ value: JSONValue) -> GATTService {
        GATTService(
            uuid: uuid(value), handle: value.number("handle"),
            characteristics: value.list("characteristics").map { characteristic in
                GATTCharacteristic(
                    uuid: uuid(characteristic), handle: characteristic.number("handle"),
                    properties: characteristic.number("properties"),
                    descriptors: characteristic.list("descriptors").map {
                        GATTDescriptor(uuid: uuid($0), handle: $0.number("handle"))
                    })
            })
    }

    private static func uuid(_ value: JSONValue) -> GATTUUID {
        let parts = value.list("uuid").map(\.uint64)
        return parts.count == 2 ? GATTUUID(high: parts[0], low: parts[1]) : .short(value.number("short_uuid"))
    }
}

extension JSONValue {
    fileprivate func string(_ name: String) -> String { self[name]?.stringValue ?? "" }
    fileprivate func flag(_ name: String) -> Bool { self[name]?.boolValue ?? false }
    fileprivate func number(_ name: String) -> UInt32 { UInt32(self[name]?.integerValue ?? 0) }
    fileprivate func signed(_ name: String) -> Int32 { Int32(self[name]?.integerValue ?? 0) }
    fileprivate func list(_ name: String) -> [JSONValue] { self[name]?.arrayValue ?? [] }

    fileprivate func data(_ name: String) throws -> [UInt8] {
        guard let text = self[name]?.stringValue else { return [] }
        return try #require(Base64.decode(text))
    }

    /// A 64-bit number, which the vectors have as text.
    fileprivate var uint64: UInt64 { stringValue.flatMap { UInt64($0) } ?? 0 }
}
