import ButtonModel
import Hub
import JSON
import Rules
import Simulator
import TestSupport
import Testing

@Suite("Reload of rules")
struct RuleReloadScenarioTests {
    private static let head = """
        version: 1
        buttons:
          kitchen: {address: "80:E4:DA:00:00:01"}
          hall: {address: "80:E4:DA:00:00:02"}
        rules:
          - {id: once, triggers: {button: kitchen, event: click}, actions: {publish: {topic: out, payload: click}}}

        """
    private static let twice =
        "  - {id: two, triggers: {button: kitchen, event: double_click}, actions: {publish: {topic: out, payload: double_click}}}\n"
    private static let stairs = """
          - id: stairs
            triggers: {button: hall, event: down}
            actions:
              - publish: {topic: stairs, payload: "ON"}
              - delay: 5s
              - publish: {topic: stairs, payload: "OFF"}

        """
    private static let hold =
        "  - {id: dim, triggers: {button: kitchen, event: hold}, actions: {publish: {topic: out, payload: hold}}}\n"

    private static func house(_ rules: HouseRules, seed: UInt64 = 1) -> Household {
        var house = Household(rules: rules, seed: seed)
        house.pairAll()
        house.forgetWhatHappened()
        return house
    }

    @Test("the log counts a single rule in the singular")
    func singular() {
        var house = Self.house(.none)
        house.rulesOnDisk = HouseRules(Self.head)
        house.tell(.reloadRules)
        house.wait(.seconds(1))
        #expect(house.logged.contains("rules loaded: 1 rule"), "\(house.logged)")
    }

    @Test("a reload during a train loses no press and handles none twice", arguments: 0..<60 as Range<UInt64>)
    func undecided(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var house = Self.house(HouseRules(Self.head + Self.twice), seed: seed)
        let others = [
            Self.head + Self.twice + Self.stairs, Self.head + Self.twice + Self.hold, Self.head + Self.twice,
            Self.head.replacing("once", with: "another") + Self.twice.replacing("two", with: "too"),
        ]
        var expected: [String] = []
        for _ in 0..<6 {
            house.rulesOnDisk = HouseRules(others.randomElement(using: &random) ?? "")
            let press: SimulatedPress = Bool.random(using: &random) ? .click : .doubleClick
            house.press("kitchen", press)
            let first = Duration.milliseconds(Int.random(in: 0...700, using: &random))
            house.wait(first)
            house.tell(.reloadRules)
            house.wait(.seconds(2) - first)
            expected.append(press.rawValue)
        }
        #expect(house.payloads(on: "out") == expected)
        #expect(house.payloads(on: "tryck/80e4da000001/action") == expected)
    }

