import ButtonModel
import Feed
import Hub
import JSON
import MQTTTopics
import Testing

@Suite("An engine of sites")
struct EngineScenarioTests {
    private static let program: HouseRules = """
        version: 1
        rules:
          - {id: program, triggers: {button: any, event: down}, actions: {run: [/usr/bin/true]}}
        """

    private static func cursor(_ number: Int, term: Int = 1) -> String {
        let claim = FeedCursor(number: number, term: term, engine: "a1", installation: "9f3c", session: 1)
        return "tryck/berlin7/feed/\(EngineHouse.button)/cursor " + String(decoding: claim.encoded(), as: UTF8.self)
    }

    @Test("a press is recorded, claimed and then acted on, and only once")
    func once() {
        var house = EngineHouse.leading(.lamp)
        let effects = house.hear(1)
        #expect(EngineHouse.story(effects).prefix(3) == ["record", Self.cursor(1), "lamp on"])
        #expect(house.stored.feed.positions.map(\.claim.number) == [1])
        #expect(EngineHouse.story(house.hear(1)) == [])
        #expect(EngineHouse.story(house.hear(2)).contains("lamp on"))
    }

    @Test("the button of a site is known by what the site says of it, and is ready while the site is connected")
    func button() {
        var house = EngineHouse.leading(.lamp)
        let button = house.stored.buttons.first
        #expect(button?.source == "mqtt:tryck/berlin7" && button?.displayName == "Hall")
        #expect(house.buttons.contains(#""state":"ready""#))
        house.hear("tryck/berlin7/feed/hello", [])
        #expect(house.buttons.contains(#""state":"disconnected""#))
    }

    @Test("the buttons of a site do not publish the list of radios, which has the engine's own buttons only")
    func radios() {
        var house = EngineHouse(.lamp)
        house.take(.brokerConnected)
        house.wait(.seconds(1))
        let effects = house.sayHello() + house.wait(.seconds(1))
        let topics = effects.compactMap { effect in
            if case .publish(_, let message, _) = effect { message.topicName } else { nil }
        }
        #expect(topics.contains("a1/\(EngineHouse.button)") && !topics.contains("a1/bridge/radios"))
    }

    @Test("the battery of a site's button is shown and known to rules, and a low one is reported once")
    func battery() {
        var house = EngineHouse.leading(
            """
            version: 1
            rules:
              - {id: low, triggers: {button: any, event: battery_low}, actions: {publish: {topic: low, payload: now}}}
            """)
        house.sayHello(battery: 80)
        #expect(house.buttons.contains(#""battery":80"#))
        #expect(house.stored.buttons.first?.batteryPercentage == 80)
        #expect(EngineHouse.story(house.sayHello(battery: 80)) == [])
        #expect(EngineHouse.story(house.sayHello(battery: 3)).contains("low now"))
        #expect(!EngineHouse.story(house.sayHello(last: 1, battery: 3)).contains("low now"))
        house.restart()
        #expect(house.buttons.contains(#""battery":3"#))
    }

    @Test("a leader that was stopped for its patience acts on no press before its claim has come back")
    func stopped() {
        var house = EngineHouse.leading(.lamp)
        #expect(EngineHouse.story(house.hear(1)).contains("lamp on"))
        house.pass(.seconds(11))
        #expect(!EngineHouse.story(house.hear(2)).contains("lamp on"))
        #expect(house.status["engine"]?["state"] == "fenced")
        let effects = house.hearOwnClaim()
        #expect(house.status["engine"]?["state"] == "leading")
        #expect(
            EngineHouse.story(effects).contains {
                $0.hasSuffix(#"/want {"after":1,"session":1,"installation":"9f3c"}"#)
            })
        #expect(EngineHouse.story(house.hear(2)).contains("lamp on"))
    }

    @Test("a leader that was stopped while another one took over acts on nothing")
    func stoppedAndOvertaken() {
        var house = EngineHouse.leading(.lamp)
        house.pass(.seconds(11))
        house.hear(1)
        let claim = EngineTerm(term: 9, engine: "a2")
        house.hear("engines/1/leader", claim.encoded())
        #expect(house.status["engine"]?["state"] == "standing_by")
        #expect(EngineHouse.story(house.hear(1)) == [])
    }

