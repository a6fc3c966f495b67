import Bytes
import Testing

@testable import ESPHome

@Suite("Limits")
struct LimitTests {
    private func decodes(_ message: ESPHomeMessage) throws {
        #expect(try ESPHomeMessage(id: message.id, payload: message.encoded()) == message)
    }

    private func refuses(_ message: ESPHomeMessage, _ reason: ESPHomeMalformed) {
        #expect(throws: reason) { _ = try ESPHomeMessage(id: message.id, payload: message.encoded()) }
    }

    @Test("a batch has at most 256 advertisements")
    func advertisements() throws {
        let advertisement = RawAdvertisement(address: 1, rssi: -1, data: [1])
        try decodes(.rawAdvertisements(Array(repeating: advertisement, count: 256)))
        refuses(.rawAdvertisements(Array(repeating: advertisement, count: 257)), .tooMany(.advertisements))
        let longest = RawAdvertisement(address: 1, rssi: -1, data: [UInt8](repeating: 0, count: 512))
        try decodes(.rawAdvertisements([longest]))
        let longer = RawAdvertisement(address: 1, rssi: -1, data: [UInt8](repeating: 0, count: 513))
        refuses(.rawAdvertisements([longer]), .valueTooLong(513))
    }

    @Test("there are at most 64 services, 64 characteristics in each, and 16 descriptors in each of those")
    func services() throws {
        func message(_ services: Int, _ characteristics: Int, _ descriptors: Int) -> ESPHomeMessage {
            let descriptor = GATTDescriptor(uuid: .short(1), handle: 1)
            let characteristic = GATTCharacteristic(
                uuid: .short(1), handle: 1, properties: 1,
                descriptors: Array(repeating: descriptor, count: descriptors))
            let service = GATTService(
                uuid: .short(1), handle: 1, characteristics: Array(repeating: characteristic, count: characteristics))
            return .services(address: 1, Array(repeating: service, count: services))
        }
        try decodes(message(64, 1, 1))
        try decodes(message(1, 64, 1))
        try decodes(message(1, 1, 16))
        refuses(message(65, 1, 1), .tooMany(.services))
        refuses(message(1, 65, 1), .tooMany(.characteristics))
        refuses(message(1, 1, 17), .tooMany(.descriptors))
    }

    @Test("at most 16 links are allocated, packed or not")
    func links() throws {
        try decodes(.connectionsFree(free: 0, limit: 16, allocated: Array(1...16)))
        refuses(.connectionsFree(free: 0, limit: 17, allocated: Array(1...17)), .tooMany(.links))
        let single = (0..<17).flatMap { _ in [UInt8]([0x18, 1]) }
        #expect(throws: ESPHomeMalformed.tooMany(.links)) { _ = try ESPHomeMessage(id: 81, payload: single) }
        #expect(throws: Never.self) { _ = try ESPHomeMessage(id: 81, payload: single.dropLast(2)) }
    }

    @Test("a value has at most 512 octets")
    func values() throws {
        let longest = [UInt8](repeating: 1, count: 512)
        for value in [longest, longest + [1]] {
            let messages: [ESPHomeMessage] = [
                .notified(address: 1, handle: 1, value: value),
                .write(address: 1, handle: 1, withResponse: false, value: value),
                .writeDescriptor(address: 1, handle: 1, value: value),
            ]
            for message in messages {
                if value == longest { try decodes(message) } else { refuses(message, .valueTooLong(513)) }
            }
        }
    }

