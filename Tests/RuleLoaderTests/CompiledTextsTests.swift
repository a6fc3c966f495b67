import Expressions
import RuleLoader
import Rules
import Testing

@Suite("Texts that rules repeat")
struct CompiledTextsTests {
    /// The templates of the first `log` of each rule.
    private func logs(_ rules: String) throws -> [Template] {
        try LoadedText.good(rules).rules.compactMap { rule in
            for case .log(_, let template) in rule.steps.map(\.action) { return template }
            return nil
        }
    }

    private static func rule(_ id: String, _ lines: String) -> String {
        "  - {id: \(id), triggers: {button: any, event: click}, \(lines)}\n"
    }

    @Test("equal strings with other scalars are other texts")
    func scalars() throws {
        let spellings = ["K\u{FC}che", "Ku\u{308}che"]
        let rules = zip(["a", "b", "c", "d"], spellings + spellings)
            .map { Self.rule($0, "actions: [{log: \"\($1) {{ now.hour }}\"}]") }.joined()
        let octets = try logs("rules:\n" + rules).map { template -> [UInt8] in
            if case .literal(let text)? = template.parts.first { Array(text.utf8) } else { [] }
        }
        let expected = (spellings + spellings).map { Array("\($0) ".utf8) }
        #expect(octets == expected)
    }

    @Test("a text in a topic and in a payload is checked for each of them")
    func contexts() throws {
        let publish = "actions: [{publish: {topic: \"{{ trigger.button }}\", payload: \"{{ trigger.button }}\"}}]"
        let set = try LoadedText.good("rules:\n" + Self.rule("a", publish) + Self.rule("b", publish))
        for step in set.rules.flatMap(\.steps) {
            guard case .perform(let action) = step.action else { continue }
            var insertions: [Insertion] = []
            action.forEachTemplate { insertions.append($0.insertion) }
            #expect(insertions == [.topic, .plain])
        }
    }

    @Test("a text as a condition and in a message has the type that its place needs")
    func types() throws {
        let set = try LoadedText.good(
            """
            variables: {guest: false}
            rules:
            \(Self.rule("a", "conditions: variables.guest, actions: [{log: \"{{ variables.guest }}\"}]"))\
            \(Self.rule("b", "conditions: variables.guest, actions: [{log: \"{{ variables.guest }}\"}]"))
            """)
        #expect(set.rules.flatMap(\.conditions).map(\.text) == ["variables.guest", "variables.guest"])
        #expect(set.rules.allSatisfy { $0.steps.count == 1 })
    }

    @Test("a faulty text is reported at each of its places")
    func faulty() {
        let rules =
            "rules:\n" + Self.rule("a", "conditions: variables.x, actions: [{log: a}]")
            + Self.rule("b", "conditions: variables.x, actions: [{log: a}]")
        #expect(LoadedText.complaints(rules).count == 2)
    }

    @Test("a script's inputs and the error of on_error are not those of another rule")
    func otherNames() {
        let rules = """
            scripts:
              s: {inputs: {x: {type: string}}, actions: [{log: "{{ inputs.x }}"}]}
            rules:
            \(Self.rule("a", "actions: [{script: s, with: {x: y}}], on_error: [{log: \"{{ error.message }}\"}]"))\
            \(Self.rule("b", "actions: [{log: \"{{ error.message }}\"}, {log: \"{{ inputs.x }}\"}]"))
            """
        #expect(LoadedText.complaints(rules).count == 2)
    }
}
