package import ButtonModel
package import Expressions
package import Gestures

/// Everything between what the buttons did and what is to be done: gestures, states and variables, gates, runs.
///
/// The interface; to be written.
package struct RuleEngine: Sendable {
    package enum Input: Hashable, Sendable {
        /// The wall clock now; at the start, and whenever it was set. Not believed: earlier than the program's build.
        case wallClock(UTCTime, isBelievable: Bool)
        /// The buttons that exist now; names in rules are resolved against them.
        case buttonsChanged([ButtonIdentity])
        /// What one notification of a button brought.
        case pressed([ButtonEvent])
        case moved(ButtonMovement)
        /// As if it had been recognised: from a rule test.
        case recognised(Recognised)
        /// Its link came or went. Only what changes is an event, and the first `true` of each button after the start is none.
        case linkChanged(ButtonID, isConnected: Bool)
        /// Percent.
        case battery(ButtonID, Int64)
        case batteryLow(ButtonID)
        case brokerChanged(isConnected: Bool)
        /// A message on a topic of `subscriptions`.
        case message(topicName: String, payload: [UInt8])
        /// A message was handed over to the broker: from here its timeout counts.
        case handedOver(StepID)
        case stepFinished(StepID, StepOutcome)
        /// A new set takes the place of the old one, between two events.
        case reloaded(RuleSet)
        case requested(Request)
        case timerFired
        /// The program ends: nothing is started any more, runs are kept or cut off.
        case stop
    }

    /// What people and other programs may ask. Names are checked by the caller (`rule(named:)`, `variable(named:)`).
    package enum Request: Hashable, Sendable {
        /// A manual run; `trigger.manual` is true.
        case run(rule: String, ignoringConditions: Bool, isDryRun: Bool)
        case setEnabled(rule: String, Bool)
        /// Already of the variable's type and among its values.
        case setVariable(String, Value)
        /// Mode set at run time; `nil`: as the rules need.
        case setTriggerMode(ButtonID, TriggerMode?)
    }

    package enum Effect: Hashable, Sendable {
        /// Something a button did, for those who listen. It stands before what the rules make of it.
        case recognised(Recognised)
        case started(RunID, rule: String, Occurrence)
        case stopped(rule: String, Gate, Occurrence, reason: String)
        /// Carry this out and answer with `stepFinished` (a `log` needs no answer).
        case perform(StepID, Action, rule: String, Occurrence)
        /// Give it up; its answer, if one still comes, is ignored.
        case cancel(StepID)
        /// - Parameter step: its alias or path; `place`: where it stands.
        case stepFailed(RunID, rule: String, step: String, Place, code: String, message: String, isFinal: Bool)
        case finished(RunID, rule: String, RunResult)
        /// A run of a former process, or one that waited its turn.
        case interrupted(RunID, rule: String, Occurrence)
        case keep(RuleStateChange)
        case variableChanged(String, Value)
        case enabledChanged(rule: String, Bool)
        /// Topic filters to add and to give up.
        case subscribe([String])
        case unsubscribe([String])
        /// For the log; not what a `log` step says.
        case log(LogLevel, String)
        case setTimer(Instant)
        case cancelTimer
    }

    /// Runs of all rules together, at most; a match beyond that is dropped as busy.
    package static let maximumRuns = 1000

    /// The set that runs now.
    package private(set) var set: RuleSet

    /// - Parameters:
    ///   - state: what was kept. What no longer fits is discarded, and said at the first input.
    ///   - nextRun: the number of the first run.
    package init(_ set: RuleSet, state: RuleState = RuleState(), nextRun: RunID = RunID(rawValue: 1)) {
        self.set = set
    }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] { [] }

    // MARK: What others ask

    /// The topics of all states.
    package var subscriptions: [String] { [] }
    /// The name the rules have for this button: the first that fits.
    package func declaredName(of button: ButtonID) -> String? { nil }
    /// The button that a declared name, a uuid, serial, address or nickname means now.
    package func button(named name: String) -> ButtonID? { nil }
    /// The policy for events no rule looks at, such as those for MQTT: the button's, else the default.
    package func queuedPolicy(of button: ButtonID) -> QueuedPolicy { .standard }
    package func listening(to button: ButtonID) -> Listening { Listening() }
    /// What was set at run time, if it can serve the rules; otherwise why not.
    package func refusal(of mode: TriggerMode, for button: ButtonID) -> String? { nil }
    /// The undecided train of a button, to be kept with its events.
    package func savedTrain(of button: ButtonID) -> String { "" }
    /// Before the first event.
    package mutating func restoreTrain(of button: ButtonID, _ saved: String, at now: Instant) {}

    package func isEnabled(rule: String) -> Bool? { nil }
    package func value(of variable: String) -> Value? { nil }
    package func value(ofState state: String) -> Value? { nil }
    package func statistics(of rule: String) -> RuleStatistics? { nil }
    /// The latest outcome since the start.
    package func latestOutcome(of rule: String) -> Outcome? { nil }
    /// The last twenty runs, the latest last.
    package func traces(of rule: String) -> [RunTrace] { [] }
    /// What the rules would do now, performing nothing.
    package func explain(_ event: Recognised, at now: Instant) -> Explanation { Explanation() }
}

/// How a button's presses are read, and what that costs.
package struct Listening: Hashable, Sendable {
    /// `nil`: by the rules' own times, from `down` and `up`.
    package var mode: TriggerMode?
    package var isFixed: Bool
    /// How long a click waits after its `down`; `nil`: until the `up`. Zero: not at all.
    package var clickWait: Duration?
    /// The rule that makes it wait.
    package var cause: String?
    /// The gestures in use: `click`, `clicks_3`, …; what Home Assistant is told besides the four.
    package var gestures: Set<[PressLength]>

    package init(
        mode: TriggerMode? = .clickAndDoubleClickAndHold, isFixed: Bool = false,
        clickWait: Duration? = .milliseconds(500), cause: String? = nil, gestures: Set<[PressLength]> = []
    ) {
        self.mode = mode
        self.isFixed = isFixed
        self.clickWait = clickWait
        self.cause = cause
        self.gestures = gestures
    }
}
