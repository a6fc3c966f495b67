import ButtonModel
import JSON
import MQTTTopics
import TestSupport
import Testing

@Suite("Discovery messages for Home Assistant")
struct DiscoveryTests {
    private let discovery = Examples.discovery

    @Test("a button's discovery message is that of its golden file")
    func button() throws {
        #expect(try JSONValue(parsing: discovery.payload(Examples.button)) == Examples.golden("button"))
    }

    @Test("the bridge's discovery message is that of its golden file")
    func bridge() throws {
        #expect(try JSONValue(parsing: discovery.bridgePayload()) == Examples.golden("bridge"))
    }

    @Test("the discovery messages of a Duo and a Twist are those of their golden files", arguments: ["duo", "twist"])
    func models(name: String) throws {
        let device = name == "duo" ? Examples.duo : Examples.twist
        let payload = discovery.payload(device)
        #expect(try JSONValue(parsing: payload) == Examples.golden(name))
    }

    @Test("a Duo's and a Twist's discovery message has no component key twice")
    func keys() throws {
        for device in [Examples.duo, Examples.twist] {
            let names = try #require(try JSONValue(parsing: discovery.payload(device))["components"]).names
            #expect(Set(names).count == names.count)
        }
    }

    @Test("a device trigger has a type that Home Assistant translates, or a type that reads as plain text")
    func triggerNames() throws {
        for device in [Examples.button, Examples.duo, Examples.twist] {
            let components = try #require(try JSONValue(parsing: discovery.payload(device))["components"]?.objectValue)
            for trigger in components where trigger.value["automation_type"] != nil {
                let type = try #require(trigger.value["type"]?.stringValue)
                let subtype = try #require(trigger.value["subtype"]?.stringValue)
                #expect(type.hasPrefix("button_") || !type.contains("_"), "\(trigger.name)")
                #expect(type.hasPrefix("button_") == subtype.hasPrefix("button_"), "\(trigger.name)")
            }
        }
    }

    @Test("each device links to the page, if its address is known")
    func page() throws {
        var linked = discovery
        linked.pageURL = "http://tryck.local:8125/"
        for payload in [linked.payload(Examples.button), linked.bridgePayload()] {
            #expect(try JSONValue(parsing: payload)["device"]?["configuration_url"] == "http://tryck.local:8125/")
        }
        #expect(try JSONValue(parsing: discovery.bridgePayload())["device"]?["configuration_url"] == nil)
    }

    @Test("each announcement names the public address of the project, if there is one")
    func supportURL() throws {
        var published = discovery
        published.supportURL = "https://example.org/tryck"
        for payload in [published.payload(Examples.button), published.bridgePayload()] {
            #expect(try JSONValue(parsing: payload)["origin"]?["support_url"] == "https://example.org/tryck")
        }
        for payload in [discovery.payload(Examples.button), discovery.bridgePayload()] {
            #expect(try JSONValue(parsing: payload)["origin"]?.names == ["name", "sw_version"])
        }
    }

    @Test("discovery topics are made of the base topic and an id, and of no name")
    func configTopics() {
        #expect(discovery.configTopic(of: Examples.button.id) == "homeassistant/device/tryck_80e4da010203/config")
        #expect(discovery.bridgeConfigTopic == "homeassistant/device/tryck_bridge_5a1f/config")
    }

    @Test("a base topic with levels and other letters is kept in topics, and simplified in ids")
    func severalLevels() throws {
        var discovery = discovery
        discovery.topics = Topics(base: "home/küche-1")
        discovery.prefix = "ha/discovery"
        let id = Examples.button.id
        #expect(discovery.configTopic(of: id) == "ha/discovery/device/home_k_che-1_80e4da010203/config")
        #expect(discovery.button(ofConfigTopic: discovery.configTopic(of: id)) == id)
        let message = try JSONValue(parsing: discovery.payload(Examples.button))
        #expect(message["device"]?["identifiers"] == ["home_k_che-1_80e4da010203"])
        #expect(message["device"]?["via_device"] == "home_k_che-1_bridge_5a1f")
        #expect(message["availability"] == [["topic": "home/küche-1/bridge/state"]])
        let components = try #require(message["components"])
        #expect(components["battery"]?["unique_id"] == "home_k_che-1_80e4da010203_battery")
        #expect(components["battery"]?["state_topic"] == "home/küche-1/80e4da010203")
        #expect(components["trigger_mode"]?["command_topic"] == "home/küche-1/80e4da010203/set")
        #expect(components["firmware"]?["command_topic"] == "home/küche-1/bridge/request/button/update")
    }

