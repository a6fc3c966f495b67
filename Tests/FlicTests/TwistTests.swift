import ButtonModel
import TestSupport
import Testing

@testable import Flic

/// Tests a host's session and a simulated Twist against each other.
@Suite("Twist sessions")
struct TwistTests {
    private static func paired() -> TwoEnds {
        var ends = TwoEnds(button: TwoEnds.makeButton(model: .twist))
        ends.tellButton(.setPublicMode(true))
        ends.connect(attMTU: 140)
        return ends
    }

    private static func steps(_ movements: [ButtonMovement]) -> [Int] {
        movements.map(\.steps)
    }

    @Test("a Twist that is paired, pressed, turned, disconnected and reconnected delivers every step once")
    func story() throws {
        var ends = Self.paired()
        #expect(ends.button.isPaired && ends.failures.isEmpty)
        let identity = try #require(ends.identity)
        #expect(identity.model == .twist && identity.serial == "BA00-A00007")
        #expect(ends.hostEffects.contains(.advertisingConfigured) && ends.hostEffects.contains(.nickname("Küche")))

        ends.press(for: .milliseconds(100))
        ends.wait(.seconds(2))
        ends.press(for: .milliseconds(1500))
        #expect(
            ends.events.map(\.step) == [
                .down, .up(.open), .clickTimeout, .down, .hold(ofSecondPress: false), .up(.afterHoldClick),
            ])
        #expect(ends.events.map(\.counter) == [1, 3, 4, 5, 6, 7])
        #expect(ends.events.allSatisfy { $0.part == nil && !$0.wasQueued && $0.age == .zero })
        #expect(ends.button.eventSnapshot.stored.isEmpty && ends.button.eventSnapshot.acknowledged == 7)

