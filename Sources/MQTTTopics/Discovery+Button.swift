import ButtonModel
import JSON

extension Discovery {
    func components(of device: ButtonDevice) -> [Component] {
        let node = node(of: device.id)
        var components = events(of: device, node) + triggers(of: device) + readings(of: device, node)
        if acceptsRequests, device.isRemote {
            components.append(triggerMode(of: device, node))
        } else if acceptsRequests {
            components += settings(of: device, node) + dials(of: device, node)
            if device.hasFirmwareFile { components.append(firmware(of: device, node)) }
        }
        return components
    }

    private func events(of device: ButtonDevice, _ node: String) -> [Component] {
        device.parts.flatMap { part in
            [
                Component(
                    "event" + part.keySuffix, .event, of: node,
                    [
                        "name": .string(device.partName(part) ?? "Action"), "device_class": "button",
                        "event_types": .array(device.eventTypes.map(JSONValue.string)),
                        "state_topic": .string(topics.event(of: device.id, part)),
                    ]),
                // This is a separate entity, because an `up` and its `click` are published at the same time, and an event
                // entity's state is the time of its latest event.
                Component(
                    "event_raw" + part.keySuffix, .event, of: node,
                    [
                        "name": .string(
                            device.partName(part).map { $0 + " press and release" } ?? "Press and release"),
                        "device_class": "button", "event_types": .array(RawEvent.allCases.map { .string($0.rawValue) }),
                        "state_topic": .string(topics.raw(of: device.id, part)), "enabled_by_default": false,
                    ]),
            ]
        }
    }

    private func triggers(of device: ButtonDevice) -> [Component] {
        device.parts.flatMap { part in
            device.eventTypes.map { eventType in
                let (type, subtype) = device.trigger(eventType, part)
                // An automation that dims a light by a turn needs the number of its steps.
                let isTurn = RotationDirection(rawValue: eventType) != nil
                let topicName = isTurn ? topics.event(of: device.id, part) : topics.action(of: device.id, part)
                return Component(
                    trigger: eventType, type: type, subtype: subtype, topicName: topicName, isObject: isTurn,
                    prefix: part == .small ? "small_" : "")
            }
        }
    }

    private func readings(of device: ButtonDevice, _ node: String) -> [Component] {
        let status = JSONValue.string(topics.status(of: device.id))
        return [
            Component(
                "battery", .sensor, of: node,
                [
                    "device_class": "battery", "unit_of_measurement": "%", "state_class": "measurement",
                    "entity_category": "diagnostic", "state_topic": status,
                    "value_template": "{{ value_json.battery }}",
                ]),
            Component(
                "battery_voltage", .sensor, of: node,
                [
                    "name": "Battery voltage", "device_class": "voltage", "unit_of_measurement": "V",
                    "state_class": "measurement", "suggested_display_precision": 2, "entity_category": "diagnostic",
                    "enabled_by_default": false, "state_topic": status,
                    "value_template": "{{ value_json.battery_voltage }}",
                ]),
            Component(
                "battery_low", .binarySensor, of: node,
                [
                    "name": "Battery low", "device_class": "battery", "entity_category": "diagnostic",
                    "state_topic": status, "value_template": "{{ 'ON' if value_json.battery_low else 'OFF' }}",
                ]),
            // This is a sensor and not the availability, so that entities stay available while the button is disconnected.
            Component(
                "connected", .binarySensor, of: node,
                [
                    "device_class": "connectivity", "entity_category": "diagnostic",
                    "state_topic": .string(topics.availability(of: device.id)), "payload_on": "online",
                    "payload_off": "offline",
                ]),
            Component(
                "press_count", .sensor, of: node,
                [
                    "name": "Press count", "state_class": "total_increasing", "icon": "mdi:counter",
                    "entity_category": "diagnostic", "enabled_by_default": false, "state_topic": status,
                    "value_template": "{{ value_json.press_count }}",
                ]),
            Component(
                "last_seen", .sensor, of: node,
                [
                    "name": "Last seen", "device_class": "timestamp", "entity_category": "diagnostic",
                    "state_topic": status, "value_template": "{{ value_json.last_seen }}",
                ]),
            Component(
                "rssi", .sensor, of: node,
                [
                    "device_class": "signal_strength", "unit_of_measurement": "dBm", "state_class": "measurement",
                    "entity_category": "diagnostic", "enabled_by_default": false, "state_topic": status,
                    "value_template": "{{ value_json.rssi }}",
                ]),
        ]
            + (radios.isEmpty
                ? []
                : [
                    Component(
                        "radio", .sensor, of: node,
                        [
                            "name": "Radio", "icon": "mdi:access-point", "entity_category": "diagnostic",
                            "enabled_by_default": false, "state_topic": status,
                            "value_template": "{{ value_json.radio }}",
                        ])
                ])
    }

