import JSON
import Rules

extension SchemaMapping {
    /// Details of the keys of a step and of the mappings inside it.
    var stepDetails: [String: KeyDetail] {
        switch self {
        case .step: StepKind.details.merging(SchemaMapping.commonDetails) { first, _ in first }
        case .publish: SchemaMapping.publishDetails
        case .run:
            SchemaMapping.processDetails.merging([
                "argv": KeyDetail(.arguments, ["mpc", "volume", "{{ variables.volume }}"])
            ]) { first, _ in first }
        case .shell:
            SchemaMapping.processDetails.merging([
                "script": KeyDetail(.text, #"echo "$1" >> presses"#),
                "args": KeyDetail(.list(.template, 0...Int.max), ["{{ trigger.button }}"]),
            ]) { first, _ in first }
        case .http: SchemaMapping.httpDetails
        case .wait: ["until": KeyDetail(.expression, "states.door == 'open'"), "timeout": KeyDetail("30s")]
        case .cycle:
            [
                "steps": KeyDetail(.list(.steps, 2...32), [["log": "one"], [["log": "two"], ["delay": "1s"]]]),
                "reset_after": KeyDetail(else: .said("never"), "20m"),
            ]
        case .repeat:
            [
                "while": KeyDetail(), "count": KeyDetail(3), "every": KeyDetail("200ms"),
                "limit": KeyDetail(else: .value("15s"), "10s"), "actions": KeyDetail(.steps, ["log": "again"]),
            ]
        case .branch:
            ["if": KeyDetail(.conditions, "states.lux < 20"), "then": KeyDetail(.steps, ["log": "dark"])]
        case .log: ["message": KeyDetail("{{ trigger.button }} was pressed"), "level": KeyDetail(else: .value("info"))]
        case .retry:
            [
                "count": KeyDetail(3), "delay": KeyDetail(else: .value("1s"), "500ms"),
                "backoff": KeyDetail(else: .value(2), 1),
            ]
        case .file, .location, .defaults, .button, .hardware, .queued, .state, .variable, .script, .scriptInput, .rule,
            .trigger, .time, .condition, .test, .given, .outsideResult, .testStep, .simulatedEvent, .press,
            .expectedEffect, .expectedPublish, .expectedRun, .expectedShell, .expectedHTTP, .expectedLog:
            [:]
        }
    }

    private static let commonDetails: [String: KeyDetail] = [
        "alias": KeyDetail("the lamp goes on"),
        "enabled": KeyDetail(else: .value(true)),
        "timeout": KeyDetail(else: .said(StepKind.timeLimits), "20s"),
        "retry": KeyDetail(.mapping(.retry), else: .said("no further attempt"), ["count": 3, "delay": "500ms"]),
        "continue_on_error": KeyDetail(else: .value(false)),
        "save_as": KeyDetail("answer"),
    ]

    private static let publishDetails: [String: KeyDetail] = [
        "topic": KeyDetail("zigbee2mqtt/lamp/set", "home/{{ trigger.button }}"),
        "payload": KeyDetail(else: .said("empty"), "ON", "{{ trigger.at }}"),
        "json": KeyDetail(.json, ["state": "ON", "brightness": "{{ variables.level }}"]),
        "qos": KeyDetail(else: .said("as `defaults` say, else `0`"), 1),
        "retain": KeyDetail(else: .said("as `defaults` say, else `false`")),
        "max_age": KeyDetail(else: .said("as `defaults` say, else `5s`"), "0s"),
    ]

    private static let processDetails: [String: KeyDetail] = [
        "env": KeyDetail(.environment, ["LAMP": "{{ trigger.button }}"]),
        "cwd": KeyDetail(else: .said("the state directory"), "/srv/music"),
        "stdin": KeyDetail(else: .said("nothing"), "{{ trigger.at }}"),
    ]

    private static let httpDetails: [String: KeyDetail] = [
        "url": KeyDetail("https://example.net/press?from={{ trigger.button }}"),
        "method": KeyDetail(else: .value("GET")),
        "headers": KeyDetail(.headers, ["Authorization": "Bearer abc"]),
        "body": KeyDetail(else: .said("empty"), "{{ trigger.at }}"),
        "json": KeyDetail(.json, ["late": "{{ trigger.queued }}"]),
        "expect": KeyDetail(.oneOrMany(.status), else: .value("2xx"), 204, ["2xx", 304]),
    ]
}
