import BluetoothHost
import ButtonModel
import TestSupport
import Testing

@Suite("Links as peripheral")
struct PeripheralTranscriptTests {
    private static let advertisement = Advertisement(
        data: [2, 1, 6], scanResponse: [3, 0xFF, 0x0F, 0x03], interval: 32)
    private static let central = LEConnection(handle: link, peer: kitchen, role: .peripheral)

    /// Service 0x180F at handle 1, its value at 3 with notifications at 4; a service with a 128-bit UUID at 5, its
    /// value at 7.
    private static let services: [LocalService] = [
        LocalService(
            uuid: .short(0x180F), characteristics: [.init(uuid: .short(0x2A19), properties: 0x12, value: [99])]),
        LocalService(
            uuid: BluetoothUUID("00420000-8f59-4420-870d-84f3b617e493")!,
            characteristics: [
                .init(
                    uuid: BluetoothUUID("00420001-8f59-4420-870d-84f3b617e493")!, properties: 0x0C,
                    value: Array(0..<100))
            ]),
    ]
    private static let long = BluetoothUUID("00420000-8f59-4420-870d-84f3b617e493")!.wireOctets
    private static let longValue = BluetoothUUID("00420001-8f59-4420-870d-84f3b617e493")!.wireOctets

    private func serving() -> Bench {
        var bench = Bench()
        bench.when(.perform(.setServices(Self.services)), expect: .nothing)
        bench.connect(role: .peripheral)
        return bench
    }

    // MARK: Advertising

    private func commands(_ advertisement: Advertisement) -> [HCICommand] {
        (advertisement.randomAddress.map { [.leSetRandomAddress($0)] } ?? []) + [
            .leSetAdvertisingParameters(
                .init(
                    intervalMinimum: advertisement.interval, intervalMaximum: advertisement.interval,
                    ownAddressKind: advertisement.randomAddress == nil ? .public : .random)),
            .leSetAdvertisingData(advertisement.data), .leSetScanResponseData(advertisement.scanResponse),
            .leSetAdvertisingEnable(true),
        ]
    }

    private func start(_ advertisement: Advertisement, _ bench: inout Bench) {
        let commands = commands(advertisement)
        var effects = bench.given(.perform(.startAdvertising(advertisement)))
        for command in commands {
            #expect(effects == [.command(command)])
            effects = bench.given(.completed(command.opcode))
        }
        #expect(effects == [.event(.advertisingStarted)])
    }

    @Test(
        "advertising parameters and data are set, then advertising is enabled",
        arguments: [nil, BluetoothAddress(rawValue: 0xC000_0000_0001, kind: .random)])
    func started(randomAddress: BluetoothAddress?) {
        var bench = Bench()
        var advertisement = Self.advertisement
        advertisement.randomAddress = randomAddress
        start(advertisement, &bench)
        bench.when(.perform(.startAdvertising(advertisement)), expect: .nothing)
        bench.when(.perform(.stopAdvertising), expect: .command(.leSetAdvertisingEnable(false)))
        bench.when(.completed(.leSetAdvertisingEnable), expect: .nothing)
    }

    @Test("a new advertisement replaces the old one")
    func replaced() {
        var bench = Bench()
        start(Self.advertisement, &bench)
        var other = Self.advertisement
        other.interval = 1600
        bench.when(.perform(.startAdvertising(other)), expect: .command(.leSetAdvertisingEnable(false)))
        bench.when(.completed(.leSetAdvertisingEnable), expect: .command(commands(other)[0]))
    }

    @Test("a refused advertising command is reported as a failure with its status")
    func failed() {
        var bench = Bench()
        bench.given(.perform(.startAdvertising(Self.advertisement)))
        bench.given(.completed(.leSetAdvertisingParameters, .invalidParameters))
        bench.given(.completed(.leSetAdvertisingData))
        bench.given(.completed(.leSetScanResponseData))
        bench.when(
            .completed(.leSetAdvertisingEnable, .commandDisallowed),
            expect: .event(.advertisingFailed(.invalidParameters)))
        start(Self.advertisement, &bench)
    }

    @Test("advertising ends when a central connects, and can be started again")
    func connected() {
        var bench = Bench()
        start(Self.advertisement, &bench)
        bench.when(.event(.leConnectionComplete(.up(Self.central))), expect: .event(.connected(Self.central)))
        bench.when(.perform(.stopAdvertising), expect: .nothing)
        start(Self.advertisement, &bench)
    }

