import ButtonModel
import Buttons
import Flic
import Simulator
import TestSupport
import Testing

@Suite("A Duo in the air")
struct DuoTests {
    static let desk = SimulatedButtonDescription(
        name: "desk", address: BluetoothAddress("90:88:A9:00:00:0D"), model: .duo)
    static let id = ButtonID(desk.wantedAddress)

    static func paired() -> Room {
        var room = Room([desk])
        room.tell(.permitJoin(.seconds(30)))
        room.wait(.seconds(31))
        room.forget()
        return room
    }

    static func events(_ room: Room) -> [ButtonEvent] {
        room.said.flatMap { effect -> [ButtonEvent] in
            if case .events(id, let events, _, _) = effect { events } else { [] }
        }
    }

    static func movements(_ room: Room) -> [ButtonMovement] {
        room.said.flatMap { effect -> [ButtonMovement] in
            if case .moved(id, let movements) = effect { movements } else { [] }
        }
    }

    @Test("it is paired, and pressed, swiped and turned at both of its buttons")
    func bothParts() throws {
        var room = Self.paired()
        let identity = try #require(room.manager.knownButton(Self.id)?.identity)
        #expect(identity.model == .duo && identity.serial.hasPrefix("DA00-"))
        room.press("desk", .click, part: .small)
        room.wait(.seconds(2))
        room.press("desk", .doubleClick)
        room.wait(.seconds(2))
        room.swipe("desk", .left, part: .small)
        room.wait(.seconds(2))
        #expect(
            Self.events(room).map(\.part)
                == [.small, .small, .small, .big, .big, .big, .big, .small, .small, .small])
        #expect(Self.events(room).map(\.counter) == [1, 3, 4, 1, 3, 5, 7, 5, 7, 8])
        #expect(Self.events(room).compactMap(\.swipe) == [.left])
        #expect(
            room.manager.knownButton(Self.id)?.cursor
                == EventCursor(
                    bootID: room.world.eventSnapshot(of: "desk")?.bootID ?? 0, eventCount: 7, smallEventCount: 8))
        let memory = try #require(room.world.eventSnapshot(of: "desk"))
        #expect(memory.acknowledged == 7 && memory.smallAcknowledged == 8)

        room.pushTurn("desk", hundredths: 30)
        room.wait(.seconds(2))
        room.pushTurn("desk", hundredths: -7, part: .small)
        room.wait(.seconds(2))
        room.pushTurn("desk", hundredths: 3)
        room.wait(.seconds(2))
        #expect(Self.movements(room).map(\.steps) == [30, -7, 3])
        #expect(Self.movements(room).map(\.dial) == [.part(.big), .part(.small), .part(.big)])
        #expect(Self.movements(room).map(\.position) == [30, 0, 33])
        let dials = try #require(room.manager.knownButton(Self.id)?.dials)
        #expect(dials[.part(.big)].map(Dial.percentage) == 33 && dials[.part(.small)] == 0)
        #expect(room.world.violations.isEmpty)
        #expect(!room.said.contains { if case .anomaly = $0 { true } else { false } })
    }

    @Test("what is done to both while it is out of reach comes when it is back, and its dials stand where they stood")
    func away() throws {
        var room = Self.paired()
        room.pushTurn("desk", hundredths: 40)
        room.wait(.seconds(2))
        room.tell(.request(Self.id, .setDial(.part(.small), units: Dial.unitsPerTurn)))
        room.reach("desk", false)
        room.wait(.seconds(20))
        room.forget()
        room.press("desk", .click, part: .small)
        room.swipe("desk", .up)
        room.wait(.seconds(10))
        #expect(Self.events(room).isEmpty)
        room.reach("desk", true)
        room.wait(.seconds(20))
        #expect(Self.events(room).allSatisfy { $0.wasQueued && $0.age > .seconds(9) })
        #expect(Self.events(room).filter { $0.part == .small }.map(\.counter) == [1, 3, 4])
        #expect(Self.events(room).filter { $0.part == .big }.map(\.step) == [.down, .up(.open), .clickTimeout])
        #expect(Self.events(room).compactMap(\.swipe) == [.up])
        #expect(Self.events(room).map(\.wasQueuedLast).firstIndex(of: true) == 5)
        room.pushTurn("desk", hundredths: 10)
        room.wait(.seconds(2))
        room.pushTurn("desk", hundredths: -10, part: .small)
        room.wait(.seconds(2))
        #expect(Self.movements(room).map(\.position) == [50, 90])
    }

    @Test("one that was paired as a Flic 2 is found to be a Duo when it comes back, once")
    func upgraded() throws {
        var room = Self.paired()
        var known = try #require(room.manager.knownButton(Self.id))
        known.identity.model = .flic2
        known.cursor.smallEventCount = 0
        var description = Self.desk
        description.pairings = [known.pairing]
        room = Room([description], known: [known])
        for _ in 0..<2 {
            room.press("desk", .click, part: .small)
            room.wait(.seconds(5))
        }
        #expect(room.said.filter { $0 == .model(Self.id, .duo) }.count == 1)
        #expect(room.manager.knownButton(Self.id)?.identity.model == .duo)
        #expect(Set(Self.events(room).map(\.part)) == [.small] && Self.events(room).count == 6)
    }

    @Test("its firmware is transferred, and it is ready again with it")
    func firmware() {
        var room = Self.paired()
        room.tell(.request(Self.id, .updateFirmware(FlicPeripheral.signedFirmware(octetCount: 30_001))))
        room.wait(.seconds(120))
        let progress = room.said.compactMap { effect -> FirmwareProgress? in
            if case .firmwareUpdate(Self.id, let progress) = effect { progress } else { nil }
        }
        #expect(progress.first == .transferring(percentage: 0) && progress.last == .finished)
        room.press("desk", .click)
        room.wait(.seconds(20))
        #expect(room.manager.state(of: Self.id) == .ready)
        #expect(room.manager.knownButton(Self.id)?.identity.firmwareVersion == 12)
        room.tell(.request(Self.id, .updateFirmware([UInt8](repeating: 0, count: 76))))
        #expect(
            room.said.contains {
                if case .firmwareUpdate(_, .failed(name: "invalid_image", _)) = $0 { true } else { false }
            })
    }

    @Test("only a Duo has a small button")
    func noSmallButton() {
        var room = KnownButtonTests.paired()
        room.press("hall", .click, part: .small)
        room.swipe("hall", .right)
        room.wait(.seconds(3))
        room.pushTurn("hall", hundredths: 10)
        room.wait(.seconds(3))
        #expect(room.steps == [.down, .up(.open), .clickTimeout, .down, .up(.click)])
        #expect(!room.said.contains { if case .moved = $0 { true } else { false } })
    }
}
