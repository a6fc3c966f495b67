import ButtonModel
import Hub
import JSON
import Simulator
import TestSupport
import Testing

@testable import ReplayCommands

/// What is shown of the time after the last input of a process.
@Suite("The end of a history")
struct HistoryEndTests {
    private static let rules: HouseRules = """
        version: 1
        location: {latitude: 52.09, longitude: 5.12, timezone: UTC}
        buttons: {kitchen: "80:E4:DA:00:00:01", hall: "80:E4:DA:00:00:02"}
        rules:
          - id: lamp
            triggers: {button: kitchen, event: click}
            actions: [{delay: 40s}, {publish: {topic: home/late, payload: late}}]
          - id: hall
            triggers: {button: hall, event: click}
            actions: [{delay: 3s}, {publish: {topic: home/hall, payload: one}}]
          - id: hall_double
            triggers: {button: hall, event: double_click}
            actions: {publish: {topic: home/hall, payload: two}}
          - id: noon
            triggers: {at: "12:00"}
            actions: {publish: {topic: home/noon, payload: noon}}
        """

    private static func house() -> Household {
        var house = Household(rules: rules, history: HouseHistory(), isWitnessed: true)
        house.pairAll()
        house.wait(.seconds(30))
        return house
    }

    private static func essential(_ lines: [JSONValue]) -> [JSONValue] {
        let kinds: Set = ["event", "rule", "log", "variable", "publish"]
        return lines.filter { line in line["kind"]?.stringValue.map { kinds.contains($0) } ?? false }
    }

    @Test(
        "while the daemon runs, the history shows what the live stream has shown until now",
        arguments: [200, 4000, 39_000, 45_000])
    func running(milliseconds: Int) throws {
        var house = Self.house()
        house.press("kitchen", .click)
        house.wait(.milliseconds(milliseconds))
        let lines = try HistoryScenarioTests.shown(house).lines
        #expect(Self.essential(lines) == Self.essential(house.told))
        #expect(lines.contains { $0["topic"] == "home/late" } == (milliseconds > 40_000))
    }

    @Test("after a kill, nothing is shown that did not happen any more", arguments: [100, 300, 2000, 4500, 20_000])
    func killed(milliseconds: Int) throws {
        var house = Self.house()
        house.press("hall", .click)
        house.press("kitchen", .click)
        house.wait(.milliseconds(milliseconds))
        let told = Self.essential(house.told)
        house.crash(for: .seconds(90))
        house.loseHistory(1)
        let lines = Self.essential(try HistoryScenarioTests.shown(house, isRunning: false).lines)
        #expect(lines == Array(told.prefix(lines.count)))
        #expect(lines.contains { $0["event"] == "click" } == told.contains { $0["event"] == "click" })
    }

    @Test(
        "a kill leaves out nothing and adds nothing once the daemon has started again",
        arguments: [100, 200, 300, 2000, 4500])
    func restarted(milliseconds: Int) throws {
        var house = Self.house()
        house.press("hall", .click)
        house.wait(.milliseconds(milliseconds))
        house.crash(for: .seconds(90))
        house.wait(.seconds(20))
        #expect(Self.essential(try HistoryScenarioTests.shown(house).lines) == Self.essential(house.told))
    }

    @Test("a rule whose time came while the daemon did not run is not shown")
    func missed() throws {
        var house = Self.house()
        // 2026-11-18T11:59:40Z
        house.setClock(to: UTCTime(milliseconds: 1_795_003_180_000))
        house.press("hall", .click)
        house.wait(.seconds(10))
        house.crash(for: .seconds(90))
        house.wait(.seconds(20))
        #expect(!house.told.contains { $0["rule"] == "noon" })
        #expect(Self.essential(try HistoryScenarioTests.shown(house).lines) == Self.essential(house.told))
    }

    @Test("what-if compares only what has happened")
    func compared() throws {
        let sooner = HouseRules(Self.rules.text.replacing("delay: 40s", with: "delay: 20s"))
        var house = Self.house()
        house.press("kitchen", .click)
        house.wait(.seconds(5))
        #expect(try HistoryScenarioTests.compare(house, with: sooner).differences == [])
        #expect(try HistoryScenarioTests.compare(house, with: sooner, isRunning: false).differences == [])
        house.wait(.seconds(20))
        let differences = try HistoryScenarioTests.compare(house, with: sooner).differences
        #expect(differences.map { $0.after.map(\.kind) } == [["publish"]])
        #expect(differences.map { $0.before.map(\.kind) } == [["started"]])
    }
}
