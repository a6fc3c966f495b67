import ButtonModel
import Feed
import Hub
import JSON
import MQTTTopics
import Rules
import Testing

/// An engine takes a press, and has not decided it or carried it out when the connection ends, or when another engine leads. The
/// press is acted on afterwards, or reported as interrupted, but never both.
@Suite("Open presses of sites")
struct OpenPressScenarioTests {
    private static let verdicts: HouseRules = """
        version: 1
        defaults: {queued: accept}
        rules:
          - {id: one, triggers: {button: any, event: click}, actions: {publish: {topic: lamp, payload: one}}}
          - {id: two, triggers: {button: any, event: double_click}, actions: {publish: {topic: lamp, payload: two}}}
        """
    private static let program: HouseRules = """
        version: 1
        rules:
          - {id: program, triggers: {button: any, event: down}, actions: {run: [/usr/bin/true]}}
        """
    private static let queued: HouseRules = """
        version: 1
        rules:
          - id: queued
            mode: queued
            triggers: {button: any, event: down}
            actions: [{delay: 5s}, {publish: {topic: lamp, payload: "on"}}]
        """
    private static let held: HouseRules = """
        version: 1
        rules:
          - {id: dim, triggers: {button: any, event: hold}, actions: {publish: {topic: lamp, payload: dim}}}
          - {id: end, triggers: {button: any, event: hold_release}, actions: {publish: {topic: lamp, payload: end}}}
        """

    private static let turns: HouseRules = """
        version: 1
        rules:
          - id: turns
            triggers: {button: any, event: rotate_clockwise}
            actions: [{publish: {topic: lamp, payload: "{{ trigger.steps }}"}}, {delay: 5s}]
        """

    /// What became of presses: the messages to the lamp, the programs, and the numbers of messages that were reported.
    private static func fate(_ effects: [Hub.Effect]) -> [String] {
        let acted = EngineHouse.story(effects).filter { $0.hasPrefix("lamp ") || $0 == "program" }
        let reported = EngineHouse.events(effects).filter { $0["type"] == "interrupted" && $0["data"]?["site"] != nil }
        return acted
            + reported.map {
                "reported \($0["data"]?["first_n"]?.integerValue ?? 0) to \($0["data"]?["last_n"]?.integerValue ?? 0)"
            }
    }

    /// The connection ends, and what was not acknowledged fails.
    private static func breakOff(_ house: inout EngineHouse, _ unacknowledged: [Hub.Effect] = []) -> [Hub.Effect] {
        var effects = house.take(.brokerDisconnected("gone"))
        for claim in EngineHouse.claims(unacknowledged) { effects += house.take(.publishFailed(claim, "gone")) }
        house.pass(.milliseconds(200))
        return effects
    }

    /// The same engine leads again, and all claims and messages about what is done are acknowledged.
    private static func comeBack(_ house: inout EngineHouse, last: Int, claimed: Int) -> [Hub.Effect] {
        var effects = house.connect(last: last, claimed: claimed)
        let back = house.hearOwnClaim()
        effects += back + house.acknowledge(back)
        return effects + house.wait(.seconds(20))
    }

    // MARK: The same engine leads again

    @Test("an undecided click whose claims were lost is reported, and not acted on afterwards")
    func undecided() {
        var house = EngineHouse.leading(.clicks)
        let taken = house.hear(1) + house.hear(2, .up(.open))
        var effects = Self.breakOff(&house, taken)
        effects += Self.comeBack(&house, last: 2, claimed: 0)
        #expect(Self.fate(effects) == ["reported 1 to 2"])
    }

    @Test("the verdict of a button on a click whose claims were lost comes too late")
    func verdict() {
        var house = EngineHouse.leading(Self.verdicts)
        let taken = house.hear(1) + house.hear(2, .up(.open))
        var effects = Self.breakOff(&house, taken)
        effects += Self.comeBack(&house, last: 2, claimed: 0)
        effects += house.hear(3, .clickTimeout) + house.wait(.seconds(5))
        #expect(Self.fate(effects) == ["reported 1 to 2"])
        #expect(Self.fate(house.hear(4) + house.hear(5, .up(.click)) + house.wait(.seconds(2))) == ["lamp one"])
    }

