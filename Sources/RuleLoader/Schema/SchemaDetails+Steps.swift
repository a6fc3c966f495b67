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
}
