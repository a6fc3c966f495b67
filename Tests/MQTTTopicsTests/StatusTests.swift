import ButtonModel
import JSON
import MQTTTopics
import Testing

@Suite("Retained messages about the bridge and its buttons")
struct StatusTests {
    private let status = ButtonStatus(
        id: Examples.button.id, name: Examples.name, state: "ready", batteryMillivolts: 2940, pressCount: 412,
        lastSeen: Examples.time, rssi: -61, triggerMode: "click_and_double_click_and_hold", nickname: "Nightstand",
        firmwareVersion: 10, offeredVersion: 11)

    @Test("a button's status is that of its golden file")
    func button() throws {
        #expect(try JSONValue(parsing: status.json.encoded()) == Examples.golden("button-state"))
    }

    @Test("the status of a button that was never connected has null for unknown values")
    func unknown() {
        let json = ButtonStatus(id: Examples.button.id, name: "Hall", state: "disconnected", firmwareVersion: 10).json
        for key in ["battery", "battery_voltage", "last_seen", "rssi"] { #expect(json[key] == .null) }
        #expect(json["nickname"] == "")
        #expect(json["trigger_mode"] == "auto")
    }

    @Test(
        "volts are written with two decimals",
        arguments: [
            (2940, "2.94"), (3000, "3"), (2945, "2.95"), (2944, "2.94"), (2300, "2.3"), (1999, "2"), (0, "0"),
            (3599, "3.6"), (2070, "2.07"),
        ])
    func volts(millivolts: Int, text: String) {
        var status = status
        status.batteryMillivolts = millivolts
        #expect(status.json["battery_voltage"]?.description == text)
    }

    @Test("no voltage of a coin cell is written with more than two decimals")
    func everyVoltage() {
        for millivolts in 0...4000 {
            var status = status
            status.batteryMillivolts = millivolts
            let text = status.json["battery_voltage"]?.description ?? ""
            #expect(text.utf8.count <= 4, "\(millivolts)")
        }
    }

    @Test(
        "firmware is offered only if it is newer than the installed version",
        arguments: [(nil, "10"), (9, "10"), (10, "10"), (11, "11"), (4_294_967_295, "4294967295")]
            as [(UInt32?, String)])
    func offer(offered: UInt32?, latest: String) {
        var status = status
        status.offeredVersion = offered
        #expect(status.json["firmware"]?["installed_version"] == "10")
        #expect(status.json["firmware"]?["latest_version"] == .string(latest))
    }

    @Test(
        "a firmware update in progress has a percentage from 0 to 100",
        arguments: [(0, 0), (37, 37), (100, 100), (101, 100), (-1, 0)] as [(Int, Int64)])
    func update(percentage: Int, told: Int64) {
        var status = status
        status.updatePercentage = percentage
        #expect(status.json["firmware"]?["in_progress"] == true)
        #expect(status.json["firmware"]?["update_percentage"] == .integer(told))
    }

    @Test("no key has the name of a Python dict method, which a Jinja template would call")
    func keys() {
        let methods = [
            "clear", "copy", "fromkeys", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values",
        ]
        for json in [status.json, bridge.json] {
            #expect(Set(json.everything.flatMap(\.names)).isDisjoint(with: methods))
        }
    }

    @Test("the bridge's information is that of its golden file")
    func bridgeInfo() throws {
        #expect(try JSONValue(parsing: bridge.json.encoded()) == Examples.golden("bridge-info"))
    }

    @Test("during a search for new buttons, bridge/info has the end of the search")
    func permitJoin() {
        var bridge = bridge
        bridge.permitJoinEnd = Examples.time
        #expect(bridge.json["permit_join"] == true)
        #expect(bridge.json["permit_join_end"] == "2026-11-21T02:30:00.123Z")
    }

    @Test(
        "an adapter is named as in Linux, and another transport as in the configuration",
        arguments: [("hci:1", "hci1"), ("none", "none"), ("h4:tcp:127.0.0.1:6402", "h4:tcp:127.0.0.1:6402")])
    func adapter(transport: String, id: String) {
        var bridge = bridge
        bridge.adapter = .init(transport: transport, address: nil, state: "powered_off", isPowered: false)
        #expect(
            bridge.json["adapter"] == [
                "id": .string(id), "address": nil, "state": "powered_off", "powered": false, "shared": false,
                "problem": nil,
            ])
    }

    @Test("the reason why there is no adapter is in bridge/info")
    func adapterProblem() {
        var bridge = bridge
        bridge.adapter.problem = "hci0 is gone."
        #expect(bridge.json["adapter"]?["problem"] == "hci0 is gone.")
    }

    @Test("pairing has a step and a sentence, and the end of a search leaves its result")
    func pairing() {
        var status = PairingStatus()
        #expect(status.json == ["step": "idle", "text": "Not looking for new buttons"])
        status.advance([.init("step", "searching")])
        #expect(status.json["step"] == "searching")
        status.advance([.init("step", "ended")])
        #expect(status.json["step"] == "idle")
        status.advance([.init("step", "found_private"), .init("address", "80:E4:DA:01:02:03")])
        #expect(
            status.json["text"]
                == "Found a button that is not in pairing mode (80:E4:DA:01:02:03): hold it down for 7 seconds")
        status.advance([.init("step", "failed"), .init("reason", "timeout"), .init("advice", "Bring it nearer.")])
        status.advance([.init("step", "ended")])
        #expect(
            status.json == [
                "step": "failed", "text": "Bring it nearer.", "reason": "timeout", "advice": "Bring it nearer.",
            ])
        status.advance([.init("step", "paired"), .init("button", "Hall")])
        status.advance([.init("step", "ended")])
        #expect(status.json["text"] == "Paired: Hall")
    }

    @Test("a listed button has its identity and modes, and no secret")
    func listed() {
        let button = ListedButton(
            identity: ButtonIdentity(
                address: Examples.address, uuid: String(repeating: "0a", count: 16), serial: "BA00-A00001",
                nickname: "Nightstand", firmwareVersion: 10),
            name: Examples.name, triggerMode: "auto", effectiveTriggerMode: "click", latencyMode: .low,
            pairedAt: Examples.time)
        #expect(
            button.json == [
                "id": "80e4da010203", "address": "80:E4:DA:01:02:03",
                "uuid": "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a", "name": .string(Examples.name), "nickname": "Nightstand",
                "serial": "BA00-A00001", "model": "Flic 2", "firmware": 10,
                "modes": ["trigger_mode": "auto", "effective_trigger_mode": "click", "latency_mode": "low"],
                "source": nil,
                "paired_at": "2026-11-21T02:30:00.123Z",
            ])
    }

    private let bridge = BridgeStatus(
        version: "0.1.0", commit: "abcdef0",
        adapter: .init(
            transport: "hci:0", address: BluetoothAddress(rawValue: 0x001A_7D0A_0B0C), state: "powered_on",
            isPowered: true),
        logLevel: "info", buttonCount: 1, ruleCount: 3)
}