    @Test(
        "other discovery topics belong to no button",
        arguments: [
            "homeassistant/device/tryck_bridge_5a1f/config", "homeassistant/device/tryck_80e4da010203",
            "homeassistant/device/tryck_80E4DA010203/config", "homeassistant/device/tryck_80e4da01020/config",
            "homeassistant/device/tryck_80e4da010203/config/", "homeassistant/device/tryck2_80e4da010203/config",
            "homeassistant/device/80e4da010203/config", "homeassistant/sensor/tryck_80e4da010203/config",
            "x/homeassistant/device/tryck_80e4da010203/config", "homeassistant/device/tryck_+0e4da010203/config",
            "homeassistant/device/tryck_/config", "homeassistant/device/tryck_80e4da010203/confih", "/", "",
            "homeassistant/device/tryck_ééééée/config",
        ])
    func otherConfigTopics(topicName: String) {
        #expect(discovery.button(ofConfigTopic: topicName) == nil)
    }

    @Test("without requests over MQTT, no entity that can be set is announced")
    func withoutRequests() throws {
        var discovery = discovery
        discovery.acceptsRequests = false
        for payload in [discovery.payload(Examples.button), discovery.bridgePayload()] {
            let components = try #require(try JSONValue(parsing: payload)["components"]?.objectValue)
            #expect(!components.isEmpty)
            #expect(components.allSatisfy { $0.value["command_topic"] == nil })
            let platforms = Set(components.map { $0.value["platform"] })
            #expect(platforms.isSubset(of: ["event", "device_automation", "sensor", "binary_sensor"]))
        }
    }

    @Test("a trigger mode that the rules fix is the only option, says so, and has a topic of its own")
    func fixedTriggerMode() throws {
        var device = Examples.button
        device.fixedTriggerMode = .clickAndHold
        let select = try #require(try JSONValue(parsing: discovery.payload(device))["components"]?["trigger_mode"])
        #expect(select["options"] == ["Clicks and holds (fixed by the rules)"])
        #expect(select["value_template"] == "Clicks and holds (fixed by the rules)")
        #expect(select["command_template"] == "{{ {'trigger_mode': 'click_and_hold'} | to_json }}")
        #expect(select["state_topic"] == "tryck/80e4da010203/availability")
        #expect(select["name"] == "Trigger mode")
    }

    @Test("of a button of a site, an engine announces no settings but the trigger mode", arguments: [false, true])
    func remote(isTwist: Bool) throws {
        var device = isTwist ? Examples.twist : Examples.button
        device.isRemote = true
        let components = try #require(try JSONValue(parsing: discovery.payload(device))["components"])
        let settings = ["latency_mode", "nickname", "led_mode", "firmware"]
        #expect(components.names.filter { settings.contains($0) || $0.hasPrefix("position_") } == [])
        #expect(components["trigger_mode"] != nil && components["battery"] != nil)
    }

    @Test("without a firmware file, no firmware entity is announced")
    func withoutFirmware() throws {
        var device = Examples.button
        device.hasFirmwareFile = false
        let components = try #require(try JSONValue(parsing: discovery.payload(device))["components"])
        #expect(components["firmware"] == nil)
        #expect(components["nickname"] != nil)
    }

