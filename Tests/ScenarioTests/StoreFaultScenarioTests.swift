import ButtonModel
import Expressions
import Flic
import Hub
import JSON
import MQTTTopics
import Rules
import Simulator
import Testing

@Suite("A state directory that cannot be written")
struct StoreFaultScenarioTests {
    private static let rules: HouseRules = """
        version: 1
        variables: {count: 0}
        rules:
          - id: count
            triggers: {button: any, event: click}
            actions: [{set: {count: "{{ variables.count + 1 }}"}}, {publish: {topic: out, payload: "{{ variables.count }}"}}]
        """

    private static let full = "no space left; \(RecordRefuge.disk.consequence)"

    private static func faults(_ house: inout Household) -> [String] {
        house.ask(#"{"request":"status"}"#)
        return (house.data["faults"]?.arrayValue ?? []).compactMap(\.stringValue)
    }

    @Test(
        "pairings, presses and settings during a full disk are stored when there is space again, without another press")
    func full() {
        var house = Household([Household.kitchen], rules: Self.rules)
        house.diskIsFull = true
        house.pairAll()
        house.press("kitchen", .click)
        house.wait(.seconds(5))
        #expect(house.payloads(on: "out") == ["1"])
        #expect(Self.faults(&house) == [Self.full])
        #expect(house.logged.count { $0 == Self.full } == 1)
        #expect(house.store.state.buttons.isEmpty)
        // However long the wait between two attempts is by now.
        house.wait(.seconds(1000))
        house.diskIsFull = false
        house.wait(.seconds(60))
        #expect(Self.faults(&house) == [])
        #expect(house.logged.contains("what could not be recorded is on the disk now"))
        house.cutPower()
        house.wait(.seconds(30))
        #expect(house.store.state.buttons.map(\.pressCount) == [1])
        #expect(house.store.state.rules.variables == ["count": .integer(1)])
        // The button has sent its press to no other process, and it is not handled twice.
        #expect(house.payloads(on: "out") == ["1"])
        house.press("kitchen", .click)
        house.wait(.seconds(5))
        #expect(house.payloads(on: "out") == ["1", "2"])
    }

    @Test("a name that was answered with success on a full disk is there after a kill, and so is a new pairing")
    func named() {
        var house = Household([Household.kitchen, Household.hall], rules: Self.rules)
        house.diskIsFull = true
        house.pairAll()
        house.ask(#"{"request":"button/rename","data":{"id":"BA00-K00001","to":"by the stove"}}"#)
        #expect(house.responses.last?["status"] == "ok")
        house.crash()
        house.wait(.seconds(30))
        house.ask(#"{"request":"buttons"}"#)
        #expect(house.data.arrayValue?.map { $0["name"] } == ["by the stove", "hall"])
        house.press("kitchen", .click)
        house.wait(.seconds(5))
        #expect(house.payloads(on: "out") == ["1"])
        house.diskIsFull = false
        house.wait(.seconds(60))
        #expect(house.store.state.buttons.map(\.name) == ["by the stove", nil])
    }

    @Test("while nothing can be recorded, a request that changes something is answered with what happens at a restart")
    func unnamed() {
        var house = Household([Household.kitchen], rules: Self.rules)
        house.pairAll()
        (house.diskIsFull, house.refuge) = (true, .nowhere)
        house.crash()
        house.ask(#"{"request":"button/rename","data":{"id":"BA00-K00001","to":"by the stove"}}"#)
        #expect(house.responses.last?["status"] == "error")
        let sentence = house.responses.last?["error"]?.stringValue ?? ""
        #expect(sentence.hasPrefix("in effect, and not stored yet: no space left"), "\(sentence)")
        house.ask(#"{"request":"button","data":{"id":"BA00-K00001"}}"#)
        #expect(house.data["name"] == "by the stove")
        house.diskIsFull = false
        house.wait(.seconds(60))
        house.ask(#"{"request":"button/rename","data":{"id":"BA00-K00001","to":"sink"}}"#)
        #expect(house.responses.last?["status"] == "ok")
    }

    @Test("a reserve that could not be made shows in the status, and is tried again without a fault of the database")
    func noReserve() {
        var house = Household([Household.kitchen], rules: Self.rules)
        house.pairAll()
        house.forgetWhatHappened()
        house.tell(.reserveFault("no space left for tryck.reserve"))
        let fault = "no space left for tryck.reserve; until then a reserve for presses on a full disk is missing"
        #expect(Self.faults(&house) == [fault] && house.logged.contains(fault))
        house.wait(.seconds(200))
        #expect(house.journal.count { $0 == "record" } == 2)
        #expect(house.journal.count { $0 == "sync" } == 0)
        house.tell(.reserveFault(nil))
        #expect(Self.faults(&house) == [])
        house.wait(.seconds(7200))
        #expect(house.journal.count { $0 == "record" } == 2)
    }

    @Test("the attempts to write become rarer, up to one a minute, and begin again with the next fault")
    func backOff() {
        var house = Household([Household.kitchen], rules: Self.rules)
        house.pairAll()
        for _ in 0..<2 {
            house.diskIsFull = true
            house.press("kitchen", .click)
            house.wait(.milliseconds(900))
            house.forgetWhatHappened()
            house.wait(.seconds(64))
            #expect(house.journal.count { $0 == "record" } == 6)
            house.forgetWhatHappened()
            house.wait(.seconds(600))
            #expect((9...11).contains(house.journal.count { $0 == "record" }))
            house.diskIsFull = false
            house.wait(.seconds(61))
            #expect(Self.faults(&house) == [])
        }
    }

    @Test("a sync that was requested before a fault does not clear the fault")
    func earlierSync() {
        var house = Household([Household.kitchen], rules: Self.rules)
        house.pairAll()
        house.syncsAreSlow = true
        house.press("kitchen", .down)
        house.wait(.milliseconds(60))
        house.diskIsFull = true
        house.press("kitchen", .up)
        house.wait(.milliseconds(500))
        house.finishSyncs()
        #expect(Self.faults(&house) == [Self.full])
        house.diskIsFull = false
        house.syncsAreSlow = false
        house.wait(.seconds(5))
        #expect(Self.faults(&house) == [])
    }

    @Test("a renamed damaged database is a fault until a button is paired, and is logged at the start")
    func lost() {
        let sentence = "tryck.sqlite is damaged (it is not a file): it was set aside as …"
        var house = Household([Household.kitchen], rules: Self.rules, lostState: sentence)
        #expect(house.logged.contains(sentence))
        #expect(Self.faults(&house) == [sentence])
        house.pairAll()
        #expect(Self.faults(&house) == [])
    }

    @Test("a ring that could not be created shows in the status, and is tried again until it is created")
    func noRing() {
        var house = Household([Household.kitchen], rules: Self.rules)
        house.pairAll()
        house.forgetWhatHappened()
        house.tell(.ringFault("no space left for /run/tryck/tryck.ring-1"))
        let sentence =
            "no space left for /run/tryck/tryck.ring-1; until then every press waits for the disk of the state directory"
        #expect(Self.faults(&house) == [sentence] && house.logged.contains(sentence))
        house.wait(.seconds(200))
        #expect(house.journal.count { $0 == "record" } == 2)
        house.tell(.ringFault(nil))
        #expect(Self.faults(&house) == [])
        house.wait(.seconds(7200))
        #expect(house.journal.count { $0 == "record" } == 2)
    }

    @Test("a ring on a disk is a warning of the status, which is no fault")
    func ringOnDisk() {
        let sentence = "/run/tryck/tryck.ring-1 is not on a tmpfs"
        var house = Household([Household.kitchen], rules: Self.rules, ringWarning: sentence)
        #expect(Self.faults(&house) == [])
        house.ask(#"{"request":"status"}"#)
        #expect(house.data["warnings"] == [.string(sentence)] && house.data["ok"] == true)
    }

    @Test("a history that cannot be written is a warning of the status until it is written again")
    func historyFault() {
        var house = Household([Household.kitchen], rules: Self.rules)
        func warnings(_ house: inout Household) -> JSONValue? {
            house.ask(#"{"request":"status"}"#)
            return house.data["warnings"]
        }
        house.tell(.historyFault("no history is kept for now"))
        #expect(warnings(&house) == ["no history is kept for now"] && house.data["ok"] == true)
        house.tell(.historyFault(nil))
        #expect(warnings(&house) == [])
    }

    /// Expects that every press is handled once and acknowledged to the button.
    private static let accepting: HouseRules = """
        version: 1
        buttons: {kitchen: {address: 80:E4:DA:00:00:01, queued: accept}}
        rules:
          - id: count
            triggers: {button: kitchen, event: click}
            actions: [{publish: {topic: out}}]
        """

    private static func unacknowledged(_ house: Household) -> Int {
        house.world.eventSnapshot(of: "kitchen")?.stored.count ?? 0
    }

    @Test(
        "three presses on a full disk before the process is killed or the power fails are handled once",
        arguments: [false, true])
    func killed(isPowerCut: Bool) {
        var house = Household([Household.kitchen], rules: Self.accepting)
        house.pairAll()
        house.diskIsFull = true
        for _ in 0..<3 {
            house.press("kitchen", .click)
            house.wait(.seconds(2))
        }
        #expect(house.payloads(on: "out").count == 3)
        // The presses are on the disk, so the button does not need to keep them.
        #expect(Self.unacknowledged(house) == 0)
        if isPowerCut { house.cutPower() } else { house.crash() }
        #expect(Self.faults(&house) == [Self.full])
        house.wait(.seconds(30))
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        #expect(house.payloads(on: "out").count == 4)
        house.diskIsFull = false
        house.crash()
        house.wait(.seconds(60))
        #expect(Self.faults(&house) == [])
        #expect(house.payloads(on: "out").count == 4)
        #expect(house.store.state.buttons.map(\.pressCount) == [4])
    }

    @Test("with the reserve in memory, handled presses are acknowledged as soon as the disk accepts writes")
    func memory() {
        var house = Household([Household.kitchen], rules: Self.accepting)
        house.pairAll()
        (house.diskIsFull, house.refuge) = (true, .memory)
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        house.crash()
        house.wait(.seconds(30))
        #expect(house.payloads(on: "out").count == 1)
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        #expect(house.payloads(on: "out").count == 2)
        #expect(Self.unacknowledged(house) > 0)
        house.diskIsFull = false
        house.wait(.seconds(61))
        #expect(Self.faults(&house) == [])
        #expect(Self.unacknowledged(house) == 0, "without another press")
    }

    @Test("with the reserve in memory, the sync of a request acknowledges no press; a power cut brings it back")
    func requestOnFullDisk() {
        var house = Household([Household.kitchen], rules: Self.accepting)
        house.pairAll()
        (house.diskIsFull, house.refuge) = (true, .memory)
        house.press("kitchen", .click)
        house.wait(.milliseconds(500))
        house.ask(#"{"request":"rules/enable","data":{"id":"count"}}"#)
        #expect(Self.faults(&house) != [])
        house.wait(.milliseconds(200))
        #expect(Self.unacknowledged(house) > 0)
        house.cutPower()
        house.diskIsFull = false
        house.wait(.seconds(30))
        #expect(house.payloads(on: "out").count == 2)
        #expect(Self.unacknowledged(house) == 0)
    }

    @Test(
        "without a reserve no press is handled, and the stored presses are accepted by their age afterwards"
    )
    func nowhere() {
        var house = Household([Household.kitchen], rules: Self.accepting, discoveryPrefix: "homeassistant")
        house.pairAll()
        (house.diskIsFull, house.refuge) = (true, .nowhere)
        house.forgetWhatHappened()
        house.crash()
        let fault = "no space left; \(RecordRefuge.nowhere.consequence)"
        house.press("kitchen", .click)
        house.wait(.seconds(20))
        #expect(house.payloads(on: "out") == [])
        #expect(Self.faults(&house).contains(fault))
        // At a first start, nobody would have the device of an id that the next start does not have.
        func announcesBridge() -> Bool {
            house.published.contains { $0.topicName.hasPrefix("homeassistant/device/tryck_bridge_") }
        }
        house.say("online", on: "homeassistant/status")
        house.wait(.seconds(10))
        #expect(!announcesBridge())
        house.diskIsFull = false
        house.wait(.seconds(120))
        #expect(Self.faults(&house) == [])
        #expect(announcesBridge())
        #expect(house.payloads(on: "out").count == 1)
        #expect(Self.unacknowledged(house) == 0)
    }

    /// A house that has started for the first time, 20 s ago, on a full disk.
    private static func startedOnFullDisk(refuge: RecordRefuge) -> Household {
        var house = Household([Household.kitchen], rules: Self.rules, discoveryPrefix: "homeassistant")
        (house.diskIsFull, house.refuge) = (true, refuge)
        house.forgetWhatHappened()
        house.crash()
        house.wait(.seconds(20))
        return house
    }

    private static func bridgeAnnouncements(_ house: Household) -> Int {
        house.published.count { $0.topicName.hasPrefix("homeassistant/device/tryck_bridge_") }
    }

    @Test("a bridge whose id is only in memory is announced when the disk works again")
    func idInMemory() {
        var house = Self.startedOnFullDisk(refuge: .memory)
        #expect(Self.bridgeAnnouncements(house) == 0)
        house.diskIsFull = false
        house.wait(.seconds(200))
        #expect(Self.bridgeAnnouncements(house) == 1 && Self.faults(&house).isEmpty)
    }

    @Test("the bridge is announced as soon as its id is in a reserve, though the disk stays full")
    func reserveAppears() {
        var house = Self.startedOnFullDisk(refuge: .nowhere)
        #expect(Self.bridgeAnnouncements(house) == 0)
        house.refuge = .disk
        house.wait(.seconds(200))
        #expect(Self.bridgeAnnouncements(house) == 1 && !Self.faults(&house).isEmpty)
    }

    @Test("when disk and reserve fail together, links are ended after the press, and return when the disk works again")
    func suddenly() {
        var house = Household([Household.kitchen], rules: Self.accepting)
        house.pairAll()
        (house.diskIsFull, house.refuge) = (true, .nowhere)
        for _ in 0..<2 {
            house.press("kitchen", .click)
            house.wait(.seconds(5))
        }
        #expect(house.payloads(on: "out").count == 1)
        house.diskIsFull = false
        house.wait(.seconds(120))
        #expect(Self.faults(&house) == [])
        #expect(house.payloads(on: "out").count == 2)
        #expect(house.store.state.buttons.map(\.pressCount) == [2])
    }
}
