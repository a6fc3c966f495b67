/// Which hardware a button is. The raw value is the word used everywhere.
public enum FlicModel: String, CaseIterable, Hashable, Sendable {
    /// Only through a flicd: its own protocol is not public.
    case flic1
    case flic2
    /// Two buttons, `big` and `small`; knows swipes, and turns while it is pressed.
    case duo
    /// A dial that is a button, too.
    case twist
}