    @Test("a press that the broker has kept for more than a second counts as queued")
    func late() {
        var house = EngineHouse.leading(
            """
            version: 1
            defaults: {queued: accept}
            rules:
              - id: lamp
                triggers: {button: any, event: down}
                actions: {publish: {topic: lamp, payload: "{{ trigger.queued }}"}}
            """)
        #expect(EngineHouse.story(house.hear(1)).contains("lamp false"))
        #expect(EngineHouse.story(house.hear(2, after: .seconds(2))).contains("lamp true"))
    }

    @Test("a program waits until the broker has acknowledged the claim, and `done` is published after it")
    func acknowledged() {
        var house = EngineHouse.leading(Self.program)
        let effects = house.hear(1)
        #expect(EngineHouse.story(effects) == ["record", Self.cursor(1)])
        let claims = EngineHouse.claims(effects)
        #expect(claims.count == 1)
        for claim in claims {
            #expect(EngineHouse.story(house.take(.published(claim))) == ["program"])
        }
        let story = EngineHouse.story(house.hear(2, .up(.click)) + house.wait(.seconds(2)))
        #expect(story.contains { $0.hasPrefix("tryck/berlin7/feed/\(EngineHouse.button)/done") })
    }

    @Test("a program of a claim that the broker refuses is not started")
    func refused() {
        var house = EngineHouse.leading(Self.program)
        for claim in EngineHouse.claims(house.hear(1)) {
            #expect(!EngineHouse.story(house.take(.publishFailed(claim, "not authorised"))).contains("program"))
        }
    }

    @Test("a stand-by takes no press, and acts on it when it leads")
    func standBy() {
        var house = EngineHouse(.lamp)
        house.connect()
        house.hear("engines/1/leader", EngineTerm(term: 4, engine: "b1").encoded())
        house.hear("engines/1/state", EngineState(isOnline: true, engine: "b1", share: .whole).encoded())
        #expect(EngineHouse.story(house.hear(1)) == [])
        house.now = house.now + .seconds(3)
        house.hear("engines/1/state", EngineState(isOnline: false, engine: "b1", share: .whole).encoded())
        house.hearOwnClaim()
        house.wait(.seconds(1))
        house.hearOwnClaim()
        #expect(EngineHouse.story(house.hear(1)).contains("lamp on"))
    }

    @Test("a run that waits while the broker is gone goes on when this engine still leads")
    func fenced() {
        var house = EngineHouse.leading(.later)
        house.acknowledge(house.hear(1))
        house.now = house.now + .seconds(1)
        house.take(.brokerDisconnected("gone"))
        #expect(EngineHouse.story(house.wait(.seconds(20))) == [])
        #expect(EngineHouse.story(house.connect(last: 1, claimed: 1)).contains("lamp on") == false)
        let effects = house.hearOwnClaim()
        #expect(EngineHouse.story(effects).contains("lamp on"))
    }

    @Test("a run that waits while the broker is gone for more than a minute is interrupted")
    func fencedTooLong() {
        var house = EngineHouse.leading(.later)
        house.hear(1)
        house.take(.brokerDisconnected("gone"))
        house.wait(.seconds(8 * 3600))
        house.connect(last: 1, claimed: 1)
        let effects = house.hearOwnClaim()
        #expect(!EngineHouse.story(effects + house.wait(.seconds(60))).contains("lamp on"))
        #expect(house.stored.runs == [])
        #expect(EngineHouse.story(house.hear(2) + house.wait(.seconds(20))).contains("lamp on"))
    }

    @Test("a button that two sites have is where it was heard last, and no event that both have heard is handled twice")
    func twoSites() {
        let other = "tryck/paris2"
        var house = EngineHouse.leading(.lamp)
        house.sayHello(from: other)
        #expect(EngineHouse.story(house.hear(1, counter: 1)).contains("lamp on"))
        let repeated = house.hear(1, counter: 1, from: other)
        #expect(EngineHouse.story(repeated).first == "record" && !EngineHouse.story(repeated).contains("lamp on"))
        #expect(EngineHouse.story(house.hear(2, counter: 2, from: other)).contains("lamp on"))
        #expect(EngineHouse.story(house.hear(2, counter: 3)).contains("lamp on"))
    }

