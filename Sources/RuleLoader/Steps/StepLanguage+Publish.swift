import ButtonModel
import Expressions
import JSON
import Rules
import YAMLFiles

extension StepLanguage {
    static let publish = StepLanguage(
        summary: "publish an MQTT message",
        detail: KeyDetail(
            .mapping(.fields(of: .publish)), ["topic": "zigbee2mqtt/lamp/set", "json": ["state": "TOGGLE"]]),
        snippet: "publish: {topic: ${1:topic}, payload: ${2:ON}}",
        fields: .init(
            name: "publish", table: .publish,
            details: [
                "topic": KeyDetail("zigbee2mqtt/lamp/set", "home/{{ trigger.button }}"),
                "payload": KeyDetail(else: .described("empty"), "ON", "{{ trigger.at }}"),
                "json": KeyDetail(.json, ["state": "ON", "brightness": "{{ variables.level }}"]),
                "qos": KeyDetail(else: .described("as in `defaults`, else `0`"), 1),
                "retain": KeyDetail(else: .described("as in `defaults`, else `false`")),
                "max_age": KeyDetail(else: .described("as in `defaults`, else `5s`"), "0s"),
            ], constraints: [.atMostOne(of: ["payload", "json"])]),
        expectation: Expectation(
            summary: "a message",
            detail: KeyDetail(
                .mapping(.expectation(of: .publish)), ["topic": "zigbee2mqtt/hall/set", "json": ["state": "ON"]]),
            fields: .init(
                name: "expected_publish", table: .expectedPublish,
                details: [
                    "topic": KeyDetail("zigbee2mqtt/hall/set"), "payload": KeyDetail("open"),
                    "json": KeyDetail(.json, ["state": "ON"]), "json_includes": KeyDetail(.json, ["state": "ON"]),
                    "qos": KeyDetail(1), "retain": KeyDetail(),
                ], constraints: [.atMostOne(of: ["payload", "json", "json_includes"])]),
            read: { $0.expectedPublish($1) })
    ) { reader, node, _, context in reader.readPublish(node, in: context.scope) }
}

extension MappingTable {
    static let publish = MappingTable(
        name: "\"publish\"",
        keys: [
            Key("topic", .template, required: true, "the topic, without wildcards"),
            Key("payload", .template, "the payload as text"),
            Key("json", .anything, "the payload as YAML, sent as JSON"),
            Key("qos", .integer(0...2), "the quality of service"),
            Key("retain", .boolean, "whether the broker keeps the message for later subscribers"),
            Key("max_age", .duration(.zero ... .longest), "the longest time that the message waits for the broker"),
        ],
        foreignHints: ["payload_template": "use payload:", "message": "use payload:", "data": "use json:"])

    fileprivate static let expectedPublish = MappingTable(
        name: "an expected \"publish\"",
        keys: [
            Key("topic", .text(.areForbidden), "the whole topic"),
            Key("payload", .text(.areForbidden), "the payload as text"),
            Key("json", .anything, "the payload as JSON, compared whole"),
            Key(
                "json_includes", .anything,
                "some keys of the payload as JSON, compared in depth; lists are compared whole"),
            Key("qos", .integer(0...2), "the quality of service"),
            Key("retain", .boolean, "whether the broker keeps the message"),
        ])
}

extension RuleSetReader {
    fileprivate mutating func readPublish(_ node: YAMLNode, in scope: Scope) -> StepAction? {
        guard let fields = checker.fields(node, .publish, owner: "\"publish\"") else { return nil }
        let topic = fields.node("topic").flatMap { self.topic($0, in: scope) }
        guard let payload = content(fields, text: "payload", in: scope), let topic else { return nil }
        return .publish(
            PublishStep(
                topicName: topic, payload: payload, qos: fields.integer("qos") ?? defaults.qos,
                retain: fields.boolean("retain") ?? defaults.retain,
                maximumAge: fields.duration("max_age") ?? defaults.maximumAge))
    }

    private mutating func topic(_ node: YAMLNode, in scope: Scope) -> Template? {
        guard let topic = template(node, key: "topic", in: scope, inserting: .topic) else { return nil }
        if let literal = topic.literal {
            return checker.checkPublishTopic(literal, node) ? topic : nil
        }
        let hasNUL = topic.parts.contains { part in
            if case .literal(let text) = part { text.utf8.contains(0) } else { false }
        }
        guard !hasNUL else {
            checker.error("E508", at: node, "a publish topic cannot contain NUL")
            return nil
        }
        return topic
    }

    fileprivate mutating func expectedPublish(_ node: YAMLNode) -> ExpectedEffect.Kind? {
        guard let fields = checker.fields(node, .expectedPublish, owner: "\"publish\""),
            let payload = expectedContent(fields, text: "payload")
        else { return nil }
        return .publish(
            topic: fields.string("topic"), payload: payload.content, qos: fields.integer("qos"),
            retain: fields.boolean("retain"))
    }
}
