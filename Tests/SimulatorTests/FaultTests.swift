import BluetoothHost
import ButtonModel
import Bytes
import Flic
import Simulator
import TestSupport
import Testing

/// Faults and maintenance of simulated buttons, observed by the host.
@Suite("Simulated button: faults and maintenance")
struct FaultTests {
    private func failures(_ bench: Bench) -> [SessionFailure] {
        bench.sessionEffects.compactMap { if case .failed(let failure) = $0 { failure } else { nil } }
    }

    /// A bench whose button is paired and has answered all requests after init.
    private func settled(_ button: SimulatedButtonDescription = EndToEndTests.kitchen) -> Bench {
        var bench = EndToEndTests.paired(button)
        bench.run(atMost: .seconds(10))
        return bench
    }

    @Test("after a dropped link the button advertises and is connected again at once")
    func dropLink() {
        var bench = settled()
        bench.tell(world: .fault(button: "kitchen", .dropLink))
        #expect(bench.run(atMost: .seconds(1)) { !$0.isReady })
        #expect(bench.run(atMost: .seconds(2)) { $0.isReady })
        #expect(failures(bench).isEmpty && bench.world.violations.isEmpty)
    }

    @Test("a rebooted button is silent until it is pressed, counts from one, and has lost its advertising settings")
    func reboot() throws {
        var bench = settled()
        bench.tell(world: .press(button: "kitchen", .click))
        bench.run(atMost: .seconds(3))
        let bootID = try #require(bench.buttonEvents.last).bootID
        bench.tell(world: .fault(button: "kitchen", .reboot))
        bench.run(atMost: .seconds(30))
        #expect(!bench.isReady)
        bench.tell(world: .press(button: "kitchen", .click))
        #expect(bench.run(atMost: .seconds(2)) { $0.isReady })
        bench.run(atMost: .seconds(5))
        #expect(bench.buttonEvents.suffix(3).map(\.counter) == [1, 3, 4])
        #expect(bench.buttonEvents.last?.bootID != bootID)
        #expect(bench.sessionEffects.filter { $0 == .advertisingConfigured }.count == 2)
    }

    @Test("a wrong signature ends the session, and no press is lost")
    func wrongSignature() {
        var bench = settled()
        bench.tell(world: .fault(button: "kitchen", .wrongSignature))
        bench.tell(world: .press(button: "kitchen", .click))
        bench.run(atMost: .seconds(15))
        #expect(failures(bench) == [.packetSignatureMismatch])
        #expect(bench.isReady && bench.buttonEvents.map(\.counter) == [1, 3, 4])
    }

    @Test("after a lost acknowledgement the events are sent again and reported once")
    func lostAcknowledgement() {
        var bench = settled()
        bench.tell(world: .fault(button: "kitchen", .lostAcknowledgement))
        bench.tell(world: .press(button: "kitchen", .click))
        bench.run(atMost: .seconds(5))
        bench.tell(world: .fault(button: "kitchen", .dropLink))
        bench.run(atMost: .seconds(10))
        #expect(bench.isReady && bench.buttonEvents.map(\.counter) == [1, 3, 4])
    }

    @Test("the presses of a button that ignores requests are reported, and so is each unanswered request")
    func ignoredRequests() {
        var bench = settled()
        bench.tell(world: .fault(button: "kitchen", .ignoresRequests(true)))
        bench.perform(.setNickname(Nickname("Hall", chosenAt: 1)))
        bench.tell(world: .press(button: "kitchen", .click))
        bench.run(atMost: .seconds(20))
        #expect(bench.sessionEffects.contains(.unanswered("SetNameRequest")))
        #expect(bench.buttonEvents.map(\.counter) == [1, 3, 4] && failures(bench).isEmpty)
        bench.tell(world: .fault(button: "kitchen", .ignoresRequests(false)))
        bench.perform(.setNickname(Nickname("Attic", chosenAt: 2)))
        bench.run(atMost: .seconds(5))
        #expect(bench.sessionEffects.contains(.nickname("Attic")))
    }

