import ButtonModel

extension FlicdFamily {
    /// The button events that report a step of a press, in the order of their families. flicd has no event for a swipe,
    /// which is reported as an up without a click.
    ///
    /// | step                  | 4    | 5     | 6           | 7           |
    /// |-----------------------|------|-------|-------------|-------------|
    /// | down                  | down |       |             |             |
    /// | hold                  |      | hold  |             | hold        |
    /// | hold, second press    |      | hold  |             |             |
    /// | half a second later   |      |       | single      | single      |
    /// | up, still open        | up   | click |             |             |
    /// | up, a click           | up   | click | single      | single      |
    /// | up, a double click    | up   | click | double      | double      |
    /// | up, after a hold      | up   |       |             |             |
    /// | …, single without it  | up   |       | single      |             |
    /// | …, of a second press  | up   |       | double      | double      |
    ///
    /// - Source: flicd notes, 6.3.
    static func clickTypes(of event: ButtonEvent) -> [(FlicdFamily, FlicdClickType)] {
        switch event.step {
        case .up where event.swipe != nil: [(.upOrDown, .buttonUp)]
        case .down: [(.upOrDown, .buttonDown)]
        case .hold(ofSecondPress: false): [(.clickOrHold, .buttonHold), (.singleOrDoubleClickOrHold, .buttonHold)]
        case .hold(ofSecondPress: true): [(.clickOrHold, .buttonHold)]
        case .clickTimeout:
            [(.singleOrDoubleClick, .buttonSingleClick), (.singleOrDoubleClickOrHold, .buttonSingleClick)]
        case .up(.open): [(.upOrDown, .buttonUp), (.clickOrHold, .buttonClick)]
        case .up(.click):
            [
                (.upOrDown, .buttonUp), (.clickOrHold, .buttonClick), (.singleOrDoubleClick, .buttonSingleClick),
                (.singleOrDoubleClickOrHold, .buttonSingleClick),
            ]
        case .up(.doubleClick):
            [
                (.upOrDown, .buttonUp), (.clickOrHold, .buttonClick), (.singleOrDoubleClick, .buttonDoubleClick),
                (.singleOrDoubleClickOrHold, .buttonDoubleClick),
            ]
        case .up(.afterHold): [(.upOrDown, .buttonUp)]
        case .up(.afterHoldClick): [(.upOrDown, .buttonUp), (.singleOrDoubleClick, .buttonSingleClick)]
        case .up(.afterHoldDoubleClick):
            [
                (.upOrDown, .buttonUp), (.singleOrDoubleClick, .buttonDoubleClick),
                (.singleOrDoubleClickOrHold, .buttonDoubleClick),
            ]
        }
    }
}
