import Almanac
package import ButtonModel
package import Expressions
import Gestures
package import JSON

/// A test of the rule files: what is given, what happens, what is expected.
package struct RuleTest: Hashable, Sendable {
    package struct Given: Hashable, Sendable {
        /// `nil`: 2026-01-15 12:00 in the set's zone.
        package var now: UTCTime?
        /// Texts as in the file; of a number its spelling. As a topic's payload would bring them.
        package var states: [Assigned] = []
        package var variables: [Assigned] = []
        package var brokerIsOnline = true
        /// Rule ids.
        package var disabled: [String] = []
        package var results: [OutsideResult] = []

        package init() {}
    }

    /// A state or a variable by name, and its value: names are resolved when the test runs, since a `reload` may have
    /// brought another set.
    package struct Assigned: Hashable, Sendable {
        package var name: String
        package var value: Value

        package init(_ name: String, _ value: Value) {
            self.name = name
            self.value = value
        }
    }

    /// What programs and web servers answer.
    package struct OutsideResult: Hashable, Sendable {
        package enum Kind: String, CaseIterable, Hashable, Sendable { case run, shell, http }

        package var kind: Kind
        /// Of the arguments joined with spaces, the script, or the URL.
        package var prefix: String
        package var exit: Int
        package var stdout: String
        package var stderr: String
        /// HTTP
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
    package var place: Place

    package init(name: String, given: Given = Given(), steps: [TestStep], place: Place = Place()) {
        self.name = name
        self.given = given
        self.steps = steps
        self.place = place
    }
}

package struct TestStep: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case event(SimulatedEvent)
        /// Of a declared button, by name.
        case down(String)
        case up(String)
        /// - Parameter gap: from `up` to the next `down`; `duration`: from `down` to `up`.
        case press(String, times: Int, gap: Duration, duration: Duration)
        case chord([String])
        case advance(Duration)
        case state([RuleTest.Assigned])
        case broker(isOnline: Bool)
        /// A rule's id.
        case run(String)
        /// `nil`: the same files. Otherwise the set of another entry file, loaded with this one.
        case reload(ReloadedSet?)
        case restart(stoppedFor: Duration)

        case expect([ExpectedEffect])
        case expectVariables([RuleTest.Assigned])
        case expectRules([ExpectedOutcome])
    }

    package var kind: Kind
    /// Of the step's key.
    package var place: Place

    package init(_ kind: Kind, place: Place = Place()) {
        self.kind = kind
        self.place = place
    }
}

/// `reload: FILE`: what that file's set is, or that it has errors and the old one goes on.
package indirect enum ReloadedSet: Hashable, Sendable {
    case set(RuleSet)
    case hasErrors(file: String)
}

/// `event:` — something a button did, as if it had been recognised.
package struct SimulatedEvent: Hashable, Sendable {
    /// A declared name.
    package var button: String
    package var event: TriggerEvent
    package var part: ButtonPart?
    /// Of a rotation; positive clockwise.
    package var steps: Int
    /// Of a rotation: where the dial stands then, 0…100; `nil`: at 0.
    package var position: Int?
    /// Of a rotation of a Twist, 1…12; `nil`: the first, or while it is pressed the one that the position is in.
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

/// An entry of `expect`: a step, with the fields the test cares about.
package struct ExpectedEffect: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case publish(topic: String?, payload: ExpectedContent?, qos: Int?, retain: Bool?)
        /// - Parameter arguments: the whole list; of `shell`, `script` and its own arguments.
        case run(arguments: [String]?, environment: [ExpectedField], directory: String?, stdin: String?)
        case shell(
            script: String?, arguments: [String]?, environment: [ExpectedField], directory: String?, stdin: String?)
        case http(url: String?, method: String?, headers: [ExpectedField], body: ExpectedContent?)
        case log(level: LogLevel?, message: String?)
    }

    package var kind: Kind
    /// Counted from the `expect` before.
    package var at: Duration?
    package var place: Place

    package init(_ kind: Kind, at: Duration? = nil, place: Place = Place()) {
        self.kind = kind
        self.at = at
        self.place = place
    }
}

package enum ExpectedContent: Hashable, Sendable {
    case text(String)
    /// Compared as values.
    case json(JSONValue)
}

/// A variable of a program's environment, or a header.
package struct ExpectedField: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

package struct ExpectedOutcome: Hashable, Sendable {
    /// A rule's id.
    package var rule: String
    package var outcome: Outcome

    package init(rule: String, outcome: Outcome) {
        self.rule = rule
        self.outcome = outcome
    }
}
