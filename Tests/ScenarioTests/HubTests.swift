import ButtonModel
import Hub
import JSON
import Rules
import Simulator
import TestSupport
import Testing

@Suite("Requests to the hub, shutdown and faults")
struct HubTests {
    @Test("after a clean restart a press immediately afterwards is live")
    func restart() {
        var house = PressScenarioTests.house()
        house.tell(.stop)
        house.wait(.seconds(3))
        #expect(house.isFinished)
        house.crash()
        house.wait(.seconds(2))
        house.forgetWhatHappened()
        house.press("kitchen", .click)
        house.wait(.milliseconds(800))
        #expect(house.payloads(on: "lamp/kitchen/set") == ["TOGGLE"])
        #expect(house.violations == [])
    }

    @Test(
        "an invalid request is answered with an error",
        arguments: [
            ("?", "not JSON: unexpected character at byte 0"),
            ("{}", #"a request looks like {"request":"status"}"#),
            (#"{"request":"fly"}"#, "unknown request \"fly\""),
            (#"{"request":"permit_join","data":{"time":-1}}"#, #"permit_join takes {"time": seconds}, 0 to 3600"#),
            (#"{"request":"permit_join","data":"x"}"#, #"permit_join takes {"time": seconds}, 0 to 3600"#),
            (
                #"{"request":"simulator/press","data":{"button":"attic","press":"click"}}"#,
                "there is no simulated button \"attic\"; the simulated buttons are hall, kitchen"
            ),
        ])
    func badRequests(_ line: String, _ sentence: String) {
        var house = Household()
        house.ask(line)
        #expect(house.responses.last?["status"] == "error")
        #expect(house.responses.last?["error"] == .string(sentence))
    }

    @Test("the answer carries the request's transaction")
    func transaction() {
        var house = Household()
        house.ask(#"{"request":"health_check","transaction":17}"#)
        #expect(house.responses.last == ["status": "ok", "data": ["healthy": true], "transaction": 17])
    }

    @Test("a request over MQTT is answered there; a retained one is ignored")
    func mqttRequests() {
        var house = Household()
        let topicName = "tryck/bridge/request/permit_join"
        house.tell(.messageReceived(topicName: topicName, payload: Array("10".utf8), retained: true))
        #expect(house.payloads(on: "tryck/bridge/response/permit_join") == [])
        house.tell(.messageReceived(topicName: topicName, payload: Array("10".utf8), retained: false))
        house.ask(#"{"request":"status"}"#)
        #expect(house.payloads(on: "tryck/bridge/response/permit_join") == [#"{"status":"ok","data":{"time":10}}"#])
        #expect(house.responses.last?["data"]?["permit_join"] == true)
    }

    @Test("a clean shutdown publishes offline, then closes the transport")
    func stop() {
        var house = Household()
        house.tell(.stop)
        #expect(house.payloads(on: "tryck/bridge/state") == ["online", "offline"])
        #expect(house.isFinished)
    }

    @Test("a transport that fails is opened again, after growing waits")
    func transportRetry() {
        var house = Household()
        for _ in 0..<3 {
            house.tell(.transportClosed("it is gone."))
            house.ask(#"{"request":"status"}"#)
            #expect(house.responses.last?["data"]?["faults"] == ["it is gone."])
            house.wait(.seconds(31))
            house.ask(#"{"request":"status"}"#)
            #expect(house.responses.last?["data"]?["ok"] == true)
        }
    }

    @Test("a run that a crash interrupted is reported and not repeated")
    func interrupted() {
        var house = Household(
            rules: """
                version: 1
                rules:
                  - id: slow
                    triggers: {button: any, event: down}
                    actions:
                      - run: [sleep, 60]
                """)
        house.pairAll()
        house.programsEnd = false
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        #expect(house.started.count == 1)
        house.crash()
        house.wait(.seconds(30))
        #expect(house.started.count == 1)
        #expect(house.interruptedRuns.count == 1)
        #expect(house.store.state.runs.isEmpty)
    }

    @Test("a secret value is hidden everywhere except in the actions that use it")
    func secrets() {
        let secret = "hunter2"
        var rules: HouseRules = """
            version: 1
            rules:
              - id: tell
                triggers: {button: any, event: down}
                actions:
                  - publish: {topic: door, payload: code hunter2}
                  - run: [open, hunter2]
                  - log: it is hunter2
            """
        rules.set.confidential = [secret]
        var house = Household(rules: rules)
        house.pairAll()
        house.ask(#"{"request":"watch"}"#)
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        #expect(house.payloads(on: "door") == ["code hunter2"])
        #expect(house.started.map(\.arguments) == [["open", "hunter2"]])
        #expect(house.told.contains { $0["payload"] == "code ***" })
        #expect(house.logged.contains("rule tell: it is ***"))
        #expect(!house.told.contains { $0.description.contains(secret) })
        #expect(!house.logged.contains { $0.contains(secret) })
    }

    @Test("a very short secret or setting hides no part of the words, names and numbers of the live stream")
    func shortSecrets() {
        var rules: HouseRules = """
            version: 1
            rules:
              - id: tell
                triggers: {button: any, event: down}
                actions:
                  - publish: {topic: door, payload: pin 1 of 10 is on}
            """
        rules.set.confidential = ["1", "on", "event"]
        rules.set.secretValues = ["1"]
        var house = Household(rules: rules)
        house.pairAll()
        house.ask(#"{"request":"watch"}"#)
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        #expect(house.told.contains { $0["payload"] == "pin *** of 10 is ***" })
        let press = house.told.first { $0["kind"] == "event" }
        #expect(press?["button"] == "kitchen")
        #expect(press?["id"] == "80e4da000001")
        #expect(house.told.allSatisfy { $0["kind"]?.stringValue?.contains("***") == false })
    }

    @Test("no input traps the hub, in any order", arguments: 1...20 as ClosedRange<UInt64>)
    func noise(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var house = PressScenarioTests.house(seed: seed)
        for _ in 0..<200 {
            let octets = random.bytes(Int.random(in: 0...40, using: &random))
            let id = UInt64.random(in: 0...50, using: &random)
            let input: Hub.Input =
                switch Int.random(in: 0...9, using: &random) {
                case 0: .received(octets)
                case 1: .published(MessageID(number: id))
                case 2: .publishFailed(MessageID(number: id), "x")
                case 3:
                    .messageReceived(topicName: "tryck/bridge/request/permit_join", payload: octets, retained: false)
                case 4: .synced(RecordToken(rawValue: id), Bool.random(using: &random))
                case 5: .recordFailed(RecordToken(rawValue: id), "x")
                case 6: .controlLine(.init(rawValue: id), octets)
                case 7: .timerFired
                case 8: .wallClock(UTCTime(milliseconds: Int64(bitPattern: random.next())))
                default:
                    .jobEnded(
                        JobID(rawValue: id),
                        .process(
                            ProcessResult(
                                status: .signalled(9), standardOutput: octets, standardError: octets, duration: .zero)))
                }
            house.tell(input)
            house.wait(.milliseconds(Int.random(in: 0...300, using: &random)))
        }
        #expect(house.store.state.buttons.count == 2, "noise costs no pairing")
    }
}
