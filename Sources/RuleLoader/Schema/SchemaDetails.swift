import ButtonModel
import Gestures
import JSON
import Rules

extension SchemaMapping {
    static let fileDetails: [String: KeyDetail] = [
        "version": KeyDetail(.exactly(RuleSetReader.languageVersion), 1),
        "include": KeyDetail(.oneOrMany(.text), "rooms/*.yaml", ["upstairs.yaml", "garden.yaml"]),
        "location": KeyDetail(
            .mapping(.location), else: .described("the system's time zone, and no sun"),
            ["latitude": .number(52.09), "longitude": .number(5.12), "timezone": "Europe/Amsterdam"]),
        "defaults": KeyDetail(.mapping(.defaults), ["queued": ["max_age": "3s"]]),
        "buttons": KeyDetail(
            .declarations(.either([.text, .mapping(.button)])),
            ["kitchen": "BF12-C34567", "sofa": ["serial": "DA01-D00042", "model": "duo"]]),
        "groups": KeyDetail(.declarations(.oneOrMany(.reference(.member))), ["bedroom": ["bed_left", "bed_right"]]),
        "states": KeyDetail(
            .declarations(.mapping(.state)), ["hall_light": ["topic": "zigbee2mqtt/hall", "value": "/state"]]),
        "variables": KeyDetail(
            .declarations(.either([.scalar, .mapping(.variable)])),
            ["guest": false, "volume": ["initial": 30, "min": 0, "max": 100]]),
        "scripts": KeyDetail(
            .declarations(.mapping(.script)),
            ["all_off": ["actions": ["publish": ["topic": "all/set", "payload": "off"]]]]),
        "rules": KeyDetail(
            .list(.mapping(.rule), 0...Int.max),
            [
                [
                    "id": "kitchen_toggle", "triggers": ["button": "kitchen", "event": "click"],
                    "actions": ["publish": ["topic": "zigbee2mqtt/kitchen/set", "json": ["state": "TOGGLE"]]],
                ]
            ]),
        "tests": KeyDetail(
            .list(.mapping(.test), 0...Int.max),
            [["name": "a click", "steps": [["event": ["button": "kitchen", "event": "click"]], ["expect": []]]]]),
    ]

    static let locationDetails: [String: KeyDetail] = [
        "latitude": KeyDetail(.number(52.09)),
        "longitude": KeyDetail(.number(5.12)),
        "timezone": KeyDetail(else: .described("the system's time zone"), "Europe/Amsterdam"),
    ]

    static let defaultsDetails: [String: KeyDetail] = [
        "queued": KeyDetail(.queued, else: .value(["max_age": "3s", "keep": "all"]), "drop", ["max_age": "10s"]),
        "mode": KeyDetail(else: .value("single")),
        "cooldown": KeyDetail(else: .value("0s"), "2s"),
        "rate_limit": KeyDetail(.rate, else: .value("600/1m"), "20/1m"),
        "qos": KeyDetail(else: .value(0), 1),
        "retain": KeyDetail(else: .value(false)),
        "max_age": KeyDetail(else: .value("5s"), "30s"),
        "timeout": KeyDetail(else: .described("each kind of step has its own"), "20s"),
    ]

    static let hardwareDetails: [String: KeyDetail] = [
        "uuid": KeyDetail("8f2c0a61d5b34e0f9a7712c4b6d8e0f1"),
        "serial": KeyDetail("BF12-C34567"),
        "address": KeyDetail("80:E4:DA:01:02:03"),
        "nickname": KeyDetail("Kitchen"),
    ]

    static let buttonDetails: [String: KeyDetail] = [
        "model": KeyDetail(else: .value("flic2")),
        "trigger_mode": KeyDetail(else: .value("auto")),
        "hold_after": KeyDetail(else: .value("1s"), "500ms"),
        "click_gap": KeyDetail(else: .value("500ms"), "300ms"),
        "queued": KeyDetail(.queued, else: .described("as in `defaults`"), "drop", ["max_age": "30s", "keep": "last"]),
        "description": KeyDetail("beside the door"),
    ]

    static let stateDetails: [String: KeyDetail] = [
        "topic": KeyDetail("zigbee2mqtt/hall", "home/window/+"),
        "as": KeyDetail(else: .described("the topic has no wildcards"), "count"),
        "value": KeyDetail(else: .described("the whole payload"), "/state"),
        "type": KeyDetail(else: .value("string")),
        "default": KeyDetail(.scalar, else: .described("the state may be unknown"), "OFF", 0),
        "max_age": KeyDetail(else: .described("never"), "1h"),
    ]

