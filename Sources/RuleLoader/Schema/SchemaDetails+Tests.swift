import Gestures
import JSON
import Rules

extension SchemaMapping {
    /// Details of the keys of a test and of the mappings inside it.
    var testDetails: [String: KeyDetail] {
        switch self {
        case .test:
            [
                "name": KeyDetail("a click at night gives a dim light"),
                "given": KeyDetail(.mapping(.given), ["now": "2026-01-10 23:15", "states": ["lux": 3]]),
                "steps": KeyDetail(
                    .list(.either([.mapping(.testStep), .word(["reload", "restart"])]), 1...Int.max),
                    [["event": ["button": "hall", "event": "click"]], ["expect": []]]),
            ]
        case .given: SchemaMapping.givenDetails
        case .outsideResult: SchemaMapping.resultDetails
        case .testStep: SchemaMapping.testStepDetails
        case .simulatedEvent: SchemaMapping.eventDetails
        case .press:
            [
                "button": KeyDetail(.reference(.button), "garage"), "times": KeyDetail(else: .value(1), 3),
                "gap": KeyDetail(else: .value("150ms"), "200ms"), "for": KeyDetail(else: .value("80ms"), "1200ms"),
            ]
        case .expectedEffect: SchemaMapping.effectDetails
        case .expectedPublish:
            [
                "topic": KeyDetail("zigbee2mqtt/hall/set"), "payload": KeyDetail("open"),
                "json": KeyDetail(.json, ["state": "ON"]), "qos": KeyDetail(1), "retain": KeyDetail(),
            ]
        case .expectedRun:
            SchemaMapping.expectedProcessDetails.merging(["argv": KeyDetail(.texts, ["mpc", "next"])]) {
                first, _ in first
            }
        case .expectedShell:
            SchemaMapping.expectedProcessDetails.merging([
                "script": KeyDetail("date >> presses"), "args": KeyDetail(.texts, ["hall"]),
            ]) { first, _ in first }
        case .expectedHTTP:
            [
                "url": KeyDetail("https://example.net/press"), "method": KeyDetail(),
                "headers": KeyDetail(.matching(.header, .text), ["Accept": "text/plain"]), "body": KeyDetail("hello"),
                "json": KeyDetail(.json, ["late": false]),
            ]
        case .expectedLog: ["message": KeyDetail("good night"), "level": KeyDetail()]
        case .file, .location, .defaults, .button, .hardware, .queued, .state, .variable, .script, .scriptInput, .rule,
            .trigger, .time, .condition, .step, .publish, .run, .shell, .http, .wait, .cycle, .repeat, .branch, .log,
            .retry:
            [:]
        }
    }

    private static let givenDetails: [String: KeyDetail] = [
        "now": KeyDetail(.moment, else: .value("2026-01-15 12:00"), "2026-01-10 23:15"),
        "fold": KeyDetail(else: .value(0), 1),
        "states": KeyDetail(.keyed(.state, .scalar), else: .said("their `default`"), ["hall_light": "OFF", "lux": 3]),
        "variables": KeyDetail(.keyed(.variable, .scalar), else: .said("their `initial`"), ["guest": true]),
        "broker": KeyDetail(else: .value("online")),
        "disabled": KeyDetail(.oneOrMany(.reference(.rule)), else: .said("none"), "guest_light"),
        "results": KeyDetail(
            .list(.mapping(.outsideResult), 0...Int.max), else: .said("everything succeeds at once"),
            [["run": "mpc", "exit": 1], ["http": "https://example.net", "status": 503]]),
    ]

    private static let resultDetails: [String: KeyDetail] = [
        "run": KeyDetail("mpc next"),
        "shell": KeyDetail("date"),
        "http": KeyDetail("https://example.net"),
        "exit": KeyDetail(else: .value(0), 1),
        "stdout": KeyDetail(else: .said("empty"), "playing"),
        "stderr": KeyDetail(else: .said("empty"), "no such song"),
        "status": KeyDetail(else: .value(200), 503),
        "body": KeyDetail(else: .said("empty"), "thanks"),
        "takes": KeyDetail(else: .value("0s"), "3s"),
    ]

    private static let testStepDetails: [String: KeyDetail] = [
        "event": KeyDetail(.mapping(.simulatedEvent), ["button": "hall", "event": "click"]),
        "down": KeyDetail(.reference(.button), "hall"),
        "up": KeyDetail(.reference(.button), "hall"),
        "press": KeyDetail(.mapping(.press), ["button": "garage", "times": 3, "gap": "200ms"]),
        "chord": KeyDetail(.list(.reference(.button), 2...Int.max), ["bed_left", "bed_right"]),
        "advance": KeyDetail("400ms"),
        "state": KeyDetail(.keyed(.state, .scalar), ["hall_light": "ON"]),
        "broker": KeyDetail(),
        "run": KeyDetail(.reference(.rule), "goodnight"),
        "reload": KeyDetail(.either([.text, .empty]), else: .said("the same files"), "changed.yaml"),
        "restart": KeyDetail(.either([.duration(.zero ... .longest), .empty]), else: .value("0s"), "20m"),
        "expect": KeyDetail(
            .list(.mapping(.expectedEffect), 0...Int.max), [["publish": ["payload": "open"], "at": "400ms"]], []),
        "expect_variables": KeyDetail(.keyed(.variable, .scalar), ["doses": 2]),
        "expect_rules": KeyDetail(
            .keyed(.rule, .word(Outcome.allCases.map(\.rawValue))), ["garage_open": "started"]),
    ]

    private static let eventDetails: [String: KeyDetail] = [
        "button": KeyDetail(.reference(.button), "hall"),
        "event": KeyDetail(.oneOrMany(.word(TriggerEvent.wordList), atMost: 1), "click"),
        "clicks": KeyDetail(3),
        "pattern": KeyDetail(.list(.word(PressLength.allCases.map(\.rawValue)), 2...8), ["short", "long"]),
        "part": KeyDetail(),
        "steps": KeyDetail(else: .value(1), 3),
        "position": KeyDetail(else: .value(0), 40),
        "slot": KeyDetail(else: .said("1, or the slot of the position"), 3),
        "held_for": KeyDetail("3s"),
        "queued": KeyDetail(else: .value(false)),
        "age": KeyDetail(else: .value("0s"), "2s"),
        "last": KeyDetail(else: .value(false)),
    ]

    private static let effectDetails: [String: KeyDetail] = [
        "publish": KeyDetail(.mapping(.expectedPublish), ["topic": "zigbee2mqtt/hall/set", "json": ["state": "ON"]]),
        "run": KeyDetail(.either([.texts, .mapping(.expectedRun)]), ["mpc", "next"]),
        "shell": KeyDetail(.either([.text, .mapping(.expectedShell)]), "date >> presses"),
        "http": KeyDetail(.mapping(.expectedHTTP), ["url": "https://example.net/press"]),
        "log": KeyDetail(.either([.text, .mapping(.expectedLog)]), "good night"),
        "at": KeyDetail(else: .said("at any time"), "200ms"),
    ]

    private static let expectedProcessDetails: [String: KeyDetail] = [
        "env": KeyDetail(.matching(.environmentVariable, .text), ["LAMP": "hall"]),
        "cwd": KeyDetail("/srv/music"),
        "stdin": KeyDetail("hello"),
    ]
}
