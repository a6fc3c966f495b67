import JSON

/// An entry of `components` in an announcement: an entity or a device trigger.
struct Component {
    /// The platforms that Tryck announces. The raw value is Home Assistant's name.
    enum Platform: String, CaseIterable {
        case binarySensor = "binary_sensor"
        case button
        case deviceAutomation = "device_automation"
        case event
        case number
        case select
        case sensor
        case `switch`
        case text
        case update
    }

    /// The key and the `unique_id` made from it never change, because another key would create another entity.
    var key: String
    var platform: Platform
    /// The members that the platform needs. None is `null`, and none is `qos`: with QoS 1, Home Assistant's
    /// acknowledgements would delay a press by 40 ms.
    var members: [JSONValue.Member]

    /// An entity of the device with this node id.
    init(_ key: String, _ platform: Platform, of node: String, _ members: KeyValuePairs<String, JSONValue>) {
        self.key = key
        self.platform = platform
        self.members = [.init("unique_id", .string("\(node)_\(key)"))] + members.map { .init($0, $1) }
    }

    /// A device trigger, which fires when a message about an event arrives on a topic.
    ///
    /// - Parameters:
    ///   - type: a type that Home Assistant translates, such as `button_short_press`, or other words, which it shows as
    ///     they are.
    ///   - subtype: which of the device's buttons it is, such as `button_1`.
    ///   - topicName: the topic of plain names of events; with `isObject`, the topic of events as JSON.
    ///   - isObject: true if automations need the whole event. They read it from `trigger.payload_json`.
    ///   - prefix: a prefix of the key, for a device with several buttons.
    init(
        trigger eventName: String, type: String, subtype: String, topicName: String, isObject: Bool = false,
        prefix: String = ""
    ) {
        key = "trigger_" + prefix + eventName
        platform = .deviceAutomation
        members = [
            .init("automation_type", "trigger"), .init("type", .string(type)), .init("subtype", .string(subtype)),
            .init("topic", .string(topicName)), .init("payload", .string(eventName)),
        ]
        if isObject { members.append(.init("value_template", "{{ value_json.event_type }}")) }
    }

    /// The component as an announcement of this kind contains it. Device triggers are the same in all kinds.
    func announced(_ entities: EntityAnnouncement, deviceName: String) -> Component {
        guard platform != .deviceAutomation else { return self }
        var component = self
        switch entities {
        case .usual: break
        case .removed: component.members = []
        case .named:
            // Home Assistant makes an id of this text. Its domain is the platform.
            let id = "\(platform.rawValue).\(deviceName) \(entityName)"
            component.members.append(.init("default_entity_id", .string(id)))
        }
        return component
    }

    /// The entity's name in Home Assistant, which names an entity without a name by its device class.
    private var entityName: String {
        let json = JSONValue.object(members)
        return json["name"]?.stringValue ?? json["device_class"]?.stringValue ?? key
    }

    var member: JSONValue.Member {
        .init(key, .object([.init("platform", .string(platform.rawValue))] + members))
    }
}