    @Test("the click counts from three to eight that rules use are announced in order, each with its own trigger")
    func clicks() throws {
        var device = Examples.button
        device.clickCounts = [8, 4, 2, 9, 5, 3, -1]
        let components = try #require(try JSONValue(parsing: discovery.payload(device))["components"])
        #expect(
            components["event"]?["event_types"]
                == [
                    "click", "double_click", "hold", "hold_release", "clicks_3", "clicks_4", "clicks_5", "clicks_8",
                ])
        let triggers = try #require(components.objectValue).filter { $0.value["automation_type"] == "trigger" }
        #expect(
            triggers.map { $0.value["type"] }
                == [
                    "button_short_press", "button_double_press", "button_long_press", "button_long_release",
                    "button_triple_press", "button_quadruple_press", "button_quintuple_press", "clicked 8 times",
                ])
    }

    @Test(
        "a device is announced by its name, else by its serial number, else by its id",
        arguments: [
            ("Hall", "BA00-A00001", "Hall"), ("", "BA00-A00001", "BA00-A00001"), (" \u{a0}", "S", "S"),
            ("", "", "80e4da010203"),
        ])
    func name(name: String, serial: String, announced: String) throws {
        var device = Examples.button
        (device.name, device.serial) = (name, serial)
        let message = try JSONValue(parsing: discovery.payload(device))
        #expect(message["device"]?["name"] == .string(announced))
    }

    @Test("a button's name changes nothing in its discovery message but the device name", arguments: UInt64(0)..<50)
    func anyName(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var device = Examples.button
        device.name = "x" + String(decoding: random.bytes(20), as: UTF8.self)
        let message = try JSONValue(parsing: discovery.payload(device))
        #expect(message["device"]?["name"] == .string(device.name))
        let usual = try JSONValue(parsing: discovery.payload(Examples.button))
        #expect(message["components"] == usual["components"])
        #expect(message["device"]?["identifiers"] == usual["device"]?["identifiers"])
    }

    @Test("discovery messages have no field that Home Assistant refuses or that makes it slow")
    func pitfalls() throws {
        for payload in [
            discovery.payload(Examples.button, withdrawn: ["old": "sensor"]),
            discovery.bridgePayload(withdrawn: ["old": "sensor"]),
        ] {
            let message = try JSONValue(parsing: payload)
            #expect(message.names == ["device", "origin", "availability", "components"])
            #expect(message["origin"]?["name"] == "tryck")
            #expect(!message.everything.contains(.null))
            let names = Set(message.everything.flatMap(\.names))
            #expect(names.isDisjoint(with: ["qos", "encoding", "expire_after", "object_id", "suggested_area"]))
            let components = try #require(message["components"]?.objectValue)
            let ids = components.compactMap { $0.value["unique_id"]?.stringValue }
            #expect(Set(ids).count == ids.count)
            for component in components where component.name != "old" && component.value["automation_type"] == nil {
                #expect(component.value["unique_id"] != nil, "\(component.name)")
            }
        }
    }

    @Test("a discovery message of another installation, or text that is none, is not ours")
    func owner() {
        var other = discovery
        other.installationID = "5a20"
        #expect(discovery.isOurs(discovery.payload(Examples.button)))
        #expect(!other.isOurs(discovery.payload(Examples.button)))
        for text in [
            "", "{}", #"{"device":[]}"#, #"{"device":{"via_device":null}}"#,
            #"{"device":{"via_device":"tryck_bridge_5a1f"}"#,
        ] {
            #expect(!discovery.isOurs(Array(text.utf8)), "\(text)")
        }
    }

    @Test("the payload that a control sends when it is used is JSON that the bridge reads")
    func presses() throws {
        let button = try #require(try JSONValue(parsing: discovery.payload(Examples.button))["components"])
        let install = try #require(button["firmware"]?["payload_install"]?.stringValue)
        #expect(try JSONValue(parsing: install) == ["id": "80e4da010203"])
        let bridge = try #require(try JSONValue(parsing: discovery.bridgePayload())["components"])
        for key in ["payload_on", "payload_off"] {
            let payload = try #require(bridge["permit_join"]?[key]?.stringValue)
            #expect(try JSONValue(parsing: payload)["time"]?.integerValue != nil)
        }
    }
}
