import BluetoothHost
import ButtonModel
import TestSupport
import Testing

@Suite("GATT server: values, prepared writes and indications")
struct GATTServerTranscriptTests {
    /// Service at handle 1; value 3 with read and write; value 5 with notify and indicate, its configuration at 6, its
    /// descriptors at 7 and 8.
    private static let services = [
        LocalService(
            uuid: .short(0x180A),
            characteristics: [
                .init(uuid: .short(0x2A24), properties: 0x0A, value: Array("model".utf8)),
                .init(
                    uuid: .short(0x2A25), properties: 0x30,
                    descriptors: [
                        .init(uuid: .short(0x2901), value: Array("serial".utf8)),
                        .init(uuid: .short(0x2903), value: [0, 0], isWritable: true),
                    ]),
            ])
    ]
    private let value = AttributeHandle(rawValue: 3)
    private let indicated = AttributeHandle(rawValue: 5)

    private func serving(_ services: [LocalService] = services) -> Bench {
        var info = Bench.info
        info.aclDataLength = 251
        info.aclBufferCount = 255
        var bench = Bench(.init(attMTU: 517), info: info)
        bench.when(.perform(.setServices(services)), expect: .nothing)
        bench.connect(role: .peripheral)
        return bench
    }

    // MARK: Values

    @Test("a client reads the value that was set last")
    func setValue() {
        var bench = serving()
        bench.when(.attribute([0x0A, 3, 0]), expect: .attribute([0x0B] + Array("model".utf8)))
        bench.when(.perform(.setValue(value, [1, 2])), expect: .nothing)
        bench.when(.attribute([0x0A, 3, 0]), expect: .attribute([0x0B, 1, 2]))
        // A client's write is reported, and does not change the value by itself.
        bench.when(.attribute([0x12, 3, 0, 9]), expect: .attribute([0x13]), .event(.written(link, value, [9])))
        bench.when(.attribute([0x0A, 3, 0]), expect: .attribute([0x0B, 1, 2]))
    }

    @Test("setting a value at a handle that is no value is an anomaly", arguments: [0, 1, 2, 6, 9] as [UInt16])
    func setNoValue(handle: UInt16) {
        var bench = serving()
        bench.when(
            .perform(.setValue(AttributeHandle(rawValue: handle), [1])),
            expect: .event(.anomaly("attribute \(handle) does not exist, or the value is too long")))
    }

    @Test("a value has at most 512 octets, and a client can read all of them")
    func longestValue() {
        var bench = serving()
        let longest = [UInt8](repeating: 7, count: 512)
        bench.when(
            .perform(.setValue(value, longest + [7])),
            expect: .event(.anomaly("attribute 3 does not exist, or the value is too long")))
        bench.when(.perform(.setValue(value, longest)), expect: .nothing)
        bench.when(.attribute([0x0C, 3, 0, 0xFF, 1]), expect: .attribute([0x0D, 7]))
        bench.when(.attribute([0x0C, 3, 0, 0, 2]), expect: .attribute([0x0D]))
        bench.when(.attribute([0x0C, 3, 0, 1, 2]), expect: .attribute([0x01, 0x0C, 3, 0, 0x07]))
    }

    @Test("descriptors are found and read, and written if they are writable")
    func descriptors() {
        var bench = serving()
        bench.when(
            .attribute([0x04, 6, 0, 0xFF, 0xFF]),
            expect: .attribute([0x05, 1, 6, 0, 0x02, 0x29, 7, 0, 0x01, 0x29, 8, 0, 0x03, 0x29]))
        bench.when(.attribute([0x0A, 7, 0]), expect: .attribute([0x0B] + Array("serial".utf8)))
        bench.when(.attribute([0x12, 7, 0, 1]), expect: .attribute([0x01, 0x12, 7, 0, 0x03]))
        bench.when(
            .attribute([0x12, 8, 0, 1, 0]), expect: .attribute([0x13]),
            .event(.written(link, AttributeHandle(rawValue: 8), [1, 0])))
    }

    // MARK: Prepared writes

    @Test("the parts of a prepared write are echoed, and written as one value when they are executed")
    func prepared() {
        var bench = serving()
        bench.when(.attribute([0x16, 3, 0, 0, 0, 1, 2, 3]), expect: .attribute([0x17, 3, 0, 0, 0, 1, 2, 3]))
        bench.when(.attribute([0x16, 3, 0, 3, 0, 4]), expect: .attribute([0x17, 3, 0, 3, 0, 4]))
        bench.when(
            .attribute([0x18, 1]), expect: .attribute([0x19]), .event(.written(link, value, [1, 2, 3, 4])))
        bench.when(.attribute([0x18, 1]), expect: .attribute([0x19]))
    }

