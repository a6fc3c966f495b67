package import Almanac
import ButtonModel
import Expressions

/// Everything one set of rule files says: checked, and with every expression compiled.
///
/// What is named is addressed by its place in these arrays. The slots in expressions are the same places: of
/// `states`, `variables`, `buttons` and `rules` here, of `Script.inputs` in a script, and of `results` within one rule.
package struct RuleSet: Hashable, Sendable {
    package var location: Location?
    /// The zone of `location`, else the system's.
    package var timeZone: TimeZone
    package var buttons: [DeclaredButton]
    /// By name: the buttons they mean in the end, each once, in the order written.
    package var groups: [String: [Int]]
    package var states: [DeclaredState]
    package var variables: [DeclaredVariable]
    package var scripts: [Script]
    /// In document order: the entry file first, then what it includes.
    package var rules: [Rule]
    package var tests: [RuleTest]
    /// The default for buttons and rules that say nothing, and for what only MQTT hears of.
    package var queued: QueuedPolicy
    /// Values that came from `!secret` and `!env_var`: whoever shows anything of a run shows `***` in their place.
    package var confidential: Set<String>
    /// The same for two sets that say the same, wherever it stands in them: sixteen hexadecimal digits.
    package var fingerprint: String

    package init(
        location: Location? = nil, timeZone: TimeZone = .utc, buttons: [DeclaredButton] = [],
        groups: [String: [Int]] = [:], states: [DeclaredState] = [], variables: [DeclaredVariable] = [],
        scripts: [Script] = [], rules: [Rule] = [], tests: [RuleTest] = [], queued: QueuedPolicy = .standard,
        confidential: Set<String> = [], fingerprint: String = ""
    ) {
        self.location = location
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
        self.fingerprint = fingerprint
    }
}

/// Where something stands in the rule files.
///
/// It is no part of what is said there: two rules that differ only in their places are equal.
package struct Place: Hashable, Sendable, CustomStringConvertible {
    package var file: String
    /// From 1; 0 where there is no file.
    package var line: Int
    /// Unicode scalars, from 1.
    package var column: Int

    package init(file: String = "", line: Int = 0, column: Int = 0) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// `rules/home.yaml:14:15`
    package var description: String { "\(file):\(line):\(column)" }

    package static func == (left: Place, right: Place) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}
}
