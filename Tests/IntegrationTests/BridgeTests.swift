import Foundation
import JSON
import Testing

/// The bridge with mosquitto.
@Suite("The bridge on mosquitto", .serialized, .ownThread)
struct BridgeTests {
    private static let rules = """
        version: 1
        rules:
          - {id: three, triggers: {button: any, clicks: 3}, actions: {log: three}}
        """
    private static let kitchen = "tryck/80e4da000001"
    private static let config = "homeassistant/device/tryck_80e4da000001/config"

    private static func components(_ text: String) throws -> [String] {
        try JSONValue(parsing: text)["components"]?.objectValue?.map(\.name) ?? []
    }

    @Test("a button is configured, read and announced, with MQTT 5 and with 3.1.1", arguments: ["5", "3.1.1"])
    func settings(version: String) throws {
        let house = try RuleHouse(Self.rules, hasButton: true, protocolVersion: version)
        try house.heard("\(Self.config) ")
        #expect(try Self.components(house.retained(Self.config)).contains("trigger_clicks_3"))
        try house.publish("\(Self.kitchen)/set", #"{"latency_mode": "low", "nickname": "By the \"door\""}"#)
        try house.heard(#""latency_mode":"low""#)
        #expect(try JSONValue(parsing: house.retained(Self.kitchen))["nickname"] == #"By the "door""#)
        try house.publish("\(Self.kitchen)/set", #"{"latency_mode": "sometimes"}"#)
        try house.heard(#"bridge/logging {"level":"warning","message":"tryck/80e4da000001/set: latency_mode must be"#)
        #expect(try JSONValue(parsing: house.retained(Self.kitchen))["latency_mode"] == "low")
        try house.ask("button/remove", ["id": "80e4da000001"])
        try house.heard("\(Self.config) (null)")
        try house.heard("\(Self.kitchen)/availability (null)")
        try house.publish("test/marker", "x", retain: true)
        let left = try house.workshop.start(
            "/usr/bin/mosquitto_sub",
            ["-p", "\(house.port)", "-t", "\(Self.kitchen)/#", "-t", Self.config, "-t", "test/marker", "-C", "1", "-v"])
        _ = try left.status(within: 20)
        #expect(left.text == "test/marker x")
    }

    @Test("a broker that has lost its retained messages gets all of them, in the required order")
    func brokerRestarts() throws {
        let house = try RuleHouse(Self.rules, hasButton: true)
        try house.heard("tryck/bridge/state online")
        let before = try house.retained(Self.config)
        try house.restartBroker()
        try house.watch.line(containing: #""kind":"broker","state":"connected""#)
        try house.workshop.wait { try house.retained("tryck/bridge/state") == "online" }
        #expect(try house.retained(Self.config) == before)
        #expect(try JSONValue(parsing: house.retained(Self.kitchen))["state"] == "ready")
    }

    @Test("firmware in the state directory is offered, installed on request, and not offered after its file is deleted")
    func firmware() throws {
        let house = try RuleHouse(Self.rules, hasButton: true)
        try house.heard("tryck/bridge/state online")
        let path = house.workshop.path("state/firmware/flic2-12.bin")
        try Data([UInt8](repeating: 7, count: 8 + 400)).write(to: URL(filePath: path))
        try house.workshop.wait { try Self.components(house.retained(Self.config)).contains("firmware") }
        try house.publish("tryck/bridge/request/button/update", #"{"id": "80e4da000001"}"#)
        try house.heard(#"bridge/response/button/update {"status":"ok""#)
        try house.heard(#""in_progress":true"#)
        try FileManager.default.removeItem(atPath: path)
        try house.workshop.wait { try !Self.components(house.retained(Self.config)).contains("firmware") }
        try house.publish("tryck/bridge/request/button/update", #"{"id": "80e4da000001"}"#)
        try house.heard(#"bridge/response/button/update {"status":"error","error":"there is no firmware"#)
    }

    @Test("topics of an earlier installation are cleared, and topics of other programs are not")
    func leftovers() throws {
        let left = [
            "tryck/80e4da0000ff", "tryck/80e4da0000ff/availability", "tryck/rules/old/enabled", "tryck/variables/old",
        ]
        let house = try RuleHouse(Self.rules) { workshop, port in
            for topic in left + ["tryck/notes", "other/rules/old/enabled"] {
                try RuleHouse.publish(workshop, port, topic, "x", retain: true)
            }
        }
        for topicName in left { try #require(house.messages).wait(forLineContaining: "\(topicName) (null)") }
        for topic in ["tryck/notes", "other/rules/old/enabled"] { #expect(try house.retained(topic) == "x") }
    }
}
