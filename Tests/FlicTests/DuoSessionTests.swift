import ButtonModel
import Testing

@testable import Flic

/// Tests a host's session and a simulated Duo against each other.
@Suite("Duo sessions")
struct DuoSessionTests {
    private static func paired() -> TwoEnds {
        var ends = TwoEnds(button: TwoEnds.makeButton(model: .duo))
        ends.tellButton(.setPublicMode(true))
        ends.connect(attMTU: 140)
        return ends
    }

    /// The cursor of the host after these counters.
    private static func cursor(big: UInt32, small: UInt32) -> EventCursor {
        EventCursor(bootID: 4711, eventCount: big, smallEventCount: small)
    }

    @Test("a Duo that is paired, pressed, swiped, turned, disconnected and reconnected delivers every event once")
    func story() throws {
        var ends = Self.paired()
        let identity = try #require(ends.identity)
        #expect(identity.model == .duo && ends.failures.isEmpty)
        #expect(ends.hostEffects.contains(.advertisingConfigured) && ends.hostEffects.contains(.nickname("Küche")))

        ends.press(.small, for: .milliseconds(700))
        ends.wait(.seconds(1))
        ends.press(.big, for: .milliseconds(80))
        ends.wait(.seconds(1))
        #expect(ends.events.map(\.part) == [.small, .small, .big, .big, .big])
        #expect(ends.events.map(\.counter) == [1, 3, 1, 3, 4])
        #expect(ends.events.map(\.step) == [.down, .up(.click), .down, .up(.open), .clickTimeout])
        #expect(ends.events.allSatisfy { !$0.wasQueued && $0.age == .zero && $0.swipe == nil })
        #expect(ends.cursor == Self.cursor(big: 4, small: 3))

        ends.press(.small, for: .milliseconds(200), swipe: .left)
        ends.wait(.seconds(1))
        #expect(ends.events.suffix(3).map(\.swipe) == [nil, .left, nil])

        ends.tellButton(.pressed)
        ends.wait(.milliseconds(300))
        ends.tellButton(.turned(units: Dial.unitsPerTurn / 4))
        ends.tellButton(.released)
        ends.wait(.seconds(1))
        #expect(
            ends.movements == [
                ButtonMovement(
                    button: ButtonID(TwoEnds.address), part: .big, steps: 25, position: 25,
                    dial: .part(.big), units: Dial.unitsPerTurn / 4)
            ])

