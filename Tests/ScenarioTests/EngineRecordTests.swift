import ButtonModel
import Feed
import Hub
import JSON
import MQTTTopics
import Testing

/// What the disk of an engine says of presses and runs that were given up, dropped or inherited.
@Suite("The disk of an engine and given up presses")
struct EngineRecordTests {
    private static func isUndecided(_ house: EngineHouse) -> Bool {
        house.stored.buttons.contains { !$0.recogniser.isEmpty }
    }

    /// The messages to the lamp.
    private static func lamp(_ effects: [Hub.Effect]) -> [String] {
        EngineHouse.story(effects).filter { $0.hasPrefix("lamp ") }
    }

    /// Another engine has claimed messages of the site.
    private static func claim(_ number: Int, _ house: inout EngineHouse) -> [Hub.Effect] {
        let claim = FeedCursor(number: number, term: 1, engine: "b1", installation: "9f3c", session: 1)
        return house.hear("\(EngineHouse.site)/feed/\(EngineHouse.button)/cursor", claim.encoded())
    }

    @Test("presses that are given up with the connection are undecided on the disk no more")
    func givenUp() {
        var house = EngineHouse.leading(.clicks)
        let taken = house.hear(1) + house.hear(2, .up(.open))
        #expect(Self.isUndecided(house))
        house.take(.brokerDisconnected("gone"))
        for claim in EngineHouse.claims(taken) { house.take(.publishFailed(claim, "gone")) }
        #expect(!Self.isUndecided(house))
    }

    @Test("presses that are inherited are undecided on the disk no more")
    func inherited() {
        var house = EngineHouse.leading(.clicks)
        house.acknowledge(house.hear(1))
        #expect(Self.isUndecided(house))
        _ = Self.claim(3, &house)
        #expect(!Self.isUndecided(house))
    }

    @Test("what another engine has claimed of a button at one site ends no press of the button at another site")
    func inheritedElsewhere() {
        var house = EngineHouse.leading(.clicks)
        house.sayHello(from: "tryck/paris2")
        house.acknowledge(house.hear(1) + house.hear(2, .up(.click)))
        house.wait(.seconds(2))
        house.acknowledge(house.hear(1, counter: 3, from: "tryck/paris2"))
        var effects = Self.claim(3, &house)
        effects += house.hear(2, .up(.open), counter: 4, from: "tryck/paris2") + house.wait(.seconds(2))
        #expect(Self.lamp(effects) == ["lamp one"])
    }

    @Test("an undecided click from before a restart is not acted on while its site is away; it is reported later")
    func restartedWithoutSite() {
        var house = EngineHouse.leading(.clicks)
        house.acknowledge(house.hear(1) + house.hear(2, .up(.open)))
        house.restart()
        let effects = house.take(.brokerConnected) + house.lead() + house.wait(.seconds(5))
        #expect(house.status["engine"]?["state"] == "leading")
        #expect(Self.lamp(effects) == [])
    }
}
