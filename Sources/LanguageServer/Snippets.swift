import RuleLoader

/// Templates of whole entries, in the snippet syntax of the protocol.
enum Snippets {
    struct Snippet: Sendable {
        var label: String
        var detail: String
        /// The lines after the first are indented relative to the first.
        var body: String
    }

    /// - Parameter button: the name of a button for the placeholder.
    static func snippets(for entry: EditPlace.Entry, button: String) -> [Snippet] {
        switch entry {
        case .rule:
            [
                Snippet(
                    label: "rule", detail: "a rule for a click",
                    body: """
                        id: ${1:name}
                          triggers:
                            button: ${2:\(button)}
                            event: ${3:click}
                          actions:
                            - ${0:log: clicked}
                        """)
            ]
        case .test:
            [
                Snippet(
                    label: "test", detail: "a test of a click",
                    body: """
                        name: ${1:a click}
                          steps:
                            - event: {button: ${2:\(button)}, event: ${3:click}}
                            - expect:
                                - ${0:log: clicked}
                        """)
            ]
        case .trigger:
            [Snippet(label: "trigger", detail: "a click", body: "button: ${1:\(button)}\n  event: ${2:click}")]
        case .step:
            StepSnippet.all(button: button).map { step in
                Snippet(label: "\(step.name) …", detail: step.summary, body: step.body)
            }
        }
    }
}
