import ButtonModel
import Expressions
import Hub
import JSON
import Rules
import Simulator
import TestSupport
import Testing

@Suite("Rules and crashes")
struct RuleCrashScenarioTests {
    private static let stairs: HouseRules = """
        version: 1
        defaults: {queued: accept}
        rules:
          - id: stairs
            on_restart: resume
            triggers: {button: any, event: down}
            actions:
              - publish: {topic: one}
              - delay: 400ms
              - publish: {topic: two}
              - delay: 400ms
              - run: [three]
        """

    private static func house(_ rules: HouseRules, seed: UInt64 = 1) -> Household {
        var house = Household([Household.kitchen], rules: rules, seed: seed)
        house.pairAll()
        house.forgetWhatHappened()
        return house
    }

    @Test(
        "after a crash at any instant a press is handled once, and its run is resumed or reported",
        arguments: 0..<60 as Range<UInt64>)
    func anyInstant(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for resumes in [true, false] {
            let rules = resumes ? Self.stairs : HouseRules(Self.stairs.text.replacing("resume", with: "drop"))
            var house = Self.house(rules, seed: seed)
            house.syncsAreSlow = Bool.random(using: &random)
            house.press("kitchen", .click)
            house.wait(.milliseconds(Int.random(in: 0...1100, using: &random)))
            let wasOver = house.started.count == 1
            house.crash()
            house.syncsAreSlow = false
            house.wait(.seconds(40))
            let told = house.interruptedRuns.count
            #expect(house.payloads(on: "one").count == 1)
            #expect(house.payloads(on: "two").count <= 1)
            #expect(house.started.count + told == 1)
            #expect(house.started.count == 1 || !resumes && !wasOver)
            #expect(house.store.state.runs.isEmpty && house.store.state.rules.waitingRuns.isEmpty)
        }
    }

    @Test(
        "after presses and crashes in any order every press counts once, and a cycle skips no entry",
        arguments: 0..<30 as Range<UInt64>)
    func counting(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var house = Self.house(
            """
            version: 1
            defaults: {queued: accept}
            variables: {count: 0, forgotten: {initial: 0, persist: false}}
            rules:
              - id: count
                triggers: {button: any, event: down}
                mode: queued
                max: 100
                actions:
                  - set: {count: "{{ variables.count + 1 }}", forgotten: 1}
                  - cycle: {steps: [{publish: {topic: at, payload: a}}, {publish: {topic: at, payload: b}}, {publish: {topic: at, payload: c}}]}
            """, seed: seed)
        var presses = 0
        for _ in 0..<8 {
            house.press("kitchen", .click)
            presses += 1
            house.wait(.milliseconds(Int.random(in: 0...900, using: &random)))
            if Bool.random(using: &random) {
                house.crash()
                house.wait(.seconds(20))
            }
        }
        house.wait(.seconds(30))
        #expect(house.store.state.rules.variables == ["count": .integer(Int64(presses))])
        #expect(house.payloads(on: "at") == (0..<presses).map { ["a", "b", "c"][$0 % 3] })
    }

    @Test("an interrupted run is reported until the broker has acknowledged the report, also after crashes")
    func reportSurvives() {
        var house = Self.house(HouseRules(Self.stairs.text.replacing("resume", with: "drop")))
        house.press("kitchen", .click)
        house.wait(.milliseconds(200))
        house.brokerIsUp = false
        for _ in 0..<3 {
            house.crash()
            house.wait(.milliseconds(50))
        }
        // The broker received the report, and the process died before the acknowledgement.
        house.brokerIsSilent = true
        house.bringBrokerBack()
        house.crash()
        #expect(house.store.state.runs.count == 1)
        house.brokerIsSilent = false
        house.crash()
        #expect(house.store.state.runs.isEmpty)
        house.crash()
        house.wait(.seconds(5))
        let told = house.interruptedRuns
        #expect(Set(told).count == 1)
        #expect(told.count == 3)
        #expect(house.payloads(on: "tryck/rules/stairs/last_run").last?.contains("interrupted") == true)
    }

    @Test("with keep: last, a stored event survives a crash immediately after its arrival")
    func lastStored() throws {
        var house = Self.house(
            """
            version: 1
            defaults: {queued: {max_age: 60s, keep: last}}
            rules: [{id: last, triggers: {button: any, event: down}, actions: {publish: {topic: last}}}]
            """)
        house.reach("kitchen", false)
        house.wait(.seconds(10))
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        let before = try #require(house.store.state.buttons.first).cursor
        house.reach("kitchen", true)
        while house.store.state.buttons.first?.cursor == before { house.wait(.milliseconds(1)) }
        house.crash()
        house.wait(.seconds(20))
        #expect(house.payloads(on: "last").count == 1)
    }

