import ButtonModel
import DiskTestSupport
import Glibc
import Hub
import JSON
import Simulator
import TestSupport
import Testing

@testable import ReplayCommands

/// Parts of a history that cannot be replayed, and what is counted.
@Suite("Gaps of a history")
struct HistoryGapTests {
    private static func rules(_ topicName: String = "home/lamp") -> HouseRules {
        HouseRules(
            """
            version: 1
            buttons: {kitchen: "80:E4:DA:00:00:01"}
            rules:
              - {id: lamp, triggers: {button: kitchen, event: click}, actions: {publish: {topic: \(topicName), payload: 1}}}
            """)
    }

    /// Two processes with a press each.
    private static func house() -> Household {
        var house = Household(rules: rules(), history: HouseHistory(), isWitnessed: true)
        house.pairAll()
        for _ in 0..<2 {
            house.press("kitchen", .click)
            house.wait(.seconds(30))
            house.crash(for: .seconds(10))
            house.wait(.seconds(60))
        }
        return house
    }

    private static func messages(_ lines: [JSONValue]) -> Int { lines.count { $0["topic"] == "home/lamp" } }

    @Test("a process whose rules cannot be read is a gap with the reason, and the others are shown")
    func unreadable() throws {
        var house = Self.house()
        house.editHistory("publish:", with: "publsh:", in: 0)
        let (lines, gaps) = try HistoryScenarioTests.shown(house)
        #expect(Self.messages(lines) == 1)
        #expect(gaps.count == 1)
        #expect(gaps.first?.contains("test.yaml:4:") == true && gaps.first?.contains("publsh") == true, "\(gaps)")
        #expect(gaps.allSatisfy { !$0.contains("\n") })
        let result = try HistoryScenarioTests.compare(house, with: Self.rules())
        #expect(result.notes == gaps)
        #expect(result.eventCount == 1)
        #expect(!result.comparesNothing)
    }

    @Test("what-if says that nothing could be compared if no rules of the past can be read")
    func nothing() throws {
        var house = Self.house()
        house.editHistory("publish:", with: "publsh:")
        let (lines, gaps) = try HistoryScenarioTests.shown(house)
        #expect(lines.isEmpty)
        #expect(gaps.count == 1, "it is said once for the same rules")
        let result = try HistoryScenarioTests.compare(house, with: Self.rules())
        #expect(result.comparesNothing)
        #expect(!result.notes.isEmpty && result.notes.allSatisfy { !$0.contains("\n") })
        let empty = Household(rules: Self.rules(), history: HouseHistory())
        #expect(try !HistoryScenarioTests.compare(empty, with: Self.rules()).comparesNothing)
    }

    @Test("what-if fails if nothing differs and a part of the history could not be read")
    func failure() throws {
        #expect(try HistoryScenarioTests.compare(Self.house(), with: Self.rules()).failure == nil)
        var house = Self.house()
        house.editHistory("publish:", with: "publsh:", in: 0)
        let part = try HistoryScenarioTests.compare(house, with: Self.rules()).failure
        #expect(part.map { "\($0)" }?.contains("unavailable") == true)
        #expect(part.map { "\($0)" }?.contains("Nothing differs in what could be read") == true)
        // That something differs is certain also if a part is missing.
        #expect(try HistoryScenarioTests.compare(house, with: Self.rules("home/other")).failure == nil)
        house.editHistory("publish:", with: "publsh:")
        let nothing = try HistoryScenarioTests.compare(house, with: Self.rules()).failure
        #expect(nothing.map { "\($0)" }?.contains("Nothing could be compared.") == true)
    }

    @Test("rules that cannot be read after a reload leave what was before")
    func reloaded() throws {
        var house = Household(rules: Self.rules(), history: HouseHistory(), isWitnessed: true)
        house.pairAll()
        house.press("kitchen", .click)
        house.wait(.seconds(30))
        house.rulesOnDisk = Self.rules("home/other")
        house.tell(.reloadRules)
        house.press("kitchen", .click)
        house.wait(.seconds(30))
        house.editHistory("publish: {topic: home/other", with: "publsh: {topic: home/other")
        let (lines, gaps) = try HistoryScenarioTests.shown(house)
        #expect(Self.messages(lines) == 1)
        #expect(gaps.count == 1)
    }

    @Test("a program that reads the past is told of gaps")
    func past() throws {
        var house = Self.house()
        house.editHistory("publish:", with: "publsh:", in: 0)
        let directory = TemporaryDirectory()
        try #require(mkdir(directory.path + "/history", 0o700) == 0)
        house.history?.write(to: directory.path + "/history")
        var occurrences: [Past.Occurrence] = []
        try Past.forEach(in: directory.path) { occurrence in
            occurrences.append(occurrence)
            return true
        }
        guard case .gap(let reason)? = occurrences.first else {
            Issue.record("no gap: \(occurrences)")
            return
        }
        #expect(reason.contains("publsh"))
        #expect(occurrences.count > 1)
    }

    @Test("events that only the rules of one side have are counted", arguments: [false, true])
    func eventsOfOneSide(isReversed: Bool) throws {
        func rules(_ event: String) -> HouseRules {
            HouseRules(Self.rules().text.replacing("event: click", with: "event: \(event)"))
        }
        let events = isReversed ? ["click", "double_click"] : ["double_click", "click"]
        var house = Household(rules: rules(events[0]), history: HouseHistory(), isWitnessed: true)
        house.pairAll()
        house.press("kitchen", .doubleClick)
        house.wait(.seconds(10))
        let result = try HistoryScenarioTests.compare(house, with: rules(events[1]))
        #expect(result.differences.count == 3)
        #expect(result.eventCount == 3)
    }
}
