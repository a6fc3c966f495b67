import ButtonModel
import Buttons
import Simulator
import TestSupport
import Testing

/// More buttons than the adapter has room for.
@Suite("Space")
struct SpaceTests {
    static let buttons = (1...6).map { number in
        SimulatedButtonDescription(
            name: "b\(number)", address: BluetoothAddress(rawValue: 0x80E4_DA00_0010 + UInt64(number)), isPublic: true)
    }
    static let ids = buttons.map { ButtonID($0.wantedAddress) }

    /// All paired, one after another, and then quiet for a minute.
    static func house(acceptListSize: UInt8 = 16, links: Int = 8, maximumLinks: Int? = nil) -> Room {
        var room = Room(buttons, acceptListSize: acceptListSize, links: links, maximumLinks: maximumLinks)
        room.tell(.permitJoin(.seconds(600)))
        for _ in 0..<60 where room.manager.knownButtons.count < buttons.count { room.wait(.seconds(10)) }
        room.tell(.stopJoin)
        room.wait(.seconds(60))
        return room
    }

    static func presses(in room: Room, of id: ButtonID) -> Int {
        room.said.reduce(0) { count, effect in
            guard case .events(id, let events, _, _) = effect else { return count }
            return count + events.count { $0.step == .down }
        }
    }

    @Test(
        "with fewer links than buttons every press of every button arrives, and it is said that space is short",
        arguments: [(2, Int?.none), (3, nil), (8, 2), (5, nil), (1, nil)] as [(Int, Int?)])
    func links(count: Int, maximum: Int?) {
        var room = Self.house(links: count, maximumLinks: maximum)
        #expect(room.manager.knownButtons.count == Self.buttons.count)
        room.forget()
        for round in 1...3 {
            for (button, id) in zip(Self.buttons, Self.ids) {
                room.press(button.name, .click)
                room.wait(.seconds(45))
                #expect(Self.presses(in: room, of: id) == round, "\(button.name), round \(round)")
            }
        }
        #expect(room.said.contains { if case .waitingForSpace(let waiting) = $0 { !waiting.isEmpty } else { false } })
    }

    @Test("a button that is used all the time is not the one that gives way")
    func fair() {
        var room = Self.house(links: 3)
        room.forget()
        for other in Self.buttons.dropFirst() {
            for _ in 0..<4 {
                room.press("b1", .click)
                room.wait(.seconds(8))
            }
            room.press(other.name, .click)
            room.wait(.seconds(8))
        }
        // The first press of b1 may have found it disconnected.
        #expect(room.states(of: Self.ids[0]).filter { $0 == .disconnecting } == [])
        #expect(Self.presses(in: room, of: Self.ids[0]) == 20)
    }

    @Test("with a shorter accept list than buttons every press arrives", arguments: [1, 2, 4] as [UInt8])
    func acceptList(size: UInt8) {
        var room = Self.house(acceptListSize: size)
        for button in Self.buttons { room.reach(button.name, false) }
        room.wait(.seconds(30))
        for button in Self.buttons { room.reach(button.name, true) }
        room.forget()
        for (button, id) in zip(Self.buttons, Self.ids) {
            room.press(button.name, .click)
            room.wait(.seconds(120))
            #expect(Self.presses(in: room, of: id) == 1, "\(button.name)")
        }
    }

    @Test("with room for all nothing is said of space, and nobody is asked to leave")
    func plenty() {
        let room = Self.house()
        #expect(!room.said.contains { if case .waitingForSpace = $0 { true } else { false } })
        #expect(Self.ids.allSatisfy { !room.states(of: $0).contains(.disconnecting) })
    }
}
