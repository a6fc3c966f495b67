import ButtonModel
import Feed
import JSON
import MQTTTopics
import Rules
import Testing

@testable import Hub
@testable import ReplayCommands

@Suite("Faults of engines of sites")
struct EngineFaultScenarioTests {
    // MARK: Hostile sites

    @Test("a site whose hello has a higher term, again and again, does not stop the runs of an engine")
    func hostileTerm() {
        var house = EngineHouse.leading(.later)
        house.hear(1)
        var effects: [Hub.Effect] = []
        for second in 1...11 {
            effects += house.sayHello(from: "tryck/paris2", session: second, term: 500 * second, buttons: [])
            effects += house.wait(.seconds(1))
            effects += house.hearOwnClaim()
        }
        #expect(EngineHouse.story(effects).contains("lamp on"))
        #expect(house.status["engine"]?["state"] == "leading")
    }

    @Test(
        "a site that ignores the term of an engine, because it has heard a higher one, is claimed from in a higher term"
    )
    func higherTerm() throws {
        var house = EngineHouse.leading(.lamp)
        house.hear(1)
        house.sayHello(session: 2, term: 500, last: 1)
        let effects = house.wait(.seconds(3))
        let claims = effects.compactMap { effect -> FeedCursor? in
            guard case .publish(_, let message, _) = effect, message.topicName.hasSuffix("/cursor") else { return nil }
            return try? FeedCursor(parsing: message.payload)
        }
        #expect(claims.map(\.number) == [1] && claims.map(\.term) == [501])
        #expect(try EngineTerm(parsing: house.claim).term == 501)
    }

    @Test("a site cannot delay an engine that claims to lead")
    func hostileTermWhileClaiming() {
        var house = EngineHouse(.lamp)
        house.connect()
        house.wait(.seconds(5))
        house.hearOwnClaim()
        for step in 1...10 {
            house.sayHello(from: "tryck/paris2", session: step, term: 100 * step, buttons: [])
            house.wait(.milliseconds(100))
            house.hearOwnClaim()
        }
        #expect(house.status["engine"]?["state"] == "leading")
    }

    @Test("more than 1,000 buttons are asked 64 at a time, as the broker acknowledges")
    func pacing() {
        var house = EngineHouse(.lamp)
        house.take(.brokerConnected)
        for site in 0..<5 {
            let buttons = (1...250).map { ButtonID(BluetoothAddress(rawValue: UInt64(site * 1000 + $0))) }
            house.sayHello(from: "tryck/s\(site)", buttons: buttons)
        }
        func wants(_ effects: [Hub.Effect]) -> [MessageID] {
            effects.compactMap {
                if case .publish(let id, let message, _) = $0, message.topicName.hasSuffix("/want") { id } else { nil }
            }
        }
        var underWay = wants(house.lead())
        var asked = underWay.count
        #expect(underWay.count == 64)
        while !underWay.isEmpty {
            let more = wants(house.take(.published(underWay.removeFirst())))
            asked += more.count
            underWay += more
            #expect(underWay.count <= 64)
        }
        #expect(asked == 1250)
    }

    @Test("a claim that was refused, because too much waits for the broker, is published again")
    func refusedClaim() {
        var house = EngineHouse.leading(.lamp)
        for claim in EngineHouse.claims(house.hear(1)) { house.take(.publishFailed(claim, "too many messages")) }
        #expect(EngineHouse.claims(house.wait(.seconds(1))).count == 1)
    }

    @Test("a claim that was not acknowledged when the connection ended is published again on the next one")
    func unacknowledgedClaim() throws {
        var house = EngineHouse.leading(.lamp)
        let claims = EngineHouse.claims(house.hear(1))
        house.take(.brokerDisconnected("gone"))
        for claim in claims { house.take(.publishFailed(claim, "gone")) }
        house.connect(last: 1, claimed: 0)
        let effects = house.hearOwnClaim()
        #expect(EngineHouse.claims(effects).count == 1)
        #expect(!EngineHouse.story(effects + house.hear(1)).contains("lamp on"))
    }

    // MARK: Refused reports

    /// An engine that has reported messages that the journal of the site has lost, and the effects.
    private static func withReport() -> (house: EngineHouse, effects: [Hub.Effect]) {
        var house = EngineHouse(.lamp)
        house.connect(last: 3)
        house.acknowledge(house.lead())
        let message = FeedMessage(number: 3, previous: 0, content: .lost)
        let effects = house.hear("\(EngineHouse.site)/feed/\(EngineHouse.button)", message.encoded())
        return (house, effects)
    }

    private static func reports(_ effects: [Hub.Effect]) -> [MessageID] {
        effects.compactMap {
            if case .publish(let id, let message, _) = $0, message.topicName == "a1/bridge/event" { id } else { nil }
        }
    }