    /// A message was not acted on, and is reported.
    private static func expectInterrupted(
        _ effects: [Hub.Effect], _ number: Int, of site: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(!EngineHouse.story(effects).contains("lamp on"), sourceLocation: sourceLocation)
        let data = EngineHouse.events(effects).first { $0["type"] == "interrupted" }?["data"]
        #expect(data?["site"]?.stringValue == site, sourceLocation: sourceLocation)
        #expect(data?["first_n"]?.integerValue == Int64(number), sourceLocation: sourceLocation)
        #expect(data?["last_n"] == data?["first_n"], sourceLocation: sourceLocation)
    }

    @Test("presses that a site kept while the button was heard at another one are reported, and do not move it back")
    func keptElsewhere() {
        let other = "tryck/paris2"
        var house = EngineHouse.leading(.lamp)
        house.sayHello(from: other)
        house.hear(1, counter: 1)
        // Berlin loses its network with two presses in its journal, and the button is carried to Paris.
        #expect(EngineHouse.story(house.hear(1, counter: 4, from: other)).contains("lamp on"))
        for number in [2, 3] {
            Self.expectInterrupted(house.hear(number, counter: number), number, of: EngineHouse.site)
        }
        #expect(house.buttons.contains("mqtt:\(other)"))
        #expect(EngineHouse.story(house.hear(2, counter: 5, from: other)).contains("lamp on"))
        // Berlin has heard this press, too, and could not tell the button.
        let repeated = house.hear(4, counter: 4)
        #expect(!EngineHouse.story(repeated).contains("lamp on"))
        #expect(EngineHouse.events(repeated) == [])
        #expect(EngineHouse.story(house.hear(5, counter: 6)).contains("lamp on"))
        #expect(house.buttons.contains("mqtt:\(EngineHouse.site)"))
    }

    /// A message with a turn by 10 steps, which its site received some time ago.
    private static func turn(
        _ number: Int, from site: String, after age: Duration = .zero, _ house: inout EngineHouse
    ) -> [Hub.Effect] {
        let movement = ButtonMovement(button: EngineHouse.button, part: .dial, steps: 10, age: age)
        var effects = house.hear(number, [.turn(movement)], from: site)
        // The time is over in which turns are collected.
        house.pass(.milliseconds(200))
        effects += house.take(.timerFired)
        return effects
    }

    @Test("a turn that a site kept while the button was heard at another one is reported, and does not move it back")
    func keptTurn() {
        let other = "tryck/paris2"
        var house = EngineHouse.leading(
            """
            version: 1
            rules:
              - id: lamp
                triggers: {button: any, event: rotate_clockwise}
                queued: accept
                actions: {publish: {topic: lamp, payload: "on"}}
            """)
        house.sayHello(from: other)
        #expect(EngineHouse.story(Self.turn(1, from: EngineHouse.site, &house)).contains("lamp on"))
        // Berlin loses its network with a turn in its journal, and the button is carried to Paris.
        house.wait(.seconds(20))
        #expect(EngineHouse.story(Self.turn(1, from: other, &house)).contains("lamp on"))
        Self.expectInterrupted(
            Self.turn(2, from: EngineHouse.site, after: .seconds(10), &house), 2, of: EngineHouse.site)
        #expect(house.buttons.contains("mqtt:\(other)"))
        #expect(EngineHouse.story(Self.turn(2, from: other, &house)).contains("lamp on"))
        // The button is carried back.
        house.wait(.seconds(5))
        #expect(EngineHouse.story(Self.turn(3, from: EngineHouse.site, &house)).contains("lamp on"))
        #expect(house.buttons.contains("mqtt:\(EngineHouse.site)"))
    }