    static let variableDetails: [String: KeyDetail] = [
        "type": KeyDetail(else: .described("the type of `initial`")),
        "initial": KeyDetail(.scalar, 30, "evening", false),
        "values": KeyDetail(.list(.scalar, 1...Int.max), else: .described("any"), ["morning", "evening", "night"]),
        "min": KeyDetail(0),
        "max": KeyDetail(100),
        "persist": KeyDetail(else: .value(true)),
        "reset": KeyDetail(.clock(takesOffset: true), else: .described("never"), "00:00", "sunrise"),
    ]

    static let scriptDetails: [String: KeyDetail] = [
        "description": KeyDetail("a lamp on, dim or bright"),
        "inputs": KeyDetail(
            .declarations(.mapping(.scriptInput)),
            ["lamp": ["type": "string"], "brightness": ["type": "integer", "default": 254]]),
        "actions": KeyDetail(.steps, [["publish": ["topic": "all/set", "payload": "off"]], ["delay": "2s"]]),
    ]

    static let ruleDetails: [String: KeyDetail] = [
        "id": KeyDetail("kitchen_toggle"),
        "alias": KeyDetail("Kitchen lamp"),
        "description": KeyDetail("One click: on, or off."),
        "enabled": KeyDetail(else: .value(true)),
        "triggers": KeyDetail(
            .oneOrMany(.mapping(.trigger)), ["button": "kitchen", "event": "click"],
            [["button": "kitchen", "clicks": 3], ["chord": ["bed_left", "bed_right"]]]),
        "conditions": KeyDetail(
            .conditions, "states.lux < 20", [["time": ["after": "sunset"]], "not variables.guest"]),
        "actions": KeyDetail(.steps, ["log": "clicked"], [["script": "all_off"], ["delay": "5m"], ["log": "done"]]),
        "mode": KeyDetail(else: .described("as in `defaults`, else `single`")),
        "max": KeyDetail(else: .value(10), 3),
        "scope": KeyDetail(else: .value("rule")),
        "queued": KeyDetail(.queued, else: .described("as for the button"), "drop", "accept", ["max_age": "10s"]),
        "cooldown": KeyDetail(else: .described("as in `defaults`, else `0s`"), "5s"),
        "rate_limit": KeyDetail(.rate, else: .described("as in `defaults`, else `600/1m`"), "20/1m"),
        "fallback": KeyDetail(else: .value(false)),
        "on_error": KeyDetail(.steps, ["log": "{{ error.message }}"]),
        "on_restart": KeyDetail(else: .value("drop")),
        "dry_run": KeyDetail(else: .value(false)),
    ]

    static let triggerDetails: [String: KeyDetail] = [
        "button": KeyDetail(
            .oneOrMany(.either([.reference(.source), .mapping(.hardware)])), "kitchen", ["kitchen", "hall"], "any"),
        "event": KeyDetail(.oneOrMany(.oneOf(TriggerEvent.fileNames)), "click", ["click", "hold"]),
        "clicks": KeyDetail(3),
        "pattern": KeyDetail(.list(.oneOf(PressLength.allCases.map(\.rawValue)), 2...8), ["short", "short", "long"]),
        "for": KeyDetail(else: .described("the button's `hold_after`, or `0s`"), "3s"),
        "part": KeyDetail(
            .oneOrMany(.oneOf(ButtonPart.allCases.map(\.rawValue))), else: .described("any"), "dial", ["big", "small"]),
        "collect": KeyDetail(else: .value("100ms"), "250ms"),
        "chord": KeyDetail(.list(.reference(.button), 2...4), ["bed_left", "bed_right"]),
        "within": KeyDetail(else: .value("300ms"), "500ms"),
        "at": KeyDetail(.oneOrMany(.clock(takesOffset: false)), "21:00", ["07:30", "19:30"], "sunset"),
        "offset": KeyDetail(.offset, else: .value("0s"), "-30m"),
        "weekday": KeyDetail(.oneOrMany(.weekday), else: .described("every day"), "mon-fri", ["sat", "sun"]),
        "missed": KeyDetail(else: .value("0s"), "2h"),
        "state": KeyDetail(.oneOrMany(.reference(.state)), "door", ["door", "window"]),
        "from": KeyDetail(.oneOrMany(.either([.scalar, .expression])), else: .described("any"), "closed"),
        "to": KeyDetail(
            .oneOrMany(.either([.scalar, .expression])), else: .described("any"), "open", [1, 2], "new > 25"),
        "id": KeyDetail("next"),
    ]

    static let timeDetails: [String: KeyDetail] = [
        "after": KeyDetail(
            .clock(takesOffset: true), else: .described("the start of the day"), "22:00", "sunset - 30m"),
        "before": KeyDetail(
            .clock(takesOffset: true), else: .described("the end of the day"), "06:30", "sunrise"),
        "weekday": KeyDetail(.oneOrMany(.weekday), else: .described("every day"), "mon-fri", ["sat", "sun"]),
    ]
}
