import ButtonModel
import Hub
import JSON
import Simulator
import Testing

/// Each hold that was reported has exactly one end, whatever happens to the link, the button and the process.
@Suite("Ends of holds")
struct HoldEndScenarioTests {
    private static let dim: HouseRules = """
        version: 1
        buttons: {kitchen: {address: "80:E4:DA:00:00:01", queued: drop}}
        rules:
          - {id: dim, triggers: {button: kitchen, event: hold}, actions: {publish: {topic: lamp, payload: dim}}}
          - id: stop
            triggers: {button: kitchen, event: hold_release}
            queued: drop
            actions: {publish: {topic: lamp, payload: "stop {{ trigger.queued }}"}}
        """

    /// Holds the kitchen's button until the hold is reported.
    private static func held(_ rules: HouseRules = dim) -> Household {
        var house = Household([Household.kitchen], rules: rules)
        house.pairAll()
        house.ask(#"{"request":"watch"}"#)
        house.forgetWhatHappened()
        house.press("kitchen", .down)
        house.wait(.milliseconds(1500))
        #expect(house.payloads(on: "tryck/80e4da000001/action") == ["hold"])
        return house
    }

    private static func ends(_ house: Household) -> [JSONValue] {
        house.payloads(on: "tryck/80e4da000001/event").compactMap { try? JSONValue(parsing: $0) }
            .filter { $0["event_type"] == "hold_release" }
    }

    private static func expectOneEnd(
        _ house: Household, reason: JSONValue?, ages: ClosedRange<Int64>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let ends = ends(house)
        #expect(ends.count == 1, "\(ends)", sourceLocation: sourceLocation)
        #expect(ends.first?["queued"] == true, sourceLocation: sourceLocation)
        #expect(ends.first?["reason"] == reason, sourceLocation: sourceLocation)
        let age = ends.first?["age_ms"]?.integerValue ?? -1
        #expect(ages.contains(age), "\(age)", sourceLocation: sourceLocation)
        #expect(house.payloads(on: "lamp").suffix(1) == ["stop true"], sourceLocation: sourceLocation)
        #expect(house.payloads(on: "lamp").count { $0 == "stop true" } == 1, sourceLocation: sourceLocation)
        #expect(
            house.payloads(on: "tryck/80e4da000001/action").count { $0 == "hold_release" } == 1,
            sourceLocation: sourceLocation)
        #expect(
            !house.payloads(on: "tryck/bridge/event").contains { $0.contains("stale_event") && $0.contains("hold") },
            sourceLocation: sourceLocation)
    }

    @Test("a hold ends after the supervision timeout, and the late release does not end it again")
    func linkLost() {
        var house = Self.held()
        house.reach("kitchen", false)
        house.wait(.seconds(5))
        #expect(Self.ends(house).isEmpty)
        house.wait(.seconds(5))
        Self.expectOneEnd(house, reason: "link_lost", ages: 8000...8000)
        #expect(house.told.contains { $0["event"] == "hold_release" && $0["reason"] == "link_lost" })
        house.press("kitchen", .up)
        house.wait(.seconds(3))
        house.reach("kitchen", true)
        house.wait(.seconds(20))
        Self.expectOneEnd(house, reason: "link_lost", ages: 8000...8000)
    }

    @Test("a late release on a new link ends the hold, with its age and without a reason")
    func lateRelease() {
        var house = Self.held()
        house.breakButton("kitchen", .dropLink)
        house.reach("kitchen", false)
        house.wait(.seconds(2))
        house.press("kitchen", .up)
        house.wait(.seconds(3))
        house.reach("kitchen", true)
        house.wait(.seconds(20))
        Self.expectOneEnd(house, reason: nil, ages: 3000...7000)
    }

    @Test("a button that is still held after a lost link ends its hold with the live release")
    func heldOn() {
        var house = Self.held()
        house.breakButton("kitchen", .dropLink)
        house.wait(.seconds(20))
        #expect(Self.ends(house).isEmpty)
        house.press("kitchen", .up)
        house.wait(.seconds(1))
        #expect(Self.ends(house).map { $0["queued"] } == [false])
    }

    @Test("a hold ends if the button reboots")
    func reboot() {
        var house = Self.held()
        house.breakButton("kitchen", .reboot)
        house.wait(.seconds(30))
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        #expect(Self.ends(house).count == 1)
    }

    @Test("a hold during which the process was killed ends once, by a late release or without the button")
    func killed() {
        for comesBack in [false, true] {
            var house = Self.held()
            house.reach("kitchen", false)
            house.press("kitchen", .up)
            house.crash()
            if comesBack { house.reach("kitchen", true) }
            house.wait(.seconds(30))
            Self.expectOneEnd(house, reason: comesBack ? nil : "link_lost", ages: 10...12_000)
            house.reach("kitchen", true)
            house.crash()
            house.wait(.seconds(30))
            Self.expectOneEnd(house, reason: comesBack ? nil : "link_lost", ages: 10...12_000)
        }
    }

    @Test("a hold that began before a reload ends after it")
    func reload() {
        var house = Self.held()
        house.rulesOnDisk = HouseRules(Self.dim.text + "\nvariables: {new: 1}\n")
        house.tell(.reloadRules)
        house.reach("kitchen", false)
        house.wait(.seconds(20))
        Self.expectOneEnd(house, reason: "link_lost", ages: 8000...8000)
    }

    @Test(
        "a hold ends when its button is forgotten, and when the button has deleted the pairing",
        arguments: [true, false])
    func removed(byRequest: Bool) {
        var house = Self.held()
        if byRequest {
            house.ask(#"{"request":"button/remove","data":{"id":"kitchen"}}"#)
        } else {
            house.resetButtons(seed: 9)
        }
        house.wait(.seconds(30))
        #expect(house.store.state.buttons == [])
        #expect(Self.ends(house).count == 1)
        #expect(house.payloads(on: "lamp") == ["dim", "stop true"])
        #expect(house.payloads(on: "tryck/80e4da000001/action") == ["hold", "hold_release"])
    }

    @Test("a hold that was stale when it arrived has a stale end")
    func stale() {
        var house = Household([Household.kitchen], rules: Self.dim)
        house.pairAll()
        house.reach("kitchen", false)
        house.wait(.seconds(20))
        house.forgetWhatHappened()
        house.press("kitchen", .hold)
        house.wait(.seconds(10))
        house.reach("kitchen", true)
        house.wait(.seconds(20))
        #expect(house.payloads(on: "lamp").isEmpty && Self.ends(house).isEmpty)
        #expect(house.payloads(on: "tryck/bridge/event").count { $0.contains("stale_event") } == 2)
    }

    @Test("the end of a hold is published when the broker is back within its time to live")
    func brokerAway() {
        var house = Self.held()
        house.loseBroker()
        house.press("kitchen", .up)
        house.wait(.seconds(3600))
        house.bringBrokerBack()
        house.wait(.seconds(1))
        #expect(Self.ends(house).count == 1)
    }

    @Test(
        "the end of a hold that the broker did not acknowledge is sent again after the connection, until it is acknowledged; a rule's message only with QoS 1",
        arguments: [0, 1])
    func brokerLostMeanwhile(qos: Int) {
        var house = Self.held(
            HouseRules(
                """
                version: 1
                buttons: {kitchen: {address: "80:E4:DA:00:00:01"}}
                rules:
                  - {id: dim, triggers: {button: kitchen, event: hold}, actions: {publish: {topic: lamp, payload: dim}}}
                  - id: stop
                    triggers: {button: kitchen, event: hold_release}
                    actions: {publish: {topic: lamp, payload: "stop {{ trigger.queued }}", qos: \(qos), max_age: 1m}}
                """))
        house.brokerIsSilent = true
        house.press("kitchen", .up)
        house.wait(.seconds(1))
        let (ends, seq) = (Self.ends(house), Self.ends(house).first?["seq"])
        #expect(ends.count == 1)
        for times in 2...3 {
            house.loseBroker()
            house.wait(.milliseconds(500))
            house.bringBrokerBack()
            house.wait(.seconds(1))
            #expect(Self.ends(house).count == times)
            #expect(house.payloads(on: "lamp").count { $0 == "stop false" } == (qos == 0 ? 1 : times))
            #expect(house.payloads(on: "tryck/80e4da000001/action").count { $0 == "hold_release" } == times)
        }
        #expect(Self.ends(house).allSatisfy { $0["seq"] == seq })
        #expect(house.payloads(on: "lamp").count { $0 == "dim" } == 1)
        house.brokerIsSilent = false
        house.acknowledge()
        house.loseBroker()
        house.bringBrokerBack()
        house.wait(.seconds(1))
        #expect(Self.ends(house).count == 3)
        #expect(house.payloads(on: "lamp").count { $0 == "stop false" } == (qos == 0 ? 1 : 3))
    }

    @Test("a hold that the broker was not told of, because it was away, has no end an hour later")
    func untold() {
        var house = Self.held()
        house.press("kitchen", .up)
        house.wait(.seconds(1))
        house.loseBroker()
        house.forgetWhatHappened()
        house.press("kitchen", .hold)
        house.wait(.seconds(3600))
        house.bringBrokerBack()
        house.wait(.seconds(1))
        #expect(Self.ends(house).isEmpty)
    }
}