    @Test("a report that the broker refuses is made again after longer and longer pauses, until the broker takes it")
    func refusedReport() {
        var (house, effects) = Self.withReport()
        var times: [Int] = []
        for second in 1...20 {
            // The report was published before what is done, and so the broker answers it first.
            for report in Self.reports(effects) {
                times.append(second)
                house.take(times.count < 5 ? .publishFailed(report, "Not authorized") : .published(report))
            }
            house.acknowledge(effects)
            effects = house.wait(.seconds(1))
            for event in EngineHouse.events(effects) { #expect(event["type"] == "interrupted") }
        }
        #expect(times == [1, 2, 4, 8, 16])
    }

    @Test("a report that the broker has refused before the connection ended is made again on the next one")
    func refusedReportOnNextConnection() {
        var (house, effects) = Self.withReport()
        for report in Self.reports(effects) {
            house.take(.publishFailed(report, "Not authorized"))
        }
        house.acknowledge(effects)
        house.take(.brokerDisconnected("gone"))
        house.take(.brokerConnected)
        let claim = FeedCursor(number: 3, term: 1, engine: "a1", installation: "9f3c", session: 1)
        let done = FeedDone(number: 3, term: 1, installation: "9f3c")
        house.hear("\(EngineHouse.site)/feed/\(EngineHouse.button)/cursor", claim.encoded())
        house.hear("\(EngineHouse.site)/feed/\(EngineHouse.button)/done", done.encoded())
        house.sayHello(session: 2, last: 3, claimed: 3)
        #expect(EngineHouse.events(house.hearOwnClaim()).map { $0["type"] } == ["interrupted"])
    }

    // MARK: Rules that read what engines say

    @Test("a reload that removes a state leaves the subscription of the engine that has the same topic")
    func removedState() throws {
        func replace(_ rules: HouseRules, in house: inout EngineHouse) -> [Hub.Effect] {
            for case .loadRules(let id, _) in house.take(.reloadRules) {
                return house.take(.rulesLoaded(id, RuleLoadReport(set: rules.set)))
            }
            return []
        }
        let reading: HouseRules = """
            version: 1
            states:
              leader: {topic: engines/1/state}
              claims: {topic: "tryck/+/feed/+/cursor", as: count}
              mode: {topic: lamps/mode}
            rules:
              - {id: lamp, triggers: {button: any, event: down}, actions: {publish: {topic: lamp, payload: "on"}}}
            """
        var house = EngineHouse(reading)
        house.connect()
        house.lead()
        var unsubscribed: [String] = []
        for case .unsubscribe(let filters) in replace(.lamp, in: &house) { unsubscribed += filters }
        #expect(unsubscribed == ["lamps/mode"])
        var subscribed: [Subscription] = []
        for case .subscribe(let subscriptions) in replace(reading, in: &house) { subscribed += subscriptions }
        // A broker discards retained claims with QoS 1 if there are many.
        #expect(subscribed.contains(Subscription("tryck/+/feed/+/cursor", qos: 0)))
        #expect(subscribed.contains(Subscription("engines/1/state")) && subscribed.count == 3)
    }

    // MARK: Late presses

    /// The lines of the log from `info` on.
    private static func lines(_ effects: [Hub.Effect]) -> [String] {
        effects.compactMap {
            if case .log(let level, let text) = $0, level.isAtLeast(.info) { text } else { nil }
        }
    }

    @Test("200 presses that waited an hour for an engine are one report each, and no line of the log")
    func latePresses() {
        var house = EngineHouse.leading(.lamp)
        var effects: [Hub.Effect] = []
        for press in 1...200 {
            let taken =
                house.hear(2 * press - 1, after: .seconds(3600))
                + house.hear(2 * press, .up(.click), after: .seconds(3600))
            effects += taken
            house.acknowledge(taken)
        }
        effects += house.wait(.seconds(5))
        #expect(EngineHouse.events(effects).filter { $0["type"] == "stale_event" }.count == 200)
        #expect(Self.lines(effects) == [])
    }

    @Test("200 presses that another site heard earlier and sends later are one report each, and few lines of the log")
    func latePressesOfOtherSite() {
        let other = "tryck/paris2"
        var house = EngineHouse.leading(.lamp)
        house.sayHello(from: other)
        house.hear(1, counter: 500)
        var effects: [Hub.Effect] = []
        for press in 1...200 {
            let taken = house.hear(press, counter: press, from: other)
            effects += taken
            house.acknowledge(taken)
        }
        #expect(EngineHouse.events(effects).filter { $0["type"] == "interrupted" }.count == 200)
        #expect(Self.lines(effects).count == 5, "\(Self.lines(effects).prefix(8))")
        _ = house.wait(.seconds(60))
        let later = Self.lines(house.hear(201, counter: 201, from: other))
        #expect(later.contains { $0.contains("more like this") }, "\(later)")
    }

    // MARK: Full disk

    @Test("an engine that can record nothing claims nothing, hands over, and leads again when it can record")
    func fullDisk() {
        var house = EngineHouse.leading(.lamp)
        house.hear(1)
        var effects = house.take(.recordFailed(nil, "the disk is full", .nowhere))
        #expect(EngineHouse.story(effects).contains { $0.hasPrefix("engines/1/state") && $0.contains("offline") })
        #expect(EngineHouse.story(house.hear(2)) == [])
        house.hear("engines/1/state", EngineState(isOnline: false, engine: "a1", share: .whole).encoded())
        #expect(EngineHouse.story(house.hear(2) + house.wait(.milliseconds(500))).isEmpty)
        effects = house.wait(.milliseconds(500))
        for case .sync(let token) in effects { effects += house.take(.synced(token, true)) }
        for _ in 0..<13 { effects += house.hearOwnClaim() + house.wait(.seconds(1)) }
        #expect(house.status["engine"]?["state"] == "leading")
        #expect(EngineHouse.story(house.hear(2)).contains("lamp on"))
    }

    @Test("an engine whose disk is full leaves the sites to its stand-by, and its press is acted on once")
    func fullDiskWithStandBy() {
        var world = Self.pair()
        world.tell(.recordFailed(nil, "the disk is full", .nowhere), 0)
        world.wait(.seconds(1))
        #expect(world.leaders == [1])
    }

    // MARK: Two engines

    /// Two engines of which the first leads, after 10 s.
    private static func pair(
        names: [String] = ["a1", "a2"], standByRules: HouseRules = .lamp, deaf: Set<Int> = [],
        hearsOnlyStates: Set<Int> = []
    ) -> EnginesOnBroker {
        var world = EnginesOnBroker([
            EngineHouse(.lamp, name: names[0], installation: "00ff"),
            EngineHouse(standByRules, name: names[1], installation: "00aa"),
        ])
        world.connect(0)
        world.wait(.seconds(7))
        world.deaf = deaf
        world.hearsOnlyStates = hearsOnlyStates
        world.connect(1)
        world.wait(.seconds(3.5))
        return world
    }

    @Test("a stand-by leads when the leader is killed")
    func killed() {
        var world = Self.pair()
        #expect(world.leaders == [0])
        world.kill(0)
        world.wait(.seconds(1.5))
        #expect(world.leaders == [1])
    }

    @Test("a stand-by leads at once when the leader ends in order")
    func orderlyStop() {
        var world = Self.pair()
        #expect(world.leaders == [0])
        world.tell(.stop, 0)
        #expect(world.leaders == [1])
        // The first two and the one for the stand-by are of the leader.
        #expect(world.payloads(on: "engines/1/leader").count == 4)
    }

    @Test("of two engines with the same name, one leads, and the other says what is wrong")
    func sameName() {
        var world = Self.pair(names: ["a1", "a1"])
        world.wait(.seconds(30))
        #expect(world.leaders == [0])
        #expect(world.payloads(on: "engines/1/leader").count == 2)
        for engine in 0...1 {
            #expect(world.status(engine).contains("another engine has the name a1"), "\(world.status(engine))")
        }
        world.kill(1)
        world.wait(.seconds(12))
        #expect(world.engineStatus(0)["fault"] == .null)
    }

    @Test("two engines with different rules both warn, once")
    func differentRules() {
        var world = Self.pair(standByRules: .later)
        world.wait(.seconds(30))
        for engine in 0...1 {
            #expect(world.warnings[engine].count { $0.contains("has other rules than this one") } == 1)
        }
        world = Self.pair()
        world.wait(.seconds(30))
        #expect(world.warnings.allSatisfy { !$0.contains { $0.contains("has other rules") } })
    }

    @Test("different rules are a warning of both engines in status until they are the same or the other engine is gone")
    func differentRulesInStatus() {
        var world = Self.pair(standByRules: .later)
        world.wait(.seconds(30))
        #expect(
            world.engineStatus(0)["warnings"]?.arrayValue?.first
                == """
                the engine a2, which stands by for share 1 of 1, has other rules than this one, so a takeover would change what \
                presses do: give both the same rule files, and run tryck reload on the one that changes
                """)
        let other = world.engineStatus(1)["warnings"]?.arrayValue?.first?.stringValue
        #expect(other?.hasPrefix("the engine a1, which leads share 1 of 1, has other rules than this one") == true)
        world.kill(1)
        world.wait(.seconds(45))
        #expect(world.engineStatus(0)["warnings"] == [])
        world = Self.pair()
        world.wait(.seconds(30))
        for engine in 0...1 { #expect(world.engineStatus(engine)["warnings"] == []) }
    }

    @Test("an engine that may write claims and not read them is at fault until it may, and the good leader leads again")
    func deafStandBy() {
        var world = Self.pair(deaf: [1])
        world.wait(.seconds(60))
        #expect(world.leaders == [0])
        #expect(world.engineStatus(0)["fault"] == .null)
        #expect(
            world.engineStatus(1)["fault"]
                == """
                the broker refuses to let this engine read engines/1/#, or to write there: it delivers nothing of what this engine \
                publishes there, and no engine can lead that does not hear the others; allow it in the broker's access rules
                """)
        #expect(world.engineStatus(1)["refused"] == ["read engines/1/#"])
        func claimCount() -> Int { world.payloads(on: "engines/1/leader").count { !$0.isEmpty } }
        let claims = claimCount()
        world.wait(.seconds(60))
        #expect(claimCount() == claims)
        world.deaf = []
        world.wait(.seconds(15))
        #expect(world.engineStatus(1)["fault"] == .null && world.engineStatus(1)["refused"] == [])
        #expect(world.leaders == [0])
        world.kill(0)
        world.wait(.seconds(1.5))
        #expect(world.leaders == [1])
    }

