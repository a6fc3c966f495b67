import ButtonModel
import Expressions
import Hub
import JSON
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

    private static func faults(_ house: inout Household) -> [String] {
        house.ask(#"{"request":"status"}"#)
        return (house.data["faults"]?.arrayValue ?? []).compactMap(\.stringValue)
    }

    @Test("what is paired, pressed and set while the disk is full is kept when there is room again, without a press")
    func full() {
        var house = Household([Household.kitchen], rules: Self.rules)
        house.diskIsFull = true
        house.pairAll()
        house.press("kitchen", .click)
        house.wait(.seconds(5))
        #expect(house.payloads(on: "out") == ["1"])
        #expect(Self.faults(&house) == ["no space left"])
        #expect(house.logged.count { $0 == "no space left" } == 1)
        #expect(house.store.state.buttons.isEmpty)
        // Whatever the wait has become by now.
        house.wait(.seconds(1000))
        house.diskIsFull = false
        house.wait(.seconds(60))
        #expect(Self.faults(&house) == [])
        #expect(house.logged.contains("what could not be kept is on the disk now"))
        house.cutPower()
        house.wait(.seconds(30))
        #expect(house.store.state.buttons.map(\.pressCount) == [1])
        #expect(house.store.state.rules.variables == ["count": .integer(1)])
        // The button has told nobody else of its press, and it is not handled twice.
        #expect(house.payloads(on: "out") == ["1"])
        house.press("kitchen", .click)
        house.wait(.seconds(5))
        #expect(house.payloads(on: "out") == ["1", "2"])
    }

    @Test("the attempts become rarer, up to one a minute, and begin anew with the next fault")
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

    @Test("a sync that began before the fault does not take it back")
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
        #expect(Self.faults(&house) == ["no space left"])
        house.diskIsFull = false
        house.syncsAreSlow = false
        house.wait(.seconds(5))
        #expect(Self.faults(&house) == [])
    }

    @Test("a database that was set aside shows until a button is paired, and is said at the start")
    func lost() {
        let sentence = "tryck.sqlite is damaged (it is not a file): it was set aside as …"
        var house = Household([Household.kitchen], rules: Self.rules, lostState: sentence)
        #expect(house.logged.contains(sentence))
        #expect(Self.faults(&house) == [sentence])
        house.pairAll()
        #expect(Self.faults(&house) == [])
    }
}
