import Rules
import YAMLFiles

/// The syntax of one kind of step in rule files, and of its effect in their tests. The reader, the JSON Schema and
/// `rules/README.md` follow it.
///
/// The files of this folder have a value for each kind: a step that acts on the world has its own file, with its tables
/// and readers.
struct StepLanguage: Sendable {
    /// A key beside the key that names the step, such as `then` beside `if`.
    struct Companion {
        var key: MappingTable.Key
        var detail: KeyDetail
        var isRequired = false

        init(_ name: String, _ summary: String, _ detail: KeyDetail, type: ValueType = .anything) {
            key = .init(name, type, summary)
            self.detail = detail
        }

        var required: Companion {
            var companion = self
            companion.isRequired = true
            return companion
        }
    }

    /// The syntax of an expected effect.
    struct Expectation: Sendable {
        var summary: String
        /// The shape of the key's value, and examples.
        var detail: KeyDetail
        /// The mapping that may be the key's value.
        var fields: SchemaMapping.Definition
        var read: @Sendable (inout RuleSetReader, YAMLNode) -> ExpectedEffect.Kind?
    }

    /// Reads the value of the key that names a step, and its companions.
    typealias Reader =
        @Sendable (inout RuleSetReader, YAMLNode, CheckedMapping, inout StepContext) -> StepAction?

    var summary: String
    var type = ValueType.anything
    /// The shape of the key's value, and examples.
    var detail: KeyDetail
    /// The step as a template, in the snippet syntax of editors. The lines after the first are indented relative to the
    /// first, and `${1:button}` stands for a declared button.
    var snippet: String
    var companions: [Companion] = []
    /// The key for a time limit in the mapping of a step that takes no `timeout:` beside it, and the hint that names this key;
    /// `nil` for a step without such a key.
    var innerLimit: (key: String, hint: String)?
    /// The mapping that may be the key's value; `nil` for a key without such a mapping.
    var fields: SchemaMapping.Definition?
    /// `nil` for a kind whose actions a test cannot expect.
    var expectation: Expectation?
    var read: Reader
}
