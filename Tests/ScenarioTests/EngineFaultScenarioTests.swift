import ButtonModel
import Feed
import Hub
import JSON
import MQTTTopics
import Testing

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
        effects += house.wait(.seconds(12))
        effects += house.hearOwnClaim()
        effects += house.wait(.seconds(1))
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
    private static func pair(names: [String] = ["a1", "a2"], standByRules: HouseRules = .lamp) -> EnginesOnBroker {
        var world = EnginesOnBroker([
            EngineHouse(.lamp, name: names[0], installation: "00ff"),
            EngineHouse(standByRules, name: names[1], installation: "00aa"),
        ])
        world.connect(0)
        world.wait(.seconds(7))
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
        #expect(world.payloads(on: "engines/1/leader").count == 2)
    }

    @Test("of two engines with the same name, one leads, and the other says what is wrong")
    func sameName() {
        var world = Self.pair(names: ["a1", "a1"])
        world.wait(.seconds(30))
        #expect(world.leaders == [0])
        #expect(world.payloads(on: "engines/1/leader").count == 1)
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
}
