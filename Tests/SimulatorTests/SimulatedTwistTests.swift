import BluetoothHost
import ButtonModel
import Bytes
import Simulator
import Testing

@Suite("Simulated Twist")
struct SimulatedTwistTests {
    @Test("in public mode a Twist is identified by its service, its name and its scan response")
    func advertisement() throws {
        var bench = Bench([SimulatedButtonDescription(name: "lamp", address: peripheralAddress, model: .twist)])
        bench.tell(.transportOpened)
        bench.tell(.perform(.startScanning(active: true)))
        bench.run(atMost: .seconds(2))
        let reports = bench.hostEvents.compactMap { event -> AdvertisingReport? in
            if case .advertised(let report) = event { report } else { nil }
        }
        let advertisement = try #require(reports.first { $0.kind == .connectable })
        // T011, and AQID: the octets 1, 2 and 3 in base64url.
        #expect(
            advertisement.data.hex
                == "020106" + "1107" + "7dfb0f96cd5c25a72a4fbd2c0000c900" + "0909" + "5430313141514944")
        let response = try #require(reports.first { $0.kind == .scanResponse })
        #expect(response.data.hex == "08ff" + "0f03" + "02" + "dae480" + "00")
    }

    @Test("turning a button without a dial is noted, and turning an unknown button is reported")
    func nothingToTurn() {
        var world = SimulatedWorld([.init(name: "hall")], seed: 1, at: Instant(sinceBoot: .zero))
        let effects = world.handle(.turn(button: "hall", hundredths: 1), at: Instant(sinceBoot: .zero))
        #expect(effects.contains(.note(button: "hall", "it has no dial to turn")))
        #expect(world.dialSnapshot(of: "hall") == nil && world.dialSnapshot(of: "attic") == nil)
        let unknown = world.handle(.turn(button: "attic", hundredths: 1), at: Instant(sinceBoot: .zero))
        #expect(unknown.contains(.unknownButton("attic")))
    }
}
