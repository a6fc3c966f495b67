import BluetoothHost
import ButtonModel
import Bytes
import Flic
import Simulator
import TestSupport
import Testing

/// Tests our host and session against our controller, air and button, in one process.
@Suite("End to end")
struct EndToEndTests {
    static let kitchen = SimulatedButtonDescription(name: "kitchen", address: peripheralAddress)

    /// A bench whose button is paired and in session.
    static func paired(
        _ button: SimulatedButtonDescription = kitchen, seed: UInt64 = 1,
        controller: VirtualController.Configuration = .init(address: centralAddress)
    ) -> Bench {
        var bench = Bench([button], seed: seed, controller: controller)
        bench.tell(.transportOpened)
        bench.tell(.perform(.setAcceptList([peripheralAddress])))
        bench.run(atMost: .seconds(5)) { $0.isReady }
        return bench
    }

    @Test("the controller is set up and reports its properties")
    func setUp() {
        var bench = Bench([])
        bench.tell(.transportOpened)
        bench.run(atMost: .seconds(1))
        #expect(
            bench.hostEvents == [
                .ready(
                    ControllerInfo(
                        address: centralAddress, hciVersion: 0x0C, manufacturer: 0xFFFF, acceptListSize: 16,
                        aclDataLength: 27, aclBufferCount: 8))
            ])
        #expect(bench.world.violations.isEmpty)
    }

    @Test("an active scan finds a button in public mode, with its scan response")
    func scan() throws {
        var bench = Bench([Self.kitchen])
        bench.tell(.transportOpened)
        bench.tell(.perform(.startScanning(active: true)))
        bench.run(atMost: .seconds(2))
        let reports = bench.hostEvents.compactMap { event -> AdvertisingReport? in
            if case .advertised(let report) = event { report } else { nil }
        }
        let advertisement = try #require(reports.first { $0.kind == .connectable })
        #expect(advertisement.address == peripheralAddress)
        #expect(advertisement.rssi == -60)
        #expect(
            advertisement.data.hex
                == "020106" + "1107" + "93e417b6f3840d872044598f00004200" + "0909" + "4632313130333032")
        let response = try #require(reports.first { $0.kind == .scanResponse })
        #expect(response.data.hex == "08ff" + "0f03" + "01" + "dae480" + "00")
        #expect(bench.world.violations.isEmpty)
    }

    @Test("a public button pairs over the air and is ready for events")
    func pairing() throws {
        let bench = Self.paired()
        #expect(bench.isReady)
        let identity = try #require(bench.identity)
        #expect(identity.address == peripheralAddress)
        #expect(identity.nickname == "kitchen")
        #expect(identity.serial.hasPrefix("BA00-"))
        #expect(identity.firmwareVersion == 11)
        #expect(bench.hostEvents.contains { if case .mtuExchanged(_, 140) = $0 { true } else { false } })
        #expect(bench.notes.contains("kitchen: paired"))
        #expect(bench.world.violations.isEmpty)
    }

    @Test("a click arrives as down, up and its timeout, half a second after the press")
    func click() {
        var bench = Self.paired()
        bench.run(atMost: .seconds(3))
        bench.tell(world: .press(button: "kitchen", .click))
        bench.run(atMost: .seconds(1))
        #expect(bench.buttonEvents.map(\.step) == [.down, .up(.open), .clickTimeout])
        #expect(bench.buttonEvents.map(\.counter) == [1, 3, 4])
        #expect(bench.buttonEvents.allSatisfy { !$0.wasQueued })
        #expect(bench.finished == [.click])
        #expect(bench.world.violations.isEmpty)
    }

    @Test("each press script is reported with its steps")
    func gestures() {
        var bench = Self.paired()
        bench.run(atMost: .seconds(3))
        for press in [SimulatedPress.doubleClick, .hold] { bench.tell(world: .press(button: "kitchen", press)) }
        bench.run(atMost: .seconds(5))
        #expect(
            bench.buttonEvents.map(\.step) == [
                .down, .up(.open), .down, .up(.doubleClick), .down, .hold(ofSecondPress: false), .up(.afterHoldClick),
            ])
    }

    @Test("presses out of reach are stored, and reported on the next link, marked as queued")
    func queuedEvents() throws {
        var bench = Self.paired()
        bench.run(atMost: .seconds(3))
        bench.tell(world: .press(button: "kitchen", .click))
        bench.run(atMost: .seconds(2))
        bench.tell(world: .setReachable(button: "kitchen", false))
        let isLost = bench.run(atMost: .seconds(20)) { bench in
            bench.hostEvents.contains {
                if case .disconnected(_, reason: .connectionTimeout) = $0 { true } else { false }
            }
        }
        #expect(isLost)
        bench.tell(world: .press(button: "kitchen", .click))
        bench.run(atMost: .seconds(30))
        #expect(bench.buttonEvents.count == 3)

        bench.tell(world: .setReachable(button: "kitchen", true))
        bench.run(atMost: .seconds(20)) { $0.buttonEvents.count == 6 }
        let queued = bench.buttonEvents.filter(\.wasQueued)
        #expect(queued.map(\.step) == [.down, .up(.open), .clickTimeout])
        #expect(queued.map(\.counter) == [5, 7, 8])
        #expect(queued.allSatisfy { $0.age > .seconds(29) && $0.age < .seconds(40) })

        bench.tell(world: .press(button: "kitchen", .click))
        bench.run(atMost: .seconds(2))
        #expect(bench.buttonEvents.suffix(3).map(\.counter) == [9, 11, 12])
        #expect(bench.world.violations.isEmpty)
    }

    @Test("a private button cannot be paired; held for seven seconds it can")
    func publicMode() {
        var hidden = Self.kitchen
        hidden.isPublic = false
        var bench = Bench([hidden])
        bench.tell(.transportOpened)
        bench.tell(.perform(.startScanning(active: true)))
        bench.tell(world: .press(button: "kitchen", .click))
        bench.run(atMost: .seconds(5))
        let before = bench.hostEvents.compactMap { event -> [UInt8]? in
            if case .advertised(let report) = event { report.data } else { nil }
        }
        #expect(!before.isEmpty)
        #expect(before.allSatisfy { $0 == [0x02, 0x01, 0x06] || $0.isEmpty })

        bench.tell(world: .press(button: "kitchen", .makePublic))
        bench.run(atMost: .seconds(10))
        #expect(bench.notes.contains("kitchen: advertising, public"))
        bench.tell(.perform(.stopScanning))
        bench.tell(.perform(.setAcceptList([peripheralAddress])))
        let isReady = bench.run(atMost: .seconds(5)) { $0.isReady }
        #expect(isReady)
        #expect(bench.world.violations.isEmpty)
    }

    @Test("a link the host ends leaves the button silent until it is pressed")
    func hostDisconnects() throws {
        var bench = Self.paired()
        bench.run(atMost: .seconds(3))
        let link = try #require(
            bench.hostEvents.lazy.compactMap { if case .connected(let link) = $0 { link } else { nil } }.first)
        bench.tell(.perform(.disconnect(link.handle, reason: .remoteUserTerminated)))
        bench.run(atMost: .seconds(100))
        #expect(bench.hostEvents.last == .disconnected(link, reason: .localHostTerminated))
        bench.tell(world: .press(button: "kitchen", .click))
        let isReconnected = bench.run(atMost: .seconds(5)) { $0.buttonEvents.count == 3 }
        #expect(isReconnected)
    }

    @Test("small, single and shared buffers change nothing", arguments: [(27, 1), (27, 8), (251, 2)])
    func buffers(_ length: UInt16, _ count: UInt8) {
        for shares in [false, true] {
            var bench = Self.paired(
                controller: .init(
                    address: centralAddress, aclDataLength: length, aclBufferCount: count, sharesBuffers: shares))
            #expect(bench.isReady)
            bench.tell(world: .press(button: "kitchen", .click))
            bench.run(atMost: .seconds(5))
            #expect(bench.buttonEvents.count == 3)
            #expect(bench.world.violations.isEmpty)
        }
    }

    @Test("a controller that reports a connection before its command is answered changes nothing")
    func hastyController() {
        var configuration = VirtualController.Configuration(address: centralAddress)
        configuration.faults.reportsConnectionBeforeCommandStatus = true
        let bench = Self.paired(controller: configuration)
        #expect(bench.isReady)
        #expect(bench.world.violations.isEmpty)
    }

    @Test("a silent controller is reported as failed, and an idle world sets no timer")
    func silentController() {
        var configuration = VirtualController.Configuration(address: centralAddress)
        configuration.faults.isSilent = true
        var bench = Bench([], controller: configuration)
        bench.tell(.transportOpened)
        bench.run(atMost: .seconds(60))
        #expect(bench.hostEvents == [.failed(.noAnswer(.reset))])
    }

    @Test("a button behind a foreign controller pairs under its static random address")
    func randomAddress() throws {
        let address = try #require(BluetoothAddress("C0:E4:DA:01:02:03", kind: .random))
        var bench = Bench([.init(name: "kitchen", address: address)])
        bench.tell(.transportOpened)
        bench.tell(.perform(.setAcceptList([address])))
        bench.run(atMost: .seconds(5)) { $0.isReady }
        #expect(bench.isReady)
        #expect(bench.identity?.address == address)
    }

    @Test("a controller without an accept list connects to one button at a time")
    func noAcceptList() {
        var bench = Self.paired(controller: .init(address: centralAddress, acceptListSize: 0))
        #expect(bench.isReady)
        bench.tell(world: .press(button: "kitchen", .click))
        bench.run(atMost: .seconds(5))
        #expect(bench.buttonEvents.count == 3)
        #expect(bench.world.violations.isEmpty)
    }

    @Test("a host that is restarted connects to the button again and reports no event twice")
    func restart() {
        var bench = Self.paired()
        bench.tell(world: .press(button: "kitchen", .click))
        bench.run(atMost: .seconds(5))
        bench.tell(.transportClosed)
        bench.tell(world: .press(button: "kitchen", .click))
        bench.run(atMost: .seconds(1))
        bench.tell(.transportOpened)
        bench.run(atMost: .seconds(30))
        #expect(bench.buttonEvents.map(\.counter) == [1, 3, 4, 5, 7, 8])
        #expect(bench.world.violations.isEmpty)
    }

    @Test("a hardware error ends all links, and the host can be set up again")
    func hardwareError() {
        var bench = Self.paired()
        bench.tell(world: .controllerFault(.hardwareError(code: 0x42)))
        bench.run(atMost: .seconds(1))
        #expect(bench.hostEvents.contains(.failed(.hardwareError(0x42))))
        bench.tell(.transportClosed)
        bench.tell(.transportOpened)
        bench.run(atMost: .seconds(30)) { $0.isReady }
        #expect(bench.isReady)
        #expect(bench.world.violations.isEmpty)
    }

    @Test("three buttons share two links: the third waits until one is free")
    func linkLimit() throws {
        let names = ["kitchen", "hall", "attic"]
        let buttons = names.enumerated().map { index, name in
            SimulatedButtonDescription(
                name: name, address: BluetoothAddress(rawValue: peripheralAddress.rawValue + UInt64(index)))
        }
        var bench = Bench(
            buttons, controller: .init(address: centralAddress, maximumLinks: 2), runsSessions: false)
        bench.tell(.transportOpened)
        bench.tell(.perform(.setAcceptList(buttons.compactMap(\.address))))
        bench.run(atMost: .seconds(5))
        #expect(bench.links.count == 2)
        let first = try #require(bench.links.first)
        let missing = Set(buttons.compactMap(\.address)).subtracting(bench.links.map(\.peer))
        bench.tell(.perform(.disconnect(first.handle, reason: .remoteUserTerminated)))
        bench.run(atMost: .seconds(5))
        #expect(bench.links.count == 2)
        #expect(missing.isSubset(of: Set(bench.hostEvents.compactMap(Bench.connected))))
        #expect(bench.world.violations.isEmpty)
    }

    @Test("the same seed and inputs give the same world")
    func determinism() {
        func run() -> Bench {
            var bench = Self.paired(seed: 7)
            for press in [SimulatedPress.click, .hold] { bench.tell(world: .press(button: "kitchen", press)) }
            bench.run(atMost: .seconds(10))
            return bench
        }
        let first = run()
        let second = run()
        #expect(first.notes == second.notes)
        #expect(first.sessionEffects == second.sessionEffects)
        #expect(first.hostEvents == second.hostEvents)
    }

    @Test("links that break during data lose no press", arguments: UInt64(0)..<6)
    func linkLosses(_ seed: UInt64) {
        var bench = Bench([Self.kitchen], seed: seed, air: .init(linkLossesPerMillion: 20_000))
        bench.tell(.transportOpened)
        bench.tell(.perform(.setAcceptList([peripheralAddress])))
        // A host that has just paired does not want presses before the first init.
        bench.run(atMost: .seconds(300)) { $0.isReady }
        for _ in 0..<20 {
            bench.tell(world: .press(button: "kitchen", .click))
            bench.run(atMost: .seconds(3))
        }
        bench.run(atMost: .seconds(600))
        #expect(bench.buttonEvents.filter { $0.step == .down }.count == 20)
        let counters = bench.buttonEvents.map(\.counter)
        #expect(counters == Set(counters).sorted())
        #expect(bench.world.violations.isEmpty)
    }

    @Test(
        "with random presses and random reachability, no press is lost or reported twice",
        arguments: UInt64(0)..<12)
    func nothingLost(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var bench = Self.paired(seed: seed)
        #expect(bench.isReady)
        for _ in 0..<12 {
            switch random.next() % 4 {
            case 0: bench.tell(world: .setReachable(button: "kitchen", false))
            case 1: bench.tell(world: .setReachable(button: "kitchen", true))
            default:
                let press = [SimulatedPress.click, .doubleClick, .hold].randomElement(using: &random) ?? .click
                bench.tell(world: .press(button: "kitchen", press))
            }
            bench.run(atMost: .milliseconds(Int64(random.next() % 9000)))
        }
        bench.tell(world: .setReachable(button: "kitchen", true))
        bench.run(atMost: .seconds(120))

        let downs = bench.notes.filter { $0 == "kitchen: down" }.count
        #expect(bench.buttonEvents.filter { $0.step == .down }.count == downs)
        let counters = bench.buttonEvents.map(\.counter)
        #expect(counters == Set(counters).sorted())
        #expect(bench.world.violations.isEmpty)
    }
}
