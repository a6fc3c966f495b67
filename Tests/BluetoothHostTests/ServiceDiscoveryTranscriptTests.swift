import BluetoothHost
import ButtonModel
import TestSupport
import Testing

@Suite("Discovery of a service")
struct ServiceDiscoveryTranscriptTests {
    private static let service = BluetoothUUID("00420000-8f59-4420-870d-84f3b617e493")!
    private static let toPeer = BluetoothUUID("00420001-8f59-4420-870d-84f3b617e493")!
    private static let fromPeer = BluetoothUUID("00420002-8f59-4420-870d-84f3b617e493")!
    private static let discovery = GATTProcedure.discoverService(service)
    /// A Read By Type request for characteristics from 0x10 to 0x15.
    private static let findCharacteristics: [UInt8] = [0x08, 0x10, 0, 0x15, 0, 0x03, 0x28]

    private func found(
        _ characteristics: [RemoteService.Characteristic], of uuid: BluetoothUUID = service
    ) -> LEHost.Effect {
        let handles = AttributeHandle(rawValue: 0x10)...AttributeHandle(rawValue: 0x15)
        return .event(
            .serviceDiscovered(link, RemoteService(uuid: uuid, handles: handles, characteristics: characteristics)))
    }

    private func declaration(_ handle: UInt8, _ properties: UInt8, _ uuid: BluetoothUUID) -> [UInt8] {
        [handle, 0, properties, handle + 1, 0] + uuid.wireOctets
    }

    /// A link whose discovery has found the service at 0x10…0x15.
    private func searching(_ uuid: BluetoothUUID = service) -> Bench {
        var bench = Bench()
        bench.connect()
        bench.given(.perform(.discoverService(link, uuid)))
        bench.given(.freed(2))
        bench.when(.attribute([0x07, 0x10, 0, 0x15, 0]), expect: .attribute(Self.findCharacteristics))
        return bench
    }

    @Test("a button's service has two characteristics, of which one has a configuration")
    func button() {
        var bench = Bench()
        bench.connect()
        bench.when(
            .perform(.discoverService(link, Self.service)),
            expect: .attribute([0x06, 1, 0, 0xFF, 0xFF, 0x00, 0x28] + Self.service.wireOctets))
        bench.when(.freed(1), expect: .nothing)
        bench.when(.attribute([0x07, 0x10, 0, 0x15, 0]), expect: .attribute(Self.findCharacteristics))
        bench.when(
            .attribute([0x09, 21] + declaration(0x11, 0x04, Self.toPeer)),
            expect: .attribute([0x08, 0x13, 0, 0x15, 0, 0x03, 0x28]))
        bench.when(
            .attribute([0x09, 21] + declaration(0x13, 0x10, Self.fromPeer)),
            expect: .attribute([0x08, 0x15, 0, 0x15, 0, 0x03, 0x28]))
        bench.when(.freed(3), expect: .nothing)
        // No handle lies between the first value and the second declaration, so descriptors are only asked for at 0x15.
        bench.when(.attribute([0x01, 0x08, 0x15, 0, 0x0A]), expect: .attribute([0x04, 0x15, 0, 0x15, 0]))
        bench.when(
            .attribute([0x05, 1, 0x15, 0, 0x02, 0x29]),
            expect: found([
                .init(
                    uuid: Self.toPeer, valueHandle: AttributeHandle(rawValue: 0x12), properties: 0x04,
                    configurationHandle: nil),
                .init(
                    uuid: Self.fromPeer, valueHandle: AttributeHandle(rawValue: 0x14), properties: 0x10,
                    configurationHandle: AttributeHandle(rawValue: 0x15)),
            ]))
    }

    @Test(
        "a service with a 16-bit UUID is searched for by two octets, in whichever form the UUID is given",
        arguments: ["180f", "0000180f-0000-1000-8000-00805f9b34fb"])
    func short(text: String) throws {
        var bench = Bench()
        bench.connect()
        let uuid = try #require(BluetoothUUID(text))
        bench.when(
            .perform(.discoverService(link, uuid)),
            expect: .attribute([0x06, 1, 0, 0xFF, 0xFF, 0x00, 0x28, 0x0F, 0x18]))
    }

    @Test("one response may have several characteristics, and a value at the last handle needs no further request")
    func shortCharacteristics() {
        var bench = searching(.short(0x180F))
        bench.when(
            .attribute([0x09, 7] + declaration(0x11, 0x02, .short(0x2A19)) + declaration(0x14, 0x12, .short(0x2A1A))),
            expect: .attribute([0x04, 0x13, 0, 0x13, 0]))
        bench.when(
            .attribute([0x05, 1, 0x13, 0, 0x01, 0x29]),
            expect: found(
                [
                    .init(
                        uuid: .short(0x2A19), valueHandle: AttributeHandle(rawValue: 0x12), properties: 0x02,
                        configurationHandle: nil, lastHandle: AttributeHandle(rawValue: 0x13)),
                    .init(
                        uuid: .short(0x2A1A), valueHandle: AttributeHandle(rawValue: 0x15), properties: 0x12,
                        configurationHandle: nil),
                ], of: .short(0x180F)))
    }

