import BluetoothHost
import ButtonModel
import TestSupport
import Testing

@Suite("Reading and writing values of a peer")
struct ValueTranscriptTests {
    private let attribute = AttributeHandle(rawValue: 3)

    /// A link with ATT_MTU 23 and buffers for every packet.
    private func connected() -> Bench {
        var info = Bench.info
        info.aclDataLength = 251
        info.aclBufferCount = 255
        var bench = Bench(info: info)
        bench.connect()
        return bench
    }

    // MARK: Reading

    @Test("a short value is read with one request")
    func shortRead() {
        var bench = connected()
        bench.when(.perform(.read(link, attribute)), expect: .attribute([0x0A, 3, 0]))
        bench.when(.attribute([0x0B, 7, 8]), expect: .event(.read(link, attribute, [7, 8])))
    }

    @Test("a value that fills the response is read on with Read Blob until a part is short")
    func longRead() {
        var bench = connected()
        let value = Array(0..<50 as Range<UInt8>)
        bench.given(.perform(.read(link, attribute)))
        bench.when(.attribute([0x0B] + value[..<22]), expect: .attribute([0x0C, 3, 0, 22, 0]))
        bench.when(.attribute([0x0D] + value[22..<44]), expect: .attribute([0x0C, 3, 0, 44, 0]))
        bench.when(.attribute([0x0D] + value[44...]), expect: .event(.read(link, attribute, value)))
    }

    @Test(
        "a value that ends with a full part is complete, whichever way the server says that there is no more",
        arguments: [[0x0D], [0x01, 0x0C, 3, 0, 0x07], [0x01, 0x0C, 3, 0, 0x0B]] as [[UInt8]])
    func boundary(answer: [UInt8]) {
        var bench = connected()
        let value = Array(0..<22 as Range<UInt8>)
        bench.given(.perform(.read(link, attribute)))
        bench.when(.attribute([0x0B] + value), expect: .attribute([0x0C, 3, 0, 22, 0]))
        bench.when(.attribute(answer), expect: .event(.read(link, attribute, value)))
    }

    @Test("an error fails the read with its procedure, at the first request and at later ones")
    func readRefused() {
        var bench = connected()
        func refused(_ code: UInt8) -> LEHost.Effect {
            .event(.procedureFailed(link, .read(attribute), .errorResponse(code: code, attributeHandle: 3)))
        }
        bench.given(.perform(.read(link, attribute)))
        bench.when(.attribute([0x01, 0x0A, 3, 0, 0x02]), expect: refused(2))
        // The first part begins at offset 0, which cannot be an invalid offset.
        bench.given(.perform(.read(link, attribute)))
        bench.when(.attribute([0x01, 0x0A, 3, 0, 0x07]), expect: refused(7))
        bench.given(.perform(.read(link, attribute)))
        bench.given(.attribute([0x0B] + Array(repeating: 0, count: 22)))
        bench.when(.attribute([0x01, 0x0C, 3, 0, 0x0E]), expect: refused(14))
    }

    @Test("a read ends at 512 octets, even if the server sends more")
    func endless() {
        var bench = connected()
        bench.given(.perform(.read(link, attribute)))
        var effects = bench.given(.attribute([0x0B] + Array(repeating: 1, count: 22)))
        var requests = 1
        while effects.count == 1, case .send = effects[0], requests < 100 {
            requests += 1
            effects = bench.given(.attribute([0x0D] + Array(repeating: 1, count: 22)))
        }
        #expect(requests == 24)
        #expect(effects == [.event(.procedureFailed(link, .read(attribute), .malformedResponse))])
    }

    @Test("an MTU exchange before a read applies to the read")
    func exchangeThenRead() {
        var bench = connected()
        let value = Array(0..<60 as Range<UInt8>)
        bench.given(.perform(.exchangeMTU(link)))
        bench.when(.perform(.read(link, attribute)), expect: .nothing)
        bench.when(
            .attribute([0x03, 64, 0]), expect: .event(.mtuExchanged(link, attMTU: 64)), .attribute([0x0A, 3, 0]))
        bench.when(.attribute([0x0B] + value), expect: .event(.read(link, attribute, value)))
    }

