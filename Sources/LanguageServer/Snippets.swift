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
            [
                Snippet(
                    label: "publish …", detail: "publish an MQTT message",
                    body: "publish: {topic: ${1:topic}, payload: ${2:ON}}"),
                Snippet(
                    label: "run …", detail: "run a program", body: "run: [${1:program}, ${2:argument}]"),
                Snippet(
                    label: "http …", detail: "call a web hook", body: "http: {url: ${1:https://}, method: ${2:POST}}"),
                Snippet(label: "set …", detail: "assign a variable", body: "set: {${1:variable}: ${2:value}}"),
                Snippet(
                    label: "if … then …", detail: "steps on a condition",
                    body: "if: ${1:condition}\n  then:\n    - ${0:log: yes}"),
                Snippet(
                    label: "repeat …", detail: "steps while the button is held",
                    body: "repeat:\n    while: held\n    every: ${1:200ms}\n    actions:\n      - ${0:log: still held}"),
                Snippet(
                    label: "wait_for …", detail: "wait for another press",
                    body:
                        "wait_for: {button: ${1:\(button)}, event: ${2:click}}\n  timeout: ${3:5s}\n  then:\n    - ${0:log: yes}"
                ),
            ]
        }
    }
}
