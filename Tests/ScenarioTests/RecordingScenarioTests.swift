import ButtonModel
import Diagnostics
import Hub
import JSON
import RuleLoader
import Rules
import Simulator
import TestSupport
import Testing

@Suite("Replay of a recorded session")
struct RecordingScenarioTests {
    /// The effects of a hub without those for the radio and the timer, because a recording has neither packets nor
    /// keys.
    static func visible(_ effects: [Hub.Effect]) -> [Hub.Effect] {
        effects.compactMap { effect in
            switch effect {
            case .send, .setTimer, .cancelTimer, .needsEntropy: nil
            case .record(let token, let changes): .record(token, changes.map(withoutPairing))
            default: effect
            }
        }
    }

    static func withoutPairing(_ change: StoreChange) -> StoreChange {
        guard case .putButton(var button) = change, let key = PairingKey([UInt8](repeating: 0, count: 16)) else {
            return change
        }
        button.pairing = Pairing(identifier: 0, key: key)
        return .putButton(button)
    }

    static func replay(_ recording: [JSONValue], rules: HouseRules) throws -> [Hub.Effect] {
        var hub: Hub?
        var effects: [Hub.Effect] = []
        for line in recording {
            switch try RecordingLine(parsing: line.encoded()) {
            case .header(let header): hub = Hub(replaying: header, rules: rules.set)
            case .input(let input): effects += hub?.replay(input) ?? []
            }
        }
        return effects
    }

    static func expectSame(
        _ house: Household, rules: HouseRules, sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) throws {
        let recorded = visible(house.recordedEffects)
        let replayed = visible(try replay(house.recording, rules: rules))
        #expect(replayed.count == recorded.count, sourceLocation: sourceLocation)
        for (index, (now, then)) in zip(replayed, recorded).enumerated() where now != then {
            Issue.record("effect \(index) is \(now), it was \(then)", sourceLocation: sourceLocation)
            return
        }
        #expect(try replay(house.recording, rules: rules) == replay(house.recording, rules: rules))
    }

