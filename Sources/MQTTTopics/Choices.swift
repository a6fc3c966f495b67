import ButtonModel
import JSON

/// The options of a select entity: the values on Tryck's topics, and the words that Home Assistant shows for them.
struct Choices {
    /// The member of the status and of `/set` that has the value.
    var member: String
    var words: KeyValuePairs<String, String>

    var options: JSONValue { .array(words.map { .string($0.value) }) }

    /// The template that turns the value in a button's status into words.
    var stateTemplate: JSONValue {
        let table = words.map { "'\($0.key)': '\($0.value)'" }.joined(separator: ", ")
        return .string("{{ {\(table)}.get(value_json.\(member)) }}")
    }

    /// The template that turns words into a setting.
    var commandTemplate: JSONValue {
        let table = words.map { "'\($0.value)': '\($0.key)'" }.joined(separator: ", ")
        return .string("{{ {'\(member)': {\(table)}[value]} | to_json }}")
    }

    static let triggerMode = Choices(
        member: "trigger_mode",
        words: [
            "auto": "Automatic", TriggerMode.click.rawValue: "Clicks",
            TriggerMode.clickAndHold.rawValue: "Clicks and holds",
            TriggerMode.clickAndDoubleClick.rawValue: "Clicks and double clicks",
            TriggerMode.clickAndDoubleClickAndHold.rawValue: "Clicks, double clicks and holds",
        ])
    static let latencyMode = Choices(
        member: "latency_mode",
        words: [
            LatencyMode.low.rawValue: "Low", LatencyMode.normal.rawValue: "Normal", LatencyMode.high.rawValue: "High",
        ])
    /// `none` has another word, because a select entity of Home Assistant reads `none` as an unknown state.
    static let ledMode = Choices(
        member: "led_mode",
        words: [
            LEDMode.none.rawValue: "Dark", LEDMode.fill.rawValue: "Fill", LEDMode.point.rawValue: "Point",
            LEDMode.selector.rawValue: "Selector",
        ])

    /// The only option of a trigger mode that the rules fix.
    static func fixed(_ mode: TriggerMode) -> String {
        (triggerMode.words.first { $0.key == mode.rawValue }?.value ?? mode.rawValue) + " (fixed by the rules)"
    }
}
