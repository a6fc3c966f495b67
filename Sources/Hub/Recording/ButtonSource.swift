import ButtonModel
import Buttons
import Radios

/// The source of button reports for the hub: a `ButtonManager` with a radio, or a recording of its reports.
///
/// The hub learns about buttons through this type only, so a recording of its reports can replace the radio. In a replay,
/// inputs have no effect on buttons, because the recording contains their results.
struct ButtonSource: Sendable {
    private enum Origin {
        case radio
        case recordedRadio
        case recording
    }

    private var manager: ButtonManager
    private var origin = Origin.radio
    /// While recording: the reports since the last `takeReports`. While replaying: the reports that are not delivered
    /// yet.
    private var reports: [ButtonReport] = []
    /// True if a pairing search is under way in the recording.
    private var isSearchRecorded = false

    init(_ manager: ButtonManager) { self.manager = manager }

    /// Collects reports from now on, for `takeReports`.
    mutating func record() { origin = .recordedRadio }

    mutating func endRecording() {
        origin = .radio
        reports = []
    }

    /// True if only the reports given to `replay` are delivered.
    var followsRecording: Bool { origin == .recording }

    /// Delivers only the reports given to `replay` from now on.
    mutating func followRecording() { origin = .recording }

    /// The event that handling a packet will report (`ButtonManager.preview`); `nil` while reports are replayed.
    mutating func preview(_ packet: ButtonManager.Input, at now: Instant) -> (event: ButtonEvent, cursor: EventCursor)?
    {
        guard !followsRecording else { return nil }
        return manager.preview(packet, at: now)
    }

    mutating func handle(_ input: ButtonManager.Input, at now: Instant) -> [ButtonManager.Effect] {
        switch origin {
        case .radio: return manager.handle(input, at: now)
        case .recordedRadio:
            let effects = manager.handle(input, at: now)
            reports += effects.map(ButtonReport.effect)
            return effects
        case .recording:
            var effects: [ButtonManager.Effect] = []
            while case .effect(let effect) = reports.first {
                effects.append(effect)
                reports.removeFirst()
            }
            if effects.contains(.pairing(.searching)) { isSearchRecorded = true }
            if effects.contains(.pairing(.ended)) { isSearchRecorded = false }
            return effects
        }
    }

    /// The button's current record, including requested settings.
    mutating func knownButton(_ button: ButtonID) -> KnownButton? {
        if case .recording = origin {
            guard case .known(let known) = reports.first else { return nil }
            dropKnown()
            return known
        }
        let known = manager.knownButton(button)
        if case .recordedRadio = origin, let known { reports.append(.known(known)) }
        return known
    }

    /// Drops a recorded answer of `knownButton` for which this version of the hub does not ask.
    mutating func dropKnown() {
        if case .known = reports.first { reports.removeFirst() }
    }

    /// Sets the reports to deliver for the next input.
    mutating func replay(_ reports: [ButtonReport]) { self.reports = reports }

    /// True if reports given to `replay` are not delivered yet.
    var hasReports: Bool { !reports.isEmpty }

    /// Returns the reports since the last call.
    mutating func takeReports() -> [ButtonReport] {
        defer { reports = [] }
        return reports
    }

    var isSearching: Bool { followsRecording ? isSearchRecorded : manager.isSearching }

    /// The result of `ButtonManager.signals(of:at:)`. A recording does not contain it.
    func signals(of button: ButtonID, at now: Instant) -> [(radio: RadioID, rssi: Int, age: Duration)] {
        manager.signals(of: button, at: now)
    }

    /// The presses of the last day on a radio. A recording does not contain them.
    func crowding(of radio: RadioID, at now: Instant) -> Crowding.Day { manager.crowding(of: radio, at: now) }
    /// How often a radio heard buttons in the last full minute; `nil` with one adapter. A recording does not contain it.
    func heardPerMinute(by radio: RadioID, at now: Instant) -> Int? { manager.heardPerMinute(by: radio, at: now) }

    #if DEBUG
        func problems() -> [String] { manager.problems() }

        /// The cursor up to which the button may forget its events; `nil` for a button of a flicd.
        func acknowledgedCursor(of button: ButtonID) -> EventCursor? { manager.knownButton(button)?.cursor }
    #endif
}

/// A report of the `ButtonManager`.
enum ButtonReport: Hashable, Sendable {
    case effect(ButtonManager.Effect)
    /// An answer of `knownButton`.
    case known(KnownButton)
}
