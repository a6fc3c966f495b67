import Expressions
import JSON
import Testing

@Suite("Templates")
struct TemplateTests {
    @Test(
        "a template inserts the text of its expressions into the text around them",
        arguments: [
            ("", ""), ("plain", "plain"), ("{{ 1 }}", "1"), ("a{{ 1 }}b{{ 'c' }}", "a1bc"), ("{{1}}{{2}}", "12"),
            ("a lone }} is text", "a lone }} is text"), ("{ {", "{ {"), ("{", "{"), ("100%", "100%"),
            ("{{ '}}' }}", "}}"), (#"{{ "\"}}" ~ '\'}}' }}"#, #""}}'}}"#), ("{{ '{{' }}", "{{"), ("{{ 1 }}}}", "1}}"),
            (#"{"state": "{{ states.hall_light }}"}"#, #"{"state": "ON"}"#),
            ("größe {{ states.people }} ✓", "größe 2 ✓"), ("{{ 1.50 }} {{ 90s }} {{ true }}", "1.5 1m30s true"),
        ])
    func text(template: String, text: String) throws {
        let template = try Template(compiling: template, in: House.scope)
        #expect(try template.text(in: House.environment) == text)
    }

    @Test(
        "a template that consists of one expression has the expression's type; every other template is text",
        arguments: [
            ("{{ 5 }}", .integer(5)), ("{{ 2s }}", .duration(milliseconds: 2000)), ("{{ [1] }}", .list([.integer(1)])),
            (" {{ 5 }}", .string(" 5")), ("{{ 5 }}\n", .string("5\n")), ("5", .string("5")), ("", .string("")),
            ("{{ states.lux }}", .unknown),
        ] as [(String, Value)])
    func type(template: String, value: Value) throws {
        let template = try Template(compiling: template, in: House.scope, expecting: .anything)
        #expect(try template.value(in: House.environment) == value)
    }

    @Test("an unknown value in a template fails instead of becoming empty text")
    func unknown() throws {
        let template = try Template(compiling: "lux: {{ states.lux }}", in: House.scope)
        #expect(throws: EvaluationFailure(.unknownValue, 8..<18, "states.lux is unknown")) {
            try template.text(in: House.environment)
        }
    }

    @Test(
        "problems are placed by their position in the template",
        arguments: [
            ("a {{ 1", "E401 2..<4 this {{ is not closed; a }} is missing"),
            ("a {{ 'b }}", "E401 5..<6 this text is not closed; a ' is missing"),
            ("é {{ states.lux ~ }}", "E401 18..<18 the expression ends where a value is expected"),
            ("é {{ states.lx }}", #"E305 13..<15 unknown state "lx"; did you mean "lux"?"#),
            (
                "{{ a }} {{ 1 + }}",
                "E402 3..<4 unknown name a; write 'a' for text\n"
                    + "E401 14..<14 the expression ends where a value is expected"
            ),
            ("{{ }}", "E401 2..<3 the expression is empty"),
            ("{% if x %}", "E408 0..<2 {% … %} is not supported; use if/then/else steps or a if b else c"),
            ("{{ {{ 1 }} }}", "E401 3..<5 this is an expression already; remove the braces"),
            ("{{ [1] }}", "E404 3..<6 a list cannot be converted to text: [1]; write json([1])"),
            ("{{ null }}", "E404 3..<7 null cannot be converted to text; write '' for empty text"),
        ])
    func mistakes(template: String, problems: String) {
        #expect(TemplateTests.problems(template) == problems)
    }

    @Test("a template with text around its expressions is refused where a type other than text is wanted")
    func expectedType() {
        let wanted = RequiredType.type(.duration)
        #expect(TemplateTests.problems("{{ 5s }}", wanted) == "none")
        #expect(
            TemplateTests.problems("{{ 5 }}s", wanted)
                == "E404 0..<8 this must be duration, not text: {{ 5 }}s; put all of it between one pair of braces")
        #expect(TemplateTests.problems("soon", wanted) == "E404 0..<4 this must be duration, not text: soon")
        #expect(TemplateTests.problems("{{ 1 }} {{ 2 }}", .type(.string)) == "none")
        #expect(
            TemplateTests.problems("{{ states.lux }}", .type(.number))
                == "E405 3..<13 states.lux may be unknown; write (states.lux ?? 0) or give it a default")
        #expect(TemplateTests.problems("{{ [1] }}", .json) == "none")
        #expect(
            TemplateTests.problems("{{ null }}", .json)
                == "E404 3..<7 null is not allowed here; write null without braces")
    }

    @Test(
        "a string in JSON that consists of one expression is written by the expression's type",
        arguments: [
            ("{{ states.people }}", "2"), ("{{ 1.50 }}", "1.5"), ("{{ variables.guest }}", "true"),
            ("{{ 90s }}", #""1m30s""#),
            ("{{ [1, 2] }}", "[1,2]"), ("{{ states.hall_light }}", #""ON""#), ("{{ 1 }} ", #""1 ""#), ("1", #""1""#),
            (#"a"b{{ '\n' }}"#, #""a\"b\n""#),
        ])
    func leaf(template: String, json: String) throws {
        let template = try Template(compiling: template, in: House.scope, expecting: .json)
        #expect(try template.json(in: House.environment).description == json)
    }

    @Test("a string in JSON whose expression is unknown fails instead of becoming null")
    func unknownLeaf() throws {
        let template = try Template(compiling: "{{ states.lux }}", in: House.scope, expecting: .json)
        #expect(throws: EvaluationFailure(.unknownValue, 3..<13, "states.lux is unknown")) {
            try template.json(in: House.environment)
        }
    }

    @Test("a template knows the names it reads, its literal text and its only expression")
    func shape() throws {
        let template = try Template(compiling: "{{ states.people }} {{ now.hour }}", in: House.scope)
        #expect(template.reads == [.state(3), .now(.hour)])
        #expect(template.literal == nil)
        #expect(template.onlyExpression == nil)
        let alone = try Template(compiling: "{{states.people + 1 }}", in: House.scope)
        #expect(alone.onlyExpression?.source == "states.people + 1")
        #expect(try Template(compiling: "x", in: House.scope).literal == "x")
        #expect(Template(literal: "{{ x }}").literal == "{{ x }}")
        #expect(Template(literal: "").parts.isEmpty)
        let window = try Expression(compiling: "in_time('sunset', '23:00')", in: House.wholeScope)
        #expect(window.reads == [.now(.time), .sun(.elevation)])
    }

    static func problems(
        _ text: String, _ expectation: RequiredType = .text, inserting insertion: Insertion = .plain
    ) -> String {
        do throws(ExpressionProblems) {
            _ = try Template(compiling: text, in: House.scope, expecting: expectation, inserting: insertion)
            return "none"
        } catch {
            return House.shown(error)
        }
    }
}
