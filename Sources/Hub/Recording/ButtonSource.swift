import ButtonModel
import Buttons

/// The buttons' side of the hub: the radio, or a recording of what it said.
///
/// The hub knows of the buttons what `handle` answers, and nothing else: that is what makes a recording of the answers
/// a recording of the radio. What the hub asks of a recording leads to nothing; the answers are there already.
struct ButtonSource: Sendable {
    private enum Origin {
        case radio
        case recordedRadio
        case recording
    }

    private var manager: ButtonManager
    private var origin = Origin.radio
    /// To the input that is being handled: said so far, or still to be said.
    private var reports: [ButtonManager.Effect] = []
    private var isSearchRecorded = false

    init(_ manager: ButtonManager) { self.manager = manager }

    /// What it says from here on is kept for `takeReports`.
    mutating func record() { origin = .recordedRadio }

    mutating func endRecording() {
        origin = .radio
        reports = []
    }

    var followsRecording: Bool { origin == .recording }

    /// From here on it says what `replay` was given, and nothing by itself.
    mutating func followRecording() { origin = .recording }

    mutating func handle(_ input: ButtonManager.Input, at now: Instant) -> [ButtonManager.Effect] {
        switch origin {
        case .radio: return manager.handle(input, at: now)
        case .recordedRadio:
            let answers = manager.handle(input, at: now)
            reports += answers
            return answers
        case .recording:
            for case .pairing(let progress) in reports {
                if progress == .searching { isSearchRecorded = true }
                if progress == .ended { isSearchRecorded = false }
            }
            return takeReports()
        }
    }

    /// The next call of `handle` answers with this.
    mutating func replay(_ reports: [ButtonManager.Effect]) { self.reports = reports }

    /// Some of what `replay` was given was not asked for.
    var hasReports: Bool { !reports.isEmpty }

    mutating func takeReports() -> [ButtonManager.Effect] {
        defer { reports = [] }
        return reports
    }

    var isSearching: Bool { followsRecording ? isSearchRecorded : manager.isSearching }
}
