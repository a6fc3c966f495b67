import Gestures
import JSON
import Rules

// Details of the keys of a test and of the mappings inside it.
extension SchemaMapping {
    static let givenDetails: [String: KeyDetail] = [
        "now": KeyDetail(.moment, else: .value("2026-01-15 12:00"), "2026-01-10 23:15"),
        "fold": KeyDetail(else: .value(0), 1),
        "states": KeyDetail(
            .keyed(.state, .stateValue), else: .described("their `default`"), ["hall_light": "OFF", "lux": 3]),
        "variables": KeyDetail(.keyed(.variable, .scalar), else: .described("their `initial`"), ["guest": true]),
        "broker": KeyDetail(else: .value("online")),
        "disabled": KeyDetail(.oneOrMany(.reference(.rule)), else: .described("none"), "guest_light"),
        "results": KeyDetail(
            .list(.mapping(.simulatedResult), 0...Int.max), else: .described("everything succeeds at once"),
            [["run": "mpc", "exit": 1], ["http": "https://example.net", "status": 503]]),
    ]

    static let resultDetails: [String: KeyDetail] = [
        "run": KeyDetail("mpc next"),
        "shell": KeyDetail("date"),
        "http": KeyDetail("https://example.net"),
        "exit": KeyDetail(else: .value(0), 1),
        "stdout": KeyDetail(else: .described("empty"), "playing"),
        "stderr": KeyDetail(else: .described("empty"), "no such song"),
        "status": KeyDetail(else: .value(200), 503),
        "body": KeyDetail(else: .described("empty"), "thanks"),
        "takes": KeyDetail(else: .value("0s"), "3s"),
    ]

    static let testStepDetails: [String: KeyDetail] = [
        "event": KeyDetail(.mapping(.simulatedEvent), ["button": "hall", "event": "click"]),
        "down": KeyDetail(.reference(.button), "hall"),
        "up": KeyDetail(.reference(.button), "hall"),
        "press": KeyDetail(.mapping(.press), ["button": "garage", "times": 3, "gap": "200ms"]),
        "chord": KeyDetail(.list(.reference(.button), 2...Int.max), ["bed_left", "bed_right"]),
        "advance": KeyDetail("400ms"),
        "time": KeyDetail(.either([.clockTime, .moment]), "23:59:50", "2026-03-29 01:59"),
        "state": KeyDetail(
            .keyed(.state, .stateValue), ["hall_light": "ON"], ["windows": ["home/window/kitchen": "ON"]]),
        "broker": KeyDetail(),
        "random": KeyDetail(.list(.integer(Int.min...Int.max), 1...Int.max), [3, 1]),
        "run": KeyDetail(.reference(.rule), "goodnight"),
        "reload": KeyDetail(.either([.text, .empty]), else: .described("the same files"), "changed.yaml"),
        "restart": KeyDetail(.either([.duration(.zero ... .longest), .empty]), else: .value("0s"), "20m"),
        "expect": KeyDetail(
            .list(.mapping(.expectedEffect), 0...Int.max), [["publish": ["payload": "open"], "at": "400ms"]], []),
        "expect_variables": KeyDetail(.keyed(.variable, .scalar), ["doses": 2]),
        "expect_rules": KeyDetail(
            .keyed(.rule, .oneOf(Outcome.allCases.map(\.rawValue))), ["garage_open": "started"]),
    ]

    static let eventDetails: [String: KeyDetail] = [
        "button": KeyDetail(.reference(.button), "hall"),
        "event": KeyDetail(.oneOrMany(.oneOf(TriggerEvent.fileNames), atMost: 1), "click"),
        "clicks": KeyDetail(3),
        "pattern": KeyDetail(.list(.oneOf(PressLength.allCases.map(\.rawValue)), 2...8), ["short", "long"]),
        "part": KeyDetail(),
        "steps": KeyDetail(else: .value(1), 3),
        "position": KeyDetail(else: .value(0), 40),
        "slot": KeyDetail(else: .described("1, or the slot of the position"), 3),
        "held_for": KeyDetail("3s"),
        "queued": KeyDetail(else: .value(false)),
        "age": KeyDetail(else: .value("0s"), "2s"),
        "last": KeyDetail(else: .value(false)),
    ]
}
