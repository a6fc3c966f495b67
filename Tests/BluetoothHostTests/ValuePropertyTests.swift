import ButtonModel
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("GATT client and server of this library")
struct ValuePropertyTests {
    private static let table: AttributeTable = AttributeTable([
        LocalService(uuid: .short(0x180A), characteristics: [.init(uuid: .short(0x2A24), properties: 0x0A)])
    ])
    private let attribute = AttributeHandle(rawValue: 3)
    private let now = Instant(sinceBoot: .zero)

    /// Runs one procedure. Returns its result, what the server reported, and the number of requests.
    private func run(
        _ procedure: GATTProcedure, _ table: AttributeTable, attMTU: UInt16
    ) -> (results: [GATTClient.Effect], written: [GATTServer.Effect], requests: Int) {
        var client = GATTClient(offeredMTU: attMTU)
        var server = GATTServer()
        var results: [GATTClient.Effect] = []
        var written: [GATTServer.Effect] = []
        var requests: [ATTPDU] = []
        var count = 0
        func sort(_ effects: [GATTClient.Effect]) {
            for effect in effects {
                if case .send(let request) = effect { requests.append(request) } else { results.append(effect) }
            }
        }
        sort(client.start(procedure, attMTU: attMTU, at: now))
        while !requests.isEmpty {
            let request = requests.removeFirst()
            #expect(request.encoded.count <= Int(attMTU))
            count += 1
            for effect in server.handle(request, in: table, offeredMTU: attMTU, mtu: attMTU) {
                guard case .send(let response) = effect else {
                    written.append(effect)
                    continue
                }
                #expect(response.encoded.count <= Int(attMTU))
                sort(client.receive(response, attMTU: attMTU, at: now))
            }
        }
        return (results, written, count)
    }

    @Test(
        "a value of any length is read with as few requests as possible",
        arguments: [23, 24, 65, 129, 257, 513, 517] as [UInt16])
    func read(attMTU: UInt16) {
        var table = Self.table
        let part = Int(attMTU) - 1
        for length in 0...512 {
            let value = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let isSet = table.setValue(value, of: attribute)
            #expect(isSet)
            let (results, _, requests) = run(.read(attribute), table, attMTU: attMTU)
            #expect(results == [.read(attribute, value)])
            // A value has at most 512 octets, so no request asks for more.
            #expect(requests == (length == 512 ? (511 / part + 1) : length / part + 1))
        }
    }

    @Test("a value of any length is written", arguments: [23, 24, 65, 129, 257, 513, 517] as [UInt16])
    func write(attMTU: UInt16) {
        for length in 0...512 {
            let value = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let (results, written, requests) = run(.write(attribute, value), Self.table, attMTU: attMTU)
            #expect(results == [.writeCompleted(attribute)])
            #expect(written == [.written(attribute, value)])
            let part = Int(attMTU) - 5
            #expect(requests == (length <= Int(attMTU) - 3 ? 1 : (length + part - 1) / part + 1))
        }
    }
}