    @Test("an undecided click of which only the last claim was lost is reported as a whole")
    func partlyConfirmed() {
        var house = EngineHouse.leading(.clicks)
        let first = house.hear(1)
        house.acknowledge(first)
        var effects = Self.breakOff(&house, house.hear(2, .up(.open)))
        effects += Self.comeBack(&house, last: 2, claimed: 1)
        #expect(Self.fate(effects) == ["reported 1 to 2"])
        #expect(Self.fate(house.hear(3) + house.hear(4, .up(.open)) + house.wait(.seconds(2))) == ["lamp one"])
    }

    @Test("an undecided click whose claims the broker has acknowledged is acted on, and not reported")
    func confirmed() {
        var house = EngineHouse.leading(.clicks)
        house.acknowledge(house.hear(1) + house.hear(2, .up(.open)))
        var effects = Self.breakOff(&house)
        effects += Self.comeBack(&house, last: 2, claimed: 2)
        #expect(Self.fate(effects) == ["lamp one"])
    }

    @Test("a program that waits for its claim is not started if the claim is lost, because the press is reported")
    func waitingProgram() {
        var house = EngineHouse.leading(Self.program)
        var effects = Self.breakOff(&house, house.hear(1))
        effects += Self.comeBack(&house, last: 1, claimed: 0)
        #expect(Self.fate(effects) == ["reported 1 to 1"])
        #expect(house.stored.runs == [])
    }

    @Test("a run ends if the claim of its press is lost, and goes on if the broker has acknowledged the claim")
    func run() {
        var house = EngineHouse.leading(.later)
        var effects = Self.breakOff(&house, house.hear(1))
        effects += Self.comeBack(&house, last: 1, claimed: 0)
        #expect(Self.fate(effects) == ["reported 1 to 1"])
        house.acknowledge(house.hear(2))
        effects = Self.breakOff(&house)
        effects += Self.comeBack(&house, last: 2, claimed: 2)
        #expect(Self.fate(effects) == ["lamp on"])
    }

    @Test(
        "a run that waits in the queue of its rule ends with the lost claim of its press, and the run before it goes on"
    )
    func queuedRun() {
        var house = EngineHouse.leading(Self.queued)
        house.acknowledge(house.hear(1) + house.hear(2, .up(.click)))
        _ = house.wait(.seconds(1))
        var effects = Self.breakOff(&house, house.hear(3))
        effects += Self.comeBack(&house, last: 3, claimed: 2)
        #expect(Self.fate(effects).sorted() == ["lamp on", "reported 3 to 3"])
    }

    @Test("a queued run of a press that is done stays, when the claim of the next press is lost")
    func queuedAndConfirmed() {
        var house = EngineHouse.leading(Self.queued)
        for number in [1, 3] {
            house.acknowledge(house.hear(number) + house.hear(number + 1, .up(.click)))
            _ = house.wait(.seconds(1))
        }
        var effects = Self.breakOff(&house, house.hear(5))
        effects += Self.comeBack(&house, last: 5, claimed: 4)
        #expect(Self.fate(effects).sorted() == ["lamp on", "lamp on", "reported 5 to 5"])
    }

    @Test("a run of the confirmed part of a press ends when the press is reported as a whole")
    func runOfOpenPress() {
        var house = EngineHouse.leading(
            """
            version: 1
            defaults: {queued: accept}
            rules:
              - id: later
                triggers: {button: any, event: down}
                actions: [{delay: 5s}, {publish: {topic: lamp, payload: "on"}}]
              - {id: three, triggers: {button: any, clicks: 3}, actions: {publish: {topic: lamp, payload: three}}}
            """)
        house.acknowledge(house.hear(1))
        _ = house.wait(.milliseconds(100))
        var effects = Self.breakOff(&house, house.hear(2, .up(.open)))
        effects += Self.comeBack(&house, last: 2, claimed: 1)
        #expect(Self.fate(effects) == ["reported 1 to 2"])
    }

    @Test("a hold that was told ends, although its claims were lost")
    func hold() {
        var house = EngineHouse.leading(Self.held)
        let taken = house.hear(1) + house.hear(2, .hold(ofSecondPress: false))
        #expect(Self.fate(taken) == ["lamp dim"])
        var effects = Self.breakOff(&house, taken)
        effects += Self.comeBack(&house, last: 2, claimed: 0)
        #expect(Self.fate(effects) == ["reported 1 to 2"])
        #expect(Self.fate(house.hear(3, .up(.afterHold))) == ["lamp end"])
    }