    @Test("a full response sent before the peer's MTU exchange is not taken for the end of the value")
    func exchangeDuringRead() {
        var bench = connected()
        let value = Array(0..<30 as Range<UInt8>)
        bench.given(.perform(.read(link, attribute)))
        bench.given(.attribute([0x02, 100, 0]))
        bench.when(.attribute([0x0B] + value[..<22]), expect: .attribute([0x0C, 3, 0, 22, 0]))
        bench.when(.attribute([0x0D] + value[22...]), expect: .event(.read(link, attribute, value)))
    }

    // MARK: Writing

    @Test("a value that fits one request is written with one request")
    func shortWrite() {
        var bench = connected()
        let value = Array(0..<20 as Range<UInt8>)
        bench.when(.perform(.writeWithResponse(link, attribute, value)), expect: .attribute([0x12, 3, 0] + value))
        bench.when(.attribute([0x13]), expect: .event(.writeCompleted(link, attribute)))
        bench.when(.perform(.writeWithResponse(link, attribute, [])), expect: .attribute([0x12, 3, 0]))
        bench.when(
            .attribute([0x01, 0x12, 3, 0, 0x03]),
            expect: .event(
                .procedureFailed(link, .write(attribute, []), .errorResponse(code: 3, attributeHandle: 3))))
    }

    @Test("a longer value is written with prepared parts and their execution")
    func longWrite() {
        var bench = connected()
        let value = Array(0..<40 as Range<UInt8>)
        let parts: [[UInt8]] = [
            [3, 0, 0, 0] + value[..<18], [3, 0, 18, 0] + value[18..<36], [3, 0, 36, 0] + value[36...],
        ]
        bench.when(.perform(.writeWithResponse(link, attribute, value)), expect: .attribute([0x16] + parts[0]))
        bench.when(.attribute([0x17] + parts[0]), expect: .attribute([0x16] + parts[1]))
        bench.when(.attribute([0x17] + parts[1]), expect: .attribute([0x16] + parts[2]))
        bench.when(.attribute([0x17] + parts[2]), expect: .attribute([0x18, 1]))
        bench.when(.attribute([0x19]), expect: .event(.writeCompleted(link, attribute)))
    }

    @Test(
        "a prepared part that is echoed wrongly cancels the write",
        arguments: [
            [0x17, 3, 0, 0, 0] + Array(1...18), [0x17, 3, 0, 1, 0] + Array(0..<18),
            [0x17, 4, 0, 0, 0] + Array(0..<18), [0x17, 3, 0, 0, 0],
        ] as [[UInt8]])
    func badEcho(echo: [UInt8]) {
        var bench = connected()
        let value = Array(0..<40 as Range<UInt8>)
        bench.given(.perform(.writeWithResponse(link, attribute, value)))
        bench.when(.attribute(echo), expect: .attribute([0x18, 0]))
        bench.when(
            .attribute([0x19]),
            expect: .event(.procedureFailed(link, .write(attribute, value), .preparedValueDiffers)))
    }

    @Test("a refused part cancels the write and a refused execution fails it, both with the error")
    func prepareRefused() {
        var bench = connected()
        let value = Array(0..<21 as Range<UInt8>)
        func refused(_ code: UInt8) -> LEHost.Effect {
            .event(.procedureFailed(link, .write(attribute, value), .errorResponse(code: code, attributeHandle: 3)))
        }
        bench.given(.perform(.writeWithResponse(link, attribute, value)))
        bench.when(.attribute([0x01, 0x16, 3, 0, 0x09]), expect: .attribute([0x18, 0]))
        bench.when(.attribute([0x01, 0x18, 0, 0, 0x06]), expect: refused(9))
        bench.given(.perform(.writeWithResponse(link, attribute, value)))
        bench.given(.attribute([0x17, 3, 0, 0, 0] + value[..<18]))
        bench.when(.attribute([0x17, 3, 0, 18, 0] + value[18...]), expect: .attribute([0x18, 1]))
        bench.when(.attribute([0x01, 0x18, 3, 0, 0x0D]), expect: refused(13))
    }