    @Test("a stand-by that may read states and not claims is at fault while the leader leads, and never stops it")
    func hearsOnlyStates() {
        var world = Self.pair(hearsOnlyStates: [1])
        world.wait(.seconds(15.5))
        #expect(world.engineStatus(1)["fault"] == .null)
        world.wait(.seconds(5))
        #expect(world.leaders == [0])
        #expect(world.payloads(on: "engines/1/leader").count { !$0.isEmpty } == 2)
        #expect(world.engineStatus(1)["refused"] == ["read engines/1/#"])
        world.hearsOnlyStates = []
        world.wait(.seconds(15))
        #expect(world.engineStatus(1)["fault"] == .null)
        world.kill(0)
        world.wait(.seconds(1.5))
        #expect(world.leaders == [1])
    }

    @Test("a stand-by that may not write says so before it has to claim")
    func refusedPresence() {
        var house = EngineHouse(.lamp)
        house.take(.brokerConnected)
        house.hear("engines/1/leader", EngineTerm(term: 9, engine: "b1").encoded())
        let state = EngineState(isOnline: true, engine: "b1", share: .whole).encoded()
        for case .publish(let id, let message, _) in house.hear("engines/1/state", state)
        where message.topicName == "engines/1/standby" {
            house.take(.publishFailed(id, "Not authorized"))
        }
        #expect(house.status["engine"]?["refused"] == ["write engines/1/standby"])
    }