    @Test("a press of an earlier boot that a site kept is reported, and does not move the button back")
    func keptBeforeReboot() {
        let other = "tryck/paris2"
        var house = EngineHouse.leading(
            """
            version: 1
            defaults: {queued: accept}
            rules:
              - {id: lamp, triggers: {button: any, event: down}, actions: {publish: {topic: lamp, payload: "on"}}}
            """)
        house.sayHello(from: other)
        house.hear(1, counter: 1)
        house.wait(.seconds(20))
        #expect(EngineHouse.story(house.hear(1, counter: 1, boot: 8, from: other)).contains("lamp on"))
        Self.expectInterrupted(house.hear(2, counter: 5, after: .seconds(10)), 2, of: EngineHouse.site)
        #expect(house.buttons.contains("mqtt:\(other)"))
        let repeated = house.hear(3, counter: 1, boot: 8)
        #expect(!EngineHouse.story(repeated).contains("lamp on") && EngineHouse.events(repeated) == [])
        #expect(EngineHouse.story(house.hear(2, counter: 5, boot: 8, from: other)).contains("lamp on"))
    }

    @Test("presses that another site heard between those of one site, and sends later, are reported")
    func heardBetween() {
        let other = "tryck/paris2"
        var house = EngineHouse.leading(.lamp)
        house.sayHello(from: other)
        house.hear(1, counter: 1)
        #expect(EngineHouse.story(house.hear(2, counter: 4)).contains("lamp on"))
        for (number, counter) in [(1, 2), (2, 3)] {
            Self.expectInterrupted(house.hear(number, counter: counter, from: other), number, of: other)
        }
        #expect(house.buttons.contains("mqtt:\(EngineHouse.site)"))
    }

    @Test("a press that another engine has handled is not acted on again when the button repeats it at another site")
    func carriedDuringTakeover() {
        let other = "tryck/paris2"
        var house = EngineHouse(.lamp)
        house.connect()
        house.sayHello(from: other)
        house.hear("engines/1/leader", EngineTerm(term: 9, engine: "b1").encoded())
        // This engine stands by, and hears what the other one claims.
        house.hear(1, counter: 5)
        house.hear(2, counter: 6)
        let topic = "\(EngineHouse.site)/feed/\(EngineHouse.button)"
        let claim = FeedCursor(number: 1, term: 9, engine: "b1", installation: "9f3c", session: 1)
        house.hear("\(topic)/cursor", claim.encoded())
        house.hear("\(topic)/done", FeedDone(number: 1, term: 9, installation: "9f3c").encoded())
        house.hear("engines/1/state", EngineState(isOnline: false, engine: "b1", share: .whole).encoded())
        house.wait(.seconds(3))
        house.hearOwnClaim()
        house.wait(.seconds(1))
        house.hearOwnClaim()
        #expect(house.status["engine"]?["state"] == "leading")
        let repeated = house.hear(1, counter: 5, from: other)
        #expect(EngineHouse.story(repeated).contains("record") && !EngineHouse.story(repeated).contains("lamp on"))
        #expect(EngineHouse.events(repeated) == [])
        // Nobody has claimed the second press at the first site.
        #expect(EngineHouse.story(house.hear(2, counter: 6, from: other)).contains("lamp on"))
        let late = house.hear(2, counter: 6)
        #expect(!EngineHouse.story(late).contains("lamp on") && EngineHouse.events(late) == [])
    }

    @Test("both parts of a Duo act after it has rebooted, although their counters begin anew")
    func rebootedDuo() {
        var house = EngineHouse(.lamp)
        house.take(.brokerConnected)
        house.sayHello(model: .duo)
        house.lead()
        let presses: [(part: ButtonPart, boot: UInt32, counter: Int)] = [
            (.big, 7, 797), (.small, 7, 497), (.big, 8, 1), (.small, 8, 1), (.small, 8, 5), (.big, 8, 5),
        ]
        for (index, press) in presses.enumerated() {
            let effects = house.hear(index + 1, counter: press.counter, boot: press.boot, part: press.part)
            #expect(EngineHouse.story(effects).contains("lamp on"), "\(press)")
            #expect(EngineHouse.events(effects) == [], "\(press)")
        }
        let cursor = house.stored.buttons.first?.cursor
        #expect(cursor == EventCursor(bootID: 8, eventCount: 5, smallEventCount: 5))
    }

