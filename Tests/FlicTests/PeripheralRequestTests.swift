import ButtonModel
import TestSupport
import Testing

@testable import Flic

@Suite("Simulated button: requests")
struct PeripheralRequestTests {
    private func connected(
        pingPeriod: Duration? = nil, bootedAt: Instant = Instant(sinceBoot: .seconds(10))
    ) throws -> (FlicPeripheral, HostEnd) {
        var button = TwoEnds.makeButton(pairings: [TestButton.pairing], pingPeriod: pingPeriod)
        var host = try #require(HostEnd(&button))
        _ = host.ask(&button, HostEnd.initRequest())
        return (button, host)
    }

    @Test("a simulated button answers requests for its time and device id, and runs a timer for the host")
    func timeAndTimer() throws {
        var (button, host) = try connected()
        host.now = host.now + .seconds(2)
        #expect(host.ask(&button, .getCurrentTimeRequest) == [.getCurrentTimeResponse(ticks: 65_536)])
        #expect(host.ask(&button, .getDeviceIDRequest) == [.getDeviceIDResponse([UInt8](repeating: 0xAB, count: 8))])
        let start = host.value(.startAPITimer(timeout: 16_384, message: 7))
        #expect(
            button.handle(.received(start, random: []), at: host.now) == [.setTimer(host.now + .milliseconds(500))])
        host.now = host.now + .milliseconds(500)
        #expect(
            host.packets(in: button.handle(.timerFired, at: host.now)) == [.apiTimerNotification(message: 7)])
        _ = host.ask(&button, .startAPITimer(timeout: 16_384, message: 8))
        let stop = host.value(.startAPITimer(timeout: 0, message: 0))
        #expect(button.handle(.received(stop, random: []), at: host.now) == [.cancelTimer])
    }

    @Test("the battery request is answered with the last voltage set from outside")
    func battery() throws {
        var (button, host) = try connected()
        #expect(button.handle(.batteryChanged(millivolts: 2500), at: host.now) == [])
        #expect(
            host.ask(&button, .getBatteryLevelRequest) == [
                .getBatteryLevelResponse(raw: Battery.raw(millivolts: 2500))
            ])
    }

    @Test("LED patterns are passed to the simulation's owner")
    func light() throws {
        var (button, host) = try connected()
        let pattern = LEDPattern(
            colour: 3, brightness: 2047, pulseOn: 1, pulseOff: 2, periods: 3, overridesDefault: true,
            continuesAfterDisconnect: true)
        let execute = host.value(.executeLEDPattern(pattern))
        #expect(button.handle(.received(execute, random: []), at: host.now) == [.light(pattern)])
        let abort = host.value(.abortLEDPattern)
        #expect(button.handle(.received(abort, random: []), at: host.now) == [.light(nil)])
    }

    @Test("advertising settings are kept until a reboot, and the shortest intervals of all hosts are used")
    func advertising() throws {
        var (button, host) = try connected()
        #expect(button.advertisingSettings == nil)
        _ = host.ask(&button, .setAdvertisingParametersRequest(AdvertisingParameters()))
        #expect(
            button.advertisingSettings
                == AdvertisingSettings(firstInterval: 160, laterInterval: 12_800, timeoutSeconds: 86_400))
        var memory = AdvertisingMemory()
        var other = AdvertisingParameters(firstInterval: 64, laterInterval: 16_000, timeoutSeconds: 5)
        memory.store(AdvertisingParameters(), of: 1, known: [1, 2])
        memory.store(other, of: 2, known: [1, 2])
        #expect(
            memory.settings
                == AdvertisingSettings(firstInterval: 64, laterInterval: 12_800, timeoutSeconds: 86_400))
        other.removesOtherPairingsSettings = true
        memory.store(other, of: 2, known: [1, 2])
        #expect(memory.settings?.laterInterval == 16_000)
        other.isActive = false
        memory.store(other, of: 2, known: [1, 2])
        #expect(memory.settings == nil)
        _ = button.handle(.rebooted(bootID: 1), at: host.now)
        #expect(button.advertisingSettings == nil)
    }

    @Test("firmware before version 6 does not answer advertising settings")
    func oldFirmware() throws {
        var button = TwoEnds.makeButton(pairings: [TestButton.pairing], firmwareVersion: 5)
        var host = try #require(HostEnd(&button))
        #expect(host.ask(&button, .setAdvertisingParametersRequest(AdvertisingParameters())) == [])
    }

    @Test("a factory reset removes pairings and name, and ends every session")
    func factoryReset() throws {
        var (button, host) = try connected()
        let value = host.value(.factoryResetRequest)
        let effects = button.handle(.received(value, random: []), at: host.now)
        #expect(host.packets(in: effects) == [.factoryResetResponse] && effects.contains(.factoryReset))
        #expect(!button.isPaired && button.nickname.isEmpty)
        #expect(host.ask(&button, .getNameRequest) == [])
    }

    @Test("each fault can be injected: ignored requests, a lost acknowledgement, a wrong signature")
    func faults() throws {
        var (button, host) = try connected()
        _ = button.handle(.fault(.ignoresRequests(true)), at: host.now)
        #expect(host.ask(&button, .getNameRequest) == [])
        _ = button.handle(.fault(.ignoresRequests(false)), at: host.now)
        #expect(host.ask(&button, .getBatteryLevelRequest) == [.getBatteryLevelResponse(raw: 853)])

        _ = host.packets(in: button.handle(.pressed, at: host.now))
        host.now = host.now + .milliseconds(700)
        _ = host.packets(in: button.handle(.released, at: host.now))
        _ = button.handle(.fault(.lostAcknowledgement), at: host.now)
        _ = host.ask(&button, .acknowledgeEvents(eventCount: 3))
        #expect(button.queue.entries.count == 2)
        _ = host.ask(&button, .acknowledgeEvents(eventCount: 3))
        #expect(button.queue.entries.isEmpty)

        _ = button.handle(.fault(.wrongSignature), at: host.now)
        #expect(host.ask(&button, .getBatteryLevelRequest) == [nil])
    }
}