    @Test("an engine whose claims come back behind what the broker retains for sites is not at fault")
    func claimBehindBacklog() {
        var house = EngineHouse(.lamp)
        house.take(.brokerConnected)
        house.wait(.seconds(5))
        let first = house.claim
        let cursor = FeedCursor(number: 1, term: 1, engine: "b1", installation: "9f3c", session: 1).encoded()
        for _ in 0..<30 {
            let topicName = "\(EngineHouse.site)/feed/\(EngineHouse.button)/cursor"
            house.take(.messageReceived(topicName: topicName, payload: cursor, retained: true))
            house.wait(.seconds(1))
        }
        #expect(house.status["engine"]?["fault"] == .null)
        // The first claim that comes back is too old to lead by, and the next one is not.
        house.hear("engines/1/leader", first)
        #expect(house.status["engine"]?["state"] == "standing_by")
        house.wait(.seconds(1))
        house.hear("engines/1/leader", house.claim)
        #expect(house.status["engine"]?["state"] == "leading")
    }

    @Test("no timer is left for messages that became too old while the process was stopped, when it connects")
    func expiredWhileStopped() {
        var house = EngineHouse(.lamp)
        house.connect(last: 3)
        house.lead()
        let message = FeedMessage(number: 3, previous: 0, content: .lost)
        let effects = house.hear("\(EngineHouse.site)/feed/\(EngineHouse.button)", message.encoded())
        var events: [MessageID] = []
        for case .publish(let id, let message, _) in effects where message.topicName == "a1/bridge/event" {
            events.append(id)
        }
        #expect(events.count == 1)
        house.take(.brokerDisconnected("the broker is gone"))
        for id in events { house.take(.publishFailed(id, "the broker is gone")) }
        house.pass(.seconds(4000))
        // The house checks the hub after each input.
        house.take(.brokerConnected)
    }