    private func settings(of device: ButtonDevice, _ node: String) -> [Component] {
        let status = JSONValue.string(topics.status(of: device.id))
        let set = JSONValue.string(topics.set(of: device.id))
        let latencyMode = Component(
            "latency_mode", .select, of: node,
            [
                "name": "Latency mode", "options": Choices.latencyMode.options, "entity_category": "config",
                "icon": "mdi:speedometer", "state_topic": status,
                "value_template": Choices.latencyMode.stateTemplate, "command_topic": set,
                "command_template": Choices.latencyMode.commandTemplate,
            ])
        return [triggerMode(of: device, node)] + (device.model.hasConnectionSettings ? [latencyMode] : []) + [
            Component(
                "nickname", .text, of: node,
                [
                    "name": "Name on button", "min": 0, "max": 23, "entity_category": "config",
                    "icon": "mdi:form-textbox", "state_topic": status,
                    "value_template": "{{ value_json.nickname }}", "command_topic": set,
                    "command_template": "{{ {'nickname': value} | to_json }}",
                ])
        ]
    }

    /// The trigger mode. Where the rules fix it, the only option says so, because Tryck would refuse all others.
    private func triggerMode(of device: ButtonDevice, _ node: String) -> Component {
        let (stateTopic, options, state, command): (String, JSONValue, JSONValue, JSONValue)
        if let mode = device.fixedTriggerMode {
            let words = Choices.fixed(mode)
            // Home Assistant reads a retained message again if the entity has another topic than before. So its state
            // changes together with its options. The content of the message does not matter here.
            stateTopic = topics.availability(of: device.id)
            (options, state) = ([.string(words)], .string(words))
            command = .string("{{ {'\(Choices.triggerMode.member)': '\(mode.rawValue)'} | to_json }}")
        } else {
            let choices = Choices.triggerMode
            stateTopic = topics.status(of: device.id)
            (options, state, command) = (choices.options, choices.stateTemplate, choices.commandTemplate)
        }
        return Component(
            "trigger_mode", .select, of: node,
            [
                "name": "Trigger mode", "options": options, "entity_category": "config",
                "icon": "mdi:gesture-tap-button", "state_topic": .string(stateTopic), "value_template": state,
                "command_topic": .string(topics.set(of: device.id)), "command_template": command,
            ])
    }

    private func dials(of device: ButtonDevice, _ node: String) -> [Component] {
        let status = JSONValue.string(topics.status(of: device.id))
        let set = JSONValue.string(topics.set(of: device.id))
        let positions = Dial.all(of: device.model).map { dial in
            Component(
                "position_" + dial.name, .number, of: node,
                [
                    "name": .string(dial.entityName), "min": 0, "max": 100, "step": 1, "mode": "slider",
                    "unit_of_measurement": "%", "icon": "mdi:knob", "state_topic": status,
                    "value_template": .string("{{ value_json.positions.\(dial.name) }}"), "command_topic": set,
                    "command_template": .string("{{ {'positions': {'\(dial.name)': value}} | to_json }}"),
                    "enabled_by_default": .bool(dial.isUsual || device.usedDials.contains(dial)),
                ])
        }
        guard device.model.hasLEDMode else { return positions }
        return positions + [
            Component(
                "led_mode", .select, of: node,
                [
                    "name": "LED mode", "options": Choices.ledMode.options, "entity_category": "config",
                    "icon": "mdi:led-on", "state_topic": status, "value_template": Choices.ledMode.stateTemplate,
                    "command_topic": set, "command_template": Choices.ledMode.commandTemplate,
                ])
        ]
    }

