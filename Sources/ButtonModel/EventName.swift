/// The names of button events in topics, in `trigger.event`, in rule files and on the command line.
///
/// The raw values of `RawEvent`, `Gesture`, `SwipeDirection` and `RotationDirection` are event names, too; this enum
/// has the other names. `RecognisedEvent.Kind` and `TriggerEvent` take all their names from these five types.
public enum EventName {
    /// The name of all patterns with a long press.
    public static let pattern = "pattern"
    public static let chord = "chord"
    public static let connected = "connected"
    public static let disconnected = "disconnected"
    public static let batteryLow = "battery_low"

    /// The numbers of short presses whose name has the form `clicks_3`.
    public static let clickCounts = 3...8

    /// The name of a number of short presses, from 1: `click`, `double_click`, `clicks_3`.
    public static func clicks(_ count: Int) -> String {
        switch count {
        case 1: Gesture.click.rawValue
        case 2: Gesture.doubleClick.rawValue
        default: clicksPrefix + String(count)
        }
    }

    /// Parses the name of a number of short presses. `clicks_1` and `clicks_2` are accepted as well.
    public static func clickCount(_ name: String) -> Int? {
        switch name {
        case Gesture.click.rawValue: return 1
        case Gesture.doubleClick.rawValue: return 2
        default:
            guard name.hasPrefix(clicksPrefix), let count = Int(name.dropFirst(clicksPrefix.count)),
                (1...clickCounts.upperBound).contains(count)
            else { return nil }
            return count
        }
    }

    private static let clicksPrefix = "clicks_"
}

extension RotationDirection {
    /// The direction of a sum of steps, which is not 0.
    public init(steps: Int) { self = steps > 0 ? .clockwise : .counterClockwise }
}