    @Test("a value longer than 512 octets is not written, and the next procedure runs")
    func tooLong() {
        var bench = connected()
        let value = [UInt8](repeating: 0, count: 513)
        bench.given(.perform(.exchangeMTU(link)))
        bench.when(.perform(.writeWithResponse(link, attribute, value)), expect: .nothing)
        bench.when(.perform(.read(link, attribute)), expect: .nothing)
        bench.when(
            .attribute([0x03, 23, 0]), expect: .event(.mtuExchanged(link, attMTU: 23)),
            .event(.procedureFailed(link, .write(attribute, value), .valueTooLong)), .attribute([0x0A, 3, 0]))
    }

    // MARK: Discovery

    private func handles(_ range: ClosedRange<UInt16>) -> ClosedRange<AttributeHandle> {
        AttributeHandle(rawValue: range.lowerBound)...AttributeHandle(rawValue: range.upperBound)
    }

    @Test("all primary services are listed, with 16-bit and 128-bit UUIDs")
    func services() {
        var bench = connected()
        let long = BluetoothUUID("00420000-8f59-4420-870d-84f3b617e493")!
        bench.when(
            .perform(.discoverServices(link)), expect: .attribute([0x10, 1, 0, 0xFF, 0xFF, 0x00, 0x28]))
        bench.when(
            .attribute([0x11, 6, 1, 0, 4, 0, 0x01, 0x18, 5, 0, 7, 0, 0x0F, 0x18]),
            expect: .attribute([0x10, 8, 0, 0xFF, 0xFF, 0x00, 0x28]))
        bench.when(
            .attribute([0x11, 20, 8, 0, 20, 0] + long.wireOctets),
            expect: .attribute([0x10, 21, 0, 0xFF, 0xFF, 0x00, 0x28]))
        bench.when(
            .attribute([0x01, 0x10, 21, 0, 0x0A]),
            expect: .event(
                .servicesDiscovered(
                    link,
                    [
                        RemoteService(uuid: .short(0x1801), handles: handles(1...4), characteristics: []),
                        RemoteService(uuid: .short(0x180F), handles: handles(5...7), characteristics: []),
                        RemoteService(uuid: long, handles: handles(8...20), characteristics: []),
                    ])))
    }

    @Test("a service that ends at the last handle ends the list")
    func lastService() {
        var bench = connected()
        bench.given(.perform(.discoverServices(link)))
        bench.when(
            .attribute([0x11, 6, 1, 0, 0xFF, 0xFF, 0x01, 0x18]),
            expect: .event(
                .servicesDiscovered(
                    link, [RemoteService(uuid: .short(0x1801), handles: handles(1...0xFFFF), characteristics: [])])))
    }