    @Test("a plain message has at most 16384 octets, and a longer one is refused by its header")
    func plainMessages() {
        var client = ESPHomeConnection(role: .client, key: nil)
        _ = client.handle(.opened(entropy: []))
        let longest = FrameStream.plainFrame(id: 1000, message: [UInt8](repeating: 0, count: 16_384))
        #expect(client.handle(.received(longest)) == [.message(.other(1000))])
        #expect(client.handle(.received([0, 0x81, 0x80, 0x01])) == [.failed(.malformed(.messageTooLong(16_385)))])
        #expect(throws: ESPHomeMalformed.messageTooLong(16_385)) {
            _ = try ESPHomeMessage(id: 1000, payload: [UInt8](repeating: 0, count: 16_385))
        }
    }

    @Test("an encrypted message has at most 16384 octets, and a longer one is refused by its header")
    func encryptedMessages() throws {
        let vector = try Vectors.handshake()
        var cipher = NoiseCipher(key: vector.keyFromProxy)
        var client = vector.establishedClient()
        let inner = FrameStream.inner(id: 1000, message: [UInt8](repeating: 0, count: 16_384))
        let longest = FrameStream.encryptedFrame(try cipher.encrypt(inner))
        #expect(client.handle(.received(longest)) == [.message(.other(1000))])
        #expect(client.handle(.received([1, 0x40, 0x15])) == [.failed(.malformed(.messageTooLong(16_385)))])
    }

    @Test("the inner length of an encrypted message can be too small, and not too large")
    func innerLengths() throws {
        let vector = try Vectors.handshake()
        let cases: [([UInt8], ESPHomeConnection.Effect)] = [
            ([0, 81, 0, 2, 8, 3, 16, 9], .message(.connectionsFree(free: 3, limit: 0, allocated: []))),
            ([0, 81, 0, 3, 8, 3], .failed(.malformed(.innerLength(promised: 3, present: 2)))),
            ([0, 81, 0], .failed(.malformed(.frameTooShort(3)))), ([], .failed(.malformed(.frameTooShort(0)))),
        ]
        for (inner, effect) in cases {
            var cipher = NoiseCipher(key: vector.keyFromProxy)
            var client = vector.establishedClient()
            let frame = FrameStream.encryptedFrame(try cipher.encrypt(inner))
            #expect(client.handle(.received(frame)) == [effect])
        }
    }

    @Test("numbers of a plain header have at most four octets")
    func headers() {
        let headers: [[UInt8]] = [[0, 0x80, 0x80, 0x80, 0x80], [0, 0, 0x80, 0x80, 0x80, 0x80]]
        for header in headers {
            var client = ESPHomeConnection(role: .client, key: nil)
            _ = client.handle(.opened(entropy: []))
            #expect(client.handle(.received(header.dropLast())) == [])
            #expect(client.handle(.received([0x80])) == [.failed(.malformed(.headerTooLong))])
        }
    }

    @Test("frames of the handshake have at most 128 octets, and messages of it have 48")
    func handshake() throws {
        let vector = try Vectors.handshake()
        var client = vector.openedClient()
        #expect(client.handle(.received([1, 0, 129])) == [.failed(.malformed(.handshakeLength(129)))])
        client = vector.openedClient()
        let longest = FrameStream.encryptedFrame([1] + [UInt8](repeating: 0x61, count: 126) + [0])
        #expect(client.handle(.received(longest)) == [])
        #expect(client.serverHello?.name?.utf8.count == 126)
        for count in [0, 1, 47, 49, 127] {
            client = vector.openedClient()
            let frame = FrameStream.encryptedFrame([0] + [UInt8](repeating: 1, count: count))
            #expect(
                client.handle(.received(vector.serverHello + frame)) == [.failed(.malformed(.handshakeLength(count)))])
        }
    }

    @Test("messages that do not fit into a frame are not sent")
    func unsendable() throws {
        let vector = try Vectors.handshake()
        let messages: [ESPHomeMessage] = [
            .other(0x1_0000), .notified(address: 1, handle: 1, value: [UInt8](repeating: 0, count: 70_000)),
        ]
        for message in messages {
            var client = vector.establishedClient()
            #expect(client.handle(.send([.pingRequest, message])) == [.failed(.unsendable(id: message.id))])
            var plain = ESPHomeConnection(role: .client, key: nil)
            _ = plain.handle(.opened(entropy: []))
            #expect(plain.handle(.send([message])) == [.failed(.unsendable(id: message.id))])
        }
    }

    @Test("at most 64 messages are kept back until the connection is established")
    func earlyMessages() throws {
        var client = try Vectors.handshake().openedClient()
        #expect(client.handle(.send(Array(repeating: .pingRequest, count: 64))) == [])
        #expect(client.handle(.send([.pingRequest])) == [.failed(.sentTooEarly)])
    }
}
