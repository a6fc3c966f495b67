/// A field in a name, such as `button` in `trigger.button`; for the compiler, the reference and completion.
package struct FieldDescription: Hashable, Sendable {
    package var name: String
    package var type: ExpressionType
    /// A description in one line.
    package var summary: String
}

/// The fields of one `Root`. The raw value is the field's name in the language.
protocol NamedField: CaseIterable, RawRepresentable<String> {
    var row: (type: ExpressionType, summary: String) { get }
}

extension NamedField {
    static var descriptions: [FieldDescription] {
        allCases.map { FieldDescription(name: $0.rawValue, type: $0.row.type, summary: $0.row.summary) }
    }
}

package enum TriggerField: String, NamedField, CaseIterable, Sendable {
    case id, button, uuid, serial, address, nickname, event, part, clicks, steps, position, slot
    case heldFor = "held_for"
    case queued, age, at, manual, interrupted, kind, late, state, old, new

    var row: (type: ExpressionType, summary: String) {
        switch self {
        case .id: (.string, "the id of the trigger that matched")
        case .button:
            (.string, "the button's declared name, else its uuid or id; for a chord, the button pressed last")
        case .uuid: (.string, "the button's uuid")
        case .serial: (.string, "the button's serial number")
        case .address: (.string, "the button's Bluetooth address")
        case .nickname: (.string, "the name stored on the button")
        case .event: (.string, "click, double_click, clicks_3, hold, pattern, chord …")
        case .part: (.string, "the part of a Duo or Twist")
        case .clicks: (.integer, "the number of clicks")
        case .steps: (.integer, "the steps that a dial was turned, positive clockwise")
        case .position: (.integer, "the position of a dial, 0 to 100")
        case .slot: (.integer, "the slot of a Twist, 1 to 12, else 0")
        case .heldFor: (.duration, "how long the button was held")
        case .queued: (.boolean, "whether the press is late")
        case .age: (.duration, "the age of the press")
        case .at: (.string, "when the button was pressed or the time came, such as 2026-03-29T01:30:00+01:00")
        case .manual: (.boolean, "whether the rule was run by hand")
        case .interrupted: (.boolean, "whether the run took the place of another one (`mode: restart`)")
        case .kind: (.string, "button, time or state, or empty if the rule was run by hand")
        case .late: (.duration, "how late a time was that the program had missed")
        case .state: (.string, "the state that has changed")
        case .old: (.string, "its value before, as a text; empty if that was not known")
        case .new: (.string, "its new value, as a text")
        }
    }
}

package enum ButtonField: String, NamedField, Sendable {
    case connected, held, battery
    case lastEvent = "last_event"
    case lastEventAge = "last_event_age"

    var row: (type: ExpressionType, summary: String) {
        switch self {
        case .connected: (.boolean, "whether the button is connected")
        case .held: (.boolean, "whether the button is down")
        case .battery: (.integer.optional, "battery level in percent")
        case .lastEvent: (.string, "the last event of the button")
        case .lastEventAge: (.duration.optional, "the time since the last event")
        }
    }
}

package enum RuleField: String, NamedField, Sendable {
    case enabled, running
    case lastRunAge = "last_run_age"
    case lastResult = "last_result"

    var row: (type: ExpressionType, summary: String) {
        switch self {
        case .enabled: (.boolean, "whether the rule is enabled")
        case .running: (.integer, "the number of unfinished runs")
        case .lastRunAge: (.duration.optional, "the time since the last run began")
        case .lastResult: (.string, "the last outcome: completed, failed, cancelled, interrupted, or empty")
        }
    }
}

package enum ResultField: String, NamedField, Sendable {
    case ok, status, stdout, stderr, body, duration, happened, event, button, id

    /// True if only `wait_for` has the field. The field `duration` belongs to all steps.
    var isOfWaitFor: Bool {
        switch self {
        case .happened, .event, .button, .id: true
        case .ok, .status, .stdout, .stderr, .body, .duration: false
        }
    }

    var row: (type: ExpressionType, summary: String) {
        switch self {
        case .ok: (.boolean, "whether the step succeeded")
        case .status: (.integer, "the exit status or HTTP status")
        case .stdout: (.string, "the standard output of the program")
        case .stderr: (.string, "the standard error output of the program")
        case .body: (.string, "the body of the HTTP response")
        case .duration: (.duration, "the duration of the step")
        case .happened: (.boolean, "of `wait_for`: whether the event happened in time")
        case .event: (.string, "of `wait_for`: the event, or empty")
        case .button: (.string, "of `wait_for`: the button, or empty")
        case .id: (.string, "of `wait_for`: the id of the trigger, or empty")
        }
    }
}

package enum ErrorField: String, NamedField, Sendable {
    case code, message, step

    var row: (type: ExpressionType, summary: String) {
        switch self {
        case .code: (.string, "the code of the failure, such as R822")
        case .message: (.string, "the message of the failure, one line")
        case .step: (.string, "the step's alias, else its path, such as actions[2].publish")
        }
    }
}

package enum NowField: String, NamedField, Sendable {
    case hour, minute, second, weekday, date, time, unix

    var row: (type: ExpressionType, summary: String) {
        switch self {
        case .hour: (.integer, "0 to 23")
        case .minute: (.integer, "0 to 59")
        case .second: (.integer, "0 to 59")
        case .weekday: (.string, "mon, tue, wed, thu, fri, sat or sun")
        case .date: (.string, "such as 2026-03-29")
        case .time: (.string, "such as 01:30:00")
        case .unix: (.integer, "seconds since 1970, UTC")
        }
    }
}

package enum SunField: String, NamedField, Sendable {
    case isUp = "is_up"
    case elevation

    var row: (type: ExpressionType, summary: String) {
        switch self {
        case .isUp: (.boolean, "whether the sun is above the horizon")
        case .elevation: (.number, "degrees above the horizon")
        }
    }
}

package enum BrokerField: String, NamedField, Sendable {
    case connected

    var row: (type: ExpressionType, summary: String) { (.boolean, "whether the broker is connected") }
}

package enum RepeatField: String, NamedField, Sendable {
    case index, elapsed

    var row: (type: ExpressionType, summary: String) {
        switch self {
        case .index: (.integer, "the number of the iteration, from 0")
        case .elapsed: (.duration, "the time since the repeat began")
        }
    }
}
