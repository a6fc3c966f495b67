import JSON
import Rules
import Testing
import YAMLFiles

@testable import RuleLoader

@Suite("The schema for the names of a set")
struct NamedSchemaTests {
    private static let text = """
        buttons: {kitchen: BF12-C34567, hall: BF12-C34568}
        groups: {all_of_them: [kitchen, hall]}
        states: {lamp: {topic: home/lamp}}
        variables: {guest: false}
        scripts: {light: {inputs: {level: {type: integer}}, actions: {log: light}}}
        rules:
          - {id: one, triggers: {button: kitchen, event: click}, actions: {log: done}}
        """
    private let set: RuleSet
    private let schema: JSONSchema

    init() throws {
        set = try LoadedText.good(NamedSchemaTests.text)
        schema = try JSONSchema(RulesSchema.json(for: set))
    }

    private func step(_ step: JSONValue) -> JSONValue { rule(trigger: ["button": "kitchen", "event": "click"], step) }

    private func rule(trigger: JSONValue, _ step: JSONValue = ["log": "done"]) -> JSONValue {
        ["rules": [["id": "new", "triggers": trigger, "actions": step]]]
    }

    private func test(_ step: JSONValue) -> JSONValue { ["tests": [["name": "a", "steps": [step]]]] }

    @Test("declared names are known")
    func known() {
        let files: [JSONValue] = [
            rule(trigger: ["button": "hall", "event": "click"]), rule(trigger: ["button": "any", "event": "click"]),
            rule(trigger: ["button": ["all_of_them"], "event": "click"]),
            rule(trigger: ["chord": ["kitchen", "hall"]]),
            rule(trigger: ["button": ["serial": "BF12-C34999"], "event": "click"]),
            step(["set": ["guest": true]]), step(["script": "light", "with": ["level": 4]]), step(["enable": "one"]),
            step(["disable": ["one"]]), test(["down": "hall"]), test(["state": ["lamp": "ON"]]), test(["run": "one"]),
            test(["expect_variables": ["guest": true]]), test(["expect_rules": ["one": "started"]]),
            ["groups": ["more": ["all_of_them", "hall"]]],
        ]
        for file in files { #expect(schema.fault(in: file) == nil) }
    }

    @Test("other names are refused where names are meant, and only there")
    func unknown() throws {
        let files: [JSONValue] = [
            rule(trigger: ["button": "hal", "event": "click"]), rule(trigger: ["chord": ["kitchen", "all_of_them"]]),
            step(["set": ["gast": true]]), step(["script": "lights"]), step(["script": "light", "with": ["levl": 4]]),
            step(["enable": "two"]), step(["disable": ["one", "two"]]), test(["down": "all_of_them"]),
            test(["state": ["lmp": "ON"]]), test(["run": "two"]), test(["expect_variables": ["gast": true]]),
            test(["expect_rules": ["two": "started"]]), ["groups": ["more": ["any"]]],
        ]
        let free = try JSONSchema(RulesSchema.json())
        for file in files {
            #expect(schema.fault(in: file) != nil, "\(file)")
            #expect(free.fault(in: file) == nil, "\(file)")
        }
        // New names, and names in expressions, are the loader's business.
        #expect(schema.fault(in: ["buttons": ["attic": "BF12-C34999"]]) == nil)
        #expect(schema.fault(in: step(["log": "{{ states.lmp }}"])) == nil)
    }

    @Test("of a kind that nothing is declared of, any name will do")
    func nothing() throws {
        let empty = try JSONSchema(RulesSchema.json(for: RuleSet()))
        for step: JSONValue in [["script": "light"], ["set": ["guest": true]], ["enable": "one"]] {
            #expect(empty.fault(in: rule(trigger: ["button": "any", "event": "click"], step)) == nil)
        }
    }

    @Test(
        "the file of each valid set passes its own schema",
        arguments: SchemaCorpus.valid + SchemaCorpus.files(below: "Tests/RuleLoaderTests/Examples"))
    func own(path: String) throws {
        let file = try Project.file(path)
        guard let set = SchemaCorpus.load(file).value, let json = SchemaCorpus.json(file) else { return }
        #expect(try JSONSchema(RulesSchema.json(for: set)).fault(in: json) == nil)
    }
}