    @Test("a hold that was told ends if its button is removed at its site before the same engine leads again")
    func removedWhileFenced() {
        var house = EngineHouse.leading(Self.held)
        house.acknowledge(house.hear(1) + house.hear(2, .hold(ofSecondPress: false)))
        var effects = Self.breakOff(&house)
        effects += house.take(.brokerConnected) + house.sayHello(session: 2, buttons: [])
        effects += house.hearOwnClaim() + house.wait(.seconds(2))
        #expect(Self.fate(effects) == ["lamp end"])
    }

    // MARK: Buttons of two sites

    private static let otherSite = "tryck/paris2"

    /// The same engine leads again, and has both sites.
    private static func comeBackWithBoth(_ house: inout EngineHouse, claimed: Int) -> [Hub.Effect] {
        var effects = house.connect(last: 1, claimed: claimed) + house.sayHello(from: otherSite, last: 1)
        let back = house.hearOwnClaim()
        effects += back + house.acknowledge(back)
        return effects + house.wait(.seconds(20))
    }

    @Test("a click that began at one site and ended at another is reported as a whole if only the last claim is lost")
    func carriedClick() {
        var house = EngineHouse.leading(.clicks)
        house.sayHello(from: Self.otherSite)
        house.acknowledge(house.hear(1))
        var effects = Self.breakOff(&house, house.hear(1, .up(.open), counter: 2, from: Self.otherSite))
        effects += Self.comeBackWithBoth(&house, claimed: 1)
        #expect(Self.fate(effects) == ["reported 1 to 1", "reported 1 to 1"])
    }

    @Test("a run of a press at one site ends with its lost claim, although the button was carried to another site")
    func carriedRun() {
        var house = EngineHouse.leading(.later)
        house.sayHello(from: Self.otherSite)
        var taken = house.hear(1)
        house.pass(.seconds(1))
        taken += house.hear(1, .up(.click), counter: 2, from: Self.otherSite)
        var effects = Self.breakOff(&house, taken)
        effects += Self.comeBackWithBoth(&house, claimed: 0)
        #expect(Self.fate(effects) == ["reported 1 to 1", "reported 1 to 1"])
    }

    @Test("a press goes on at its site although another site has removed the button")
    func removedElsewhere() {
        var house = EngineHouse.leading(.clicks)
        house.sayHello(from: Self.otherSite)
        var effects = house.hear(1) + house.sayHello(from: Self.otherSite, session: 2, buttons: [])
        effects += house.hear(2, .up(.open)) + house.wait(.seconds(2))
        #expect(Self.fate(effects) == ["lamp one"])
    }

    // MARK: Another engine leads, or none

    /// Another engine leads, reports what it finds, and is gone.
    private static func lead(_ house: inout EngineHouse, over number: Int) -> [Hub.Effect] {
        let topic = "\(EngineHouse.site)/feed/\(EngineHouse.button)"
        var effects = house.hear("engines/1/leader", EngineTerm(term: 9, engine: "b1").encoded())
        let claim = FeedCursor(number: number, term: 9, engine: "b1", installation: "9f3c", session: 1)
        effects += house.hear("\(topic)/cursor", claim.encoded())
        effects += house.hear("\(topic)/done", FeedDone(number: number, term: 9, installation: "9f3c").encoded())
        effects += house.hear("engines/1/state", EngineState(isOnline: false, engine: "b1", share: .whole).encoded())
        effects += house.wait(.seconds(3))
        effects += house.hearOwnClaim()
        effects += house.wait(.seconds(1))
        return effects + house.hearOwnClaim()
    }

    @Test(
        "a press that is down while another engine leads is that engine's, also if this one leads again before it ends")
    func overtaken() {
        var house = EngineHouse.leading(.clicks)
        house.acknowledge(house.hear(1))
        var effects = Self.lead(&house, over: 1)
        #expect(house.status["engine"]?["state"] == "leading")
        effects += house.hear(2, .up(.click)) + house.wait(.seconds(5))
        #expect(Self.fate(effects) == [])
        #expect(Self.fate(house.hear(3) + house.hear(4, .up(.open)) + house.wait(.seconds(2))) == ["lamp one"])
    }

