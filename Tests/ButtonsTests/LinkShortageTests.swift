import BluetoothHost
import ButtonModel
import Buttons
import Radios
import Simulator
import TestSupport
import Testing

/// More buttons than the adapter has room for.
@Suite("Space")
struct LinkShortageTests {
    static let buttons = (1...6).map { number in
        SimulatedButtonDescription(
            name: "b\(number)", address: BluetoothAddress(rawValue: 0x80E4_DA00_0010 + UInt64(number)), isPublic: true)
    }
    static let ids = buttons.map { ButtonID($0.wantedAddress) }

    /// All paired, one after another, and then quiet for a minute.
    static func house(
        _ buttons: [SimulatedButtonDescription] = buttons, acceptListSize: UInt8 = 16, links: Int = 8,
        maximumLinks: Int? = nil
    ) -> Room {
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
        #expect(
            room.said.contains { if case .buttonsWithoutLink(let waiting) = $0 { !waiting.isEmpty } else { false } })
    }

    @Test("presses that find all links in use are counted for a day, with the button that had most of them")
    func crowding() {
        var room = Self.house(links: 3)
        for button in Self.buttons {
            room.press(button.name, .click)
            room.wait(.seconds(45))
        }
        let calm = room.manager.crowding(of: .first, at: room.now)
        #expect(calm.presses == 6 && calm.late == 0 && calm.button == nil)
        for _ in 0..<3 {
            for button in Self.buttons { room.press(button.name, .click) }
            room.wait(.seconds(90))
        }
        let busy = room.manager.crowding(of: .first, at: room.now)
        #expect(busy.presses == 24)
        #expect((3...18).contains(busy.late), "\(busy.late)")
        #expect(busy.button != nil)
        #expect(room.manager.crowding(of: .first, at: room.now + .seconds(23 * 3600)) == busy)
        let later = room.manager.crowding(of: .first, at: room.now + .seconds(25 * 3600))
        #expect(later.presses == 0 && later.late == 0 && later.button == nil)
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

    @Test("one link is kept free, and a press of a button that has none is heard at once")
    func reserve() {
        var room = Self.house(links: 3)
        for (button, id) in zip(Self.buttons + Self.buttons, Self.ids + Self.ids) {
            let connected = Self.ids.count { room.manager.state(of: $0) == .ready }
            #expect(connected <= 2, "before \(button.name)")
            room.forget()
            room.press(button.name, .click)
            room.wait(.milliseconds(900))
            #expect(Self.presses(in: room, of: id) == 1, "\(button.name)")
            room.wait(.milliseconds(1100))
        }
    }

    @Test("with a single link, a press 1.5 s after one of another button is heard while it still counts as live")
    func singleLink() {
        var room = Self.house(links: 1)
        for place in 1..<Self.buttons.count {
            room.press(Self.buttons[place - 1].name, .click)
            room.wait(.seconds(10))
            // It has the link now.
            room.press(Self.buttons[place - 1].name, .click)
            room.wait(.milliseconds(1500))
            room.forget()
            room.press(Self.buttons[place].name, .click)
            room.wait(.milliseconds(2900))
            #expect(Self.presses(in: room, of: Self.ids[place]) == 1, "\(Self.buttons[place].name)")
        }
    }

    @Test(
        "on a radio with fewer links than buttons, a button ends its link 40 s after a press, unless another time is set"
    )
    func autoDisconnect() {
        var room = Self.house(links: 3)
        room.tell(.request(Self.ids[1], .setAutoDisconnectTime(510)))
        room.press("b1", .click)
        room.wait(.seconds(2))
        room.press("b2", .click)
        room.wait(.seconds(36))
        #expect(room.manager.state(of: Self.ids[0]) == .ready)
        room.forget()
        room.wait(.seconds(10))
        #expect(room.manager.state(of: Self.ids[0]) != .ready)
        #expect(room.said.contains(.disconnected(Self.ids[0], .remoteUserTerminated)))
        room.wait(.seconds(60))
        #expect(room.manager.state(of: Self.ids[1]) == .ready)
    }

    @Test("with links for all buttons, a button keeps its link, also after other buttons were removed")
    func noAutoDisconnect() {
        var room = Self.house(links: 6)
        for id in Self.ids { #expect(room.manager.state(of: id) == .ready) }
        room = Self.house(links: 3)
        for id in Self.ids.dropFirst(2) { room.tell(.forget(id)) }
        for button in Self.buttons.prefix(2) {
            room.press(button.name, .click)
            room.wait(.seconds(2))
        }
        room.wait(.seconds(300))
        for id in Self.ids.prefix(2) { #expect(room.manager.state(of: id) == .ready) }
    }

    @Test("a button does not give way in the middle of a press, nor while an acknowledgement waits for the disk")
    func unacknowledged() {
        var room = Self.house(links: 2, maximumLinks: nil)
        // A single button has a link, and one link is free.
        room.press("b1", .click)
        room.wait(.seconds(10))
        #expect(room.manager.state(of: Self.ids[0]) == .ready)
        room.press("b1", .down)
        room.wait(.milliseconds(100))
        room.press("b2", .click)
        room.wait(.seconds(5))
        #expect(room.manager.state(of: Self.ids[0]) == .ready)
        #expect(room.manager.state(of: Self.ids[1]) != .ready)
        room.storesAtOnce = false
        room.press("b1", .up)
        room.wait(.milliseconds(100))
        room.press("b3", .click)
        room.wait(.seconds(10))
        // Neither has had its acknowledgement, and neither has been quiet for long.
        #expect(room.manager.state(of: Self.ids[0]) == .ready && room.manager.state(of: Self.ids[2]) == .ready)
        room.wait(.seconds(11))
        #expect(room.manager.state(of: Self.ids[0]) != .ready)
        #expect(room.manager.state(of: Self.ids[2]) == .ready)
    }

    @Test("a button that is held for a minute keeps its link while another one is at rest")
    func held() {
        var room = Self.house(links: 3, maximumLinks: nil)
        room.press("b1", .down)
        room.wait(.seconds(22))
        room.press("b2", .click)
        room.wait(.milliseconds(500))
        room.press("b3", .click)
        room.wait(.milliseconds(200))
        // No button at rest has been quiet for a second yet, and the held one has been for 20.
        for (button, id) in zip(Self.buttons, Self.ids).dropFirst(3) {
            room.forget()
            room.press(button.name, .click)
            room.wait(.seconds(2))
            #expect(Self.presses(in: room, of: id) == 1, "\(button.name)")
            #expect(room.manager.state(of: Self.ids[0]) == .ready, "after \(button.name)")
        }
    }

    @Test("a Twist tells its turns only while it has a link, and gives way after 20 seconds")
    func twist() {
        let buttons = Self.buttons.map { button in
            var button = button
            if button.name == "b1" { button.model = .twist }
            return button
        }
        var room = Self.house(buttons, links: 2)
        room.press("b1", .click)
        room.wait(.seconds(2))
        room.press("b2", .click)
        room.wait(.seconds(2))
        #expect(room.manager.state(of: Self.ids[0]) == .ready && room.manager.state(of: Self.ids[1]) != .ready)
        room.wait(.seconds(20))
        room.press("b2", .click)
        room.wait(.milliseconds(900))
        #expect(Self.presses(in: room, of: Self.ids[1]) >= 2)
        #expect(room.manager.state(of: Self.ids[0]) != .ready)
    }

    @Test("who waits is said from the first time that the adapter has no link left until there is room for all")
    func waiting() {
        var room = Self.house(links: 3)
        func lists() -> [Set<ButtonID>] {
            room.said.compactMap { if case .buttonsWithoutLink(let waiting) = $0 { waiting } else { nil } }
        }
        for button in Self.buttons {
            room.press(button.name, .click)
            room.wait(.seconds(5))
        }
        // Three buttons have no link while all three links are in use, four while one link is kept free, and more when
        // buttons have ended their links after 40 s.
        #expect(lists().allSatisfy { (1...6).contains($0.count) } && lists().count > 6)
        room.forget()
        for id in Self.ids.prefix(2) { room.tell(.forget(id)) }
        #expect(lists().last?.isEmpty == false)
        room.forget()
        room.tell(.forget(Self.ids[2]))
        #expect(lists() == [[]])
    }

    @Test("a limit that was none is forgotten when the adapter makes more links")
    func falseLimit() {
        var room = Self.house(links: 8)
        room.unplug()
        room.wait(.seconds(1))
        room.tell(.transportOpened())
        room.wait(.seconds(1))
        room.press("b1", .click)
        room.wait(.seconds(2))
        room.forget()
        room.breakController(.refuse(.leCreateConnection, .memoryCapacityExceeded, count: 1))
        for button in Self.buttons.dropFirst() {
            room.press(button.name, .click)
            room.wait(.seconds(6))
        }
        let lists = room.said.compactMap { if case .buttonsWithoutLink(let waiting) = $0 { waiting } else { nil } }
        #expect(lists.last == [])
        #expect(Self.ids.count { room.manager.state(of: $0) == .ready } >= 5)
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

    @Test("silent buttons that take turns in a short accept list are reported once, and not at each turn")
    func silent() {
        var room = Self.house(Array(Self.buttons.prefix(5)), acceptListSize: 2)
        func lists() -> [Set<ButtonID>] {
            room.said.compactMap { if case .buttonsWithoutLink(let waiting) = $0 { waiting } else { nil } }
        }
        for button in Self.buttons.prefix(5) { room.reach(button.name, false) }
        room.forget()
        room.wait(.seconds(30))
        // The first button has an entry of its own.
        #expect(lists().last == Set(Self.ids[1..<5]))
        room.forget()
        room.wait(.seconds(60))
        #expect(lists() == [])
    }

    @Test("with enough links for all buttons, no shortage is reported and no button is disconnected")
    func plenty() {
        let room = Self.house()
        #expect(!room.said.contains { if case .buttonsWithoutLink = $0 { true } else { false } })
        #expect(Self.ids.allSatisfy { !room.states(of: $0).contains(.disconnecting) })
    }
}