@Suite("Simulated button: logical connections")
struct LogicalConnectionTests {
    private static func begin(_ button: inout FlicPeripheral, _ temporaryID: UInt32) -> [FlicPeripheral.Effect] {
        let request = HostPacket.fullVerifyRequest1(temporaryID: temporaryID)
        return button.handle(
            .received([0] + request.octets, random: [1]), at: Instant(sinceBoot: .seconds(11)))
    }

    @Test("a host beyond the maximum of logical connections is refused until a slot is free")
    func slots() {
        var button = TwoEnds.makeButton(maximumLogicalConnections: 2)
        _ = button.handle(.linkUp(attMTU: 140), at: Instant(sinceBoot: .seconds(10)))
        var ids: [UInt8] = []
        for temporaryID: UInt32 in [1, 2] {
            guard case .send(let value)? = Self.begin(&button, temporaryID).first else { continue }
            ids.append(value[0])
        }
        #expect(ids == [0x21, 0x22])
        #expect(Self.begin(&button, 3) == [.send([0, 2, 3, 0, 0, 0])])
        // The same temporary id again uses its own slot.
        #expect(Self.begin(&button, 2).count == 1)
        _ = button.handle(.received([1, 3], random: []), at: Instant(sinceBoot: .seconds(11)))
        guard case .send(let value)? = Self.begin(&button, 3).first else {
            Issue.record("no answer")
            return
        }
        #expect(value[0] == 0x24)
    }

    @Test("connection ids are given out in turn, and none that is in use")
    func ids() {
        var connections = LogicalConnections(maximumCount: 31)
        var ids: [UInt8?] = []
        for number: UInt32 in 0..<32 { ids.append(connections.open(.offered(temporaryID: number, random: []))) }
        #expect(ids == (1...31).map(UInt8?.some) + [nil])
        connections.close(7)
        #expect(connections.open(.offered(temporaryID: 40, random: [])) == 7)
        connections.closeOffers(to: 40)
        #expect(connections.offeredRandom(7) == nil)
        connections.closeAll()
        #expect(connections.open(.offered(temporaryID: 41, random: [])) == 8)
    }

