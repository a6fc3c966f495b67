import ButtonModel
import CommandText
import Gestures
import JSON
import MQTTTopics
import Rules
import Simulator

/// Tracks the effects of one press that have not been observed yet: movements of the button, gestures, runs of rules,
/// and messages that come back from the broker.
///
/// Every press of a button becomes part of exactly one gesture: a click takes one press, a double click two; a hold, a
/// swipe, and a turn of at least `Vocabulary.minimumTurn` take one each. As long as a button that moved has a press
/// that is in no gesture, or its hold is not released, another event has to follow, whatever the trigger mode of the button.
///
/// The daemon's lines and the broker's messages come over two connections, in any order.
struct PressTracker: Hashable, Sendable {
    struct Message: Hashable, Sendable {
        var topicName: String
        var payload: String
    }

    private struct Train: Hashable {
        /// Presses that are not yet part of a gesture.
        var undecidedPresses = 0
        var isHeld = false
        /// Hundredths of a whole turn, since the last `down`.
        var turned = 0
    }

    private var awaitedDowns = 0
    private var awaitedUps = 0
    private var awaitedTurns = 0
    /// False after a mere `down`: its gesture belongs to a later `up`.
    private var waitsForGestures = true
    /// By the button's id.
    private var trains: [String: Train] = [:]
    /// The buttons that have moved since `begin`. Another button may be held down meanwhile.
    private var movedButtons: Set<String> = []
    private var runs: [Int64: String] = [:]
    /// For each message, how often it was sent, less how often it came back.
    private var undelivered: [Message: Int] = [:]
    /// The latest step that failed, with its reason, by run.
    private var reasons: [Int64: String] = [:]
    /// A sentence about the first run that failed.
    private(set) var failure: String?

    /// Begins to track a press. Effects of earlier presses are over, or are still counted because they were not waited
    /// for.
    mutating func begin(_ action: SimulatedAction) {
        (awaitedDowns, awaitedUps, awaitedTurns) = (0, 0, 0)
        waitsForGestures = true
        movedButtons = []
        switch action {
        case .press(.click, _), .press(.hold, _), .press(.makePublic, _), .swipe: (awaitedDowns, awaitedUps) = (1, 1)
        case .press(.doubleClick, _): (awaitedDowns, awaitedUps) = (2, 2)
        case .press(.down, _):
            awaitedDowns = 1
            waitsForGestures = false
        case .press(.up, _): awaitedUps = 1
        case .turn:
            awaitedTurns = 1
            // A button may be held down while it is turned.
            waitsForGestures = false
        case .pushTurn: (awaitedDowns, awaitedUps, awaitedTurns) = (1, 1, 1)
        }
    }

    /// A line of the daemon's live stream.
    mutating func received(_ line: JSONValue) {
        let kind = StreamKind(line)
        if kind == .event { happened(line.text("event"), on: line.text("id"), line) }
        if kind == .rule { ruleProceeded(line) }
        if kind == .publish { count(Message(line), by: 1) }
    }

    /// Counts a message that came back from the broker.
    mutating func delivered(_ message: Message) { count(message, by: -1) }

    var isSettled: Bool { awaited == nil }

    /// True if only runs of rules are not over yet. They may wait for the next press.
    var isInRunsOnly: Bool { awaitedMove == nil && awaitedMessage == nil && runningRule != nil }

    /// The first rule that still runs.
    var runningRule: String? { runs.min { $0.key < $1.key }?.value }

    /// The first thing that is awaited, for people; `nil` when nothing is.
    var awaited: String? { awaitedMove ?? runningRule.map { "rule \($0) to end" } ?? awaitedMessage }

    private var awaitedMove: String? {
        if awaitedDowns > 0 || awaitedUps > 0 || awaitedTurns > 0 { return "the button to move" }
        let moved = movedButtons.compactMap { trains[$0] }
        if waitsForGestures, moved.contains(where: { $0.undecidedPresses > 0 || $0.isHeld }) {
            return "the press to become a gesture"
        }
        return nil
    }

    private var awaitedMessage: String? {
        undelivered.filter { $0.value > 0 }.map(\.key.topicName).min().map { "the message on \($0) to arrive" }
    }

    private mutating func happened(_ event: String, on button: String, _ line: JSONValue) {
        var train = trains[button] ?? Train()
        switch event {
        case RawEvent.down.rawValue:
            movedButtons.insert(button)
            awaitedDowns = max(0, awaitedDowns - 1)
            train.undecidedPresses += 1
            train.turned = 0
        case RawEvent.up.rawValue:
            movedButtons.insert(button)
            awaitedUps = max(0, awaitedUps - 1)
        case Gesture.click.rawValue, SwipeDirection.left.rawValue, SwipeDirection.right.rawValue,
            SwipeDirection.up.rawValue, SwipeDirection.down.rawValue:
            train.undecidedPresses = max(0, train.undecidedPresses - 1)
        case Gesture.doubleClick.rawValue: train.undecidedPresses = max(0, train.undecidedPresses - 2)
        case Gesture.hold.rawValue:
            train.undecidedPresses = max(0, train.undecidedPresses - 1)
            train.isHeld = true
        case Gesture.holdRelease.rawValue: train.isHeld = false
        case RotationDirection.clockwise.rawValue, RotationDirection.counterClockwise.rawValue:
            awaitedTurns = max(0, awaitedTurns - 1)
            if line.text("part") != ButtonPart.dial.rawValue {
                turned(by: Int(line["steps"]?.integerValue ?? 0), &train)
            }
        default: return
        }
        trains[button] = train
    }

    /// A press that is turned by at least `Vocabulary.minimumTurn` becomes no click: the turn uses it up.
    private func turned(by steps: Int, _ train: inout Train) {
        let wasTurn = train.turned.magnitude >= Vocabulary.minimumTurn
        train.turned += max(-SimulatedAction.maximumTurn, min(steps, SimulatedAction.maximumTurn))
        guard !wasTurn, train.turned.magnitude >= Vocabulary.minimumTurn, !train.isHeld else { return }
        train.undecidedPresses = max(0, train.undecidedPresses - 1)
    }

    private mutating func ruleProceeded(_ line: JSONValue) {
        guard let run = line["run"]?.integerValue else { return }
        let rule = line.text("rule")
        switch line.text("outcome") {
        case "started": runs[run] = rule
        case "step_failed":
            reasons[run] = "\(line.text("step")): \(line.text("reason")) (\(line.text("code")))"
        case let outcome:
            guard let result = RunResult(rawValue: outcome) else { break }
            runs[run] = nil
            guard result == .failed, failure == nil else { break }
            failure = "Rule \(rule) failed" + (reasons[run].map { " at \($0)." } ?? ".")
        }
    }

    private mutating func count(_ message: Message, by difference: Int) {
        let count = (undelivered[message] ?? 0) + difference
        undelivered[message] = count == 0 ? nil : count
    }
}
