import JSON
import MQTTTopics
import TestSupport
import Testing

@Suite("Components that are no longer announced")
struct WithdrawnTests {
    private let discovery = Examples.discovery

    @Test("a component that is no longer announced is withdrawn once, with only its platform")
    func roundTrip() throws {
        let older = discovery.payload(Examples.button)
        var device = Examples.button
        device.hasFirmwareFile = false
        device.clickCounts = [6]
        let newer = discovery.payload(device)
        let withdrawn = Discovery.withdrawn(from: older, to: newer)
        #expect(withdrawn == ["firmware": "update", "trigger_clicks_3": "device_automation"])

        let sent = discovery.payload(device, withdrawn: withdrawn)
        let components = try #require(try JSONValue(parsing: sent)["components"])
        #expect(components["firmware"] == ["platform": "update"])
        #expect(components["trigger_clicks_3"] == ["platform": "device_automation"])
        #expect(components["trigger_clicks_6"]?["payload"] == "clicks_6")
        #expect(Discovery.withdrawn(from: sent, to: newer).isEmpty)
    }

    @Test("the restart button is announced only if restarts are accepted")
    func restart() {
        var closed = discovery
        closed.acceptsRestart = false
        #expect(
            Discovery.withdrawn(from: discovery.bridgePayload(), to: closed.bridgePayload()) == ["restart": "button"])
    }

    @Test("all controls are withdrawn if requests are no longer accepted")
    func controls() throws {
        var closed = discovery
        closed.acceptsRequests = false
        #expect(
            Discovery.withdrawn(from: discovery.bridgePayload(), to: closed.bridgePayload())
                == ["permit_join": "switch", "restart": "button", "log_level": "select"])
        #expect(
            Discovery.withdrawn(from: discovery.payload(Examples.button), to: closed.payload(Examples.button))
                == ["trigger_mode": "select", "latency_mode": "select", "nickname": "text", "firmware": "update"])
    }

    @Test("a component that is announced is not withdrawn, even if it is passed as withdrawn")
    func contradiction() throws {
        let plain = discovery.bridgePayload()
        #expect(discovery.bridgePayload(withdrawn: ["version": "sensor"]) == plain)
        #expect(Discovery.withdrawn(from: plain, to: plain).isEmpty)
    }

    @Test(
        "a payload that is not an announcement withdraws nothing",
        arguments: [
            "", "null", "[]", "{}", "online", #"{"components":[]}"#, #"{"components":{"a":1}}"#,
            #"{"components":{"a":null}}"#, #"{"components":{"a":{}}}"#, #"{"components":{"a":{"x":1}}}"#,
            #"{"components":{"a":{"platform":null,"x":1}}}"#, #"{"components":{"a":{"platform":"light","x":1}}}"#,
            #"{"components":{"a":{"platform":"sensor"}}}"#, #"{"components":{"":{"platform":"sensor","x":1}}}"#,
            #"{"components":{"a/b":{"platform":"sensor","x":1}}}"#,
            #"{"components":{"a\u0000":{"platform":"sensor","x":1}}}"#,
            #"{"components":{"a":{"platform":"sensor","x":1}}"#,
        ])
    func noAnnouncement(older: String) {
        #expect(Discovery.withdrawn(from: Array(older.utf8), to: discovery.bridgePayload()).isEmpty)
    }

    @Test("a key that occurs twice is withdrawn once")
    func twice() {
        let older = #"{"components":{"a":{"platform":"sensor","x":1},"a":{"platform":"text","x":1}}}"#
        #expect(Discovery.withdrawn(from: Array(older.utf8), to: []).count == 1)
    }

    @Test("at most 64 components are withdrawn at once", arguments: [63, 64, 65, 500])
    func count(_ count: Int) {
        let older = Self.announcement((0..<count).map { "key\($0)" })
        #expect(Discovery.withdrawn(from: older.encoded(), to: []).count == min(count, 64))
    }

    @Test("a key has at most 64 octets", arguments: [1, 64, 65])
    func keyLength(_ length: Int) {
        let older = Self.announcement([String(repeating: "k", count: length)])
        #expect(Discovery.withdrawn(from: older.encoded(), to: []).isEmpty == (length > 64))
    }

    @Test("an announcement of more than 64 KiB is not read", arguments: [65_536, 65_537])
    func length(_ length: Int) {
        var older = Self.announcement(["a"]).encoded()
        older += [UInt8](repeating: UInt8(ascii: " "), count: length - older.count)
        #expect(Discovery.withdrawn(from: older, to: []).isEmpty == (length > 65_536))
    }

    @Test(
        "a damaged announcement never traps, and withdraws only components of known platforms",
        arguments: UInt64(0)..<100)
    func damaged(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var older = discovery.payload(Examples.button)
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            older[Int.random(in: older.indices, using: &random)] = UInt8(truncatingIfNeeded: random.next())
        }
        let platforms = [
            "binary_sensor", "button", "device_automation", "event", "select", "sensor", "switch", "text", "update",
        ]
        for text in [older, Array(older.prefix(Int.random(in: 0...older.count, using: &random))), random.bytes(60)] {
            let withdrawn = Discovery.withdrawn(from: text, to: discovery.bridgePayload())
            #expect(withdrawn.values.allSatisfy(platforms.contains))
            let sent = discovery.bridgePayload(withdrawn: withdrawn)
            #expect(throws: Never.self) { try JSONValue(parsing: sent) }
        }
    }

    private static func announcement(_ keys: [String]) -> JSONValue {
        ["components": .object(keys.map { .init($0, ["platform": "sensor", "name": "x"]) })]
    }
}