    @Test("the counters of both parts of a Duo are kept that are in one message")
    func bothParts() {
        let other = "tryck/paris2"
        var house = EngineHouse(.lamp)
        house.take(.brokerConnected)
        house.sayHello(model: .duo)
        house.sayHello(from: other, model: .duo)
        house.lead()
        let steps = [ButtonPart.small, .big].map { part in
            FeedStep.press(
                ButtonEvent(button: EngineHouse.button, bootID: 7, counter: 5, step: .down, ticks: 3277, part: part))
        }
        house.hear(1, steps)
        house.restart()
        house.connect(last: 1, claimed: 1)
        house.sayHello(from: other, model: .duo)
        house.lead()
        // The button repeats the press of its small part at another site.
        let repeated = house.hear(1, counter: 5, part: .small, from: other)
        #expect(EngineHouse.story(repeated).contains("record") && !EngineHouse.story(repeated).contains("lamp on"))
    }

    @Test("a message with a repeated press and a new one is not reported after a restart of the engine")
    func repeatedAndNew() {
        let other = "tryck/paris2"
        var house = EngineHouse.leading(.lamp)
        house.hear(1, counter: 5)
        house.restart()
        house.connect(last: 1, claimed: 1)
        house.sayHello(from: other)
        house.lead()
        let steps = (5...6).map { counter in
            FeedStep.press(
                ButtonEvent(
                    button: EngineHouse.button, bootID: 7, counter: UInt32(counter), step: .down,
                    ticks: UInt64(counter) * 3277))
        }
        let message = FeedMessage(number: 1, previous: 0, content: .steps(steps))
        let effects = house.hear("\(other)/feed/\(EngineHouse.button)", message.encoded())
        #expect(EngineHouse.story(effects).filter { $0 == "lamp on" }.count == 1)
        #expect(EngineHouse.events(effects) == [])
    }

    @Test("how far everything is done is said to each of two sites that have a button")
    func doneAtBothSites() {
        let other = "tryck/paris2"
        var house = EngineHouse.leading(.lamp)
        house.sayHello(from: other)
        var effects = house.hear(1, counter: 1) + house.hear(1, .up(.click), counter: 2, from: other)
        effects += house.wait(.seconds(3))
        for site in [EngineHouse.site, other] {
            let payloads = effects.compactMap { effect -> [UInt8]? in
                guard case .publish(_, let message, _) = effect else { return nil }
                return message.topicName == "\(site)/feed/\(EngineHouse.button)/done" ? message.payload : nil
            }
            #expect(payloads.last.flatMap { try? FeedDone(parsing: $0) }?.number == 1)
        }
    }

    @Test("the copy of a site's state directory under another topic repeats no press, and none counts as lost")
    func copiedElsewhere() {
        let other = "tryck/paris2"
        var house = EngineHouse.leading(.lamp)
        for number in 1...3 { house.hear(number) }
        house.sayHello(from: other, last: 3)
        for number in 1...3 {
            let effects = house.hear(number, from: other)
            #expect(EngineHouse.story(effects).first == "record" && !EngineHouse.story(effects).contains("lamp on"))
            #expect(EngineHouse.events(effects) == [])
        }
        #expect(house.buttons.contains("mqtt:\(EngineHouse.site)"))
    }

    @Test("an engine says once that a site was restored, also if nothing was claimed since and the engine starts again")
    func restoredOnce() {
        func warnings(_ effects: [Hub.Effect]) -> [String] {
            effects.compactMap {
                if case .log(.warning, let text) = $0, text.contains("restored") { text } else { nil }
            }
        }
        var house = EngineHouse.leading(.lamp)
        house.hear(1)
        #expect(warnings(house.sayHello(installation: "9f3c.2", session: 2)).count == 1)
        for session in [2, 3] {
            house.restart()
            house.take(.brokerConnected)
            let effects = house.sayHello(installation: "9f3c.2", session: session) + house.lead()
            #expect(warnings(effects) == [])
            #expect(EngineHouse.events(effects).filter { $0["type"] == "interrupted" } == [])
        }
    }