        let pairing = try #require(ends.pairing)
        ends.tellButton(.partPressed(.small))
        let cursor = try #require(ends.cursor)
        #expect(cursor == Self.cursor(big: 8, small: 9))
        ends.tellButton(.linkDown)
        ends.tellHost(.linkLost)
        ends.wait(.milliseconds(100))
        ends.tellButton(.partReleased(.small, swipe: .up))
        ends.press(.big, for: .milliseconds(1500))
        ends.wait(.seconds(30))
        ends.reconnect(.reconnect(pairing, cursor, advertisingConfigured: true), attMTU: 140, after: .zero)
        #expect(ends.events.map(\.part) == [.small, .big, .small, .big, .big])
        #expect(ends.events.map(\.counter) == [11, 9, 12, 10, 11])
        #expect(
            ends.events.map(\.step) == [
                .up(.open), .down, .clickTimeout, .hold(ofSecondPress: false), .up(.afterHoldClick),
            ])
        #expect(ends.events.map(\.swipe) == [.up, nil, nil, nil, nil])
        #expect(ends.events.map(\.wasQueuedLast) == [false, false, false, false, true])
        for (age, expected) in zip(ends.events.map { $0.age / .seconds(1) }, [31.5, 31.5, 31.1, 30.5, 30.0]) {
            #expect(abs(age - expected) < 0.001)
        }
        let memory = ends.button.eventSnapshot
        #expect(memory.acknowledged == 11 && memory.smallAcknowledged == 12)
        #expect(memory.stored.isEmpty && memory.smallStored.isEmpty)
        #expect(ends.failures.isEmpty)
    }

    @Test("presses stored before the pairing are not reported, for either button")
    func before() {
        var ends = TwoEnds(button: TwoEnds.makeButton(model: .duo))
        ends.press(.small, for: .milliseconds(700))
        ends.press(.big, for: .milliseconds(700))
        ends.tellButton(.setPublicMode(true))
        ends.connect(attMTU: 140)
        #expect(ends.events.isEmpty && ends.cursor == Self.cursor(big: 3, small: 3))
        ends.press(.small, for: .milliseconds(700))
        #expect(ends.events.map(\.counter) == [5, 7])
    }

    @Test("for a host that does not support Duos, a Duo is a Flic 2 with the big button only")
    func asFlic2() {
        var ends = TwoEnds(button: TwoEnds.makeButton(model: .duo))
        ends.session = ButtonSession(
            .init(
                address: TwoEnds.address, purpose: .pair,
                trustRoots: [FlicPeripheral.rootPublicKey(seed: TwoEnds.rootSeed)], supportsDuo: false))
        ends.tellButton(.setPublicMode(true))
        ends.connect(attMTU: 140)
        ends.press(.small, for: .milliseconds(700))
        ends.press(.big, for: .milliseconds(700))
        #expect(ends.identity?.model == .flic2)
        #expect(ends.events.map(\.part) == [nil, nil] && ends.events.map(\.counter) == [1, 3])
        #expect(ends.button.eventSnapshot.acknowledged == 3 && ends.button.eventSnapshot.smallStored == [1, 3])
    }

    @Test("a Duo that was paired as a Flic 2 reports its small button from the next session on")
    func upgraded() throws {
        var ends = TwoEnds(button: TwoEnds.makeButton(model: .duo))
        ends.session = ButtonSession(
            .init(
                address: TwoEnds.address, purpose: .pair,
                trustRoots: [FlicPeripheral.rootPublicKey(seed: TwoEnds.rootSeed)], supportsDuo: false))
        ends.tellButton(.setPublicMode(true))
        ends.connect(attMTU: 140)
        ends.press(.big, for: .milliseconds(700))
        let cursor = try #require(ends.cursor)
        let pairing = try #require(ends.pairing)
        ends.reconnect(.reconnect(pairing, cursor, advertisingConfigured: true), attMTU: 140, after: .seconds(1))
        ends.press(.small, for: .milliseconds(700))
        #expect(ends.events.map(\.part) == [.small, .small])
        #expect(ends.hostEffects.contains(.model(.duo)))
    }

    @Test("a Flic 2 works as before with a host that supports Duos")
    func flic2() {
        var ends = TwoEnds()
        ends.tellButton(.setPublicMode(true))
        ends.connect(attMTU: 140)
        ends.tellButton(.partPressed(.small))
        ends.press(for: .milliseconds(700))
        #expect(ends.identity?.model == .flic2)
        #expect(ends.events.map(\.part) == [nil, nil] && ends.button.eventSnapshot.acknowledged == 3)
    }

    @Test("presses of both buttons that overlap are reported in the order of their times")
    func overlapping() {
        var ends = Self.paired()
        ends.tellButton(.partPressed(.big))
        ends.wait(.milliseconds(100))
        ends.press(.small, for: .milliseconds(100))
        ends.wait(.milliseconds(900))
        ends.tellButton(.partReleased(.big, swipe: nil))
        #expect(ends.events.map(\.part) == [.big, .small, .small, .small, .big, .big])
        #expect(
            ends.events.map(\.step) == [
                .down, .down, .up(.open), .clickTimeout, .hold(ofSecondPress: false), .up(.afterHoldClick),
            ])
        #expect(ends.events.map(\.ticks) == ends.events.map(\.ticks).sorted())
    }

    @Test("a Duo's milliseconds become ticks of 1/32768 second")
    func clock() {
        var ends = Self.paired()
        ends.press(.big, for: .milliseconds(2500))
        // The simulated Duo booted 90 seconds before.
        let second: UInt64 = 32_768
        #expect(ends.events.map(\.ticks) == [90 * second, 91 * second, 92 * second + 16_384])
        #expect(
            ends.hostEffects.contains(
                .ready(Self.cursor(big: 0, small: 0), rebooted: true, clock: 90 * 32_768, hasQueuedEvents: false)))
    }

    @Test(
        "after a lost acknowledgement both buttons' events are sent again, and none is reported twice",
        arguments: [23, 140])
    func lostAcknowledgement(attMTU: Int) throws {
        var ends = Self.paired()
        let pairing = try #require(ends.pairing)
        ends.tellButton(.fault(.lostAcknowledgement))
        ends.press(.small, for: .milliseconds(700))
        #expect(ends.button.eventSnapshot.smallStored == [1, 3])
        ends.reconnect(
            .reconnect(pairing, Self.cursor(big: 0, small: 0), advertisingConfigured: true), attMTU: attMTU,
            after: .seconds(1))
        #expect(ends.events.map(\.counter) == [1, 3] && ends.events.allSatisfy(\.wasQueued))
        ends.reconnect(
            .reconnect(pairing, Self.cursor(big: 0, small: 3), advertisingConfigured: true), attMTU: attMTU,
            after: .seconds(1))
        #expect(ends.events.isEmpty && !ends.session.hasStoredEvents)
    }

    @Test("after a reboot both buttons' counters begin again")
    func reboot() throws {
        var ends = Self.paired()
        let pairing = try #require(ends.pairing)
        for part in [ButtonPart.big, .small] { ends.press(part, for: .milliseconds(700)) }
        ends.tellButton(.rebooted(bootID: 99))
        ends.press(.small, for: .milliseconds(700))
        ends.reconnect(
            .reconnect(pairing, Self.cursor(big: 3, small: 3), advertisingConfigured: true), attMTU: 140,
            after: .seconds(1))
        #expect(ends.events.map(\.counter) == [1, 3] && ends.events.allSatisfy { $0.bootID == 99 })
        #expect(ends.cursor == EventCursor(bootID: 99, eventCount: 0, smallEventCount: 3))
    }

    @Test("a full queue drops the oldest events, and the others arrive in as many packets as needed")
    func fullQueue() throws {
        var ends = Self.paired()
        let pairing = try #require(ends.pairing)
        ends.tellButton(.linkDown)
        ends.tellHost(.linkLost)
        for number in 0..<20 {
            ends.press(number.isMultiple(of: 2) ? .big : .small, for: .milliseconds(700), swipe: .down)
        }
        ends.reconnect(
            .reconnect(pairing, Self.cursor(big: 0, small: 0), advertisingConfigured: true), attMTU: 23,
            after: .seconds(1))
        #expect(ends.events.count == EventQueue.maximumCount)
        #expect(ends.events.suffix(2).map(\.counter) == [37, 39] && ends.events.last?.wasQueuedLast == true)
        #expect(ends.events.filter { $0.part == .big }.map(\.counter) == [25, 27, 29, 31, 33, 35, 37, 39])
        #expect(ends.failures.isEmpty)
    }

    @Test("a Duo restarts with an uploaded firmware image")
    func firmware() throws {
        var ends = Self.paired()
        let image = try FirmwareImage(FlicPeripheral.signedFirmware(octetCount: 5003), for: .duo)
        ends.tellHost(.perform(.updateFirmware(image)))
        ends.wait(.seconds(1))
        let progress = ends.hostEffects.compactMap { effect -> FirmwareUpdateProgress? in
            if case .firmwareUpdate(let progress) = effect { progress } else { nil }
        }
        #expect(progress.first == .started(units: 0, of: 5003) && progress.last == .finished)
        #expect(progress.dropFirst().first == .received(units: 220, of: 5003))
        ends.tellButton(.linkDown)
        #expect(ends.buttonEffects.contains(.updated(firmwareVersion: 12)))
    }

    @Test("a firmware image for another model is refused")
    func otherFirmware() throws {
        var ends = Self.paired()
        ends.tellHost(.perform(.updateFirmware(try FirmwareImage(FlicPeripheral.firmware(wordCount: 100)))))
        #expect(ends.hostEffects.contains(.firmwareUpdate(.failed(.invalidParameters))))
    }
}
