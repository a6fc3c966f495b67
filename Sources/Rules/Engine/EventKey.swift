import ButtonModel
import Gestures

/// The key under which the index finds rules for an event of a button. It contains no texts or arrays, because it is
/// hashed for every event.
enum EventKey: Hashable, Sendable {
    case down, up, holdRelease
    case pattern(PatternCode)
    /// - Parameter nanoseconds: the duration after which the hold fires.
    case hold(nanoseconds: Int64)
    /// A hold after the button's own `hold_after`.
    case standardHold
    /// An index in the list of chords of the `RuleIndex`.
    case chord(Int)
    case swipe(SwipeDirection)
    /// - Parameter nanoseconds: the duration of `collect`.
    case rotate(isClockwise: Bool, nanoseconds: Int64)
    case connected, disconnected, batteryLow

    init(_ event: TriggerEvent) {
        self =
            switch event {
            case .down: .down
            case .up: .up
            case .pattern(let presses): .pattern(PatternCode(presses))
            case .hold(let after): after.map { .hold(nanoseconds: $0.nanoseconds) } ?? .standardHold
            case .holdRelease: .holdRelease
            case .swipe(let direction): .swipe(direction)
            case .rotate(let direction, let collect):
                .rotate(isClockwise: direction == .clockwise, nanoseconds: collect.nanoseconds)
            case .connected: .connected
            case .disconnected: .disconnected
            case .batteryLow: .batteryLow
            }
    }

    init(_ what: RecognisedEvent.Kind) {
        self =
            switch what {
            case .down: .down
            case .up: .up
            case .pattern(let presses): .pattern(PatternCode(presses))
            case .hold(let after): .hold(nanoseconds: after.nanoseconds)
            case .holdRelease: .holdRelease
            case .chord(let index): .chord(index)
            case .swipe(let direction): .swipe(direction)
            case .rotation(let steps, let collect):
                .rotate(isClockwise: steps > 0, nanoseconds: collect.nanoseconds)
            }
    }
}

/// A pattern of at most fifteen presses as a number: a leading 1 bit, and then a bit for each press, set for a long
/// press.
struct PatternCode: Hashable, Sendable {
    let rawValue: UInt16

    /// Patterns have at most eight presses. Of patterns longer than fifteen presses, only the last fifteen are used.
    init(_ presses: [PressLength]) {
        rawValue = presses.reduce(1) { code, press in
            code & 0x8000 == 0 ? code << 1 | (press == .long ? 1 : 0) : 0x8000 | (code << 1 | (press == .long ? 1 : 0))
        }
    }
}
