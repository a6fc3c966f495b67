/// Why a run is cancelled, for its trace.
enum CancelReason: Hashable, Sendable {
    case ruleChanged, ruleDisabled
    /// With `mode: restart`, another run takes the place of this one.
    case restarted(byButton: Bool)
    /// A step `cancel` of this rule.
    case rule(String)
    case programStops, otherEngineLeads
    /// This engine reports the press of the run as interrupted, because the broker may not have received the claim of the press.
    case givenUp

    var text: String {
        switch self {
        case .ruleChanged: "cancelled: the rule was changed"
        case .ruleDisabled: "cancelled: the rule is disabled"
        case .restarted(true): "cancelled: pressed again (mode: restart)"
        case .restarted(false): "cancelled: triggered again (mode: restart)"
        case .rule(let rule): "cancelled by rule \(rule)"
        case .programStops: "cancelled: the program stops"
        case .otherEngineLeads: "cancelled: another engine leads"
        case .givenUp: "cancelled: its press is reported as interrupted"
        }
    }
}