    @Test("a site that begins a life again and again fills neither the log nor the warnings of status")
    func restoredAgainAndAgain() {
        func lines(_ effects: [Hub.Effect]) -> Int {
            effects.count { if case .log(.warning, let text) = $0 { text.contains("was restored") } else { false } }
        }
        var house = EngineHouse.leading(.lamp)
        house.hear(1)
        var count = 0
        for life in 2...101 {
            count += lines(house.sayHello(installation: "9f3c.\(life)", session: 2) + house.wait(.milliseconds(100)))
        }
        #expect(count == 5)
        let trouble = house.status["last_errors"]?.arrayValue ?? []
        #expect(trouble.count { $0["message"]?.stringValue?.contains("was restored") == true } == 1)
    }

    @Test("a button that two sites have is used from the other one when the first has deleted it, or is gone")
    func otherSite() {
        let other = "tryck/paris2"
        var house = EngineHouse.leading(.lamp)
        house.sayHello(from: other)
        house.sayHello(session: 2, buttons: [])
        #expect(house.buttons.contains(other))
        house.sayHello(session: 3)
        house.hear("\(other)/feed/hello", [])
        #expect(house.buttons.contains(EngineHouse.site) && !house.buttons.contains(other))
    }

    @Test("a site cannot have a button with the serial number of another one")
    func impostor() {
        var house = EngineHouse.leading(.lamp)
        let invented = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0002))
        house.sayHello(from: "tryck/paris2", buttons: [invented])
        #expect(house.stored.buttons.map(\.id) == [EngineHouse.button])
    }

    @Test("the metrics count what an engine has reported as interrupted, and what journals of sites have lost")
    func metrics() {
        var house = EngineHouse(.lamp, hasMetrics: true)
        house.connect(last: 9, claimed: 3)
        house.lead()
        let lost = FeedMessage(number: 8, previous: 3, content: .lost)
        var effects = house.hear("\(EngineHouse.site)/feed/\(EngineHouse.button)", lost.encoded())
        // A report that is made again does not count again.
        for case .publish(let id, let message, _) in effects where message.topicName == "a1/bridge/event" {
            house.take(.publishFailed(id, "Not authorized"))
        }
        effects = house.wait(.seconds(1))
        #expect(EngineHouse.events(effects).map { $0["type"] } == ["interrupted"])
        effects = house.wait(.seconds(30))
        let texts = effects.compactMap {
            if case .writeMetrics(let octets) = $0 { String(decoding: octets, as: UTF8.self) } else { nil }
        }
        let lines = texts.last?.split(separator: "\n") ?? []
        #expect(lines.contains("tryck_engine_events_interrupted_total 3"))
        #expect(lines.contains("tryck_engine_events_lost_total 5"))
    }

    @Test("a run that waits while another engine takes over is interrupted, and does nothing")
    func overtaken() {
        var house = EngineHouse.leading(.later)
        house.hear(1)
        house.take(.brokerDisconnected("gone"))
        house.connect(last: 1, claimed: 1)
        house.hear("engines/1/leader", EngineTerm(term: 2, engine: "b1").encoded())
        #expect(house.stored.runs == [])
        #expect(EngineHouse.story(house.wait(.seconds(60))).contains("lamp on") == false)
    }

    @Test("a press that was claimed before a crash is reported and not repeated; later ones are acted on")
    func crash() {
        var house = EngineHouse.leading(.later)
        house.acknowledge(house.hear(1) + house.hear(2, .up(.click)))
        house.wait(.seconds(2))
        house.restart()
        // Another engine has claimed two messages meanwhile, and has died.
        house.connect(last: 5, claimed: 4)
        let event = EngineHouse.events(house.lead()).first { $0["data"]?["site"] != nil }
        #expect(event?["type"] == "interrupted")
        #expect(event?["data"]?["first_n"] == 3 && event?["data"]?["last_n"] == 4)
        #expect(EngineHouse.story(house.hear(4)) == [])
        #expect(EngineHouse.story(house.hear(5)).prefix(2) == ["record", Self.cursor(5, term: 2)])
    }
}