    @Test("an engine whose claims the broker refuses says so, and not that it must not read them")
    func refusedLeadership() {
        var house = EngineHouse(.lamp)
        house.take(.brokerConnected)
        for _ in 0..<20 {
            for case .publish(let id, let message, _) in house.wait(.seconds(1))
            where message.topicName == "engines/1/leader" {
                house.take(.publishFailed(id, "Not authorized"))
            }
        }
        #expect(house.status["engine"]?["refused"] == ["write engines/1/leader"])
        #expect(
            house.status["engine"]?["fault"]
                == "the broker refuses to let this engine write engines/1/leader: Not authorized; allow it in the broker's access rules"
        )
    }

    // MARK: What the connection loses

    @Test(
        "presses of which the connection lost the claims and the actions are reported once, and those before and after are not"
    )
    func lostPress() throws {
        var house = EngineHouse.leading(.lamp)
        house.acknowledge(house.hear(1) + house.hear(2, .up(.click)))
        let lost = EngineHouse.claims(house.hear(3) + house.hear(4, .up(.click)))
        #expect(lost.count >= 2)
        house.take(.brokerDisconnected("gone"))
        for claim in lost { house.take(.publishFailed(claim, "gone")) }
        // The site has heard of no claim but those of the first press.
        house.connect(last: 4, claimed: 2)
        let back = house.hearOwnClaim()
        house.acknowledge(back)
        let events = EngineHouse.events(back).filter { $0["type"] == "interrupted" }
        #expect(events.count == 1)
        #expect(events.first?["data"]?["first_n"] == 3 && events.first?["data"]?["last_n"] == 4)
        let next = house.hear(5) + house.hear(6, .up(.click))
        house.acknowledge(next)
        #expect(EngineHouse.story(next).contains("lamp on"))
        house.take(.brokerDisconnected("gone"))
        house.connect(last: 6, claimed: 6)
        #expect(EngineHouse.events(house.hearOwnClaim()).filter { $0["type"] == "interrupted" } == [])
    }

    @Test("a report that the connection has perhaps lost is made once on the next connection")
    func lostReport() {
        var house = EngineHouse.leading(.lamp)
        let claims = EngineHouse.claims(house.hear(1))
        func reconnect(_ lost: [MessageID], claimed: Int) -> [MessageID] {
            house.take(.brokerDisconnected("gone"))
            for id in lost { house.take(.publishFailed(id, "gone")) }
            let effects = house.connect(last: 1, claimed: claimed) + house.hearOwnClaim()
            return effects.compactMap {
                guard case .publish(let id, let message, _) = $0, message.topicName == "a1/bridge/event",
                    String(decoding: message.payload, as: UTF8.self).contains("interrupted")
                else { return nil }
                return id
            }
        }
        let report = reconnect(claims, claimed: 0)
        #expect(report.count == 1)
        #expect(reconnect(report, claimed: 0).count == 1)
    }

    @Test("one message that may have had no effect is not repeated, and several are not repeated")
    func interruptedWords() {
        var house = EngineHouse.leading(.lamp)
        house.restart()
        house.connect(last: 2, claimed: 1)
        func warnings(_ effects: [Hub.Effect]) -> [String] {
            effects.compactMap {
                if case .log(.warning, let text) = $0, text.contains("no effect") { text } else { nil }
            }
        }
        #expect(warnings(house.lead()).first?.hasSuffix("may have had no effect, and is not repeated") == true)
    }

    // MARK: Misconfigured engines

    @Test("engines of one share that have different numbers of shares say so, until the other one is gone")
    func otherShare() throws {
        let second = try #require(EngineShare(index: 1, count: 2))
        var broker = EnginesOnBroker([
            EngineHouse(.lamp, name: "a1", installation: "01"),
            EngineHouse(.lamp, name: "a2", installation: "02", share: second),
        ])
        broker.connect(0)
        broker.wait(.seconds(7))
        broker.connect(1)
        broker.wait(.seconds(7))
        let faults = [broker.engineStatus(0)["fault"]?.stringValue, broker.engineStatus(1)["fault"]?.stringValue]
        #expect(faults[0]?.contains("a2 has the share 1 of 2") == true)
        #expect(faults[1]?.contains("a1 has the share 1 of 1") == true)
        broker.kill(1)
        broker.wait(.seconds(15))
        #expect(broker.engineStatus(0)["fault"] == .null)
    }

    @Test("a topic that the broker refuses to an engine is a fault that names it, until the broker takes it")
    func refusedTopic() {
        var house = EngineHouse.leading(.lamp)
        let claims = EngineHouse.claims(house.hear(1))
        #expect(!claims.isEmpty)
        for claim in claims { house.take(.publishFailed(claim, "Quota exceeded")) }
        #expect(house.status["engine"]?["fault"] == .null && house.status["engine"]?["refused"] == [])
        for claim in EngineHouse.claims(house.wait(.seconds(2))) { house.take(.publishFailed(claim, "Not authorized")) }
        let fault = house.status["engine"]?["fault"]?.stringValue
        #expect(fault?.contains("tryck/berlin7/feed/+/cursor") == true)
        #expect(house.status["engine"]?["refused"] == ["write tryck/berlin7/feed/+/cursor"])
        house.take(.brokerDisconnected("The connection was lost."))
        #expect(house.status["engine"]?["fault"]?.stringValue == fault)
        house.connect(last: 1, claimed: 0)
        house.acknowledge(house.hearOwnClaim())
        #expect(house.status["engine"]?["fault"] == .null)
    }

    @Test("a filter of a site or an engine that the broker refuses to an engine is a fault until the broker grants it")
    func refusedSubscription() {
        var house = EngineHouse.leading(.lamp)
        let reason = "Not authorized; allow it in the broker's access rules"
        let effects = house.take(.subscriptionRefused(topicFilter: "tryck/+/feed/+", reason: reason))
        let sentence =
            "the broker refuses to let this engine read tryck/+/feed/+: Not authorized; allow it in the broker's access rules"
        #expect(effects.contains(.log(.error, sentence)))
        #expect(house.status["engine"]?["fault"]?.stringValue == sentence)
        #expect(house.status["engine"]?["refused"] == ["read tryck/+/feed/+"])
        #expect(house.status["faults"]?.arrayValue?.contains(.string(sentence)) == true)
        // The broker has the last word when it is asked again.
        house.take(.brokerDisconnected("The connection was lost."))
        #expect(house.status["engine"]?["refused"] == ["read tryck/+/feed/+"])
        house.connect()
        #expect(house.status["engine"]?["refused"] == [])
        house.take(.subscriptionRefused(topicFilter: "engines/1/state", reason: reason))
        #expect(house.status["engine"]?["refused"] == ["read engines/1/state"])
        house.take(.subscriptionGranted(topicFilter: "engines/1/state"))
        #expect(house.status["engine"]?["fault"] == .null)
    }

    @Test("a filter that only rules read is no fault of an engine")
    func refusedState() {
        var house = EngineHouse.leading(.lamp)
        house.take(.subscriptionRefused(topicFilter: "home/temperature", reason: "Not authorized"))
        #expect(house.status["engine"]?["fault"] == .null)
    }

    @Test("each fault of an engine says what is wrong, why, and what to do")
    func faultSentences() throws {
        var broker = Self.pair(names: ["a1", "a1"])
        broker.wait(.seconds(30))
        #expect(
            broker.engineStatus(0)["fault"]
                == """
                another engine has the name a1 (its installation is 00aa, ours 00ff): give each engine a name and a base topic of \
                its own, such as engine: {name: a2} and mqtt: {base_topic: a2} in its tryck.yaml, and restart it
                """)
        let second = try #require(EngineShare(index: 1, count: 2))
        broker = EnginesOnBroker([
            EngineHouse(.lamp, name: "a1", installation: "01"),
            EngineHouse(.lamp, name: "a2", installation: "02", share: second),
        ])
        broker.connect(0)
        broker.wait(.seconds(7))
        broker.connect(1)
        broker.wait(.seconds(7))
        #expect(
            broker.engineStatus(0)["fault"]
                == """
                the engine a2 has the share 1 of 2, and this one 1 of 1, so they do not act on the same sites: give both the same \
                share in sources: of their tryck.yaml, and restart the one that changes
                """)
        var house = EngineHouse.leading(.lamp)
        for claim in EngineHouse.claims(house.hear(1)) { house.take(.publishFailed(claim, "Not authorized")) }
        #expect(
            house.status["engine"]?["fault"]
                == """
                the broker refuses to let this engine write tryck/berlin7/feed/+/cursor: Not authorized; allow it in the broker's \
                access rules
                """)
    }

    @Test("a stand-by says of a restored site only that it was restored, because it handles none of its presses")
    func restoredAtStandBy() {
        func lines(_ effects: [Hub.Effect]) -> [String] {
            effects.compactMap {
                if case .log(let level, let text) = $0, text.contains("restored") { "\(level): \(text)" } else { nil }
            }
        }
        var house = EngineHouse.leading(.lamp)
        house.hear(1)
        house.restart()
        var effects = house.take(.brokerConnected)
        effects += house.hear("engines/1/leader", EngineTerm(term: 9, engine: "b1").encoded())
        effects += house.sayHello(installation: "9f3c.2", session: 2)
        #expect(
            lines(effects) == [
                "info: tryck/berlin7 was restored from an old copy of its disk, and goes on as installation 9f3c.2; the engine that "
                    + "leads handles its presses"
            ])
    }

    @Test("a site that was restored while its only engine was off is a fault until the engine leads, and says so once")
    func restoredWithoutLeader() {
        func told(_ effects: [Hub.Effect]) -> [String] {
            let warnings = effects.compactMap {
                if case .log(.warning, let text) = $0, text.contains("restored") { "warning" } else { nil }
            }
            return warnings + EngineHouse.events(effects).filter { $0["type"] == "restored" }.map { _ in "event" }
        }
        var house = EngineHouse.leading(.lamp)
        house.hear(1)
        house.restart()
        house.take(.brokerConnected)
        #expect(house.status["engine"]?["fault"] == .null)
        #expect(told(house.sayHello(installation: "9f3c.2", session: 2)) == [])
        let fault = house.status["engine"]?["fault"]
        #expect(fault?.stringValue?.hasPrefix("tryck/berlin7 was restored from an old copy of its disk") == true)
        #expect(house.status["faults"]?.arrayValue?.contains(fault ?? .null) == true)
        #expect(told(house.lead()) == ["warning", "event"])
        #expect(house.status["engine"]?["fault"] == .null)
        #expect(told(house.sayHello(installation: "9f3c.2", session: 3)) == [])
    }

    @Test("a restored site is no fault of a stand-by any more when the engine that leads has claimed in the new life")
    func restoredAndClaimed() {
        var house = EngineHouse.leading(.lamp)
        house.hear(1)
        house.restart()
        house.take(.brokerConnected)
        house.hear("engines/1/leader", EngineTerm(term: 9, engine: "b1").encoded())
        house.sayHello(installation: "9f3c.2", session: 2)
        #expect(house.status["engine"]?["fault"] != .null)
        let claim = FeedCursor(number: 0, term: 9, engine: "b1", installation: "9f3c.2", session: 2)
        house.hear("\(EngineHouse.site)/feed/\(EngineHouse.button)/cursor", claim.encoded())
        #expect(house.status["engine"]?["fault"] == .null)
        // The other engine has said so.
        let effects = house.hear(
            "engines/1/state", EngineState(isOnline: false, engine: "b1", share: .whole).encoded())
        let later =
            effects + house.wait(.seconds(3)) + house.hearOwnClaim() + house.wait(.seconds(1))
            + house.hearOwnClaim()
        #expect(house.status["engine"]?["state"] == "leading")
        #expect(!EngineHouse.events(later).contains { $0["type"] == "restored" })
    }

    @Test("a site whose hello is older than its claims is a fault of a stand-by until it says a newer one")
    func oldHelloAtStandBy() {
        var house = EngineHouse.leading(.lamp)
        house.sayHello(session: 5)
        house.hear(1)
        house.restart()
        house.take(.brokerConnected)
        house.sayHello(session: 3)
        #expect(house.status["engine"]?["fault"]?.stringValue?.contains("tryck/berlin7 was restored") == true)
        house.sayHello(installation: "9f3c", session: 6)
        #expect(house.status["engine"]?["fault"] == .null)
    }

    // MARK: Requests about buttons of sites

    @Test(
        "what only a site can change of its button is refused with the site's name, and trigger_mode is said to be this engine's"
    )
    func remoteRequests() {
        var house = EngineHouse.leading(.lamp)
        func ask(_ line: String) -> JSONValue {
            for case .respond(_, let answer) in house.take(.controlLine(Hub.ClientID(rawValue: 1), Array(line.utf8))) {
                return answer
            }
            return .null
        }
        let id = EngineHouse.button.description
        for request in ["connect", "disconnect", "update", "factory_reset"] {
            let answer = ask(#"{"request":"button/\#(request)","data":{"id":"\#(id)","confirm":true}}"#)
            #expect(answer["error"]?.stringValue?.contains("tryck/berlin7") == true, "\(answer)")
            #expect(answer["error"]?.stringValue?.contains("at that site") == true, "\(answer)")
        }
        for option in [#""latency_mode":"low""#, #""auto_disconnect_time":60"#, #""nickname":"x""#] {
            let answer = ask(#"{"request":"button/options","data":{"id":"\#(id)","options":{\#(option)}}}"#)
            #expect(answer["error"]?.stringValue?.contains("at that site") == true, "\(answer)")
        }
        let mode = ask(#"{"request":"button/options","data":{"id":"\#(id)","options":{"trigger_mode":"click"}}}"#)
        #expect(mode["data"]?["note"]?.stringValue?.contains("this engine") == true, "\(mode)")
        let name = ask(#"{"request":"button/rename","data":{"id":"\#(id)","to":"attic"}}"#)
        #expect(name["data"]?["note"]?.stringValue?.contains("this engine") == true, "\(name)")
    }

    @Test("an engine that stands by after a restart publishes nothing about a click that it had not decided before")
    func lateAtStandBy() {
        var house = EngineHouse.leading(Self.clicks)
        house.hear(1)
        house.hear(2, .up(.open))
        #expect(house.stored.buttons.first?.recogniser.isEmpty == false)
        house.restart()
        var effects = house.connect(last: 2, claimed: 2)
        effects += house.hear("engines/1/leader", EngineTerm(term: 9, engine: "b1").encoded())
        effects += house.wait(.seconds(10))
        #expect(EngineHouse.events(effects).filter { $0["type"] == "stale_event" } == [])
    }

    // MARK: The history of an engine

    private static let clicks: HouseRules = """
        version: 1
        rules:
          - {id: one, triggers: {button: any, event: click}, actions: {publish: {topic: lamp, payload: one}}}
          - {id: two, triggers: {button: any, event: double_click}, actions: {publish: {topic: lamp, payload: two}}}
        """

    /// A segment of the history of an engine that has not decided a click of a site's button.
    private static func segment() -> [HistoryFiles.Item] {
        var house = EngineHouse.leading(clicks)
        house.hear(1)
        house.hear(2, .up(.open))
        let begin = UTCTime(milliseconds: 1_795_000_000_000)
        var header = RecordingHeader(
            startedAt: begin, configuration: HubConfiguration(version: "0", baseTopic: "a1", radios: []),
            stored: house.stored)
        (header.isHistory, header.continues) = (true, true)
        let inputs: [Hub.Input] = [.wallClock(begin), .start]
        return [.begin(header)] + inputs.map { .input(RecordedInput(at: Instant(nanoseconds: 0), input: $0)) }
            + [.end(.running(begin + .seconds(60)))]
    }

    @Test(
        "the history of an engine shows no click of a site's button that it had not decided, because it has no presses of sites"
    )
    func historyOfEngine() {
        var run = HistoryRun(since: nil, button: nil)
        let occurrences = Self.segment().flatMap { run.take($0).occurrences }
        let events = occurrences.filter { if case .line(let line, _) = $0 { line["kind"] == "event" } else { false } }
        #expect(events == [])
        #expect(run.absence == HistoryRun.withoutSites)
    }

    @Test("a replay does not judge an event of a site's button that a rule had kept")
    func keptEventOfSite() {
        let begin = UTCTime(milliseconds: 1_795_000_000_000)
        var stored = EngineHouse.leading(Self.clicks).stored
        stored.rules.keptEvents = [
            KeptEvent(
                rule: "gone", fingerprint: "", trigger: 0, button: EngineHouse.button, number: 1,
                cause: RunCause(button: EngineHouse.button, at: begin), hold: nil)
        ]
        let header = RecordingHeader(
            startedAt: begin, configuration: HubConfiguration(version: "0", baseTopic: "a1", radios: []), stored: stored
        )
        var hub = Hub(replaying: header, rules: Self.clicks.set)
        let inputs: [Hub.Input] = [.wallClock(begin), .start]
        let effects = inputs.flatMap { hub.handleCompletely($0, at: Instant(sinceBoot: .seconds(5))) }
        #expect(
            !effects.contains { if case .log(.warning, let text) = $0 { text.contains("had kept") } else { false } })
    }

    @Test("what-if says that it compares nothing if an engine's history has only presses of sites")
    func comparisonOfEngine() {
        var comparison = Comparison(with: Self.clicks.set, since: nil, button: nil)
        for item in Self.segment() { _ = comparison.take(item) }
        let result = comparison.result()
        #expect(result.comparesNothing)
        #expect(result.notes.contains { $0.contains("presses of sites") })
    }

    @Test("a history leaves out the messages between sites and engines, unless a rule reads them")
    func historyWithoutFeed() {
        var house = EngineHouse.leading(.lamp)
        let header = RecordingHeader(
            startedAt: UTCTime(milliseconds: 1_795_000_000_000),
            configuration: HubConfiguration(version: "0", baseTopic: "a1", radios: []), stored: house.stored)
        _ = house.hub.beginRecording(header, isExact: false, at: house.now)
        func line(_ topicName: String) -> RecordedLine? {
            let input = Hub.Input.messageReceived(topicName: topicName, payload: Array("{}".utf8), retained: false)
            let effects = house.take(input)
            return house.hub.recordedLine(input, effects, isForHistory: true, at: house.now)
        }
        #expect(line("engines/1/state") == nil && line("engines/1/standby") == nil)
        #expect(line("tryck/berlin7/feed/hello") == nil && line("tryck/berlin7/feed/\(EngineHouse.button)/done") == nil)
        #expect(line("lamp") != nil)
    }
}
