import ButtonModel
import Gestures
import TestSupport

extension GestureRecogniser: StateMachine {}

extension ButtonID {
    static let kitchen = ButtonID(BluetoothAddress(rawValue: 1))
    static let hall = ButtonID(BluetoothAddress(rawValue: 2))
    static let sofa = ButtonID(BluetoothAddress(rawValue: 3))
}

extension Instant {
    static let start = Instant(sinceBoot: .seconds(1000))
}

extension Recognised {
    /// As short as it can be said: `click`, `sssl`, `hold 1000`, `turn -3`.
    var word: String {
        switch what {
        case .down: "down"
        case .up: "up"
        case .pattern(.click): "click"
        case .pattern(.doubleClick): "double_click"
        case .pattern(let lengths): lengths.map { $0 == .short ? "s" : "l" }.joined()
        case .hold(let after) where after == .seconds(1): "hold"
        case .hold(let after): "hold \(after.milliseconds)"
        case .holdRelease: "hold_release"
        case .chord(let place): "chord \(place)"
        case .swipe(let direction): direction.rawValue
        case .rotation(let steps, _): "turn \(steps)"
        }
    }
}