    @Test("a second session with the same pairing ends the first one with that reason")
    func samePairing() throws {
        var button = TwoEnds.makeButton(pairings: [TestButton.pairing])
        var first = try #require(HostEnd(&button))
        _ = first.ask(&button, HostEnd.initRequest())
        let request = HostPacket.quickVerifyRequest(
            .init(
                random: [1, 2, 3, 4, 5, 6, 7], flags: 0, temporaryID: 8,
                pairingIdentifier: TestButton.pairing.identifier))
        let effects = button.handle(.received([0] + request.octets, random: [9]), at: first.now)
        let values = effects.compactMap { if case .send(let value) = $0 { value } else { nil } }
        #expect(values.count == 2 && values.last?.first == 0x22)
        #expect(first.packets(in: [effects[0]]) == [.disconnectedVerifiedLink(reason: 2)])
        #expect(first.ask(&button, .getBatteryLevelRequest) == [])
    }

    @Test("two hosts get the same press, and each is notified of names set by the other")
    func twoPrograms() throws {
        let second = Pairing(identifier: 2, key: TestButton.pairing.key)
        var button = TwoEnds.makeButton(pairings: [TestButton.pairing, second])
        var one = try #require(HostEnd(&button))
        var two = try #require(HostEnd(&button, as: second, isFirst: false))
        #expect(one.connectionID != two.connectionID)
        for answer in one.ask(&button, HostEnd.initRequest()) + two.ask(&button, HostEnd.initRequest()) {
            guard case .initButtonEventsResponse? = answer else { Issue.record("\(answer as Any)"); return }
        }
        let press = button.handle(.pressed, at: one.now)
        #expect(one.packets(in: press).count == 1 && two.packets(in: press).count == 1)
        let name = Array("Hall".utf8)
        let value = one.value(.setNameRequest(.init(timestamp: 1, isForced: true, name: name)))
        let effects = button.handle(.received(value, random: []), at: one.now)
        #expect(one.packets(in: effects) == [.setNameResponse(.init(timestamp: 1, name: name))])
        #expect(two.packets(in: effects) == [.nameUpdatedNotification(name: name)])
    }

    @Test("a link without a session is dropped after forty seconds, and forty seconds after a session's end")
    func idle() throws {
        var button = TwoEnds.makeButton(pairings: [TestButton.pairing])
        let start = Instant(sinceBoot: .seconds(10))
        #expect(button.handle(.linkUp(attMTU: 23), at: start) == [.setTimer(start + .seconds(40))])
        #expect(button.handle(.timerFired, at: start + .seconds(40)) == [.disconnect(advertiseAgain: false)])
        #expect(button.handle(.received([0, 0, 1, 1, 1, 1], random: []), at: start + .seconds(40)) == [])

        var host = try #require(HostEnd(&button))
        host.now = host.now + .seconds(500)
        let value = host.value(.disconnectVerifiedLink)
        #expect(
            button.handle(.received(value, random: []), at: host.now) == [.setTimer(host.now + .seconds(40))])
    }
}

@Suite("Simulated button: firmware")
struct PeripheralFirmwareTests {
    private static let image = FlicPeripheral.firmware(wordCount: 100, filler: [1, 2, 3])

    private func start(_ host: inout HostEnd, _ button: inout FlicPeripheral, statusInterval: UInt16 = 60) -> Int32? {
        let request = HostPacket.startFirmwareUpdateRequest(
            .init(
                wordCount: 100, initializationVector: Array(Self.image.prefix(8)), statusInterval: statusInterval))
        guard case .startFirmwareUpdateResponse(let position)? = host.ask(&button, request).first ?? nil else {
            return nil
        }
        return position
    }

