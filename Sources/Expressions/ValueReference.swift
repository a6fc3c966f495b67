/// The value of a state before or after a change, for expressions in `from` and `to` of a trigger. The raw value is the
/// name in the language.
package enum ChangeValue: String, CaseIterable, Hashable, Sendable {
    case old, new
}

/// The location of a value in `EvaluationContext`, resolved at compile time.
package enum ValueReference: Hashable, Sendable {
    case trigger(TriggerField)
    case state(Int)
    case variable(Int)
    case button(Int, ButtonField)
    case rule(Int, RuleField)
    case result(Int, ResultField)
    case input(Int)
    case error(ErrorField)
    case now(NowField)
    case sun(SunField)
    case broker(BrokerField)
    case `repeat`(RepeatField)
    case change(ChangeValue)
}