    @Test(
        "a replay has the same effects: pairing, presses, an outage, a crash, a late press, shutdown")
    func wholeSession() throws {
        let rules = PressScenarioTests.rules.acceptingLate
        var house = Household(rules: rules, hasMetrics: true, recordedAt: .reports)
        house.ask(#"{"request":"watch"}"#)
        house.pairAll()
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        house.press("kitchen", .doubleClick)
        house.wait(.seconds(2))
        house.ask(
            #"{"request":"button/options","data":{"id":"kitchen","options":{"latency_mode":"low","nickname":"stove"}}}"#
        )
        house.wait(.seconds(2))
        house.ask(#"{"request":"button/options","data":{"id":"hall","options":{"auto_disconnect_time":60}}}"#)
        house.ask(#"{"request":"button/disconnect","data":{"id":"kitchen"}}"#)
        house.wait(.seconds(5))
        house.ask(#"{"request":"button/connect","data":{"id":"kitchen"}}"#)
        house.wait(.seconds(20))
        house.loseBroker()
        house.press("hall", .hold)
        house.wait(.seconds(2))
        house.bringBrokerBack()
        house.syncsAreSlow = true
        house.press("kitchen", .doubleClick)
        house.wait(.seconds(2))
        house.crash()
        house.ask(#"{"request":"watch"}"#)
        house.syncsAreSlow = false
        house.wait(.seconds(60))
        house.reach("kitchen", false)
        house.wait(.seconds(60))
        house.press("kitchen", .click)
        house.wait(.seconds(30))
        house.reach("kitchen", true)
        house.wait(.seconds(30))
        house.tell(.messageReceived(topicName: "tryck/bridge/request/permit_join", payload: [0x35], retained: false))
        house.wait(.seconds(10))
        house.ask(#"{"request":"button/remove","data":{"id":"hall"}}"#)
        house.resetButtons(seed: 2)
        house.wait(.seconds(90))
        house.ask(#"{"request":"permit_join","data":{"time":600}}"#)
        house.ask(#"{"request":"status"}"#)
        house.tell(.stop)
        #expect(house.isFinished)

        let happened = house.told.compactMap { $0["kind"]?.stringValue }
        for kind in ["event", "rule", "publish", "process", "pairing", "button", "adapter", "broker"] {
            #expect(happened.contains(kind), "the session has no \(kind)")
        }
        #expect(house.recording.filter { $0["format"] != nil }.count == 2)
        let reports = house.recording.flatMap { $0["reports"]?.arrayValue ?? [] }.compactMap {
            $0["report"]?.stringValue
        }
        for report in ["paired", "events", "known", "rebooted", "nickname", "disconnected"] {
            #expect(reports.contains(report), "no \(report) was reported")
        }
        try RecordingScenarioTests.expectSame(house, rules: rules)
    }

    @Test("a replay gives the same random numbers, also after a crash")
    func randomNumbers() throws {
        let rules: HouseRules = """
            version: 1
            buttons: {kitchen: "80:E4:DA:00:00:01"}
            rules:
              - id: dice
                triggers: {button: kitchen, event: click}
                conditions: random(1, 1000000) != 7
                actions: {publish: {topic: dice, payload: "{{ random(1, 1000000) }} {{ random(1, 1000000) }}"}}
            """
        var house = Household(rules: rules, recordedAt: .reports)
        house.pairAll()
        for round in 0..<6 {
            house.press("kitchen", .click)
            house.wait(.seconds(3))
            if round == 2 {
                house.crash()
                house.wait(.seconds(60))
            }
        }
        func payloads(_ effects: [Hub.Effect]) -> [String] {
            effects.compactMap { effect in
                guard case .publish(_, let message, _) = effect, "\(message)".contains("\"dice\"") else { return nil }
                return "\(message)"
            }
        }
        let recorded = payloads(house.recordedEffects)
        #expect(Set(recorded).count == 6)
        #expect(payloads(try RecordingScenarioTests.replay(house.recording, rules: rules)) == recorded)
        try RecordingScenarioTests.expectSame(house, rules: rules)
    }

    @Test("a replay of any session has the same effects", arguments: 1...40 as ClosedRange<UInt64>)
    func anySession(seed: UInt64) throws {
        let rules = PressScenarioTests.rules
        var house = Household(rules: rules, seed: seed, hasMetrics: true, recordedAt: .reports)
        house.ask(#"{"request":"watch"}"#)
        house.pairAll(within: .seconds(10))
        var random = SeededGenerator(seed: seed)
        for _ in 0..<25 {
            switch Int.random(in: 0..<14, using: &random) {
            case 0: house.loseBroker()
            case 1: house.bringBrokerBack()
            case 2: house.crash()
            case 3: house.brokerIsSilent.toggle()
            case 4: house.diskIsFull.toggle()
            case 5: house.syncsAreSlow.toggle()
            case 6: house.finishSyncs(success: Bool.random(using: &random))
            case 7: house.reach("kitchen", Bool.random(using: &random))
            case 8: house.tell(.transportClosed("it is gone."))
            case 9: house.ask(#"{"request":"permit_join","data":{"time":\#(Int.random(in: 0...9, using: &random))}}"#)
            case 10: house.programsEnd.toggle()
            default:
                let press = [SimulatedPress.click, .doubleClick, .hold].randomElement(using: &random) ?? .click
                house.press(Bool.random(using: &random) ? "kitchen" : "hall", press)
            }
            house.wait(.milliseconds(Int.random(in: 1...4000, using: &random)))
        }
        house.tell(.stop)
        try RecordingScenarioTests.expectSame(house, rules: rules)
    }

    @Test("a replay handles a radio timer before other timers of the same instant")
    func sameInstant() throws {
        var house = Household(rules: PressScenarioTests.rules, recordedAt: .reports)
        house.ask(#"{"request":"watch"}"#)
        house.wait(.seconds(1))
        // The search and the wait for the transport both end in one second.
        house.ask(#"{"request":"permit_join","data":{"time":1}}"#)
        house.reach("kitchen", false)
        house.reach("hall", false)
        house.tell(.transportClosed("it is gone."))
        let before = house.recordedEffects.count
        house.wait(.seconds(1))
        let end = house.recordedEffects[before...].firstIndex { effect in
            guard case .broadcast(_, let line) = effect else { return false }
            return line["step"] == "ended"
        }
        let opening = house.recordedEffects[before...].firstIndex(of: .openTransport())
        #expect(try #require(end) < #require(opening))
        try RecordingScenarioTests.expectSame(house, rules: PressScenarioTests.rules)
    }

    @Test(
        "a recording made by a test begins at the radio, and a replay sends the same packets",
        arguments: 1...5 as ClosedRange<UInt64>)
    func radio(seed: UInt64) throws {
        let rules = PressScenarioTests.rules
        var house = Household(rules: rules, seed: seed, recordedAt: .radio)
        house.pairAll()
        house.press("kitchen", .doubleClick)
        house.wait(.seconds(2))
        house.crash()
        house.wait(.seconds(40))
        house.press("hall", .hold)
        house.wait(.seconds(10))
        let replayed = try RecordingScenarioTests.replay(house.recording, rules: rules)
        // Deadlines count from another start.
        func timeless(_ effects: [Hub.Effect]) -> [Hub.Effect] {
            effects.filter { if case .setTimer = $0 { false } else { true } }
        }
        #expect(replayed.contains { if case .send = $0 { true } else { false } })
        #expect(timeless(replayed) == timeless(house.recordedEffects))
    }

    @Test("a recording contains no pairing key and no secret of the rules")
    func secrets() throws {
        let secret = #"hunt"er\2"#
        var rules = PressScenarioTests.rules
        rules.set.confidential = [secret]
        var house = Household(rules: rules, recordedAt: .reports)
        house.pairAll()
        house.crash()
        house.programsEnd = false
        house.press("kitchen", .doubleClick)
        house.wait(.seconds(2))
        let escaped = JSONValue.string(secret).description
        house.tell(.brokerDisconnected("it said \(secret)"))
        house.tell(.messageReceived(topicName: "a/\(secret)", payload: Array(secret.utf8), retained: false))
        house.tell(.messageReceived(topicName: "a", payload: [0xFF] + Array(secret.utf8), retained: false))
        house.ask(#"{"request":"log","data":\#(escaped)}"#)
        for status in [ProcessResult.Status.couldNotStart(secret), .exited(1)] {
            house.tell(
                .jobEnded(
                    JobID(rawValue: 1),
                    .process(
                        ProcessResult(
                            status: status, standardOutput: Array(escaped.utf8), standardError: Array(secret.utf8),
                            duration: .seconds(1)))))
        }
        let keys = house.store.state.buttons.compactMap(\.pairing?.key.octets)
        #expect(keys.count == 2)
        for line in house.recording {
            let octets = line.encoded()
            let text = String(decoding: octets, as: UTF8.self)
            #expect(!text.contains("hunt"), "\(text)")
            for key in keys {
                let digits = key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
                #expect(!text.lowercased().contains(digits))
                #expect(!text.contains(key.map { String($0) }.joined(separator: ",")))
                #expect(!octets.contains(key))
            }
        }
        #expect(house.recording.contains { $0.description.contains("***") })
    }

    /// A house that is recorded, and whose rules on the disk have a secret that the rules that run do not have.
    private static func house(reloadBrings secret: String) -> Household {
        var house = Household(rules: PressScenarioTests.rules, recordedAt: .reports)
        var rules = PressScenarioTests.rules
        rules.set.confidential = [secret]
        rules.set.secretValues = [secret]
        house.rulesOnDisk = rules
        return house
    }

    @Test("a secret of rules that a reload refused is in no line from the reload on, and in no line of the log")
    func secretOfRefusedRules() {
        let secret = "hunter22"
        var house = Self.house(reloadBrings: secret)
        house.rulesAreBad = true
        house.tell(.reloadRules)
        let before = house.recording.count
        house.tell(.messageReceived(topicName: "a", payload: Array(secret.utf8), retained: false))
        house.tell(.brokerDisconnected("it said \(secret)"))
        let lines = house.recording[before...].map(\.description)
        #expect(lines.count >= 2)
        #expect(!lines.contains { $0.contains(secret) })
        #expect(!house.logged.contains { $0.contains(secret) })
    }

    @Test("a secret that a reload added is in no line after the reload")
    func secretOfReload() {
        let secret = "hunter22"
        var house = Self.house(reloadBrings: secret)
        house.tell(.messageReceived(topicName: "a", payload: Array(secret.utf8), retained: false))
        #expect(house.recording.last?.description.contains(secret) == true)
        let before = house.recording.count
        house.tell(.reloadRules)
        house.tell(.messageReceived(topicName: "a", payload: Array(secret.utf8), retained: false))
        house.tell(.brokerDisconnected("it said \(secret)"))
        let lines = house.recording[before...].map(\.description)
        #expect(lines.count { $0.contains("***") } == 2)
        #expect(!lines.contains { $0.contains(secret) })
    }

    @Test("a hub that is not recorded stores nothing for a recording")
    func unrecorded() {
        var house = PressScenarioTests.house()
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        #expect(house.recording.isEmpty)
    }
}
