import ButtonModel
import Hub
import JSON
import MQTTTopics
import Simulator
import Testing

/// Messages of presses and rules have their own share of the outbox.
@Suite("Classes of messages")
struct MessageClassScenarioTests {
    private static let rules: HouseRules = """
        version: 1
        rules: [{id: lamp, triggers: {button: any, event: down}, actions: {publish: {topic: lamp, max_age: 1m}}}]
        """

    private static func house() -> Household {
        var house = Household([Household.kitchen], rules: rules)
        house.pairAll()
        house.forgetWhatHappened()
        return house
    }

    @Test("bridge events during an outage displace no rule's message, and are published after it")
    func away() {
        var house = Self.house()
        house.loseBroker()
        house.press("kitchen", .click)
        house.wait(.seconds(1))
        for number in 0..<1100 {
            house.ask(#"{"request":"button/rename","data":{"id":"80e4da000001","to":"name \#(number)"}}"#)
        }
        house.bringBrokerBack()
        house.wait(.seconds(1))
        #expect(house.payloads(on: "lamp").count == 1)
        let topics = house.published.map(\.topicName).filter { ["lamp", "tryck/bridge/event"].contains($0) }
        #expect(topics.first == "lamp")
        let renamed = house.payloads(on: "tryck/bridge/event").filter { $0.contains("button_renamed") }
        #expect(renamed.count == 1000)
        #expect(renamed.first?.contains("name 100\"") == true && renamed.last?.contains("name 1099\"") == true)
    }

    @Test("unacknowledged answers leave room in flight for presses, and keep their order")
    func inFlight() {
        var house = Self.house()
        house.brokerIsSilent = true
        for number in 0..<900 {
            house.say(#"{"transaction":\#(number)}"#, on: "tryck/bridge/request/health_check")
        }
        #expect(house.unacknowledged.count < 200)
        house.press("kitchen", .click)
        house.wait(.seconds(1))
        #expect(house.payloads(on: "lamp").count == 1)
        #expect(!house.payloads(on: "tryck/80e4da000001/event").isEmpty)
        house.brokerIsSilent = false
        for _ in 0..<20 { house.acknowledge() }
        house.wait(.seconds(1))
        let transactions = house.payloads(on: "tryck/bridge/response/health_check").compactMap {
            (try? JSONValue(parsing: $0))?["transaction"]?.integerValue
        }
        #expect(transactions == Array(0..<900).map(Int64.init))
        #expect(house.hub.underway == Hub.Underway())
    }
}
