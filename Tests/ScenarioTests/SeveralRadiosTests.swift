import ButtonModel
import Flic
import Hub
import JSON
import Simulator
import Testing

/// Houses with several adapters: which of them has a button, and what happens when one fails or a button walks.
@Suite
struct SeveralRadiosTests {
    private static let rules: HouseRules = """
        version: 1
        buttons: {kitchen: {address: "80:E4:DA:00:00:01"}, hall: {address: "80:E4:DA:00:00:02"}}
        rules:
          - {id: kitchen, triggers: {button: kitchen, event: click}, actions: [{run: [/bin/true]}]}
        """

    /// - Parameter signals: the strength with which the kitchen's button and each radio hear each other.
    private static func house(_ signals: [Int8?], pairs: Bool = true) -> Household {
        var house = Household([Household.kitchen], rules: Self.rules, radios: signals.count)
        for (radio, rssi) in signals.enumerated() { house.signal("kitchen", radio, rssi) }
        if pairs { house.pairAll() }
        return house
    }

    private static func radio(_ house: inout Household) -> String? {
        answer(&house, "buttons")?.arrayValue?[0]["radio"]?.stringValue
    }

    private static func answer(_ house: inout Household, _ request: String) -> JSONValue? {
        house.ask(#"{"request":"\#(request)"}"#)
        return house.responses.last?["data"]
    }

    /// New buttons with the names b1, b2, …; at most nine.
    private static func buttons(_ count: UInt64) -> [SimulatedButtonDescription] {
        (1...count).map { number in
            SimulatedButtonDescription(
                name: "b\(number)", address: BluetoothAddress(rawValue: 0x80E4_DA00_0010 + number),
                serial: "BA00-B0000\(number)", isPublic: true)
        }
    }

    private static func presses(_ house: inout Household) -> Int64? {
        answer(&house, "buttons")?.arrayValue?[0]["press_count"]?.integerValue
    }

    @Test("A button is paired by the radio that hears it best, and that is its home")
    func pairing() {
        var house = Self.house([-80, -50, -65])
        #expect(Self.radio(&house) == "attic")
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        #expect(Self.presses(&house) == 1)
        #expect(house.violations.isEmpty)
    }

    @Test("A radio that does not hear a button leaves it to the one that does, within the time of a live press")
    func walk() {
        var house = Self.house([-50, nil])
        #expect(Self.radio(&house) == "cellar")
        house.signal("kitchen", 0, nil)
        house.signal("kitchen", 1, -60)
        // The supervision timeout.
        house.wait(.seconds(15))
        let before = house.started.count
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        #expect(Self.radio(&house) == "attic")
        #expect(house.started.count == before + 1)
        #expect(Self.presses(&house) == 1)
        #expect(house.violations.isEmpty)
    }

    @Test("A link that comes up through a radio that the button is just leaving stays, and the press arrives once")
    func lateLink() {
        var house = Self.house([-70, nil])
        #expect(Self.radio(&house) == "cellar")
        house.signal("kitchen", 0, nil)
        // The supervision timeout.
        house.wait(.seconds(15))
        // The adapter in the cellar connects to the button, and says so when the button is already given to the one in the attic.
        house.breakAdapter(.delayConnectionComplete(.milliseconds(400)))
        house.press("kitchen", .click)
        house.signal("kitchen", 1, -50)
        house.wait(.milliseconds(60))
        house.signal("kitchen", 0, -70)
        house.wait(.milliseconds(240))
        #expect(Self.radio(&house) == "attic")
        house.wait(.seconds(3))
        #expect(Self.radio(&house) == "cellar")
        #expect(Self.presses(&house) == 1)
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        #expect(Self.presses(&house) == 2)
        #expect(house.violations.isEmpty)
    }

    @Test(
        "The buttons of a radio that is unplugged are connected by another one at once, and their presses arrive once")
    func unplugged() {
        var house = Self.house([-50, -60])
        #expect(Self.radio(&house) == "cellar")
        house.radiosAway = [0]
        house.unplugAdapter(0)
        house.press("kitchen", .click)
        house.wait(.seconds(12))
        #expect(Self.radio(&house) == "attic")
        #expect(Self.presses(&house) == 1)
        let radios = Self.answer(&house, "radios")
        #expect(radios?.arrayValue?[0]["state"] == "failed")
        #expect(radios?.arrayValue?[0]["fault"] == "absent")
        #expect(radios?.arrayValue?[1]["state"] == "ready")
        #expect(radios?.arrayValue?[1]["links"] == 1)
        // The daemon has a fault, and works.
        #expect(Self.answer(&house, "status")?["adapter"]?["state"] == "powered_on")
        #expect(Self.answer(&house, "status")?["faults"]?.arrayValue?.count == 1)
        #expect(house.retained["tryck/bridge/info"]?.contains(#""radios":2,"radios_ready":1"#) == true)
        #expect(house.violations.isEmpty)
    }

    @Test(
        "The log and the live stream name the radio through which a button is ready, and topics and Home Assistant show it"
    )
    func shown() throws {
        var house = Household([Household.kitchen], rules: Self.rules, discoveryPrefix: "homeassistant", radios: 2)
        house.signal("kitchen", 0, -80)
        house.ask(#"{"request":"watch"}"#)
        house.pairAll()
        #expect(house.logged.contains { $0.hasSuffix("kitchen is ready, through attic") })
        #expect(house.told.contains { $0["kind"] == "button" && $0["radio"] == "attic" })
        #expect(house.retained["tryck/80e4da000001"]?.contains(#""radio":"attic""#) == true)
        let radios = try JSONValue(parsing: Array(try #require(house.retained["tryck/bridge/radios"]).utf8))
        #expect(radios.arrayValue?.map { $0["links"]?.integerValue } == [0, 1])
        let bridge = try #require(house.retained.first { $0.value.contains("\"Flic bridge\"") })
        let components = try JSONValue(parsing: Array(bridge.value.utf8))["components"]
        #expect(components?["radio_0"]?["name"] == "Radio cellar" && components?["radio_1"]?["name"] == "Radio attic")
        #expect(components?["links"]?["platform"] == "sensor")
    }

    @Test(
        "A radio that was lost gets its buttons back only when it has lasted for a minute, and no connected button moves"
    )
    func trust() {
        var house = Self.house([-50, -60])
        house.radiosAway = [0]
        house.unplugAdapter(0)
        house.press("kitchen", .click)
        house.wait(.seconds(12))
        house.radiosAway = []
        house.wait(.seconds(120))
        #expect(Self.answer(&house, "radios")?.arrayValue?[0]["state"] == "ready")
        #expect(Self.radio(&house) == "attic")
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        #expect(Self.presses(&house) == 2)
        #expect(house.violations.isEmpty)
    }

    @Test(
        "Metrics count for each radio how long connections took, which failed, and how often a button changed its radio"
    )
    func metrics() throws {
        var house = Household([Household.kitchen], rules: Self.rules, hasMetrics: true, radios: 2)
        house.pairAll()
        house.signal("kitchen", 1, -60)
        house.radiosAway = [0]
        house.unplugAdapter(0)
        house.press("kitchen", .click)
        house.wait(.seconds(60))
        let samples = try #require(house.metrics.last).text.split(separator: "\n")
        for line in [
            #"tryck_radio_connect_seconds_count{radio="cellar"} 1"#,
            #"tryck_radio_connect_seconds_count{radio="attic"} 1"#,
            #"tryck_radio_connect_seconds_bucket{radio="attic",le="10.0"} 1"#,
            #"tryck_radio_connect_failures_total{radio="attic",reason="no_service"} 0"#,
            #"tryck_radio_lost_notifications_total{radio="attic"} 0"#,
            #"tryck_button_radio_changes_total{button="kitchen",id="80e4da000001"} 1"#,
        ] { #expect(samples.contains { $0 == line }, "\(line)") }
    }

    @Test("The radio that pairs can be named, and a name that there is not is refused")
    func named() {
        var house = Self.house([-50, -80], pairs: false)
        house.ask(#"{"request":"permit_join","data":{"time":20,"radio":"shed"}}"#)
        #expect(house.responses.last?["error"] == "there is no radio \"shed\"; the radios are cellar, attic")
        house.ask(#"{"request":"permit_join","data":{"time":20,"radio":"attic"}}"#)
        house.wait(.seconds(25))
        #expect(Self.radio(&house) == "attic")
        #expect(house.violations.isEmpty)
    }

    @Test(
        "A button that is to stay disconnected is connected by no radio, and one that is wanted again by the next that hears it"
    )
    func unwanted() {
        var house = Self.house([-50, -60])
        house.ask(#"{"request":"button/disconnect","data":{"id":"kitchen"}}"#)
        house.wait(.seconds(5))
        house.unplugAdapter(0)
        house.press("kitchen", .click)
        house.wait(.seconds(10))
        #expect(Self.answer(&house, "buttons")?.arrayValue?[0]["state"] == "disconnected")
        house.signal("kitchen", 0, nil)
        house.ask(#"{"request":"button/connect","data":{"id":"kitchen"}}"#)
        house.press("kitchen", .click)
        house.wait(.seconds(5))
        #expect(Self.answer(&house, "buttons")?.arrayValue?[0]["state"] == "ready")
        #expect(Self.radio(&house) == "attic")
        #expect(Self.presses(&house) == 2)
        #expect(house.violations.isEmpty)
    }

    @Test(
        "Two radios with a link each serve four buttons: each press arrives, and none is stale",
        arguments: UInt64(1)...10)
    func crowd(seed: UInt64) {
        let buttons = Self.buttons(4)
        var house = Household(
            buttons, rules: .none, seed: seed,
            controller: .init(address: BluetoothAddress(rawValue: 0x0000_5E00_5301), maximumLinks: 1), radios: 2)
        house.pairAll(within: .seconds(60))
        house.forgetWhatHappened()
        for round in 0..<3 {
            for button in buttons {
                house.press(button.name, .click)
                house.wait(.seconds(round == 0 ? 4 : 3))
            }
        }
        house.wait(.seconds(10))
        let counts = Self.answer(&house, "buttons")?.arrayValue?.map { $0["press_count"]?.integerValue }
        #expect(counts == [3, 3, 3, 3])
        #expect(house.payloads(on: "tryck/bridge/event").allSatisfy { !$0.contains("stale") })
        #expect(house.violations.isEmpty)
    }

    @Test("No button of a full adapter gives way for one that is away and that a proxy with room can serve")
    func roomElsewhere() {
        let buttons = Self.buttons(3)
        var house = Household(
            buttons, rules: .none,
            controller: .init(address: BluetoothAddress(rawValue: 0x0000_5E00_5301), maximumLinks: 2),
            kinds: [.adapter, .proxy])
        for button in buttons { house.signal(button.name, 1, nil) }
        house.pairAll(within: .seconds(60))
        // One button is now where only the proxy hears it. The adapter remains its home.
        house.signal("b3", 0, nil)
        house.signal("b3", 1, -75)
        house.wait(.seconds(30))
        for button in buttons {
            house.press(button.name, .click)
            house.wait(.seconds(5))
        }
        func shown(_ member: String) -> [String?] {
            Self.answer(&house, "buttons")?.arrayValue?.map { $0[member]?.stringValue } ?? []
        }
        #expect(house.store.state.buttons.map(\.home) == ["cellar", "cellar", "cellar"])
        #expect(shown("radio") == ["cellar", "cellar", "attic"])
        #expect(shown("state") == ["ready", "ready", "ready"])
        // It leaves the house.
        house.signal("b3", 1, nil)
        house.wait(.seconds(3600))
        for button in buttons.prefix(2) {
            house.press(button.name, .click)
            house.wait(.seconds(60))
            #expect(shown("state") == ["ready", "ready", "connecting"])
        }
        // It comes back to a place where only the adapter hears it, which then makes room.
        house.signal("b3", 0, -60)
        house.press("b3", .click)
        house.wait(.seconds(10))
        let counts = Self.answer(&house, "buttons")?.arrayValue?.map { $0["press_count"]?.integerValue }
        #expect(counts == [2, 2, 2])
        #expect(house.payloads(on: "tryck/bridge/event").allSatisfy { !$0.contains("stale") })
        #expect(house.violations.isEmpty)
    }

    @Test("The warning that a radio has no space for a button names the radio")
    func shortage() {
        let buttons = Self.buttons(4)
        var house = Household(
            buttons, rules: .none,
            controller: .init(address: BluetoothAddress(rawValue: 0x0000_5E00_5301), maximumLinks: 1), radios: 2)
        house.pairAll(within: .seconds(60))
        for button in buttons + buttons {
            house.press(button.name, .click)
            house.wait(.seconds(5))
        }
        let warnings = house.logged.filter { $0.contains("no space for a new connection") }
        #expect(!warnings.isEmpty)
        #expect(warnings.allSatisfy { $0.contains("(cellar)") || $0.contains("(attic)") }, "\(warnings)")
    }

    @Test(
        "After a restart a button is connected by the radio that hears it, whichever is the first of the configuration")
    func restart() {
        var house = Self.house([nil, -55])
        #expect(Self.radio(&house) == "attic")
        house.crash(for: .seconds(10))
        house.wait(.seconds(30))
        house.press("kitchen", .click)
        house.wait(.seconds(4))
        #expect(Self.radio(&house) == "attic")
        #expect(Self.presses(&house) == 1)
        #expect(house.violations.isEmpty)
    }

    @Test("A button is connected by its home after a restart, though another radio hears it better now")
    func homeIsOnFile() {
        var house = Self.house([nil, -60])
        #expect(Self.radio(&house) == "attic")
        house.signal("kitchen", 0, -52)
        house.crash(for: .seconds(10))
        house.wait(.seconds(30))
        #expect(Self.radio(&house) == "attic")
        #expect(house.violations.isEmpty)
    }

    @Test("A press on a full disk is counted once though its button moves to another radio and the power fails")
    func fullDisk() {
        var house = Household([Household.kitchen], rules: Self.rules.acceptingLate, radios: 2)
        house.signal("kitchen", 1, nil)
        house.pairAll()
        // The events after the pairing are on the disk, and acknowledged.
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        func counts() -> [Int64] { house.synced.state.buttons.map(\.pressCount.value) }
        func kept() -> Int { house.world.eventSnapshot(of: "kitchen")?.stored.count ?? 0 }
        #expect(counts() == [1] && kept() == 0)
        house.forgetWhatHappened()
        // With the reserve in memory the press is handled, and not acknowledged.
        (house.diskIsFull, house.refuge) = (true, .memory)
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        let stored = kept()
        #expect(house.started.count == 1 && stored > 0)
        house.signal("kitchen", 0, nil)
        house.signal("kitchen", 1, -60)
        // The supervision timeout.
        house.wait(.seconds(30))
        #expect(Self.radio(&house) == "attic")
        #expect(Self.answer(&house, "buttons")?.arrayValue?[0]["state"] == "ready")
        // The button has sent its events again through the other radio. They were not handled again, and it keeps them.
        #expect(house.started.count == 1 && kept() == stored)
        house.cutPower(for: .seconds(10))
        house.wait(.seconds(60))
        #expect(counts() == [1] && kept() == stored)
        house.diskIsFull = false
        house.wait(.seconds(90))
        #expect(counts() == [2] && kept() == 0)
        house.press("kitchen", .click)
        house.wait(.seconds(5))
        #expect(counts() == [3] && kept() == 0)
        #expect(house.violations.isEmpty)
    }

    @Test("A button whose radio is pulled was not silent")
    func lostRadio() {
        var house = Self.house([-50, -60])
        house.ask(#"{"request":"watch"}"#)
        house.unplugAdapter(0)
        let reasons = house.told.filter { $0["kind"] == "disconnected" }.map { $0["reason"]?.stringValue }
        #expect(reasons == ["radio_lost"])
    }

    @Test("Without any radio there is no link, and the first one that returns is used")
    func none() {
        var house = Self.house([-50, -60])
        house.keepsAdapterAway = true
        house.unplugAdapter(0)
        house.unplugAdapter(1)
        house.press("kitchen", .click)
        house.wait(.seconds(5))
        #expect(Self.answer(&house, "buttons")?.arrayValue?[0]["state"] == "disconnected")
        house.keepsAdapterAway = false
        house.wait(.seconds(60))
        #expect(Self.presses(&house) == 1)
        #expect(house.violations.isEmpty)
    }

    @Test("A button that both radios hear is connected once", arguments: UInt64(1)...20)
    func one(seed: UInt64) {
        var house = Household(
            [Household.kitchen, Household.hall], rules: Self.rules, seed: seed, radios: 3)
        house.pairAll()
        for round in 0..<6 {
            house.reach("kitchen", false)
            house.wait(.seconds(12))
            house.signal("kitchen", round % 3, nil)
            house.reach("kitchen", true)
            house.press("kitchen", .click)
            house.press("hall", .click)
            house.wait(.seconds(4))
            house.signal("kitchen", round % 3, -60)
            if round % 2 == 1 { house.unplugAdapter(round % 3) }
            house.wait(.seconds(8))
        }
        house.wait(.seconds(40))
        let buttons = Self.answer(&house, "buttons")?.arrayValue ?? []
        #expect(buttons.map { $0["press_count"]?.integerValue } == [6, 6])
        #expect(house.violations.isEmpty)
    }
}