    @Test("the battery level is read every three hours")
    func battery() {
        var bench = settled()
        bench.tell(world: .setBattery(button: "kitchen", millivolts: 2400))
        bench.run(atMost: .seconds(3 * 60 * 60 + 10))
        #expect(
            bench.sessionEffects.contains(.battery(millivolts: Battery.millivolts(raw: Battery.raw(millivolts: 2400)))))
    }

    @Test("a button pings, and a host that answers keeps its session")
    func pings() {
        var bench = settled(
            SimulatedButtonDescription(name: "kitchen", address: peripheralAddress, pingPeriod: .seconds(10)))
        bench.run(atMost: .seconds(600))
        #expect(bench.isReady && failures(bench).isEmpty)
    }

    @Test("an interrupted firmware update is resumed and verified, and increases the version by one")
    func firmware() throws {
        var bench = settled()
        let image = try FirmwareImage(FlicPeripheral.firmware(wordCount: 2000))
        bench.perform(.updateFirmware(image))
        let isUnderWay = bench.run(atMost: .seconds(20)) {
            $0.sessionEffects.contains { if case .firmwareUpdate(.received(600..., _)) = $0 { true } else { false } }
        }
        #expect(isUnderWay)
        bench.tell(world: .fault(button: "kitchen", .dropLink))
        #expect(bench.run(atMost: .seconds(5)) { !$0.isReady })
        #expect(bench.sessionEffects.contains(.firmwareUpdate(.failed(.interrupted))))
        #expect(bench.run(atMost: .seconds(5)) { $0.isReady })
        bench.perform(.updateFirmware(image))
        let isFinished = bench.run(atMost: .seconds(60)) { $0.sessionEffects.contains(.firmwareUpdate(.finished)) }
        #expect(isFinished)
        let starts = bench.sessionEffects.compactMap { effect -> Int? in
            if case .firmwareUpdate(.started(let words, 2000)) = effect { words } else { nil }
        }
        #expect(starts.first == 0 && starts.count == 2 && starts[1] >= 600)
        bench.run(atMost: .seconds(20))
        #expect(bench.notes.contains("kitchen: restarted with firmware 12"))
        #expect(bench.isReady && bench.sessionEffects.contains(.firmware(version: 12)))
        #expect(bench.world.violations.isEmpty)
    }

    @Test("an image with a wrong signature is refused, and the button keeps its firmware")
    func forgedFirmware() throws {
        var bench = settled()
        var octets = FlicPeripheral.firmware(wordCount: 700)
        octets[100] ^= 1
        bench.perform(.updateFirmware(try FirmwareImage(octets)))
        bench.run(atMost: .seconds(40))
        #expect(bench.sessionEffects.contains(.firmwareUpdate(.failed(.signatureInvalid))))
        #expect(bench.isReady)
    }

    @Test("a factory reset deletes all pairings")
    func factoryReset() {
        var bench = settled()
        bench.perform(.factoryReset)
        bench.run(atMost: .seconds(5))
        #expect(bench.sessionEffects.contains(.factoryReset) && bench.notes.contains("kitchen: all pairings forgotten"))
    }

    @Test("LED patterns are reported as notes")
    func light() {
        var bench = settled()
        bench.perform(.executeLEDPattern(LEDPattern(colour: 2, brightness: 9, pulseOn: 1, pulseOff: 1, periods: 3)))
        bench.perform(.abortLEDPattern)
        bench.run(atMost: .seconds(5))
        #expect(bench.notes.suffix(2) == ["kitchen: light: colour 2, 3 times", "kitchen: light: as usual"])
    }

    @Test("the scan response says that another device is connected to the button")
    func taken() throws {
        var bench = Bench([
            SimulatedButtonDescription(name: "kitchen", address: peripheralAddress, isConnectedElsewhere: true)
        ])
        bench.tell(.transportOpened)
        bench.run(atMost: .seconds(1))
        #expect(try scanResponse(&bench).hex == "08ff" + "0f03" + "01" + "dae480" + "02")
    }

    @Test("with advertisesWhileConnected, a held button is public while it is connected, and keeps only one link")
    func publicWhileConnected() throws {
        var bench = settled(
            SimulatedButtonDescription(name: "kitchen", address: peripheralAddress, advertisesWhileConnected: true))
        bench.tell(world: .press(button: "kitchen", .makePublic))
        bench.run(atMost: .seconds(8))
        #expect(bench.isReady && bench.notes.contains("kitchen: advertising, public"))
        #expect(try scanResponse(&bench).last == 2)
        bench.run(atMost: .seconds(40))
        #expect(bench.notes.last == "kitchen: silent" && bench.isReady)
    }

    private func scanResponse(_ bench: inout Bench) throws -> [UInt8] {
        bench.tell(.perform(.startScanning(active: true)))
        bench.run(atMost: .seconds(2))
        let responses = bench.hostEvents.compactMap { event -> [UInt8]? in
            if case .advertised(let report) = event, report.kind == .scanResponse { report.data } else { nil }
        }
        return try #require(responses.last)
    }
}
