import ButtonModel
import JSON

extension Discovery {
    var bridgeComponents: [Component] {
        let info = JSONValue.string(topics.bridgeInfo)
        let readings = [
            Component(
                "state", .binarySensor, of: bridgeNode,
                [
                    "name": "Connection state", "device_class": "connectivity", "entity_category": "diagnostic",
                    "state_topic": .string(topics.bridgeState), "payload_on": "online", "payload_off": "offline",
                    // The entity lacks the device's availability, so that it can report that the connection is lost.
                    "availability": [],
                ]),
            Component(
                "version", .sensor, of: bridgeNode,
                [
                    "name": "Version", "entity_category": "diagnostic", "state_topic": info,
                    "value_template": "{{ value_json.version }}",
                ]),
            Component(
                "buttons", .sensor, of: bridgeNode,
                [
                    "name": "Paired buttons", "state_class": "measurement", "entity_category": "diagnostic",
                    "state_topic": info, "value_template": "{{ value_json.buttons }}",
                ]),
            Component(
                "adapter", .binarySensor, of: bridgeNode,
                [
                    "name": "Bluetooth adapter problem", "device_class": "problem", "entity_category": "diagnostic",
                    "state_topic": info,
                    "value_template": "{{ 'OFF' if value_json.adapter.powered else 'ON' }}",
                ]),
        ]
        let controls = acceptsRestart ? bridgeControls : bridgeControls.filter { $0.key != "restart" }
        return acceptsRequests ? readings + controls : readings
    }

    private var bridgeControls: [Component] {
        let info = JSONValue.string(topics.bridgeInfo)
        return [
            Component(
                "permit_join", .switch, of: bridgeNode,
                [
                    "name": "Permit join", "icon": "mdi:human-greeting-proximity", "state_topic": info,
                    "value_template": "{{ 'ON' if value_json.permit_join else 'OFF' }}",
                    "command_topic": .string(topics.request(BridgeRequestName.permitJoin)),
                    "payload_on": #"{"time":120}"#, "payload_off": #"{"time":0}"#, "state_on": "ON", "state_off": "OFF",
                ]),
            Component(
                "restart", .button, of: bridgeNode,
                [
                    "name": "Restart", "device_class": "restart", "entity_category": "config",
                    "command_topic": .string(topics.request(BridgeRequestName.restart)), "payload_press": "{}",
                ]),
            Component(
                "log_level", .select, of: bridgeNode,
                [
                    "name": "Log level",
                    "options": .array(LogLevel.allCases.reversed().map { .string($0.rawValue) }),
                    "entity_category": "config", "state_topic": info,
                    "value_template": "{{ value_json.log_level }}",
                    "command_topic": .string(topics.request(BridgeRequestName.options)),
                    "command_template": "{{ {'options': {'log_level': value}} | to_json }}",
                ]),
        ]
    }
}
