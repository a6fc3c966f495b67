import Almanac
package import ButtonModel
package import Expressions
import Gestures
package import JSON

/// A test in the rule files: the initial situation, the simulated events, and the expected effects.
package struct RuleTest: Hashable, Sendable {
    package struct Given: Hashable, Sendable {
        /// If `nil`, 2026-01-15 12:00 in the set's time zone.
        package var now: UTCTime?
        /// The values as text from the file, as if received as payloads.
        package var states: [Assigned] = []
        package var variables: [Assigned] = []
        package var brokerIsOnline = true
        /// The ids of the disabled rules.
        package var disabled: [String] = []
        package var results: [SimulatedResult] = []

        package init() {}
    }

    /// A value for a state or a variable. The name is resolved when the test runs, because a `reload` may have loaded
    /// another set.
    package struct Assigned: Hashable, Sendable {
        package var name: String
        package var value: Value
        /// The topic whose message sets the value, for a state whose topic has wildcards (`as`).
        package var topicName: String?

        package init(_ name: String, _ value: Value, topicName: String? = nil) {
            self.name = name
            self.value = value
            self.topicName = topicName
        }
    }

    /// The result that a program or a web server returns in the test.
    package struct SimulatedResult: Hashable, Sendable {
        package enum Kind: String, CaseIterable, Hashable, Sendable { case run, shell, http }

        package var kind: Kind
        /// A prefix of the arguments joined with spaces, of the shell script, or of the URL.
        package var prefix: String
        package var exit: Int
        package var stdout: String
        package var stderr: String
        /// The HTTP status.
        package var status: Int
        package var body: String
        package var takes: Duration

        package init(
            kind: Kind, prefix: String, exit: Int = 0, stdout: String = "", stderr: String = "", status: Int = 200,
            body: String = "", takes: Duration = .zero
        ) {
            self.kind = kind
            self.prefix = prefix
            self.exit = exit
            self.stdout = stdout
            self.stderr = stderr
            self.status = status
            self.body = body
            self.takes = takes
        }
    }

    package var name: String
    package var given: Given
    package var steps: [TestStep]
    package var location: SourceLocation

    package init(name: String, given: Given = Given(), steps: [TestStep], location: SourceLocation = SourceLocation()) {
        self.name = name
        self.given = given
        self.steps = steps
        self.location = location
    }
}

package struct TestStep: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case event(SimulatedEvent)
        /// The name of a declared button.
        case down(String)
        case up(String)
        /// - Parameter gap: the time from `up` to the next `down`; `duration`: the time from `down` to `up`.
        case press(String, times: Int, gap: Duration, duration: Duration)
        case chord([String])
        case advance(Duration)
        /// The clock is set.
        case time(ClockSetting)
        case state([RuleTest.Assigned])
        case broker(isOnline: Bool)
        /// The next numbers of the function `random`.
        case random([Int64])
        /// The id of a rule.
        case run(String)
        /// If `nil`, reloads the same files. Otherwise loads the set of another entry file, which was read with this
        /// one.
        case reload(ReloadResult?)
        case restart(stoppedFor: Duration)

        case expect([ExpectedEffect])
        case expectVariables([RuleTest.Assigned])
        case expectRules([ExpectedOutcome])
    }

    package var kind: Kind
    /// The location of the step's key.
    package var location: SourceLocation

    package init(_ kind: Kind, location: SourceLocation = SourceLocation()) {
        self.kind = kind
        self.location = location
    }
}

/// The time to which a step of a test sets the clock.
package enum ClockSetting: Hashable, Sendable {
    /// The local time of day, in seconds, of the day that it is in the test.
    case ofDay(second: Int)
    case moment(UTCTime)
}

/// The result of loading the file of `reload: FILE` in a rule test. If the file has errors, the earlier rules stay in use.
package indirect enum ReloadResult: Hashable, Sendable {
    case set(RuleSet)
    case hasErrors(file: String)
}

/// `event:` simulates a recognised event of a button.
package struct SimulatedEvent: Hashable, Sendable {
    /// The name of a declared button.
    package var button: String
    package var event: TriggerEvent
    package var part: ButtonPart?
    /// The rotation in hundredths of a turn, clockwise positive.
    package var steps: Int
    /// The position of the dial after a rotation, 0…100; if `nil`, 0.
    package var position: Int?
    /// The slot of a Twist's rotation, 1…12; if `nil`, the first slot or, while pressed, the slot that the position
    /// selects.
    package var slot: Int?
    package var heldFor: Duration?
    package var wasQueued: Bool
    package var wasQueuedLast: Bool
    package var age: Duration

    package init(
        button: String, event: TriggerEvent, part: ButtonPart? = nil, steps: Int = 1, position: Int? = nil,
        slot: Int? = nil, heldFor: Duration? = nil, wasQueued: Bool = false, wasQueuedLast: Bool = false,
        age: Duration = .zero
    ) {
        self.button = button
        self.event = event
        self.part = part
        self.steps = steps
        self.position = position
        self.slot = slot
        self.heldFor = heldFor
        self.wasQueued = wasQueued
        self.wasQueuedLast = wasQueuedLast
        self.age = age
    }
}

/// An entry of `expect`: an effect, with the fields that the test specifies.
package struct ExpectedEffect: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case publish(topic: String?, payload: ExpectedContent?, qos: Int?, retain: Bool?)
        /// - Parameter arguments: the complete list; for `shell`, `script` and its arguments.
        case run(arguments: [String]?, environment: [ExpectedField], directory: String?, stdin: String?)
        case shell(
            script: String?, arguments: [String]?, environment: [ExpectedField], directory: String?, stdin: String?)
        case http(url: String?, method: String?, headers: [ExpectedField], body: ExpectedContent?)
        case log(level: LogLevel?, message: String?)
    }

    package var kind: Kind
    /// The time since the previous `expect`.
    package var at: Duration?
    package var location: SourceLocation

    package init(_ kind: Kind, at: Duration? = nil, location: SourceLocation = SourceLocation()) {
        self.kind = kind
        self.at = at
        self.location = location
    }
}

package enum ExpectedContent: Hashable, Sendable {
    case text(String)
    /// Compared as JSON values.
    case json(JSONValue)
    /// Only the keys of this value are compared, in depth.
    case jsonIncluding(JSONValue)
}

/// An environment variable of a program, or an HTTP header.
package struct ExpectedField: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

package struct ExpectedOutcome: Hashable, Sendable {
    /// The id of a rule.
    package var rule: String
    package var outcome: Outcome

    package init(rule: String, outcome: Outcome) {
        self.rule = rule
        self.outcome = outcome
    }
}