    private func firmware(of device: ButtonDevice, _ node: String) -> Component {
        let request: JSONValue = ["id": .string(device.id.description)]
        return Component(
            "firmware", .update, of: node,
            [
                "device_class": "firmware", "entity_category": "config",
                "state_topic": .string(topics.status(of: device.id)),
                "value_template": "{{ value_json.firmware | to_json }}",
                "command_topic": .string(topics.request(ButtonRequestName.update)),
                "payload_install": .string(request.description),
            ])
    }
}

extension ButtonDevice {
    /// The parts that have topics of their own. `nil` stands for the whole button, or the big button of a Duo.
    fileprivate var parts: [ButtonPart?] { model.hasTwoButtons ? [nil, .small] : [nil] }

    /// The part's name; `nil` if the button has only one part.
    fileprivate func partName(_ part: ButtonPart?) -> String? {
        guard model.hasTwoButtons else { return nil }
        return part == .small ? "Small button" : "Big button"
    }

    /// The names of all gestures and movements that a part can report.
    fileprivate var eventTypes: [String] { Gesture.allCases.map(\.rawValue) + clickEventTypes + model.movementNames }

    /// The events `clicks_3` … `clicks_8` that rules use.
    private var clickEventTypes: [String] {
        clickCounts.filter(EventName.clickCounts.contains).sorted().map(EventName.clicks)
    }

    /// Type and subtype of a device trigger. Home Assistant translates its own words for presses. Other words it shows
    /// as they are, with the subtype in quotation marks before the type.
    fileprivate func trigger(_ eventType: String, _ part: ButtonPart?) -> (String, String) {
        if let type = ButtonDevice.pressTypes[eventType] { return (type, part == .small ? "button_2" : "button_1") }
        let type = ButtonDevice.otherTypes[eventType] ?? eventType
        if model.hasSlots, model.movementNames.contains(eventType) { return (type, "Dial") }
        return (type, part == .small ? "Second button" : "First button")
    }

    private static let pressTypes = [
        EventName.clicks(1): "button_short_press", EventName.clicks(2): "button_double_press",
        EventName.clicks(3): "button_triple_press", EventName.clicks(4): "button_quadruple_press",
        EventName.clicks(5): "button_quintuple_press", Gesture.hold.rawValue: "button_long_press",
        Gesture.holdRelease.rawValue: "button_long_release",
    ]
    private static let otherTypes = [
        EventName.clicks(6): "clicked 6 times", EventName.clicks(7): "clicked 7 times",
        EventName.clicks(8): "clicked 8 times", SwipeDirection.left.rawValue: "swiped left",
        SwipeDirection.right.rawValue: "swiped right", SwipeDirection.up.rawValue: "swiped up",
        SwipeDirection.down.rawValue: "swiped down", RotationDirection.clockwise.rawValue: "turned clockwise",
        RotationDirection.counterClockwise.rawValue: "turned counter-clockwise",
    ]
}

extension ButtonPart? {
    fileprivate var keySuffix: String { self == .small ? "_small" : "" }
}

extension Dial {
    /// The entity's name, which begins with what tells it apart, because narrow lists cut its end off.
    fileprivate var entityName: String {
        switch self {
        case .part(.small): "Small dial"
        case .part: "Big dial"
        case .slot(let number): "Slot \(number)"
        case .free: "Push dial"
        }
    }

    /// True if the dial's entity is enabled by default without a rule that uses it. A Twist stays in slot 1 until it is
    /// turned while pressed. Home Assistant reads the default only when it first sees an entity, and rules may not be
    /// written by then.
    fileprivate var isUsual: Bool {
        switch self {
        case .part, .slot(1): true
        case .slot, .free: false
        }
    }
}
