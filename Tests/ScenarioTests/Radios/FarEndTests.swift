import BluetoothHost
import ButtonModel
import Hub
import JSON
import Simulator
import Testing

/// Houses with one radio of each kind, through which a button is paired and pressed.
@Suite("Radios of each kind, with simulated far ends")
struct FarEndTests {
    private static func presses(_ house: inout Household) -> [Int64?] {
        house.ask(#"{"request":"buttons"}"#)
        return house.responses.last?["data"]?.arrayValue?.map { $0["press_count"]?.integerValue } ?? []
    }

    @Test(
        "Buttons are paired and pressed, and again after the far end has been restarted", arguments: HouseRadio.allCases
    )
    func press(kind: HouseRadio) {
        var house = Household(kinds: [kind])
        house.pairAll()
        house.press("kitchen", .click)
        house.press("hall", .doubleClick)
        house.wait(.seconds(3))
        #expect(Self.presses(&house) == [1, 2])
        house.unplugAdapter()
        house.wait(.seconds(30))
        house.press("kitchen", .click)
        house.wait(.seconds(10))
        #expect(Self.presses(&house) == [2, 2])
        house.crash(for: .seconds(5))
        house.press("hall", .click)
        house.wait(.seconds(30))
        #expect(Self.presses(&house) == [2, 3])
        #expect(house.violations.isEmpty)
        if Self.presses(&house) != [2, 3] { print(house.logged.suffix(40).joined(separator: "\n")) }
    }

    @Test(
        "A radio with three links serves four buttons: each is paired, and each press arrives",
        arguments: HouseRadio.allCases)
    func fewLinks(kind: HouseRadio) {
        let buttons = (1...4).map { number in
            SimulatedButtonDescription(
                name: "b\(number)", address: BluetoothAddress(rawValue: 0x80E4_DA00_0010 + number),
                serial: "BA00-B0000\(number)", isPublic: true)
        }
        var house = Household(
            buttons, controller: .init(address: BluetoothAddress(rawValue: 0x0000_5E00_5301), maximumLinks: 3),
            kinds: [kind])
        house.pairAll(within: .seconds(60))
        for _ in 0..<3 {
            for button in buttons {
                house.press(button.name, .click)
                house.wait(.seconds(10))
            }
        }
        house.wait(.seconds(60))
        #expect(Self.presses(&house) == [3, 3, 3, 3])
        if Self.presses(&house) != [3, 3, 3, 3] { print(house.logged.suffix(80).joined(separator: "\n")) }
    }

    @Test(
        "A proxy that does not report the end of a link loses no press, even if it is the only radio",
        arguments: [true, false], [[HouseRadio.proxy], [.proxy, .adapter], [.proxy, .bluez]])
    func hiddenEnd(freesSlots: Bool, kinds: [HouseRadio]) {
        var house = Household(kinds: kinds)
        house.pairAll()
        for radio in 1..<max(2, kinds.count) { house.signal("kitchen", radio, -80) }
        house.trouble(0, .proxy(.hideEnds(1, freesSlots: freesSlots)))
        house.reach("kitchen", false)
        house.wait(.seconds(12))
        house.reach("kitchen", true)
        house.press("kitchen", .click)
        house.wait(.seconds(30))
        #expect(Self.presses(&house) == [1, 0])
        #expect(house.violations.isEmpty)
    }

    @Test(
        "A press of which a proxy loses a notification is live; a second one after an hour does not end the button's link"
    )
    func lostNotifications() {
        let rules: HouseRules = """
            version: 1
            buttons: {kitchen: {address: "80:E4:DA:00:00:01"}, hall: {address: "80:E4:DA:00:00:02"}}
            rules:
              - {id: kitchen, triggers: {button: kitchen, event: click}, actions: [{run: [/bin/true]}]}
            """
        var house = Household(rules: rules, kinds: [.proxy])
        house.pairAll()
        house.ask(#"{"request":"watch"}"#)
        for _ in 0..<2 {
            house.forgetWhatHappened()
            house.trouble(0, .proxy(.loseNotifications(1)))
            house.press("kitchen", .click)
            house.wait(.seconds(4))
            #expect(house.started.count == 1)
            #expect(!house.told.contains { $0["kind"] == "disconnected" })
            house.wait(.seconds(3600))
        }
        #expect(Self.presses(&house) == [2, 0])
        #expect(house.violations.isEmpty)
    }

    private static func radio(_ house: inout Household) -> JSONValue? {
        house.ask(#"{"request":"radios"}"#)
        return house.responses.last?["data"]?.arrayValue?.first
    }

    @Test("A proxy that another client has is connected once, and is used again within 5 s after that has left")
    func occupied() {
        var house = Household(kinds: [.proxy])
        house.pairAll()
        house.trouble(0, .proxy(.occupied(for: .seconds(900))))
        house.wait(.seconds(170))
        #expect(Self.radio(&house)?["fault"] == "taken")
        #expect(Self.radio(&house)?["state"] == "failed")
        #expect(Self.radio(&house)?["advice"]?.stringValue?.contains("Home Assistant") == true)
        let openings = house.farOpenings
        house.wait(.seconds(729))
        #expect(Self.radio(&house)?["fault"] == "taken")
        #expect(house.farOpenings == openings)
        #expect(house.logged.count { $0.contains("Home Assistant") } == 1)
        house.wait(.seconds(6))
        #expect(Self.radio(&house)?["state"] == "ready")
        #expect(Self.radio(&house)?["fault"] == .null)
        house.press("kitchen", .click)
        house.wait(.seconds(10))
        #expect(Self.presses(&house) == [1, 0])
        #expect(house.violations.isEmpty)
    }

    @Test("A button is connected by a proxy whose scanner got stuck while another button had a link, which stays")
    func stuckScanner() {
        var house = Household(kinds: [.proxy])
        house.pairAll()
        house.press("kitchen", .click)
        house.reach("hall", false)
        house.wait(.seconds(20))
        let openings = house.farOpenings
        house.trouble(0, .proxy(.stuckScanner))
        house.wait(.seconds(100))
        house.reach("hall", true)
        house.press("hall", .click)
        house.wait(.seconds(10))
        #expect(Self.presses(&house) == [1, 1])
        #expect(house.farOpenings == openings)
        #expect(house.retained["tryck/80e4da000001"]?.contains(#""state":"ready""#) == true)
        #expect(house.violations.isEmpty)
    }

    @Test("A button that another program removed from BlueZ is found again when it is pressed within a minute")
    func removed() {
        var house = Household(kinds: [.bluez])
        house.pairAll()
        house.wait(.seconds(90))
        house.trouble(0, .bluetoothd(.remove(Household.kitchen.wantedAddress)))
        house.wait(.seconds(5))
        house.press("kitchen", .click)
        house.wait(.seconds(10))
        #expect(Self.presses(&house) == [1, 0])
        // From now on BlueZ connects it by itself again.
        house.trouble(0, .bluetoothd(.disconnect(Household.kitchen.wantedAddress)))
        house.wait(.seconds(100))
        house.press("kitchen", .click)
        house.wait(.seconds(5))
        #expect(Self.presses(&house) == [2, 0])
    }

    @Test(
        "BlueZ beside an adapter does not search while a button is away for ten minutes, because a search costs all programs radio time",
        arguments: [[HouseRadio.adapter, .bluez], [.bluez, .adapter]])
    func quietAdapter(kinds: [HouseRadio]) {
        var house = Household(kinds: kinds)
        house.pairAll()
        house.reach("hall", false)
        house.wait(.seconds(60))
        var searches = 0
        for _ in 0..<54 {
            house.wait(.seconds(10))
            if house.isAnyDiscovering { searches += 1 }
        }
        #expect(searches == 0)
        house.reach("hall", true)
        house.press("hall", .click)
        house.wait(.seconds(20))
        #expect(Self.presses(&house) == [0, 1])
        #expect(house.violations.isEmpty)
    }

    @Test(
        "A button that is carried from another radio to BlueZ, which cannot listen, is connected there a minute later",
        arguments: [HouseRadio.adapter, .proxy])
    func carriedToBlueZ(from kind: HouseRadio) {
        var house = Household(kinds: [kind, .bluez])
        func carry(to radio: Int, for time: Duration) {
            house.signal("kitchen", radio, -60)
            house.signal("kitchen", 1 - radio, nil)
            house.wait(time)
        }
        func press() -> Int64? {
            house.press("kitchen", .click)
            // A press that takes longer is stale.
            house.wait(.seconds(3))
            return Self.presses(&house)[0]
        }
        house.signal("kitchen", 1, nil)
        house.pairAll()
        #expect(press() == 1)
        carry(to: 1, for: .seconds(90))
        // BlueZ gets to know the button only in a search.
        #expect(press() == 1)
        house.ask(#"{"request":"permit_join","data":{"time":20}}"#)
        #expect(press() == 3)
        house.wait(.seconds(20))
        carry(to: 0, for: .seconds(90))
        #expect(press() == 4)
        carry(to: 1, for: .seconds(7200))
        #expect(press() == 5)
        carry(to: 0, for: .seconds(90))
        #expect(press() == 6)
        #expect(house.violations.isEmpty)
    }

    @Test("BlueZ connects a button soon after its adapter has refused a further link twice")
    func refusedLink() {
        var house = Household(kinds: [.bluez])
        house.pairAll()
        for button in ["kitchen", "hall"] { house.reach(button, false) }
        house.wait(.seconds(20))
        house.breakAdapter(.refuse(.leCreateConnection, .memoryCapacityExceeded, count: 2))
        for button in ["kitchen", "hall"] {
            house.reach(button, true)
            house.press(button, .click)
        }
        house.wait(.seconds(10))
        #expect(Self.presses(&house) == [1, 1])
        #expect(house.violations.isEmpty)
    }

    @Test("With a radio of each kind, each is listed with its kind, its state, its links and its buttons")
    func listed() throws {
        var house = Household(kinds: [.adapter, .bluez, .proxy])
        for (radio, button) in ["kitchen", "hall"].enumerated() {
            for other in 0..<3 where other != radio { house.signal(button, other, nil) }
        }
        house.pairAll()
        house.ask(#"{"request":"radios"}"#)
        let radios = try #require(house.responses.last?["data"]?.arrayValue)
        #expect(radios.map { $0["kind"] } == ["hci", "bluez", "esphome"])
        #expect(radios.map { $0["state"] } == ["ready", "ready", "ready"])
        #expect(radios.map { $0["links"] } == [1, 1, 0])
        #expect(radios.map { $0["buttons"] } == [["kitchen"], ["hall"], []])
        #expect(radios.allSatisfy { $0["advice"] == .null && $0["fault"] == .null })
    }

    @Test("BlueZ does not take a button back that another radio has")
    func blocked() {
        var house = Household(kinds: [.bluez, .adapter])
        house.pairAll()
        house.radiosAway = [0]
        house.trouble(0, .bluetoothd(.kill(restartAfter: .seconds(5))))
        house.press("kitchen", .click)
        house.wait(.seconds(20))
        house.radiosAway = []
        house.wait(.seconds(200))
        for _ in 0..<3 {
            house.breakButton("kitchen", .dropLink)
            house.press("kitchen", .click)
            house.wait(.seconds(10))
        }
        #expect(Self.presses(&house) == [4, 0])
    }

    @Test("A button that its home radio, BlueZ, must leave to another one is connected by its home after a restart")
    func homeAfterRestart() {
        var house = Household(kinds: [.bluez, .adapter])
        house.signal("kitchen", 1, -80)
        house.pairAll()
        house.radiosAway = [0]
        house.trouble(0, .bluetoothd(.restart(after: .seconds(5))))
        house.wait(.seconds(2))
        house.press("kitchen", .click)
        house.wait(.seconds(20))
        house.radiosAway = []
        house.wait(.seconds(30))
        #expect(Self.presses(&house) == [1, 0])
        house.tell(.stop)
        house.wait(.seconds(20))
        house.crash()
        house.press("kitchen", .click)
        house.wait(.seconds(20))
        #expect(Self.presses(&house) == [2, 0])
    }

    @Test("A late link of a proxy takes the place of a dead link through another one, and the press arrives once")
    func lateLink() {
        var house = Household(kinds: [.proxy, .proxy])
        house.ask(#"{"request":"watch"}"#)
        house.signal("kitchen", 0, nil)
        house.pairAll()
        house.reach("kitchen", false)
        house.wait(.seconds(12))
        house.reach("kitchen", true)
        house.press("kitchen", .click)
        // The second proxy has heard the button and loses it before its attempt begins, which therefore lasts for 20 s.
        house.wait(.milliseconds(90))
        house.signal("kitchen", 1, nil)
        house.signal("kitchen", 0, -60)
        house.wait(.seconds(6))
        #expect(Self.presses(&house) == [1, 0])
        // The link of the first proxy ends without a report while the attempt of the second one still lasts.
        house.trouble(0, .proxy(.hideEnds(1, freesSlots: false)))
        house.signal("kitchen", 1, -60)
        house.breakButton("kitchen", .dropLink)
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        #expect(house.told.contains { $0["kind"] == "disconnected" && $0["reason"] == "superseded" })
        house.wait(.seconds(30))
        #expect(Self.presses(&house) == [2, 0])
        #expect(house.violations.isEmpty)
    }

    @Test(
        "A proxy that hears a button and connects none of them is named, with what can be done, until it connects one")
    func refusing() throws {
        var house = Household(kinds: [.proxy])
        house.pairAll()
        house.trouble(0, .proxy(.failAttempts(1_000_000)))
        for button in ["kitchen", "hall"] { house.breakButton(button, .dropLink) }
        for _ in 0..<3 {
            house.press("kitchen", .click)
            house.wait(.seconds(15))
        }
        func radio() throws -> JSONValue {
            house.ask(#"{"request":"radios"}"#)
            return try #require(house.responses.last?["data"]?.arrayValue?.first)
        }
        let refusing = try radio()
        #expect(
            refusing["state"] == "ready"
                && refusing["advice"]?.stringValue?.hasPrefix("It hears buttons, but could not") == true)
        house.trouble(0, .proxy(.failAttempts(0)))
        house.press("kitchen", .click)
        house.wait(.seconds(10))
        #expect(Self.presses(&house) == [4, 0])
        // The attempts before this link do not count any more.
        for button in ["kitchen", "hall"] { house.reach(button, false) }
        house.wait(.seconds(15))
        let alone = try radio()
        #expect(alone["links"] == 0 && alone["advice"] == .null)
        #expect(house.violations.isEmpty)
    }
}