    @Test(
        "prepared parts may overlap and belong to several values, which are written in the order of their first parts")
    func reliable() {
        var bench = serving()
        let descriptor = AttributeHandle(rawValue: 8)
        bench.given(.attribute([0x16, 8, 0, 0, 0, 1, 0]))
        bench.given(.attribute([0x16, 3, 0, 0, 0, 1, 2, 3]))
        bench.given(.attribute([0x16, 3, 0, 1, 0, 9]))
        bench.when(
            .attribute([0x18, 1]), expect: .attribute([0x19]), .event(.written(link, descriptor, [1, 0])),
            .event(.written(link, value, [1, 9, 3])))
    }

    @Test("a prepared write that begins after the first octet keeps the octets before it")
    func offset() {
        var bench = serving()
        bench.given(.attribute([0x16, 3, 0, 2, 0, 0x78]))
        bench.when(
            .attribute([0x18, 1]), expect: .attribute([0x19]), .event(.written(link, value, Array("mox".utf8))))
    }

    @Test("prepared parts that are cancelled, or whose link has ended, are not written")
    func cancelled() {
        var bench = serving()
        bench.given(.attribute([0x16, 3, 0, 0, 0, 1]))
        bench.when(.attribute([0x18, 0]), expect: .attribute([0x19]))
        bench.when(.attribute([0x18, 1]), expect: .attribute([0x19]))
        bench.given(.attribute([0x16, 3, 0, 0, 0, 1]))
        bench.given(.event(.disconnectionComplete(.success, link, reason: .connectionTimeout)))
        bench.connect(role: .peripheral)
        bench.when(.attribute([0x18, 1]), expect: .attribute([0x19]))
    }

    @Test(
        "a prepared part for an attribute that cannot be written is refused at once",
        arguments: [(9, 0x01), (5, 0x03), (7, 0x03), (1, 0x03)] as [(UInt8, UInt8)])
    func refused(handle: UInt8, code: UInt8) {
        var bench = serving()
        bench.when(
            .attribute([0x16, handle, 0, 0, 0, 1]), expect: .attribute([0x01, 0x16, handle, 0, code]))
    }

    @Test("a prepared write with a gap or too long a value is refused when executed, and writes nothing")
    func refusedLater() {
        var bench = serving()
        bench.given(.attribute([0x16, 8, 0, 0, 0, 1, 0]))
        bench.given(.attribute([0x16, 3, 0, 6, 0, 1]))
        bench.when(.attribute([0x18, 1]), expect: .attribute([0x01, 0x18, 3, 0, 0x07]))
        bench.when(.attribute([0x18, 1]), expect: .attribute([0x19]))
        // The first part has 500 octets from 2 on, the second 11 octets up to 513.
        bench.given(.attribute([0x02, 0x05, 0x02]))
        bench.given(.attribute([0x16, 3, 0, 2, 0] + [UInt8](repeating: 0, count: 500)))
        bench.given(.attribute([0x16, 3, 0, 0xF6, 1] + [UInt8](repeating: 0, count: 11)))
        bench.when(.attribute([0x18, 1]), expect: .attribute([0x01, 0x18, 3, 0, 0x0D]))
    }

    @Test("a queue of prepared parts has a bound of parts and octets, and is free again after its execution")
    func queueFull() {
        var bench = serving()
        for _ in 0..<32 { bench.when(.attribute([0x16, 3, 0, 0, 0]), expect: .attribute([0x17, 3, 0, 0, 0])) }
        bench.when(.attribute([0x16, 3, 0, 0, 0]), expect: .attribute([0x01, 0x16, 3, 0, 0x09]))
        bench.when(.attribute([0x18, 1]), expect: .attribute([0x19]), .event(.written(link, value, [])))
        bench.given(.attribute([0x02, 0x05, 0x02]))
        let half = [UInt8](repeating: 1, count: 512)
        for _ in 0..<4 { bench.given(.attribute([0x16, 3, 0, 0, 0] + half)) }
        bench.when(.attribute([0x16, 3, 0, 0, 0, 1]), expect: .attribute([0x01, 0x16, 3, 0, 0x09]))
        bench.when(.attribute([0x18, 1]), expect: .attribute([0x19]), .event(.written(link, value, half)))
    }

    // MARK: Indications

    @Test("an indication waits for the confirmation of the one before it")
    func indicate() {
        var bench = serving()
        bench.when(.perform(.indicate(link, indicated, [1])), expect: .attribute([0x1D, 5, 0, 1]))
        bench.when(.perform(.indicate(link, value, [2])), expect: .nothing)
        bench.when(
            .attribute([0x1E]), expect: .event(.indicationConfirmed(link, indicated)), .attribute([0x1D, 3, 0, 2]))
        bench.when(.attribute([0x1E]), expect: .event(.indicationConfirmed(link, value)))
        bench.when(.attribute([0x1E]), expect: .event(.anomaly("an unexpected confirmation")))
    }

