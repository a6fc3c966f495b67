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
                    "name": "Radio problem", "device_class": "problem", "entity_category": "diagnostic",
                    "state_topic": info,
                    "value_template": "{{ 'ON' if value_json.adapter.problem else 'OFF' }}",
                    "json_attributes_topic": info,
                    "json_attributes_template":
                        "{{ {'reason': value_json.adapter.problem} | to_json if value_json.adapter.problem else '{}' }}",
                ]),
            rulesProblem, pairing,
            Component(
                "permit_join_end", .sensor, of: bridgeNode,
                [
                    "name": "Search ends", "device_class": "timestamp", "icon": "mdi:timer-sand", "state_topic": info,
                    "value_template": "{{ value_json.permit_join_end }}",
                ]),
            notice,
        ]
        let controls = acceptsRestart ? bridgeControls : bridgeControls.filter { $0.key != "restart" }
        return readings + radioReadings + (acceptsRequests ? controls : [])
    }

    /// Each of several radios, and the number of links of all. The keys have the radio's place, because a name may be changed.
    private var radioReadings: [Component] {
        guard !radios.isEmpty else { return [] }
        let state = JSONValue.string(topics.bridgeRadios)
        let each = radios.enumerated().map { place, name in
            Component(
                "radio_\(place)", .binarySensor, of: bridgeNode,
                [
                    "name": .string("Radio \(name)"), "device_class": "connectivity", "entity_category": "diagnostic",
                    "state_topic": state,
                    "value_template": .string(
                        "{{ 'ON' if (value_json[\(place)] | default({})).state == 'ready' else 'OFF' }}"),
                    "json_attributes_topic": state,
                    "json_attributes_template": .string(
                        "{% set radio = value_json[\(place)] | default({}) %}"
                            + "{{ {'reason': radio.advice, 'links': radio.links, 'buttons': radio.buttons} | to_json }}"
                    ),
                ])
        }
        return each + [
            Component(
                "links", .sensor, of: bridgeNode,
                [
                    "name": "Connected buttons", "state_class": "measurement", "entity_category": "diagnostic",
                    "state_topic": state, "value_template": "{{ value_json | map(attribute='links') | sum }}",
                ])
        ]
    }

    /// The attributes are those of the first mistake.
    private var rulesProblem: Component {
        let rules = JSONValue.string(topics.rules)
        return Component(
            "rules", .binarySensor, of: bridgeNode,
            [
                "name": "Rules problem", "device_class": "problem", "entity_category": "diagnostic",
                "state_topic": rules, "value_template": "{{ 'ON' if value_json.state == 'error' else 'OFF' }}",
                "json_attributes_topic": rules,
                "json_attributes_template": .string(
                    "{% set mistake = (value_json.errors | default([]) + [{}])[0] %}"
                        + "{{ {'file': mistake.file, 'line': mistake.line, 'text': mistake.message} | to_json"
                        + " if mistake.message is defined else '{}' }}"),
            ])
    }

    /// The state of a sensor has at most 255 characters.
    private var pairing: Component {
        let pairing = JSONValue.string(topics.bridgePairing)
        return Component(
            "pairing", .sensor, of: bridgeNode,
            [
                "name": "Pairing", "icon": "mdi:progress-question", "state_topic": pairing,
                "value_template": "{{ value_json.text[:255] }}", "json_attributes_topic": pairing,
            ])
    }

    /// Events of the bridge that a user should see. Other events on the topic become an empty object, which Home Assistant
    /// ignores. A late press has an `event_type` of its own, which the type of the message replaces.
    private var notice: Component {
        let types = [Discovery.refusal, "stale_event", "interrupted"]
        let list = types.map { "'\($0)'" }.joined(separator: ", ")
        return Component(
            "notice", .event, of: bridgeNode,
            [
                "name": "Notice", "icon": "mdi:bell-alert-outline", "entity_category": "diagnostic",
                "event_types": .array(types.map(JSONValue.string)), "state_topic": .string(topics.bridgeEvent),
                "value_template": .string(
                    "{{ dict(value_json.data, event_type=value_json.type) | to_json if value_json.type in [\(list)]"
                        + " else '{}' }}"),
            ])
    }

    /// The type of the message on `bridge/event` about a refused request.
    package static let refusal = "refused"

    private var bridgeControls: [Component] {
        let info = JSONValue.string(topics.bridgeInfo)
        return [
            Component(
                "permit_join", .switch, of: bridgeNode,
                [
                    "name": "Look for new buttons", "icon": "mdi:human-greeting-proximity", "state_topic": info,
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
