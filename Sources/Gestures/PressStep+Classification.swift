import ButtonModel

extension PressStep {
    /// The button's own classification of this step in a trigger mode. It follows from the step alone; the mode is not
    /// configured on the button.
    ///
    /// | step               | click | click_and_hold | click_and_double_click | …_and_hold   |
    /// |--------------------|-------|----------------|------------------------|--------------|
    /// | down               | click |                |                        |              |
    /// | up, open           |       | click          |                        |              |
    /// | up, click          |       | click          | click                  | click        |
    /// | up, double click   |       | click          | double_click           | double_click |
    /// | up, after hold     |       |                |                        |              |
    /// | … as a click       |       |                | click                  |              |
    /// | … as a double click|       |                | double_click           | double_click |
    /// | click timeout      |       |                | click                  | click        |
    /// | hold               |       | hold           |                        | hold         |
    /// | hold, second press |       | hold           |                        |              |
    ///
    /// - Source: protocol notes, 7.
    func classification(in mode: TriggerMode) -> Gesture? {
        switch (self, mode) {
        case (.down, .click): .click
        case (_, .click): nil
        case (.down, _): nil

        case (.up(.open), .clickAndHold), (.up(.click), .clickAndHold), (.up(.doubleClick), .clickAndHold): .click
        case (.up(.afterHold), .clickAndHold), (.up(.afterHoldClick), .clickAndHold),
            (.up(.afterHoldDoubleClick), .clickAndHold), (.clickTimeout, .clickAndHold):
            nil
        case (.hold, .clickAndHold): .hold

        case (.up(.open), .clickAndDoubleClick), (.up(.open), .clickAndDoubleClickAndHold): nil
        case (.up(.click), .clickAndDoubleClick), (.up(.click), .clickAndDoubleClickAndHold): .click
        case (.up(.doubleClick), .clickAndDoubleClick), (.up(.doubleClick), .clickAndDoubleClickAndHold),
            (.up(.afterHoldDoubleClick), .clickAndDoubleClick),
            (.up(.afterHoldDoubleClick), .clickAndDoubleClickAndHold):
            .doubleClick
        case (.up(.afterHold), .clickAndDoubleClick), (.up(.afterHold), .clickAndDoubleClickAndHold): nil
        case (.up(.afterHoldClick), .clickAndDoubleClick): .click
        case (.up(.afterHoldClick), .clickAndDoubleClickAndHold): nil
        case (.clickTimeout, .clickAndDoubleClick), (.clickTimeout, .clickAndDoubleClickAndHold): .click
        case (.hold, .clickAndDoubleClick): nil
        case (.hold(let ofSecondPress), .clickAndDoubleClickAndHold): ofSecondPress ? nil : .hold
        }
    }
}
