package import ButtonModel

/// Reads one button's press steps as gestures, by the button's own verdicts.
///
/// All four modes come from the same steps; nothing is configured on the button:
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
/// The `up` of a press whose `hold` was reported gives `hold_release`, before anything else it gives.
package struct Recogniser: Hashable, Sendable {
    /// The hold of the press going on was reported.
    private var holdsReported = false
    /// Some press of the train going on was stored by the button.
    private var trainWasQueued = false
    private var trainIsOpen = false

    package init() {}

    /// What a step completed.
    package struct Recognised: Hashable, Sendable {
        package var gesture: Gesture
        /// Some press of the gesture was stored by the button while it was out of reach.
        package var wasQueued: Bool

        package init(gesture: Gesture, wasQueued: Bool = false) {
            self.gesture = gesture
            self.wasQueued = wasQueued
        }
    }

    /// The gestures this step completes: none, one, or a `hold_release` and one more.
    package mutating func recognise(_ step: PressStep, wasQueued: Bool = false, in mode: TriggerMode) -> [Recognised] {
        if !trainIsOpen { trainWasQueued = false }
        trainWasQueued = trainWasQueued || wasQueued
        trainIsOpen = step.leavesTrainOpen

        var gestures: [Gesture] = []
        switch step {
        case .down:
            holdsReported = false
        case .up:
            if holdsReported { gestures.append(.holdRelease) }
            holdsReported = false
        case .hold, .clickTimeout:
            break
        }
        if let gesture = Recogniser.gesture(for: step, in: mode) {
            if gesture == .hold { holdsReported = true }
            gestures.append(gesture)
        }
        return gestures.map { Recognised(gesture: $0, wasQueued: trainWasQueued) }
    }

    /// The table above.
    private static func gesture(for step: PressStep, in mode: TriggerMode) -> Gesture? {
        switch (step, mode) {
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

extension Recogniser {
    /// A text that brings the recogniser back after a restart; empty when nothing is under way.
    package var saved: String {
        (holdsReported ? "h" : "") + (trainIsOpen ? "o" : "") + (trainIsOpen && trainWasQueued ? "q" : "")
    }

    /// From `saved`. After a restart a train under way goes on as queued; letters we do not know are passed over.
    package init(saved: String) {
        holdsReported = saved.contains("h")
        trainIsOpen = saved.contains("o")
        trainWasQueued = trainIsOpen
    }
}

extension PressStep {
    /// Whether the button may still add to the gesture this step belongs to.
    fileprivate var leavesTrainOpen: Bool {
        switch self {
        case .down, .hold, .up(.open): true
        case .clickTimeout, .up(.click), .up(.doubleClick), .up(.afterHold), .up(.afterHoldClick),
            .up(.afterHoldDoubleClick):
            false
        }
    }
}
