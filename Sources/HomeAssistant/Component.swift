import JSON

/// One entry of `components`: an entity, or a device trigger.
struct Component {
    /// The platforms that Tryck announces; the raw value is Home Assistant's word.
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

    /// For good, like the `unique_id` that is made of it: another one is another entity.
    var key: String
    var platform: Platform
    /// Of the platform. Never `null`, and never `qos`: a subscription at QoS 1 makes Home Assistant's answers 40 ms late.
    var members: [JSONValue.Member]

    /// An entity of the device with this node id.
    init(_ key: String, _ platform: Platform, of node: String, _ members: KeyValuePairs<String, JSONValue>) {
        self.key = key
        self.platform = platform
        self.members = [.init("unique_id", .string("\(node)_\(key)"))] + members.map { .init($0, $1) }
    }

    /// A device trigger: a payload on a topic.
    ///
    /// - Parameters:
    ///   - type: Home Assistant translates its own words (`button_short_press`) and shows others as they are.
    ///   - subtype: which of the device's buttons, `button_1`.
    ///   - prefix: of the key, where the device has several buttons.
    init(trigger word: String, type: String, subtype: String, topicName: String, prefix: String = "") {
        key = "trigger_" + prefix + word
        platform = .deviceAutomation
        members = [
            .init("automation_type", "trigger"), .init("type", .string(type)), .init("subtype", .string(subtype)),
            .init("topic", .string(topicName)), .init("payload", .string(word)),
        ]
    }

    var member: JSONValue.Member {
        .init(key, .object([.init("platform", .string(platform.rawValue))] + members))
    }
}