    @Test("descriptors are asked for until the configuration is found")
    func manyDescriptors() {
        var bench = searching()
        bench.given(.attribute([0x09, 7] + declaration(0x11, 0x10, .short(0x2A19))))
        bench.when(.attribute([0x01, 0x08, 0x13, 0, 0x0A]), expect: .attribute([0x04, 0x13, 0, 0x15, 0]))
        bench.when(.attribute([0x05, 1, 0x13, 0, 0x01, 0x29]), expect: .attribute([0x04, 0x14, 0, 0x15, 0]))
        bench.when(
            .attribute([0x05, 1, 0x14, 0, 0x02, 0x29]),
            expect: found([
                .init(
                    uuid: .short(0x2A19), valueHandle: AttributeHandle(rawValue: 0x12), properties: 0x10,
                    configurationHandle: AttributeHandle(rawValue: 0x14), lastHandle: AttributeHandle(rawValue: 0x15))
            ]))
    }

    @Test("a service without characteristics is reported")
    func empty() {
        var bench = searching()
        bench.when(.attribute([0x01, 0x08, 0x10, 0, 0x0A]), expect: found([]))
    }

    @Test("a service that the peer does not have is reported as not found")
    func notFound() {
        var bench = Bench()
        bench.connect()
        bench.given(.perform(.discoverService(link, Self.service)))
        bench.when(
            .attribute([0x01, 0x06, 1, 0, 0x0A]),
            expect: .event(.procedureFailed(link, Self.discovery, .serviceNotFound)))
    }

    @Test("another ATT error fails the discovery")
    func refused() {
        var bench = searching()
        bench.when(
            .attribute([0x01, 0x08, 0x10, 0, 0x05]),
            expect: .event(.procedureFailed(link, Self.discovery, .errorResponse(code: 5, attributeHandle: 0x10))))
    }

    @Test(
        "characteristics outside the service, or that would repeat a request for ever, fail the discovery",
        arguments: [
            [0x09, 7, 0x0F, 0, 2, 0x12, 0, 0x19, 0x2A],  // the declaration lies before the requested range
            [0x09, 7, 0x16, 0, 2, 0x17, 0, 0x19, 0x2A],  // the declaration lies after the requested range
            [0x09, 7, 0x11, 0, 2, 0x11, 0, 0x19, 0x2A],  // the value's handle is the declaration's
            [0x09, 7, 0x11, 0, 2, 0x16, 0, 0x19, 0x2A],  // the value's handle lies outside the service
            [0x09, 7, 0x12, 0, 2, 0x13, 0, 0x19, 0x2A, 0x11, 0, 2, 0x12, 0, 0x19, 0x2A],  // out of order
            [0x09, 6, 0x11, 0, 2, 0x12, 0, 0x19],  // the UUID has one octet
            [0x09, 0], [0x09, 7, 0x11],
        ] as [[UInt8]])
    func malformed(response: [UInt8]) {
        var bench = searching()
        bench.when(.attribute(response), expect: .event(.procedureFailed(link, Self.discovery, .malformedResponse)))
    }

    @Test(
        "a service whose handles run backwards fails the discovery",
        arguments: [[0x07, 0, 0, 5, 0], [0x07, 6, 0, 5, 0]] as [[UInt8]])
    func malformedService(response: [UInt8]) {
        var bench = Bench()
        bench.connect()
        bench.given(.perform(.discoverService(link, Self.service)))
        bench.when(.attribute(response), expect: .event(.procedureFailed(link, Self.discovery, .malformedResponse)))
    }

    @Test("a service that ends at the last handle does not overflow")
    func lastHandle() {
        var bench = Bench()
        bench.connect()
        bench.given(.perform(.discoverService(link, .short(0x180F))))
        bench.when(
            .attribute([0x07, 0xFD, 0xFF, 0xFF, 0xFF]), expect: .attribute([0x08, 0xFD, 0xFF, 0xFF, 0xFF, 0x03, 0x28]))
        let handles = AttributeHandle(rawValue: 0xFFFD)...AttributeHandle(rawValue: 0xFFFF)
        bench.when(
            .attribute([0x09, 7, 0xFE, 0xFF, 0x02, 0xFF, 0xFF, 0x19, 0x2A]),
            expect: .event(
                .serviceDiscovered(
                    link,
                    RemoteService(
                        uuid: .short(0x180F), handles: handles,
                        characteristics: [
                            .init(
                                uuid: .short(0x2A19), valueHandle: AttributeHandle(rawValue: 0xFFFF), properties: 2,
                                configurationHandle: nil)
                        ]))))
    }

    @Test("a peer with more characteristics than the bound is not asked for more")
    func tooMany() {
        var bench = Bench()
        bench.connect()
        bench.given(.perform(.discoverService(link, .short(0x180F))))
        bench.when(.freed(1), expect: .nothing)
        bench.given(.attribute([0x07, 1, 0, 0xFF, 0xFF]))
        var answers = 0
        var discovered: Int?
        while discovered == nil, answers < 100 {
            bench.when(.freed(1), expect: .nothing)
            let handle = UInt8(1 + 2 * answers)
            answers += 1
            for case .event(.serviceDiscovered(_, let service)) in bench.given(
                .attribute([0x09, 7] + declaration(handle, 2, .short(0x2A19))))
            {
                discovered = service.characteristics.count
            }
            // The descriptors of the last characteristic are asked for before the end.
            for case .event(.serviceDiscovered(_, let service)) in bench.given(.attribute([0x01, 0x04, 0, 0, 0x0A])) {
                discovered = service.characteristics.count
            }
        }
        #expect(discovered == 64)
        #expect(answers == 65)
    }
}
