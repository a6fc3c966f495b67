/// The model of a button. The raw value is its name in topics, rules and records.
public enum FlicModel: String, CaseIterable, Hashable, Sendable {
    /// Flic 1. It is supported only through a flicd, because its protocol is not public.
    case flic1
    case flic2
    /// Flic Duo: two buttons, `big` and `small`. It recognizes swipes, and turns while it is pressed.
    case duo
    /// Flic Twist: a dial that can also be pressed.
    case twist
}
