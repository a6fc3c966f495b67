import ButtonModel
import Buttons

/// The buttons' side of the hub: the radio, or a recording of what it said.
///
/// The hub knows of the buttons what this answers, and nothing else: that is what makes a recording of the answers a
/// recording of the radio. What the hub asks of a recording leads to nothing; the answers are there already.
struct ButtonSource: Sendable {
    private enum Origin {
        case radio
        case recordedRadio
        case recording
    }

    private var manager: ButtonManager
    private var origin = Origin.radio
    /// To the input that is being handled: said so far, or still to be said.
    private var reports: [ButtonReport] = []
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
            reports += answers.map(ButtonReport.said)
            return answers
        case .recording:
            var answers: [ButtonManager.Effect] = []
            while case .said(let answer) = reports.first {
                answers.append(answer)
                reports.removeFirst()
            }
            if answers.contains(.pairing(.searching)) { isSearchRecorded = true }
            if answers.contains(.pairing(.ended)) { isSearchRecorded = false }
            return answers
        }
    }

    /// As it is now, with what it was asked for.
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

    /// Passes over an answer to a question that is not asked any more.
    mutating func dropKnown() {
        if case .known = reports.first { reports.removeFirst() }
    }

    /// What it answers to the next input.
    mutating func replay(_ reports: [ButtonReport]) { self.reports = reports }

    /// Some of what `replay` was given was not asked for.
    var hasReports: Bool { !reports.isEmpty }

    mutating func takeReports() -> [ButtonReport] {
        defer { reports = [] }
        return reports
    }

    var isSearching: Bool { followsRecording ? isSearchRecorded : manager.isSearching }
}

/// Something that the buttons' side said.
enum ButtonReport: Hashable, Sendable {
    case said(ButtonManager.Effect)
    /// When it was asked.
    case known(KnownButton)
}
