/// A field of a name, for the compiler, the reference and completion.
package struct FieldDescription: Hashable, Sendable {
    package var name: String
    package var type: ExpressionType
    /// A description in one line.
    package var summary: String
}

/// The fields of a root. The raw value is the field's name in the language.
protocol NamedField: CaseIterable, RawRepresentable<String> {
    var row: (type: ExpressionType, summary: String) { get }
}

extension NamedField {
    static var descriptions: [FieldDescription] {
        allCases.map { FieldDescription(name: $0.rawValue, type: $0.row.type, summary: $0.row.summary) }
    }
}

package enum TriggerField: String, NamedField, Sendable {
    case id, button, uuid, serial, address, nickname, event, part, clicks, steps, position, slot
    case heldFor = "held_for"
    case queued, age, at, manual

    var row: (type: ExpressionType, summary: String) {
        switch self {
        case .id: (.string, "the id of the trigger that matched")
        case .button: (.string, "the button's declared name, else its uuid; of a chord, the one that came last")
        case .uuid: (.string, "the button's uuid")
        case .serial: (.string, "the button's serial number")
        case .address: (.string, "the button's Bluetooth address")
        case .nickname: (.string, "the name stored on the button")
        case .event: (.string, "click, double_click, clicks_3, hold, pattern, chord …")
        case .part: (.string, "which part of a Duo or Twist")
        case .clicks: (.integer, "how many clicks")
        case .steps: (.integer, "how far a dial was turned, positive clockwise")
        case .position: (.integer, "where a dial stands, 0 to 100")
        case .slot: (.integer, "1 to 12 on a Twist, else 0")
        case .heldFor: (.duration, "how long the button was held")
        case .queued: (.boolean, "the button stored the press while it was out of reach")
        case .age: (.duration, "how old the press is")
        case .at: (.string, "when the button was pressed, such as 2026-03-29T01:30:00+01:00")
        case .manual: (.boolean, "the rule was run by hand")
        }
    }
}

package enum ButtonField: String, NamedField, Sendable {
    case connected, held, battery
    case lastEvent = "last_event"
    case lastEventAge = "last_event_age"

    var row: (type: ExpressionType, summary: String) {
        switch self {
        case .connected: (.boolean, "the button is connected")
        case .held: (.boolean, "the button is down")
        case .battery: (.integer.optional, "percent")
        case .lastEvent: (.string, "the last event of the button")
        case .lastEventAge: (.duration.optional, "how long ago that was")
        }
    }
}

package enum RuleField: String, NamedField, Sendable {
    case enabled, running
    case lastRunAge = "last_run_age"
    case lastResult = "last_result"

    var row: (type: ExpressionType, summary: String) {
        switch self {
        case .enabled: (.boolean, "the rule is enabled")
        case .running: (.integer, "how many runs are going on")
        case .lastRunAge: (.duration.optional, "how long ago the last run began")
        case .lastResult: (.string, "completed, failed, cancelled, interrupted, or empty")
        }
    }
}

package enum ResultField: String, NamedField, Sendable {
    case ok, status, stdout, stderr, body, duration

    var row: (type: ExpressionType, summary: String) {
        switch self {
        case .ok: (.boolean, "the step succeeded")
        case .status: (.integer, "exit status or HTTP status")
        case .stdout: (.string, "what the program wrote")
        case .stderr: (.string, "what the program complained about")
        case .body: (.string, "the body of the HTTP response")
        case .duration: (.duration, "how long the step took")
        }
    }
}

package enum ErrorField: String, NamedField, Sendable {
    case code, message, step

    var row: (type: ExpressionType, summary: String) {
        switch self {
        case .code: (.string, "such as R822")
        case .message: (.string, "one line")
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
        case .isUp: (.boolean, "the sun is above the horizon")
        case .elevation: (.number, "degrees above the horizon")
        }
    }
}

package enum BrokerField: String, NamedField, Sendable {
    case connected

    var row: (type: ExpressionType, summary: String) { (.boolean, "the broker is connected") }
}

package enum RepeatField: String, NamedField, Sendable {
    case index, elapsed

    var row: (type: ExpressionType, summary: String) {
        switch self {
        case .index: (.integer, "0 the first time")
        case .elapsed: (.duration, "how long the repeat has been going")
        }
    }
}
