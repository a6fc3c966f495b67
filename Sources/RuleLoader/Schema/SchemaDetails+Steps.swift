import JSON
import Rules

// Details of the keys of a step and of the mappings inside it.
extension SchemaMapping {
    static let commonDetails: [String: KeyDetail] = [
        "alias": KeyDetail("the lamp goes on"),
        "enabled": KeyDetail(else: .value(true)),
        "timeout": KeyDetail(else: .described(StepKind.timeLimits), "20s"),
        "retry": KeyDetail(.mapping(.retry), else: .described("no further attempt"), ["count": 3, "delay": "500ms"]),
        "continue_on_error": KeyDetail(else: .value(false)),
        "save_as": KeyDetail("answer"),
    ]

    static let publishDetails: [String: KeyDetail] = [
        "topic": KeyDetail("zigbee2mqtt/lamp/set", "home/{{ trigger.button }}"),
        "payload": KeyDetail(else: .described("empty"), "ON", "{{ trigger.at }}"),
        "json": KeyDetail(.json, ["state": "ON", "brightness": "{{ variables.level }}"]),
        "qos": KeyDetail(else: .described("as in `defaults`, else `0`"), 1),
        "retain": KeyDetail(else: .described("as in `defaults`, else `false`")),
        "max_age": KeyDetail(else: .described("as in `defaults`, else `5s`"), "0s"),
    ]

    static let processDetails: [String: KeyDetail] = [
        "env": KeyDetail(.environment, ["LAMP": "{{ trigger.button }}"]),
        "cwd": KeyDetail(else: .described("the state directory"), "/srv/music"),
        "stdin": KeyDetail(else: .described("nothing"), "{{ trigger.at }}"),
    ]

    static let httpDetails: [String: KeyDetail] = [
        "url": KeyDetail("https://example.net/press?from={{ trigger.button }}"),
        "method": KeyDetail(else: .value("GET")),
        "headers": KeyDetail(.headers, ["Authorization": "Bearer abc"]),
        "body": KeyDetail(else: .described("empty"), "{{ trigger.at }}"),
        "json": KeyDetail(.json, ["late": "{{ trigger.queued }}"]),
        "expect": KeyDetail(.oneOrMany(.status), else: .value("2xx"), 204, ["2xx", 304]),
    ]
}