    @Test("an indication without confirmation for thirty seconds fails all indications and ends the link")
    func unconfirmed() {
        var bench = serving()
        bench.given(.perform(.indicate(link, indicated, [1])))
        bench.when(.freed(), expect: .nothing)
        bench.wait(.milliseconds(29_999))
        bench.when(.perform(.indicate(link, value, [2])), expect: .nothing)
        bench.wait(
            .milliseconds(1), expect: .event(.indicationFailed(link, indicated, .transactionTimedOut)),
            .event(.indicationFailed(link, value, .transactionTimedOut)),
            .command(.disconnect(link, reason: .remoteUserTerminated)))
        bench.when(
            .perform(.indicate(link, value, [3])), expect: .event(.indicationFailed(link, value, .linkLost)))
    }

    @Test("indications that are too many, too long or without a link fail at once")
    func indicationBounds() {
        var bench = serving()
        let tooLong = LEHost.Input.perform(.indicate(link, indicated, Array(repeating: 0, count: 21)))
        bench.when(tooLong, expect: .event(.indicationFailed(link, indicated, .valueTooLong)))
        for _ in 0...16 { bench.given(.perform(.indicate(link, indicated, []))) }
        bench.when(
            .perform(.indicate(link, indicated, [])),
            expect: .event(.indicationFailed(link, indicated, .tooManyProcedures)))
        let failed = LEHost.Effect.event(.indicationFailed(link, indicated, .linkLost))
        let effects = bench.given(.event(.disconnectionComplete(.success, link, reason: .connectionTimeout)))
        #expect(effects.filter { $0 == failed }.count == 17)
        bench.when(.perform(.indicate(link, indicated, [])), expect: failed)
    }

    @Test("notifications and indications are enabled apart, and only if the characteristic has them")
    func configuration() {
        var bench = serving()
        bench.when(
            .attribute([0x12, 6, 0, 3, 0]), expect: .attribute([0x13]),
            .event(.subscribed(link, indicated, enabled: true)),
            .event(.subscribedToIndications(link, indicated, enabled: true)))
        bench.when(.attribute([0x0A, 6, 0]), expect: .attribute([0x0B, 3, 0]))
        bench.when(
            .attribute([0x12, 6, 0, 1, 0]), expect: .attribute([0x13]),
            .event(.subscribedToIndications(link, indicated, enabled: false)))
        bench = serving([
            LocalService(uuid: .short(0x180F), characteristics: [.init(uuid: .short(0x2A19), properties: 0x10)])
        ])
        bench.when(.attribute([0x12, 4, 0, 2, 0]), expect: .attribute([0x01, 0x12, 4, 0, 0xFD]))
    }

    // MARK: Service Changed

    private static let changing = [LocalService.genericAttribute] + services

    /// The client has enabled Service Changed (value 3, configuration 4) and notifications of the value at 9.
    private func subscribed() -> Bench {
        var bench = serving(Self.changing)
        bench.given(.attribute([0x12, 4, 0, 2, 0]))
        bench.given(.attribute([0x12, 10, 0, 1, 0]))
        return bench
    }

    @Test("replaced services are indicated from the first handle whose meaning has changed")
    func replaced() {
        var bench = subscribed()
        var services = Self.changing
        services[1].characteristics[1].properties = 0x10
        bench.when(.perform(.setServices(services)), expect: .attribute([0x1D, 3, 0, 8, 0, 0xFF, 0xFF]))
        // Subscriptions from that handle on are off.
        bench.when(.attribute([0x0A, 10, 0]), expect: .attribute([0x0B, 0, 0]))
        bench.when(.attribute([0x0A, 4, 0]), expect: .attribute([0x0B, 2, 0]))
        bench.when(
            .attribute([0x1E]), expect: .event(.indicationConfirmed(link, AttributeHandle(rawValue: 3))))
    }

    @Test("services added or removed at the end are indicated from their first handle")
    func added() {
        var bench = subscribed()
        let battery = LocalService(uuid: .short(0x180F), characteristics: [.init(uuid: .short(0x2A19), properties: 2)])
        bench.when(
            .perform(.setServices(Self.changing + [battery])),
            expect: .attribute([0x1D, 3, 0, 13, 0, 0xFF, 0xFF]))
        bench.given(.attribute([0x1E]))
        bench.when(.perform(.setServices(Self.changing)), expect: .attribute([0x1D, 3, 0, 13, 0, 0xFF, 0xFF]))
        bench.when(.attribute([0x0A, 10, 0]), expect: .attribute([0x0B, 1, 0]))
    }

    @Test("equal services with other values are not indicated, and neither is any change without a subscription")
    func notReplaced() {
        var bench = subscribed()
        bench.when(.perform(.setServices(Self.changing)), expect: .nothing)
        var services = Self.changing
        services[1].characteristics[0].value = [1]
        bench.when(.perform(.setServices(services)), expect: .nothing)
        bench = serving(Self.changing)
        bench.when(.perform(.setServices([.genericAttribute])), expect: .nothing)
    }
}