    @Test(
        "services that overlap, run backwards or have no UUID fail the discovery",
        arguments: [
            [0x11, 6, 4, 0, 3, 0, 0x01, 0x18], [0x11, 6, 0, 0, 3, 0, 0x01, 0x18],
            [0x11, 6, 1, 0, 4, 0, 0x01, 0x18, 4, 0, 5, 0, 0x0F, 0x18], [0x11, 7, 1, 0, 4, 0, 1, 2, 3], [0x0B],
        ] as [[UInt8]])
    func badServices(response: [UInt8]) {
        var bench = connected()
        bench.given(.perform(.discoverServices(link)))
        let effects = bench.given(.attribute(response))
        // A PDU that answers no request is an anomaly and ends nothing.
        guard response != [0x0B] else { return #expect(effects.count == 1) }
        #expect(effects == [.event(.procedureFailed(link, .discoverServices, .malformedResponse))])
    }

    @Test("a peer with more services than the bound is not asked for more")
    func tooManyServices() {
        var bench = connected()
        bench.given(.perform(.discoverServices(link)))
        var count: Int?
        for number in 1...100 as ClosedRange<UInt8> where count == nil {
            for case .event(.servicesDiscovered(_, let services)) in bench.given(
                .attribute([0x11, 6, number, 0, number, 0, 0x0F, 0x18]))
            {
                count = services.count
            }
        }
        #expect(count == LEHost.maximumServices)
    }

    @Test("the characteristics of a listed service are discovered by its handles")
    func characteristics() {
        var bench = connected()
        let service = RemoteService(uuid: .short(0x180F), handles: handles(5...7), characteristics: [])
        bench.when(
            .perform(.discoverCharacteristics(link, service)), expect: .attribute([0x08, 5, 0, 7, 0, 0x03, 0x28]))
        var whole = service
        whole.characteristics = [
            .init(
                uuid: .short(0x2A19), valueHandle: AttributeHandle(rawValue: 7), properties: 2,
                configurationHandle: nil)
        ]
        bench.when(
            .attribute([0x09, 7, 6, 0, 2, 7, 0, 0x19, 0x2A]), expect: .event(.serviceDiscovered(link, whole)))
    }

    @Test("descriptors are listed to the end of their characteristic")
    func descriptors() {
        var bench = connected()
        let characteristic = RemoteService.Characteristic(
            uuid: .short(0x2A19), valueHandle: attribute, properties: 2, configurationHandle: nil,
            lastHandle: AttributeHandle(rawValue: 6))
        bench.when(.perform(.discoverDescriptors(link, characteristic)), expect: .attribute([0x04, 4, 0, 6, 0]))
        bench.when(.attribute([0x05, 1, 4, 0, 0x02, 0x29]), expect: .attribute([0x04, 5, 0, 6, 0]))
        bench.when(
            .attribute([0x05, 1, 5, 0, 0x01, 0x29, 6, 0, 0x04, 0x29]),
            expect: .event(
                .descriptorsDiscovered(
                    link, of: attribute,
                    [
                        .init(uuid: .short(0x2902), handle: AttributeHandle(rawValue: 4)),
                        .init(uuid: .short(0x2901), handle: AttributeHandle(rawValue: 5)),
                        .init(uuid: .short(0x2904), handle: AttributeHandle(rawValue: 6)),
                    ])))
        bench.given(.perform(.discoverDescriptors(link, characteristic)))
        bench.when(
            .attribute([0x05, 1, 7, 0, 0x02, 0x29]),
            expect: .event(.procedureFailed(link, .discoverDescriptors(characteristic), .malformedResponse)))
    }

    @Test("a characteristic without room for descriptors needs no request")
    func noDescriptors() {
        var bench = connected()
        let characteristic = RemoteService.Characteristic(
            uuid: .short(0x2A19), valueHandle: attribute, properties: 2, configurationHandle: nil)
        bench.when(
            .perform(.discoverDescriptors(link, characteristic)),
            expect: .event(.descriptorsDiscovered(link, of: attribute, [])))
    }

    // MARK: Indications

    @Test("indications are enabled and disabled by a write with response")
    func setIndications() {
        var bench = connected()
        let configuration = AttributeHandle(rawValue: 4)
        for (enabled, bits) in [(true, 2), (false, 0)] as [(Bool, UInt8)] {
            bench.when(
                .perform(.setIndications(link, configuration: configuration, enabled: enabled)),
                expect: .attribute([0x12, 4, 0, bits, 0]))
            bench.when(
                .attribute([0x13]),
                expect: .event(.indicationsSet(link, configuration: configuration, enabled: enabled)))
        }
    }

    @Test("Service Changed is reported with its handles once it was discovered, and before as an indication")
    func serviceChanged() {
        var bench = connected()
        let indication = LEHost.Input.attribute([0x1D, 3, 0, 8, 0, 0xFF, 0xFF])
        bench.when(
            indication, expect: .event(.indicated(link, attribute, [8, 0, 0xFF, 0xFF])), .attribute([0x1E]))
        bench.given(.perform(.discoverService(link, .short(0x1801))))
        bench.given(.attribute([0x07, 1, 0, 3, 0]))
        bench.given(.attribute([0x09, 7, 2, 0, 0x20, 3, 0, 0x05, 0x2A]))
        bench.when(indication, expect: .event(.servicesChanged(link, handles(8...0xFFFF))), .attribute([0x1E]))
        // A range that is invalid is reported as an indication.
        bench.when(
            .attribute([0x1D, 3, 0, 8, 0, 7, 0]), expect: .event(.indicated(link, attribute, [8, 0, 7, 0])),
            .attribute([0x1E]))
    }
}