    @Test("a rule set with errors changes only the reported state")
    func bad() {
        var house = Self.house(HouseRules(Self.head + Self.stairs))
        let before = house.retained["tryck/bridge/rules"]
        house.press("hall", .click)
        house.wait(.seconds(1))
        house.rulesAreBad = true
        house.ask(#"{"request":"rules/reload","transaction":1}"#)
        #expect(house.responses.last?["status"] == "error")
        #expect(house.responses.last?["transaction"] == 1)
        #expect(house.data["problems"]?.arrayValue?.map { $0["code"] } == ["E301"])
        #expect(house.data["problems"]?.arrayValue?.first?["hint"] == "did you mean \"kitchen\"?")
        #expect(house.retained["tryck/bridge/rules"]?.contains(#""state":"error""#) == true)
        #expect(house.retained["tryck/bridge/rules"]?.contains("E301") == true)
        house.press("kitchen", .click)
        house.wait(.seconds(6))
        #expect(house.payloads(on: "out") == ["click"])
        #expect(house.payloads(on: "stairs") == ["ON", "OFF"])
        house.rulesAreBad = false
        house.ask(#"{"request":"rules/reload"}"#)
        #expect(house.responses.last?["data"]?["changed"] == false)
        #expect(house.retained["tryck/bridge/rules"] == before)
    }

    @Test("the problems of a reload show no secret, also if the rules are taken and the secret is new")
    func secretProblems() {
        var house = Self.house(HouseRules(Self.head))
        var rules = HouseRules(Self.head + Self.twice)
        rules.set.confidential = ["home/attic/safe"]
        rules.set.secretValues = rules.set.confidential
        house.rulesOnDisk = rules
        house.reloadWarnings = [
            ["code": "W703", "severity": "warning", "file": "test.yaml", "message": "nothing reads home/attic/safe"]
        ]
        house.ask(#"{"request":"watch"}"#)
        // The rules are new the first time, and the same the second time.
        for isNew in [true, false] {
            house.ask(#"{"request":"rules/reload"}"#)
            #expect(house.responses.last?["data"]?["changed"] == .bool(isNew))
            #expect(house.data["problems"]?.arrayValue?.map { $0["message"] } == ["nothing reads ***"])
        }
        let shown = (house.responses + house.told).map(\.description) + house.logged + Array(house.retained.values)
        #expect(!shown.contains { $0.contains("home/attic/safe") })
    }

    @Test("a reload with tests that fail is an error for the client, and no fault if the rules are already in use")
    func failingTests() {
        var house = Self.house(HouseRules(Self.head))
        let before = house.retained["tryck/bridge/rules"]
        house.testsFail = true
        house.ask(#"{"request":"rules/reload","data":{"test":true}}"#)
        #expect(house.responses.last?["status"] == "error")
        #expect(house.responses.last?["error"]?.stringValue?.contains("already in use") == true)
        #expect(house.data["problems"]?.arrayValue?.count == 1)
        #expect(house.retained["tryck/bridge/rules"] == before)
        house.ask(#"{"request":"status"}"#)
        #expect(house.data["ok"] == true)

        house.rulesOnDisk = HouseRules(Self.head + Self.twice)
        house.ask(#"{"request":"rules/reload","data":{"test":true}}"#)
        #expect(house.responses.last?["error"]?.stringValue?.contains("the old rules stay in use") == true)
        house.ask(#"{"request":"status"}"#)
        #expect(house.data["ok"] == false)
    }

    @Test("runs of removed or changed rules end, and runs of unchanged rules continue")
    func runs() {
        var house = Self.house(HouseRules(Self.head + Self.stairs))
        house.press("hall", .click)
        house.wait(.seconds(1))
        house.rulesOnDisk = HouseRules(Self.head + "# moved down\n" + Self.hold + Self.stairs)
        house.tell(.reloadRules)
        house.wait(.seconds(6))
        #expect(house.payloads(on: "stairs") == ["ON", "OFF"])

        house.forgetWhatHappened()
        house.press("hall", .click)
        house.wait(.seconds(1))
        house.rulesOnDisk = HouseRules(Self.head + Self.stairs.replacing("5s", with: "6s"))
        house.tell(.reloadRules)
        house.wait(.seconds(10))
        #expect(house.payloads(on: "stairs") == ["ON"])
        #expect(house.retained["tryck/rules/stairs/last_run"]?.contains("cancelled") == true)
        #expect(house.store.state.runs.isEmpty)
    }

    @Test("a button's mode set at run time is reset when the rules need more, and refused if it does not suffice")
    func triggerMode() {
        let options = #"{"request":"button/options","data":{"id":"kitchen","options":{"trigger_mode":"click"}}}"#
        var house = Self.house(HouseRules(Self.head))
        house.ask(options)
        #expect(house.responses.last?["status"] == "ok")
        #expect(house.store.state.buttons.first { $0.id == Household.kitchenID }?.triggerMode == .click)
        house.rulesOnDisk = HouseRules(Self.head + Self.twice)
        house.tell(.reloadRules)
        #expect(house.store.state.buttons.first { $0.id == Household.kitchenID }?.triggerMode == nil)
        #expect(house.logged.contains { $0.contains("is auto again, not click") })
        house.ask(options)
        #expect(house.responses.last?["status"] == "error")
        house.press("kitchen", .doubleClick)
        house.wait(.seconds(2))
        #expect(house.payloads(on: "out") == ["double_click"])
    }

    @Test("a request during a reload is answered after the files were read once more")
    func together() {
        var house = Self.house(HouseRules(Self.head))
        house.loadsAreSlow = true
        for number in 0..<70 { house.ask(#"{"request":"rules/reload","transaction":\#(number)}"#) }
        // The first reload is in progress, 64 requests wait for the next, and the others are refused.
        let refused = house.responses.filter { $0["status"] == "error" }
        #expect(refused.count == 5)
        house.loadsAreSlow = false
        house.finishLoads()
        #expect(house.responses.filter { $0["data"]?["state"] == "ok" }.count == 65)
    }
}
