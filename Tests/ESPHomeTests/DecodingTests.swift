import Bytes
import JSON
import Testing

@testable import ESPHome

@Suite("Decoding")
struct DecodingTests {
    @Test("unusual payloads are read")
    func valid() throws {
        let vectors = try #require(try Vectors.load()["decoding"]).values("valid")
        #expect(vectors.count == 6)
        for vector in vectors {
            let name = try vector.text("message")
            let id = try #require(VectorMessage.ids[name])
            let message = try ESPHomeMessage(id: id, payload: vector.octets("payload"))
            let expected = try VectorMessage(name, vector["fields"]).message
            #expect(message == expected, "\(vector["what"]?.stringValue ?? "")")
        }
    }

    @Test("malformed payloads are refused, and say why")
    func invalid() throws {
        let vectors = try #require(try Vectors.load()["decoding"]).values("invalid")
        let reasons: [ESPHomeMalformed] = [
            .truncated, .numberTooLong, .truncated, .truncated, .wireType(6), .fieldNumber(0), .wireType(3),
        ]
        #expect(vectors.count == reasons.count)
        for (vector, reason) in zip(vectors, reasons) {
            let id = try #require(VectorMessage.ids[vector.text("message")])
            let payload = try vector.octets("payload")
            #expect(throws: reason, "\(vector["what"]?.stringValue ?? "")") {
                _ = try ESPHomeMessage(id: id, payload: payload)
            }
            var client = ESPHomeConnection(role: .client, key: nil)
            _ = client.handle(.opened(entropy: []))
            let frame = FrameStream.plainFrame(id: id, message: payload)
            #expect(client.handle(.received(frame)) == [.failed(.malformed(reason))])
        }
    }

    @Test("a known field in another coding is passed over, as an unknown one")
    func otherCoding() throws {
        // Field 2 as octets, field 3 as four octets.
        #expect(
            try ESPHomeMessage(id: 69, payload: [0x12, 1, 1, 0x1D, 1, 1, 1, 1])
                == .deviceConnection(address: 0, isConnected: false, mtu: 0, error: 0))
    }

    @Test("the numbers of messages that are not needed are kept")
    func others() throws {
        for id: UInt32 in [0, 3, 67, 73, 149, 150, 1000] {
            let message = try ESPHomeMessage(id: id, payload: [0xFF])
            #expect(message == .other(id))
            #expect(message.encoded().isEmpty)
        }
    }

    @Test("every message is decoded to what was encoded")
    func everyMessage() throws {
        let address: UInt64 = 0x80E4_DA7B_0001
        let messages: [ESPHomeMessage] = [
            .hello(HelloRequest(clientInfo: "Tryck")),
            .helloResponse(HelloResponse(major: 1, minor: 9, serverInfo: "é", name: "hall")), .disconnectRequest,
            .disconnectResponse, .pingRequest, .pingResponse, .deviceInfoRequest,
            .deviceInfo(
                DeviceInfo(
                    name: "a", macAddress: "b", version: "c", model: "d", manufacturer: "e", friendlyName: "f",
                    features: [.needed, .pairing], suggestedArea: "g", bluetoothMACAddress: "h")),
            .subscribeAdvertisements(flags: 1), .unsubscribeAdvertisements,
            .rawAdvertisements([
                RawAdvertisement(address: address, rssi: .min, addressType: 1, data: [1]),
                RawAdvertisement(address: 0, rssi: 0, data: []),
                RawAdvertisement(address: .max, rssi: .max, data: [2]),
            ]),
            .scannerState(ScannerState(rawValue: 9), mode: .active, configuredMode: .passive),
            .setScannerMode(isActive: true), .setScannerMode(isActive: false),
            .deviceRequest(address: address, .connectWithCache, addressType: 0),
            .deviceRequest(address: address, .connectWithoutCache, addressType: 1),
            .deviceRequest(address: address, .disconnect, addressType: nil),
            .deviceConnection(address: address, isConnected: true, mtu: 23, error: -1), .subscribeConnectionsFree,
            .connectionsFree(free: 0, limit: 3, allocated: [address, 0, .max]),
            .clearCacheResponse(address: address, isSuccess: true, error: .min),
            .setConnectionParameters(
                address: address, minimumInterval: 80, maximumInterval: 90, latency: 17, timeout: .max),
            .connectionParametersSet(address: address, error: 5), .getServices(address: address),
            .services(
                address: address,
                [
                    GATTService(uuid: .short(0x1800), handle: 1),
                    GATTService(
                        uuid: .long(Array(1...16)), handle: 2,
                        characteristics: [
                            GATTCharacteristic(
                                uuid: .short(0xFFFF_0000), handle: 3, properties: 0x12,
                                descriptors: [GATTDescriptor(uuid: .long(Array(17...32)), handle: 4)])
                        ]),
                ]), .servicesDone(address: address),
            .write(address: address, handle: 3, withResponse: true, value: [0]),
            .writeDescriptor(address: address, handle: 4, value: [1, 0]),
            .notify(address: address, handle: 3, isEnabled: true), .notified(address: address, handle: 3, value: []),
            .writeResponse(address: address, handle: 3), .notifyResponse(address: address, handle: 0xFFFF),
            .gattError(address: address, handle: 3, error: 0x8F), .other(149),
        ]
        for message in messages {
            #expect(try ESPHomeMessage(id: message.id, payload: message.encoded()) == message)
        }
        #expect(Set(messages.map(\.id)).count == 31)
    }

    @Test("a UUID in two numbers has the reverse order on the wire")
    func uuids() {
        #expect(
            GATTUUID(high: 0x0042_0001_8F59_4420, low: 0x870D_84F3_B617_E493)
                == .long([
                    0x93, 0xE4, 0x17, 0xB6, 0xF3, 0x84, 0x0D, 0x87, 0x20, 0x44, 0x59, 0x8F, 0x01, 0x00, 0x42, 0x00,
                ]))
    }

    @Test("a short UUID that an old proxy writes in two numbers is a short UUID")
    func oldUUIDs() throws {
        #expect(GATTUUID(high: 0x0000_2902_0000_1000, low: 0x8000_0080_5F9B_34FB) == .short(0x2902))
        var writer = ProtobufWriter()
        writer.packed(1, [0x0000_1800_0000_1000, 0x8000_0080_5F9B_34FB])
        #expect(try GATTService(decoding: writer.octets) == GATTService(uuid: .short(0x1800), handle: 0))
    }

    @Test("a UUID is two numbers")
    func uuidParts() {
        for count in [1, 3, 100] {
            var writer = ProtobufWriter()
            writer.packed(1, [UInt64](repeating: 7, count: count))
            let payload = writer.octets
            #expect(throws: ESPHomeMalformed.uuidParts(min(count, 3))) { _ = try GATTDescriptor(decoding: payload) }
        }
    }

    @Test("text that is not UTF-8 is repaired")
    func text() throws {
        let message = try ESPHomeMessage(id: 2, payload: [0x22, 3, 0x61, 0xFF, 0x62])
        #expect(
            message == .helloResponse(HelloResponse(major: 0, minor: 0, serverInfo: "", name: "a\u{FFFD}b")))
    }

    @Test("numbers are cut to the length of their field")
    func longNumbers() throws {
        // 2^32 + 5 in field 2, and -1 in 64 bits in field 3.
        let payload: [UInt8] =
            [0x10, 0x85, 0x80, 0x80, 0x80, 0x10, 0x18] + [UInt8](repeating: 0xFF, count: 9) + [0x01]
        #expect(try ESPHomeMessage(id: 82, payload: payload) == .gattError(address: 0, handle: 5, error: -1))
    }
}