    @Test("a press that is down while an engine restarts is reported, and not acted on when it ends")
    func restarted() {
        var house = EngineHouse.leading(.clicks)
        house.acknowledge(house.hear(1))
        house.restart()
        var effects = house.connect(last: 1, claimed: 1) + house.lead()
        effects += house.hear(2, .up(.click)) + house.wait(.seconds(5))
        #expect(Self.fate(effects) == ["reported 1 to 1"])
    }

    @Test("a press that a chord has held back is not acted on when the engine stops")
    func chord() {
        let attic = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0002))
        var house = EngineHouse.leading(
            """
            version: 1
            buttons: {hall: {address: "80:E4:DA:00:00:01"}, attic: {address: "80:E4:DA:00:00:02"}}
            rules:
              - {id: both, triggers: {chord: [hall, attic], event: hold}, actions: {publish: {topic: lamp, payload: both}}}
              - {id: one, triggers: {button: attic, event: click}, actions: {publish: {topic: lamp, payload: one}}}
            """)
        house.sayHello(session: 2, buttons: [EngineHouse.button, attic], haveOwnSerials: true)
        var effects = house.hear(1) + house.hear(1, of: attic)
        house.pass(.milliseconds(500))
        effects += house.hear("engines/1/leader", EngineTerm(term: 9, engine: "b1").encoded())
        #expect(house.status["engine"]?["state"] == "standing_by")
        #expect(Self.fate(effects + house.wait(.seconds(5))) == [])
    }

    @Test("an undecided click is reported if the broker has forgotten who leads, because the engine gives it up")
    func forgottenLeader() {
        var house = EngineHouse.leading(.clicks)
        house.acknowledge(house.hear(1) + house.hear(2, .up(.open)))
        var effects = Self.breakOff(&house)
        effects += house.connect(last: 2, claimed: 2)
        effects += house.wait(.seconds(2))
        effects += house.hearOwnClaim()
        effects += house.wait(.seconds(2))
        effects += house.hearOwnClaim()
        #expect(house.status["engine"]?["state"] == "leading")
        #expect(Self.fate(effects) == ["reported 1 to 2"])
    }

    @Test("an undecided click is reported if the broker was gone for more than a minute")
    func fencedTooLong() {
        var house = EngineHouse.leading(.clicks)
        house.acknowledge(house.hear(1) + house.hear(2, .up(.open)))
        var effects = Self.breakOff(&house)
        house.pass(.seconds(120))
        effects += Self.comeBack(&house, last: 2, claimed: 2)
        #expect(Self.fate(effects) == ["reported 1 to 2"])
    }

    @Test(
        "a hold that was told ends with its release, although another engine has claimed to lead, and has reported it or done nothing",
        arguments: [true, false])
    func heldMeanwhile(isReported: Bool) {
        var house = EngineHouse.leading(Self.held)
        house.acknowledge(house.hear(1) + house.hear(2, .hold(ofSecondPress: false)))
        // The hold ends because its site is gone. The action for that is held, and then dropped.
        var effects = Self.breakOff(&house) + house.wait(.seconds(20)) + house.take(.brokerConnected)
        effects += house.hear("engines/1/leader", EngineTerm(term: 9, engine: "b1").encoded())
        effects += house.sayHello(session: 2, last: 2, claimed: 2)
        if isReported {
            let topic = "\(EngineHouse.site)/feed/\(EngineHouse.button)/done"
            effects += house.hear(topic, FeedDone(number: 2, term: 9, installation: "9f3c").encoded())
        }
        effects += house.hear(
            "engines/1/state", EngineState(isOnline: false, engine: "b1", share: .whole).encoded())
        effects += house.wait(.seconds(3)) + house.hearOwnClaim() + house.wait(.seconds(1)) + house.hearOwnClaim()
        #expect(house.status["engine"]?["state"] == "leading")
        #expect(Self.fate(effects) == (isReported ? [] : ["reported 1 to 2"]))
        #expect(Self.fate(house.hear(3, .up(.afterHold))) == ["lamp end"])
    }

    // MARK: What another engine has begun

    @Test("a hold that another engine may have told is ended by the engine that leads when the button is released")
    func inheritedHold() {
        var house = EngineHouse(Self.held)
        var effects = house.connect(last: 2, claimed: 2) + house.lead()
        effects += house.hear(3, .up(.afterHold))
        #expect(Self.fate(effects) == ["lamp end", "reported 1 to 2"])
        #expect(Self.fate(house.hear(4) + house.hear(5, .up(.click)) + house.wait(.seconds(2))) == [])
    }

    @Test("a click whose down another engine has claimed is reported, and the next one is acted on")
    func inheritedClick() {
        var house = EngineHouse(Self.verdicts)
        var effects = house.connect(last: 1, claimed: 1) + house.lead()
        effects += house.hear(2, .up(.open)) + house.hear(3, .clickTimeout) + house.wait(.seconds(2))
        #expect(Self.fate(effects) == ["reported 1 to 1"])
        #expect(Self.fate(house.hear(4) + house.hear(5, .up(.open)) + house.wait(.seconds(2))) == ["lamp one"])
    }

    @Test(
        "the rest of a press whose beginning is done is in no gesture, because another engine has acted on it or reported it",
        arguments: [PressStep.clickTimeout, .up(.click), .up(.doubleClick)])
    func inheritedRest(step: PressStep) {
        var house = EngineHouse(Self.verdicts)
        house.connect(last: 1, claimed: 1)
        let topic = "\(EngineHouse.site)/feed/\(EngineHouse.button)/done"
        house.hear(topic, FeedDone(number: 1, term: 1, installation: "9f3c").encoded())
        var effects = house.lead()
        effects += house.hear(2, step) + house.wait(.seconds(2))
        #expect(Self.fate(effects) == [])
        #expect(Self.fate(house.hear(3) + house.hear(4, .up(.open)) + house.wait(.seconds(2))) == ["lamp one"])
    }

    @Test(
        "the rest of a press is in no gesture while the other part of a Duo is pressed, and that part's press is acted on"
    )
    func inheritedPart() {
        var house = EngineHouse(Self.verdicts)
        house.take(.brokerConnected)
        house.sayHello(model: .duo, last: 1, claimed: 1)
        let topic = "\(EngineHouse.site)/feed/\(EngineHouse.button)/done"
        house.hear(topic, FeedDone(number: 1, term: 1, installation: "9f3c").encoded())
        var effects = house.lead()
        effects += house.hear(2, .down, part: .small) + house.hear(3, .up(.click), part: .big)
        effects += house.wait(.seconds(2))
        #expect(Self.fate(effects) == [])
        #expect(Self.fate(house.hear(4, .up(.click), part: .small) + house.wait(.seconds(2))) == ["lamp one"])
    }

    @Test("the rest of a press is in no gesture while a turn of its button is collected, and the turn is acted on")
    func inheritedTurn() {
        var house = EngineHouse(
            """
            version: 1
            rules:
              - {id: one, triggers: {button: any, event: click}, actions: {publish: {topic: lamp, payload: one}}}
              - {id: two, triggers: {button: any, event: double_click}, actions: {publish: {topic: lamp, payload: two}}}
              - {id: turn, triggers: {button: any, event: rotate_clockwise}, actions: {publish: {topic: lamp, payload: turn}}}
            """)
        house.connect(last: 1, claimed: 1)
        let topic = "\(EngineHouse.site)/feed/\(EngineHouse.button)/done"
        house.hear(topic, FeedDone(number: 1, term: 1, installation: "9f3c").encoded())
        var effects = house.lead()
        effects += Self.turn(2, &house) + house.hear(3, .up(.click)) + house.wait(.seconds(2))
        #expect(Self.fate(effects) == ["lamp turn"])
    }

    @Test("the rest of a press that an earlier process of the engine has reported is no hold")
    func reportedHold() {
        var house = EngineHouse.leading(Self.held)
        house.acknowledge(house.hear(1))
        var effects: [Hub.Effect] = []
        for _ in 1...2 {
            house.restart()
            let back = house.connect(last: 1, claimed: 1) + house.lead()
            effects += back + house.acknowledge(back)
        }
        effects += house.hear(2, .hold(ofSecondPress: false)) + house.wait(.seconds(2))
        #expect(Self.fate(effects) == ["reported 1 to 1"])
    }

    @Test("a hold that was told ends also if the engine is started again and finds the broker only later")
    func heldOverRestart() {
        var house = EngineHouse.leading(Self.held)
        house.acknowledge(house.hear(1) + house.hear(2, .hold(ofSecondPress: false)))
        house.restart()
        var effects = house.wait(.seconds(20))
        effects += house.connect(last: 2, claimed: 2) + house.lead()
        effects += house.hear(3, .up(.afterHold))
        #expect(Self.fate(effects) == ["lamp end", "reported 1 to 2"])
    }

    @Test("an engine that leads again does not end a hold whose end another engine has handled")
    func endedElsewhere() {
        var house = EngineHouse.leading(Self.held)
        let taken = house.hear(1) + house.hear(2, .hold(ofSecondPress: false))
        house.acknowledge(taken)
        #expect(Self.fate(taken) == ["lamp dim"])
        #expect(Self.fate(Self.lead(&house, over: 3)) == [])
        #expect(house.status["engine"]?["state"] == "leading")
        #expect(Self.fate(house.hear(4) + house.hear(5, .up(.click)) + house.wait(.seconds(2))) == [])
    }

    // MARK: What is not decided yet

    /// A message with a turn by 10 steps.
    private static func turn(_ number: Int, _ house: inout EngineHouse) -> [Hub.Effect] {
        let movement = ButtonMovement(button: EngineHouse.button, part: .dial, steps: 10)
        let message = FeedMessage(number: number, previous: number - 1, content: .steps([.turn(movement)]))
        return house.take(
            .expiringMessageReceived(
                topicName: "\(EngineHouse.site)/feed/\(EngineHouse.button)", payload: message.encoded(),
                retained: false,
                remaining: .seconds(3600)))
    }

    /// Lets the time pass in which turns are collected.
    private static func collect(_ house: inout EngineHouse) -> [Hub.Effect] {
        house.pass(.milliseconds(200))
        return house.take(.timerFired)
    }

    @Test("turns that are collected when the claim of the last one is lost are reported together, and not acted on")
    func collectedTurns() {
        var house = EngineHouse.leading(Self.turns)
        house.acknowledge(Self.turn(1, &house))
        var effects = Self.breakOff(&house, Self.turn(2, &house))
        effects += Self.comeBack(&house, last: 2, claimed: 1)
        #expect(Self.fate(effects) == ["reported 1 to 2"])
    }

    @Test("turns that wait for a run of their rule when the claim of the last one is lost are reported together")
    func accumulatedTurns() {
        var house = EngineHouse.leading(Self.turns)
        var effects = Self.turn(1, &house)
        house.acknowledge(effects)
        effects += Self.collect(&house)
        house.acknowledge(Self.turn(2, &house))
        effects += Self.collect(&house)
        let last = Self.turn(3, &house)
        effects += Self.collect(&house) + Self.breakOff(&house, last)
        effects += Self.comeBack(&house, last: 3, claimed: 2)
        #expect(Self.fate(effects) == ["lamp 10", "reported 2 to 3"])
    }

    @Test("a turn that is collected when the engine is killed is reported")
    func killedTurn() {
        var house = EngineHouse.leading(Self.turns)
        var effects = Self.turn(1, &house)
        house.acknowledge(effects)
        house.restart()
        effects += house.connect(last: 1, claimed: 1) + house.lead()
        #expect(Self.fate(effects) == ["reported 1 to 1"])
    }

    @Test("a stored press that a rule keeps until the last one arrives is reported if the engine is killed meanwhile")
    func keptPress() {
        var house = EngineHouse.leading(
            """
            version: 1
            defaults: {queued: {max_age: 60s, keep: last}}
            rules:
              - {id: lamp, triggers: {button: any, event: down}, actions: {publish: {topic: lamp, payload: "on"}}}
            """)
        var effects = house.hear(1, after: .seconds(2))
        house.acknowledge(effects)
        house.restart()
        effects += house.connect(last: 1, claimed: 1) + house.lead()
        #expect(Self.fate(effects) == ["reported 1 to 1"])
    }

    @Test("an engine forgets at its start what was kept or waited, so that it is not acted on without sites either")
    func forgottenAtStart() {
        var house = EngineHouse.leading(
            """
            version: 1
            rules:
              - id: last
                queued: {max_age: 60s, keep: last}
                triggers: {button: any, event: down}
                actions: {publish: {topic: lamp, payload: last}}
              - id: later
                queued: accept
                on_restart: resume
                triggers: {button: any, event: down}
                actions: [{delay: 60s}, {publish: {topic: lamp, payload: later}}]
            """)
        house.hear(1, after: .seconds(2))
        #expect(house.stored.rules.keptEvents.count == 1 && house.stored.rules.waitingRuns.count == 1)
        house.restart()
        #expect(house.stored.rules.keptEvents.isEmpty && house.stored.rules.waitingRuns.isEmpty)
    }

    @Test("the end of a press that was given up is done, so that it is not reported when the engine is killed later")
    func doneBehindGivenUp() {
        var house = EngineHouse.leading(Self.verdicts)
        house.acknowledge(house.hear(1))
        house.restart()
        house.acknowledge(house.connect(last: 1, claimed: 1) + house.lead())
        house.acknowledge(house.hear(2, .up(.click)))
        house.wait(.seconds(3))
        house.restart()
        #expect(Self.fate(house.connect(last: 2, claimed: 2) + house.lead()) == [])
    }

    // MARK: Presses that belong together

    private static let attic = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0002))

    /// An engine that leads, with the buttons hall and attic, and a rule for a chord of both.
    private static func chord(_ event: String, _ action: String) -> EngineHouse {
        var house = EngineHouse.leading(
            HouseRules(
                """
                version: 1
                buttons: {hall: {address: "80:E4:DA:00:00:01"}, attic: {address: "80:E4:DA:00:00:02"}}
                rules:
                  - {id: both, triggers: {chord: [hall, attic], event: \(event)}, actions: [\(action)]}
                  - {id: one, triggers: {button: attic, event: click}, actions: {publish: {topic: lamp, payload: one}}}
                """))
        house.acknowledge(house.sayHello(session: 2, buttons: [EngineHouse.button, attic], haveOwnSerials: true))
        return house
    }

    /// The same engine leads again.
    private static func comeBackWithBoth(_ house: inout EngineHouse, last: Int = 1) -> [Hub.Effect] {
        var effects = house.take(.brokerConnected)
        effects += house.sayHello(session: 3, buttons: [EngineHouse.button, attic], haveOwnSerials: true, last: last)
        let back = house.hearOwnClaim()
        effects += back + house.acknowledge(back)
        return effects + house.wait(.seconds(20))
    }

    @Test("a press that a chord has held back is acted on if the chord fails because its other press is given up")
    func chordWithLostClaim() {
        var house = Self.chord("hold", "{publish: {topic: lamp, payload: both}}")
        house.acknowledge(house.hear(1, of: Self.attic))
        let taken = house.hear(1)
        house.pass(.milliseconds(500))
        var effects = Self.breakOff(&house, taken)
        effects += Self.comeBackWithBoth(&house)
        #expect(Self.fate(effects).sorted() == ["lamp one", "reported 1 to 1"])
    }

    @Test("a press that waits for the other one of a chord when the connection ends is acted on")
    func heldBack() {
        var house = Self.chord("down", "{publish: {topic: lamp, payload: both}}")
        house.acknowledge(house.hear(1, of: Self.attic))
        var effects = Self.breakOff(&house)
        effects += Self.comeBackWithBoth(&house)
        #expect(Self.fate(effects) == ["lamp one"])
    }

    @Test("both presses of a chord are reported if one is given up and the run of the chord ends for that")
    func firedChord() {
        var house = Self.chord("down", "{delay: 5s}, {publish: {topic: lamp, payload: both}}")
        house.acknowledge(house.hear(1, of: Self.attic))
        var effects = Self.breakOff(&house, house.hear(1))
        effects += Self.comeBackWithBoth(&house)
        #expect(Self.fate(effects) == ["reported 1 to 1", "reported 1 to 1"])
    }

    @Test("the run of a chord ends if one of its presses is given up after the last one was released")
    func releasedChord() {
        var house = Self.chord("down", "{delay: 5s}, {publish: {topic: lamp, payload: both}}")
        house.acknowledge(house.hear(1) + house.hear(1, of: Self.attic))
        house.acknowledge(house.hear(2, .up(.click), of: Self.attic))
        var effects = Self.breakOff(&house, house.hear(2, .hold(ofSecondPress: false)))
        effects += Self.comeBackWithBoth(&house, last: 2)
        #expect(Self.fate(effects) == ["reported 1 to 2"])
    }

    @Test("a run that has gone on with a second press ends if that is given up")
    func secondPress() {
        var house = EngineHouse.leading(
            """
            version: 1
            rules:
              - id: later
                triggers: {button: any, event: up}
                actions:
                  - {wait_for: {button: any, event: down}, timeout: 60s}
                  - {delay: 5s}
                  - {publish: {topic: lamp, payload: "on"}}
            """)
        house.acknowledge(house.hear(1) + house.hear(2, .up(.click)))
        _ = house.wait(.seconds(1))
        var effects = Self.breakOff(&house, house.hear(3))
        effects += Self.comeBack(&house, last: 3, claimed: 2)
        #expect(Self.fate(effects) == ["reported 3 to 3"])
    }

    /// A press has started a program, and the broker then takes and sends nothing, although the connection stays. The program
    /// ends, and its run sends a message.
    ///
    /// - Parameter last: what the engine takes after the press.
    private static func silence(
        _ house: inout EngineHouse, after last: (inout EngineHouse) -> [Hub.Effect] = { _ in [] }
    ) throws -> (effects: [Hub.Effect], taken: [Hub.Effect]) {
        let started = house.acknowledge(house.hear(1))
        let job = try #require(started.compactMap { if case .startJob(let id, _) = $0 { id } else { nil } }.last)
        let taken = last(&house)
        house.pass(.seconds(11))
        var effects = house.take(.timerFired)
        #expect(house.status["engine"]?["state"] == "fenced")
        effects += house.take(.jobEnded(job, .process(ProcessResult(status: .exited(0)))))
        #expect(fate(effects) == [])
        return (effects, taken)
    }

    private static let programAndMessage: HouseRules = """
        version: 1
        rules:
          - id: program
            triggers: {button: any, event: down}
            actions: [{run: [/usr/bin/true]}, {publish: {topic: lamp, payload: "on"}}]
          - {id: one, triggers: {button: any, event: click}, actions: {publish: {topic: lamp, payload: one}}}
          - {id: two, triggers: {button: any, event: double_click}, actions: {publish: {topic: lamp, payload: two}}}
        """

    @Test("the last message of a run that is held while the broker is silent is dropped if its press is given up later")
    func givenUpAfterSilence() throws {
        var house = EngineHouse.leading(Self.programAndMessage)
        let silence = try Self.silence(&house) { $0.hear(2, .up(.open)) }
        var effects = silence.effects + Self.breakOff(&house, silence.taken)
        effects += Self.comeBack(&house, last: 2, claimed: 1)
        #expect(Self.fate(effects) == ["reported 1 to 2"])
    }

    @Test("the last message of a run that is held while the broker is silent is sent when the engine still leads")
    func sentAfterSilence() throws {
        var house = EngineHouse.leading(Self.programAndMessage)
        var effects = try Self.silence(&house).effects
        effects += house.hearOwnClaim()
        #expect(Self.fate(effects) == ["lamp on"])
        let messages = effects.compactMap { effect -> MessageID? in
            if case .publish(let id, let message, _) = effect, message.topicName == "lamp" { id } else { nil }
        }
        for id in messages { house.take(.published(id)) }
        #expect(house.stored.runs == [])
    }

    @Test("turns that wait for a program are acted on if the program ends while the broker is gone")
    func turnsBehindProgram() throws {
        var house = EngineHouse.leading(
            """
            version: 1
            rules:
              - {id: program, triggers: {button: any, event: rotate_clockwise}, actions: {run: [/usr/bin/true]}}
            """)
        var effects = Self.turn(1, &house)
        house.acknowledge(effects)
        effects += Self.collect(&house)
        #expect(Self.fate(effects) == ["program"])
        let job = try #require(effects.compactMap { if case .startJob(let id, _) = $0 { id } else { nil } }.last)
        house.acknowledge(Self.turn(2, &house))
        effects = Self.collect(&house) + Self.breakOff(&house)
        effects += house.take(.jobEnded(job, .process(ProcessResult(status: .exited(0)))))
        effects += Self.comeBack(&house, last: 2, claimed: 2)
        #expect(Self.fate(effects) == ["program"])
    }
}