    private func send(
        _ words: Range<Int>, of image: [UInt8] = image, _ host: inout HostEnd, _ button: inout FlicPeripheral
    ) -> [ButtonPacket?] {
        host.ask(&button, .firmwareUpdateData(Array(image.dropFirst(8 + 4 * words.lowerBound).prefix(4 * words.count))))
    }

    @Test("an update reports each interval, resumes after a lost link, and restarts with the next version")
    func update() throws {
        var button = TwoEnds.makeButton(pairings: [TestButton.pairing])
        var host = try #require(HostEnd(&button))
        #expect(start(&host, &button) == 0)
        #expect(send(0..<30, &host, &button) == [])
        #expect(send(30..<60, &host, &button) == [.firmwareUpdateNotification(position: 60)])
        #expect(send(60..<70, &host, &button) == [])
        _ = button.handle(.linkDown, at: host.now)
        host = try #require(HostEnd(&button))
        #expect(start(&host, &button) == 70)
        #expect(send(70..<100, &host, &button) == [.firmwareUpdateNotification(position: 100)])
        #expect(start(&host, &button) == -3)
        let value = host.value(.forceDisconnect(advertiseAgain: true))
        #expect(button.handle(.received(value, random: []), at: host.now) == [.disconnect(advertiseAgain: true)])
        #expect(button.firmwareVersion == 11)
        #expect(button.handle(.linkDown, at: host.now) == [.updated(firmwareVersion: 12)])
        host = try #require(HostEnd(&button))
        guard case .initButtonEventsResponse(let response)? = host.ask(&button, HostEnd.initRequest(bootID: 4711)).first
        else {
            Issue.record("no init response")
            return
        }
        #expect(response.bootID != nil && response.bootID != 4711 && response.ticks == 0)
        #expect(host.ask(&button, .getFirmwareVersionRequest) == [.getFirmwareVersionResponse(version: 12)])
        #expect(start(&host, &button) == 0)
    }

    @Test("an altered image is refused at its end, and none of its words are kept")
    func forged() throws {
        var button = TwoEnds.makeButton(pairings: [TestButton.pairing])
        var host = try #require(HostEnd(&button))
        var forged = Self.image
        forged[50] ^= 1
        #expect(start(&host, &button, statusInterval: 1000) == 0)
        for first in stride(from: 0, to: 90, by: 30) { _ = send(first..<first + 30, of: forged, &host, &button) }
        #expect(send(90..<100, of: forged, &host, &button) == [.firmwareUpdateNotification(position: 0)])
        #expect(start(&host, &button) == 0)
        _ = button.handle(.linkDown, at: host.now)
        #expect(button.firmwareVersion == 11)
    }

    @Test("a second host's update is refused while the first's runs; an update without words or interval is invalid")
    func refusals() throws {
        var receiver = FirmwareReceiver()
        func request(_ wordCount: Int, _ interval: Int = 60) -> FirmwareReceiver.Announcement {
            .init(
                model: .flic2, unitCount: wordCount, header: [UInt8](repeating: 0, count: 8), statusInterval: interval)
        }
        #expect(receiver.start(request(0), from: 1) == -1)
        #expect(receiver.start(request(9, 0), from: 1) == -1)
        #expect(receiver.start(request(9), from: 1) == 0)
        #expect(receiver.start(request(9), from: 2) == -2)
        #expect(receiver.receive([0, 0, 0, 0], from: 2) == nil)
        #expect(receiver.receive([0, 0, 0], from: 1) == nil)
        #expect(receiver.receive([1, 0, 0, 0], from: 1) == nil)
        receiver.connectionEnded(1)
        #expect(receiver.start(request(9), from: 2) == 1)
        #expect(receiver.start(request(8), from: 2) == 0, "another image")
        #expect(receiver.receive([UInt8](repeating: 0, count: 120), from: 2) == 8, "no more than was announced")
    }

    @Test("the smallest image has only its signature")
    func smallest() throws {
        #expect(FlicPeripheral.firmware(wordCount: 0).count == 12)
        #expect(try FirmwareImage(FlicPeripheral.firmware(wordCount: 1, filler: [])).unitCount == 1)
    }
}