        ends.tellButton(.turned(units: 4096))
        #expect(
            ends.movements == [
                ButtonMovement(
                    button: ButtonID(TwoEnds.address), part: .dial, steps: 8, position: 8, slot: 1,
                    dial: .slot(1), units: 4096)
            ])

        let pairing = try #require(ends.pairing)
        let cursor = try #require(ends.cursor)
        ends.tellButton(.linkDown)
        ends.tellHost(.linkLost)
        ends.press(for: .milliseconds(100))
        ends.wait(.milliseconds(100))
        ends.press(for: .milliseconds(100))
        ends.wait(.seconds(30))
        ends.reconnect(.reconnect(pairing, cursor, advertisingConfigured: true), attMTU: 140, after: .zero)
        #expect(ends.events.map(\.step) == [.down, .up(.open), .down, .up(.doubleClick)])
        #expect(ends.events.map(\.wasQueuedLast) == [false, false, false, true])
        for (age, expected) in zip(ends.events.map { $0.age / .seconds(1) }, [30.3, 30.2, 30.1, 30.0]) {
            #expect(abs(age - expected) < 0.001)
        }
        #expect(ends.hostEffects.contains(.battery(millivolts: 3000)))
        #expect(ends.hostEffects.contains(.firmware(version: 11)))
        #expect(ends.button.dialSnapshot?.positions[.slot(1)] == 4096 && ends.button.eventSnapshot.stored.isEmpty)
        #expect(ends.failures.isEmpty)
    }

    @Test("packets of a Twist have no frame header, and a Twist is not asked whether it is a Duo")
    func plain() throws {
        var ends = Self.paired()
        let pairing = try #require(ends.pairing)
        func sent(_ opcode: UInt8) -> [UInt8]? {
            ends.hostEffects.lazy.compactMap {
                if case .send(let value) = $0, value.first == opcode { value } else { nil }
            }.first
        }
        #expect(sent(0) == [0, 1, 0, 0, 0])
        #expect(sent(2)?.count == 58 && sent(2)?[41] == 0)
        #expect(sent(12)?.count == 80 && sent(6) == nil)
        ends.reconnect(.reconnect(pairing, EventCursor(), advertisingConfigured: true), attMTU: 140, after: .seconds(1))
        #expect(sent(5)?.count == 17 && sent(5)?[8] == 0)
        let certificate = ends.buttonEffects.lazy.compactMap {
            if case .send(let value) = $0, value.first == 0 { value } else { nil }
        }.first
        #expect(certificate?.count == 117)
    }

    @Test("less than a hundredth of a turn is carried over to the next turn, for each dial mode separately")
    func remainders() {
        var ends = Self.paired()
        for _ in 0..<5 { ends.tellButton(.turned(units: 100)) }
        #expect(Self.steps(ends.movements) == [1])
        ends.tellButton(.pressed)
        ends.tellButton(.turned(units: 490))
        #expect(ends.movements.count == 1)
        ends.tellButton(.turned(units: 2))
        ends.tellButton(.turned(units: -982))
        ends.tellButton(.turned(units: -1))
        #expect(Self.steps(ends.movements) == [1, 1, -1])
        #expect(ends.movements.map(\.part) == [.dial, .push, .push])
        for turn in [Dial.unitsPerTurn, -2 * Dial.unitsPerTurn] { ends.tellButton(.turned(units: turn)) }
        #expect(Self.steps(ends.movements).suffix(2) == [99, -199])
    }

    @Test("a turn of less than a step is stored, and the next session begins at its position")
    func smallTurns() throws {
        var ends = Self.paired()
        for units in [100, 0, 100, -7] { ends.tellButton(.turned(units: units)) }
        #expect(ends.turns.map(\.units) == [100, 200, 193] && ends.movements.isEmpty)
        let pairing = try #require(ends.pairing)
        ends.reconnect(.reconnect(pairing, EventCursor(), advertisingConfigured: true), attMTU: 140, after: .seconds(1))
        #expect(ends.button.dialSnapshot?.positions[.slot(1)] == 193)
    }

    @Test("a dial turns without end, and its position stops at both ends of its range")
    func ends() {
        var ends = Self.paired()
        for units in [30_000, 30_000, -10_000, -60_000, 5000] { ends.tellButton(.turned(units: units)) }
        #expect(ends.movements.map(\.units) == [30_000, 49_152, 39_152, 0, 5000])
        #expect(ends.movements.map(\.position) == [61, 100, 80, 0, 10])
        #expect(ends.button.dialSnapshot?.positions[.slot(1)] == 5000)
    }

    @Test("turning while pressed goes through the slots, and the release selects the slot")
    func slots() {
        var ends = Self.paired()
        ends.tellButton(.pressed)
        for _ in 0..<3 { ends.tellButton(.turned(units: 4096)) }
        ends.tellButton(.released)
        #expect(ends.movements.map(\.slot) == [2, 3, 4] && ends.movements.allSatisfy { $0.dial == .free })
        #expect(ends.button.dialSnapshot?.slot == 4)
        ends.tellButton(.turned(units: -4096))
        ends.tellButton(.pressed)
        ends.tellButton(.turned(units: 49_152))
        ends.tellButton(.released)
        ends.tellButton(.turned(units: 4096))
        #expect(ends.movements.suffix(3).map(\.slot) == [4, 12, 12])
        #expect(ends.movements.suffix(3).map(\.dial) == [.slot(4), .free, .slot(12)])
        #expect(ends.movements.suffix(3).map(\.units) == [0, 49_152, 4096])
        // A press without a turn selects no slot.
        ends.press(for: .milliseconds(100))
        #expect(ends.button.dialSnapshot?.slot == 12)
    }

    @Test("a position set by the host is where the dial continues, also if turns are on their way")
    func setDial() {
        var ends = Self.paired()
        ends.tellButton(.turned(units: 10_000))
        ends.tellHost(.perform(.setDial(.slot(1), units: 40_000)))
        #expect(ends.button.dialSnapshot?.positions[.slot(1)] == 40_000)
        ends.tellButton(.turned(units: 20_000))
        ends.tellButton(.turned(units: -1000))
        #expect(ends.movements.suffix(2).map(\.units) == [49_152, 48_152])

        ends.holdsBack = true
        ends.tellHost(.perform(.setDial(.slot(1), units: 0)))
        for _ in 0..<8 { ends.tellButton(.turned(units: 500)) }
        #expect(ends.button.dialSnapshot?.positions[.slot(1)] == 49_152)
        ends.holdsBack = false
        #expect(ends.button.dialSnapshot?.positions[.slot(1)] == 4000 && ends.movements.last?.units == 4000)
    }

    @Test("a set position carries the number of turns received before it, in any mode")
    func countedTurns() {
        var ends = Self.paired()
        ends.tellButton(.turned(units: 10))
        ends.tellButton(.pressed)
        for _ in 0..<2 { ends.tellButton(.turned(units: 10)) }
        ends.tellHost(.perform(.setDial(.slot(5), units: 7)))
        let update = ends.hostEffects.compactMap { effect -> [UInt8]? in
            if case .send(let value) = effect, value.first == 14 { value } else { nil }
        }.last
        #expect(update?.prefix(12) == [14, 4, 0xF9, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 3, 0, 0, 0])
    }

    @Test("a position set too many turns late is refused by the Twist and sent again")
    func tooOld() {
        var ends = Self.paired()
        ends.holdsBack = true
        ends.tellHost(.perform(.setDial(.slot(1), units: 30_000)))
        for _ in 0..<9 { ends.tellButton(.turned(units: 500)) }
        ends.holdsBack = false
        #expect(ends.button.dialSnapshot?.positions[.slot(1)] == 4500)
        ends.tellButton(.turned(units: 500))
        #expect(ends.movements.last?.units == 35_000)
        #expect(ends.button.dialSnapshot?.positions[.slot(1)] == 35_000)
    }

    @Test("each of several positions that the Twist refused is sent again")
    func allTooOld() {
        var ends = Self.paired()
        ends.holdsBack = true
        ends.tellHost(.perform(.setDial(.slot(1), units: 30_000)))
        ends.tellHost(.perform(.setDial(.free, units: 4096)))
        ends.tellHost(.perform(.setDial(.slot(3), units: 8192)))
        for _ in 0..<9 { ends.tellButton(.turned(units: 500)) }
        ends.holdsBack = false
        #expect(ends.button.dialSnapshot?.positions[.slot(3)] == 0)
        ends.tellButton(.turned(units: 500))
        let positions = ends.button.dialSnapshot?.positions
        #expect(positions?[.slot(1)] == 35_000 && positions?[.free] == 4096 && positions?[.slot(3)] == 8192)
    }

    @Test("positions and LED mode set before the session are sent in its first request")
    func setBefore() {
        var ends = TwoEnds(button: TwoEnds.makeButton(model: .twist))
        ends.tellButton(.setPublicMode(true))
        ends.tellHost(.perform(.setDial(.slot(3), units: 7000)))
        ends.tellHost(.perform(.setDial(.part(.big), units: 7000)))
        ends.tellHost(.perform(.setLEDMode(.point)))
        ends.connect(attMTU: 140)
        let memory = ends.button.dialSnapshot
        #expect(memory?.positions[.slot(3)] == 7000 && memory?.positions.values.filter { $0 != 0 } == [7000])
        #expect(memory?.ledModes[.slot(1)] == .point && memory?.ledModes[.free] == .selector)
    }

    @Test("positions and LED mode set while the init response is awaited are sent after it")
    func setMeanwhile() throws {
        var ends = Self.paired()
        ends.tellButton(.linkDown)
        ends.tellHost(.linkLost)
        let pairing = try #require(ends.pairing)
        ends.reconnect(.reconnect(pairing, EventCursor(), advertisingConfigured: true), attMTU: 140, after: .seconds(1))
        #expect(ends.button.dialSnapshot?.ledModes[.slot(12)] == .fill)
        ends.holdsBack = true
        ends.tellHost(.perform(.setLEDMode(.none)))
        ends.tellHost(.perform(.setDial(.free, units: 8192)))
        ends.holdsBack = false
        #expect(ends.button.dialSnapshot?.ledModes[.slot(12)] == LEDMode.none)
        #expect(ends.button.dialSnapshot?.ledModes[.free] == .selector)
        #expect(ends.button.dialSnapshot?.positions[.free] == 8192)
        ends.wait(.seconds(60))
        #expect(!ends.hostEffects.contains { if case .unanswered = $0 { true } else { false } })
    }

    @Test("a Twist that has lost the pairing proves it, and the session reports it as unpaired")
    func unpaired() {
        var ends = TwoEnds(
            .reconnect(TestButton.pairing, EventCursor(), advertisingConfigured: false),
            button: TwoEnds.makeButton(model: .twist))
        ends.connect(attMTU: 140)
        #expect(ends.hostEffects.suffix(3) == [.unpaired, .disconnect, .cancelTimer] && ends.failures.isEmpty)
    }

    @Test("a Twist that is not in public mode refuses to pair")
    func refusal() {
        var ends = TwoEnds(button: TwoEnds.makeButton(model: .twist))
        ends.connect(attMTU: 140)
        #expect(ends.failures == [.notInPublicMode] && ends.hostEffects.contains(.disconnect))
    }

    @Test("a wrong signature ends the session, and the next session continues at the dials' positions")
    func wrongSignature() {
        var ends = Self.paired()
        ends.tellButton(.turned(units: 5000))
        ends.tellButton(.fault(.wrongSignature))
        ends.tellButton(.turned(units: 5000))
        #expect(ends.failures == [.packetSignatureMismatch])
        ends.wait(.seconds(10))
        ends.tellButton(.turned(units: 5000))
        #expect(ends.movements.map(\.units) == [5000, 10_000])
    }

    @Test("a Twist stores sixteen steps; those from before the pairing are acknowledged and not reported")
    func queue() throws {
        var ends = TwoEnds(button: TwoEnds.makeButton(model: .twist))
        ends.tellButton(.setPublicMode(true))
        for _ in 0..<9 {
            ends.press(for: .milliseconds(700))
            ends.wait(.seconds(1))
        }
        #expect(ends.button.eventSnapshot.stored.count == 16)
        ends.connect(attMTU: 140)
        #expect(ends.events.isEmpty && ends.button.eventSnapshot.stored.isEmpty)
        ends.press(for: .milliseconds(700))
        #expect(ends.events.map(\.step) == [.down, .up(.click)])

        let pairing = try #require(ends.pairing)
        let cursor = try #require(ends.cursor)
        ends.tellButton(.linkDown)
        ends.tellHost(.linkLost)
        for _ in 0..<9 {
            ends.press(for: .milliseconds(700))
            ends.wait(.seconds(1))
        }
        ends.reconnect(.reconnect(pairing, cursor, advertisingConfigured: true), attMTU: 140, after: .zero)
        #expect(ends.events.count == 16 && ends.events.last?.wasQueuedLast == true)
    }

    private static func progress(_ ends: TwoEnds) -> [FirmwareUpdateProgress] {
        ends.hostEffects.compactMap { if case .firmwareUpdate(let progress) = $0 { progress } else { nil } }
    }

    @Test("a Twist reports firmware progress after every two packets of 120 octets, and restarts with the image")
    func firmware() throws {
        var ends = Self.paired()
        let image = try FirmwareImage(FlicPeripheral.signedFirmware(octetCount: 1234), for: .twist)
        ends.tellHost(.perform(.updateFirmware(image)))
        #expect(Self.progress(ends).count == 7 && Self.progress(ends).last == .finished)
        #expect(
            ends.hostEffects.filter { if case .send(let value) = $0 { value.count == 126 } else { false } }.count == 10)
        ends.tellButton(.linkDown)
        #expect(ends.button.firmwareVersion == 12)
    }

    @Test("a forged firmware image fails with an invalid signature")
    func forgedFirmware() throws {
        var ends = Self.paired()
        var octets = FlicPeripheral.signedFirmware(octetCount: 500)
        octets[30] ^= 1
        ends.tellHost(.perform(.updateFirmware(try FirmwareImage(octets, for: .twist))))
        #expect(Self.progress(ends).last == .failed(.signatureInvalid))
    }
}