    @Test("with keep: last, a click that waits for later presses is acted on after a crash at any instant, and once")
    func lastClick() throws {
        var waits = 0
        for (delay, isPowerCut) in (0..<40).flatMap({ [($0, false), ($0, true)] }) {
            var house = Self.house(
                """
                version: 1
                rules: [{id: last, triggers: {button: any, event: click}, queued: {max_age: 60s, keep: last}, actions: {publish: {topic: last}}}]
                """)
            house.reach("kitchen", false)
            house.wait(.seconds(10))
            house.press("kitchen", .click)
            house.wait(.seconds(1))
            // These presses come in later notifications.
            for _ in 0..<4 {
                house.press("kitchen", .hold)
                house.wait(.seconds(2))
            }
            let before = try #require(house.store.state.buttons.first).cursor
            house.reach("kitchen", true)
            while house.store.state.buttons.first?.cursor == before { house.wait(.milliseconds(1)) }
            house.wait(.milliseconds(delay))
            if !house.store.state.rules.keptEvents.isEmpty { waits += 1 }
            if isPowerCut { house.cutPower() } else { house.crash() }
            house.wait(.seconds(20))
            #expect(house.payloads(on: "last").count == 1, "after \(delay) ms, power cut: \(isPowerCut)")
            #expect(house.store.state.rules.keptEvents == [])
        }
        #expect(waits > 0)
    }

    @Test("a timer's decision is recorded before its actions and synced after them, and a power cut repeats nothing")
    func timerDecides() throws {
        var house = Self.house(
            """
            version: 1
            defaults: {queued: accept}
            buttons: {kitchen: {address: "80:E4:DA:00:00:01", hold_after: 400ms}}
            rules:
              - {id: hold, triggers: {button: kitchen, event: hold}, actions: {publish: {topic: out, payload: hold}}}
            """)
        house.press("kitchen", .down)
        house.wait(.milliseconds(300))
        // The press is on the disk, and its gesture is not decided.
        #expect(house.journal.contains("sync"))
        house.forgetWhatHappened()
        // The button's own verdict arrives after a second.
        house.wait(.milliseconds(300))
        #expect(house.payloads(on: "out") == ["hold"])
        let action = try #require(house.journal.firstIndex(of: "publish out"))
        #expect(house.journal[..<action].last == "record")
        #expect(house.journal[action...].contains("sync"))
        house.cutPower()
        house.wait(.seconds(40))
        #expect(house.payloads(on: "out") == ["hold"])
        #expect(house.payloads(on: "tryck/80e4da000001/action") == ["hold"])
    }

    @Test("cooldowns and disabled rules survive a crash, and queued runs are reported as interrupted")
    func kept() {
        var house = Self.house(
            """
            version: 1
            rules:
              - {id: rare, triggers: {button: any, event: down}, cooldown: 1h, actions: {publish: {topic: rare}}}
              - {id: never, triggers: {button: any, event: down}, actions: {publish: {topic: never}}}
              - {id: line, triggers: {button: any, event: down}, mode: queued, on_restart: resume, actions: [{delay: 30s}, {publish: {topic: line}}]}
            """)
        house.ask(#"{"request":"rules/disable","data":{"id":"never"}}"#)
        house.press("kitchen", .click)
        house.wait(.seconds(1))
        house.press("kitchen", .click)
        house.wait(.seconds(1))
        house.crash()
        house.wait(.seconds(40))
        house.press("kitchen", .click)
        house.wait(.seconds(40))
        #expect(house.payloads(on: "rare").count == 1)
        #expect(house.payloads(on: "never").isEmpty)
        // The first run is resumed, the second was queued behind it, and the third is new.
        #expect(house.payloads(on: "line").count == 2)
        #expect(house.interruptedRuns.count == 1)
    }

    @Test("a rule that was removed before a restart has no topics afterwards")
    func gone() {
        var house = Self.house(Self.stairs)
        house.press("kitchen", .click)
        house.wait(.milliseconds(200))
        house.rulesOnDisk = "version: 1\n"
        house.crash()
        house.wait(.seconds(5))
        #expect(!house.interruptedRuns.isEmpty)
        #expect(house.payloads(on: "tryck/rules/stairs/last_run") == [])
        #expect(house.store.state.runs.isEmpty && house.store.state.rules.waitingRuns.isEmpty)
    }
}