    @Test("a central that connects before advertising is confirmed ends advertising")
    func connectedEarly() {
        var bench = Bench()
        bench.given(.perform(.startAdvertising(Self.advertisement)))
        for command in commands(Self.advertisement).dropLast() { bench.given(.completed(command.opcode)) }
        bench.when(.event(.leConnectionComplete(.up(Self.central))), expect: .event(.connected(Self.central)))
        bench.when(.completed(.leSetAdvertisingEnable), expect: .command(.leSetAdvertisingEnable(false)))
        bench.when(.completed(.leSetAdvertisingEnable), expect: .nothing)
        start(Self.advertisement, &bench)
    }

    // MARK: The GATT server

    @Test("attribute handles follow the order of the services")
    func handles() {
        var host = LEHost()
        _ = host.handle(.perform(.setServices(Self.services)), at: Instant(nanoseconds: 0))
        #expect(host.valueHandle(of: .short(0x2A19)) == AttributeHandle(rawValue: 3))
        #expect(
            host.valueHandle(of: BluetoothUUID("00002a19-0000-1000-8000-00805f9b34fb")!) == AttributeHandle(rawValue: 3)
        )
        #expect(host.valueHandle(of: .short(0x180F)) == nil)
    }

    @Test(
        "a client finds and reads the services and values",
        arguments: [
            // Find By Type Value.
            ([0x06, 1, 0, 0xFF, 0xFF, 0x00, 0x28, 0x0F, 0x18], [0x07, 1, 0, 4, 0]),
            ([0x06, 1, 0, 0xFF, 0xFF, 0x00, 0x28] + long, [0x07, 5, 0, 7, 0]),
            ([0x06, 6, 0, 0xFF, 0xFF, 0x00, 0x28] + long, [0x01, 0x06, 6, 0, 0x0A]),
            // Read By Group Type: all entries of one response have the same length.
            ([0x10, 1, 0, 0xFF, 0xFF, 0x00, 0x28], [0x11, 6, 1, 0, 4, 0, 0x0F, 0x18]),
            ([0x10, 2, 0, 0xFF, 0xFF, 0x00, 0x28], [0x11, 20, 5, 0, 7, 0] + long),
            ([0x10, 6, 0, 0xFF, 0xFF, 0x00, 0x28], [0x01, 0x10, 6, 0, 0x0A]),
            ([0x10, 1, 0, 0xFF, 0xFF, 0x03, 0x28], [0x01, 0x10, 1, 0, 0x10]),
            // Read By Type.
            ([0x08, 1, 0, 4, 0, 0x03, 0x28], [0x09, 7, 2, 0, 0x12, 3, 0, 0x19, 0x2A]),
            ([0x08, 5, 0, 7, 0, 0x03, 0x28], [0x09, 21, 6, 0, 0x0C, 7, 0] + longValue),
            ([0x08, 1, 0, 7, 0, 0x19, 0x2A], [0x09, 3, 3, 0, 99]),
            ([0x08, 1, 0, 7, 0] + longValue, [0x01, 0x08, 7, 0, 0x02]),
            ([0x08, 1, 0, 7, 0, 0x00, 0x2A], [0x01, 0x08, 1, 0, 0x0A]),
            // Find Information: UUIDs of the same length, as many as fit.
            ([0x04, 4, 0, 7, 0], [0x05, 1, 4, 0, 0x02, 0x29, 5, 0, 0x00, 0x28, 6, 0, 0x03, 0x28]),
            ([0x04, 7, 0, 0xFF, 0xFF], [0x05, 2, 7, 0] + longValue),
            ([0x04, 8, 0, 0xFF, 0xFF], [0x01, 0x04, 8, 0, 0x0A]),
            // Invalid ranges.
            ([0x04, 0, 0, 7, 0], [0x01, 0x04, 0, 0, 0x01]),
            ([0x08, 5, 0, 4, 0, 0x03, 0x28], [0x01, 0x08, 5, 0, 0x01]),
            // Read and Read Blob.
            ([0x0A, 3, 0], [0x0B, 99]),
            ([0x0A, 4, 0], [0x0B, 0, 0]),
            ([0x0A, 5, 0], [0x0B] + long),
            ([0x0C, 5, 0, 10, 0], [0x0D] + long[10...]),
            ([0x0C, 3, 0, 1, 0], [0x0D]),
            ([0x0C, 3, 0, 2, 0], [0x01, 0x0C, 3, 0, 0x07]),
            ([0x0A, 7, 0], [0x01, 0x0A, 7, 0, 0x02]),
            ([0x0A, 8, 0], [0x01, 0x0A, 8, 0, 0x01]),
            ([0x0A, 0, 0], [0x01, 0x0A, 0, 0, 0x01]),
            // Attributes without write permission, and unknown attributes.
            ([0x12, 3, 0, 1], [0x01, 0x12, 3, 0, 0x03]),
            ([0x12, 1, 0, 1], [0x01, 0x12, 1, 0, 0x03]),
            ([0x12, 9, 0, 1], [0x01, 0x12, 9, 0, 0x01]),
            ([0x12, 4, 0, 1], [0x01, 0x12, 4, 0, 0x0D]),
            ([0x0E, 3, 0, 4, 0], [0x01, 0x0E, 0, 0, 0x06]),
        ] as [([UInt8], [UInt8])])
    func answers(request: [UInt8], response: [UInt8]) {
        var bench = serving()
        bench.when(.attribute(request), expect: .attribute(response))
    }

    @Test("a response is never longer than the ATT_MTU")
    func mtuBound() {
        var bench = Bench()
        let value = LocalService.Characteristic(uuid: .short(0x2A00), properties: 0x02, value: Array(0..<100))
        bench.when(
            .perform(.setServices([LocalService(uuid: .short(0x1800), characteristics: [value])])), expect: .nothing)
        bench.connect(role: .peripheral)
        bench.when(.attribute([0x0A, 3, 0]), expect: .attribute([0x0B] + Array(0..<22)))
        bench.when(.attribute([0x0C, 3, 0, 90, 0]), expect: .attribute([0x0D] + Array(90..<100)))
        bench.when(.attribute([0x08, 1, 0, 3, 0, 0x00, 0x2A]), expect: .attribute([0x09, 21, 3, 0] + Array(0..<19)))
    }

    @Test("writes are reported, and a write request is answered")
    func written() {
        var bench = serving()
        let attribute = AttributeHandle(rawValue: 7)
        bench.when(
            .attribute([0x12, 7, 0, 1, 2]), expect: .attribute([0x13]), .event(.written(link, attribute, [1, 2])))
        bench.when(.attribute([0x52, 7, 0, 3]), expect: .event(.written(link, attribute, [3])))
        // A write command that is not permitted is ignored.
        bench.when(.attribute([0x52, 3, 0, 3]), expect: .nothing)
        bench.when(.attribute([0x52, 99, 0, 3]), expect: .nothing)
    }

    @Test("each link enables and disables notifications for itself")
    func subscribed() {
        var bench = serving()
        bench.connect(otherLink, hall, role: .peripheral)
        let value = AttributeHandle(rawValue: 3)
        bench.when(
            .attribute([0x12, 4, 0, 1, 0]), expect: .attribute([0x13]), .event(.subscribed(link, value, enabled: true)))
        bench.when(.attribute([0x12, 4, 0, 1, 0]), expect: .attribute([0x13]))
        bench.when(.attribute([0x0A, 4, 0]), expect: .attribute([0x0B, 1, 0]))
        bench.when(.attribute([0x0A, 4, 0], on: otherLink), expect: .attribute([0x0B, 0, 0], on: otherLink))
        bench.when(.freed(2), expect: .nothing)
        bench.when(
            .attribute([0x12, 4, 0, 0, 0]), expect: .attribute([0x13]), .event(.subscribed(link, value, enabled: false))
        )
    }

    @Test("a notification is sent with the value given")
    func notify() {
        var bench = serving()
        bench.when(
            .perform(.notify(link, AttributeHandle(rawValue: 3), [5, 6])), expect: .attribute([0x1B, 3, 0, 5, 6]))
    }

    @Test("the central's MTU exchange sets the ATT_MTU")
    func exchangeMTU() {
        var bench = serving()
        bench.when(
            .attribute([0x02, 100, 0]), expect: .attribute([0x03, 140, 0]), .event(.mtuExchanged(link, attMTU: 100)))
    }

    @Test("a peripheral asks the central for connection parameters")
    func requestParameters() {
        var bench = serving()
        let parameters = ConnectionParameters(
            intervalMinimum: 80, intervalMaximum: 90, peripheralLatency: 17, supervisionTimeout: 800)
        bench.when(
            .perform(.requestParameters(link, parameters)),
            expect: .frame(link, channel: 5, [0x12, 1, 8, 0, 80, 0, 90, 0, 17, 0, 0x20, 0x03]))
        bench.when(
            .frame(link, channel: 5, [0x13, 9, 2, 0, 0, 0]),
            expect: .event(.anomaly("an unexpected signalling response")))
        bench.when(
            .frame(link, channel: 5, [0x13, 1, 2, 0, 1, 0]),
            expect: .event(.anomaly("the central refused the connection parameters")))
        // Only a central grants such a request.
        bench.when(
            .frame(link, channel: 5, [0x12, 7, 8, 0, 80, 0, 90, 0, 17, 0, 0x20, 0x03]),
            expect: .frame(link, channel: 5, [0x01, 7, 2, 0, 0, 0]))
    }
}
