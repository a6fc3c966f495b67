package import ButtonModel

extension TriggerMode {
    /// The mode that `auto` stands for: the smallest that gives all these gestures, so that a click waits
    /// no longer than it must. With no gesture in use it is the one that gives them all.
    package init(serving gestures: Set<Gesture>) {
        let holds = gestures.contains(.hold) || gestures.contains(.holdRelease)
        let doubleClicks = gestures.contains(.doubleClick)
        self =
            switch (holds, doubleClicks) {
            case _ where gestures.isEmpty: .clickAndDoubleClickAndHold
            case (false, false): .click
            case (true, false): .clickAndHold
            case (false, true): .clickAndDoubleClick
            case (true, true): .clickAndDoubleClickAndHold
            }
    }
}
