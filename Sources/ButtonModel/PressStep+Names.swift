extension PressStep {
    private static let all: [PressStep] =
        [.down, .hold(ofSecondPress: false), .hold(ofSecondPress: true), .clickTimeout]
        + [.open, .click, .doubleClick, .afterHold, .afterHoldClick, .afterHoldDoubleClick].map(PressStep.up)

    /// The name of the step in recordings and in the feed of a site, such as `up_double_click`.
    package var name: String {
        switch self {
        case .down: "down"
        case .hold(ofSecondPress: false): "hold"
        case .hold(ofSecondPress: true): "hold_of_second_press"
        case .clickTimeout: "click_timeout"
        case .up(.open): "up"
        case .up(.click): "up_click"
        case .up(.doubleClick): "up_double_click"
        case .up(.afterHold): "up_after_hold"
        case .up(.afterHoldClick): "up_after_hold_click"
        case .up(.afterHoldDoubleClick): "up_after_hold_double_click"
        }
    }

    /// The inverse of `name`.
    package init?(name: String) {
        guard let step = PressStep.all.first(where: { $0.name == name }) else { return nil }
        self = step
    }
}
