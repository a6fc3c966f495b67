package import Almanac
import ButtonModel
import Expressions
package import JSON

/// The checked contents of the rule files, with compiled expressions.
///
/// Declarations are referenced by their indices in these arrays. The slots of expressions are the same indices: of
/// `states`, `variables`, `buttons` and `rules` here, of `Script.inputs` in a script, and of `results` within a rule.
package struct RuleSet: Hashable, Sendable {
    package var coordinates: Location?
    /// The time zone of `location`, or else of the system.
    package var timeZone: TimeZone
    package var buttons: [DeclaredButton]
    /// The indices of the buttons in each group, by name: nested groups are expanded, each button once, in the order
    /// written.
    package var groups: [String: [Int]]
    package var states: [DeclaredState]
    package var variables: [DeclaredVariable]
    package var scripts: [Script]
    /// In document order: the rules of the entry file, then those of its included files.
    package var rules: [Rule]
    package var tests: [RuleTest]
    /// The policy for buttons and rules without their own, and for events that are only published over MQTT.
    package var queued: QueuedPolicy
    /// The values of `!secret` and `!env_var`, which `Redaction` hides in all output.
    package var confidential: Set<String>
    /// The text that replaces each of `confidential` in a recording: `***NAME***`, which is its value in a replay.
    package var placeholders: [String: String]
    /// The values of `confidential` that `!secret` gives.
    package var secretValues: Set<String> = []
    /// A hash of the set's content, regardless of its locations in the files: sixteen hexadecimal digits.
    package var fingerprint: String

    package init(
        coordinates: Location? = nil, timeZone: TimeZone = .utc, buttons: [DeclaredButton] = [],
        groups: [String: [Int]] = [:], states: [DeclaredState] = [], variables: [DeclaredVariable] = [],
        scripts: [Script] = [], rules: [Rule] = [], tests: [RuleTest] = [], queued: QueuedPolicy = .standard,
        confidential: Set<String> = [], placeholders: [String: String] = [:], fingerprint: String = ""
    ) {
        self.coordinates = coordinates
        self.timeZone = timeZone
        self.buttons = buttons
        self.groups = groups
        self.states = states
        self.variables = variables
        self.scripts = scripts
        self.rules = rules
        self.tests = tests
        self.queued = queued
        self.confidential = confidential
        self.placeholders = placeholders
        self.fingerprint = fingerprint
    }

    /// The values of `confidential` that only `!env_var` gives.
    package var openValues: Set<String> { confidential.subtracting(secretValues) }

    /// What `Redaction` needs of this set.
    package var confidentialValues: ConfidentialValues {
        ConfidentialValues(confidential, marks: placeholders, open: openValues)
    }
}

/// Values of `!secret` and `!env_var`, which `Redaction` hides in all output.
package struct ConfidentialValues: Hashable, Sendable {
    package var values: Set<String>
    /// The text that replaces each of them in a recording: `***NAME***`.
    package var marks: [String: String]
    /// The part of `values` that is given by `!env_var` and by no `!secret`.
    package var open: Set<String>

    package init(_ values: Set<String> = [], marks: [String: String] = [:], open: Set<String> = []) {
        self.values = values
        self.marks = marks
        self.open = open
    }
}

/// A location in the rule files.
///
/// All locations are equal, so that rules that differ only in their locations are equal.
package struct SourceLocation: Hashable, Sendable, CustomStringConvertible {
    package var file: String
    /// The line, from 1; 0 without a file.
    package var line: Int
    /// The column in Unicode scalars, from 1.
    package var column: Int

    package init(file: String = "", line: Int = 0, column: Int = 0) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// The location as in messages: `rules/home.yaml:14:15`.
    package var description: String { "\(file):\(line):\(column)" }

    /// The members `file`, `line` and `column` of a JSON object about the thing at this location.
    package var members: [JSONValue.Member] {
        [
            .init("file", .string(file)), .init("line", .integer(Int64(line))),
            .init("column", .integer(Int64(column))),
        ]
    }

    package static func == (left: SourceLocation, right: SourceLocation) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}
}
