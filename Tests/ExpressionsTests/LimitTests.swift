import Expressions
import Testing

@Suite("Limits of expressions")
struct LimitTests {
    @Test("an expression has at most 4096 bytes")
    func length() {
        let longest = "'" + String(repeating: "a", count: Limits.expressionLength - 2) + "'"
        #expect(House.problems(longest) == "none")
        #expect(House.problems(longest + " ") == "E406 0..<4097 expression is longer than 4096 bytes")
    }

    @Test(
        "brackets, lists, arguments, not and - nest 32 levels deep",
        arguments: [("(", "1", ")"), ("abs(", "1", ")"), ("not ", "true", ""), ("-", "x", ""), ("1 + (", "1", ")")])
    func depth(before: String, inside: String, after: String) {
        func nested(_ depth: Int) -> String {
            let inside = inside == "x" ? "variables.volume" : inside
            return String(repeating: before, count: depth) + inside + String(repeating: after, count: depth)
        }
        #expect(House.problems(nested(Limits.depth)) == "none")
        let opening = before.utf8.count * Limits.depth + (before == "not " || before == "-" ? 0 : before.utf8.count - 1)
        let width = before == "not " ? 3 : 1
        #expect(
            House.problems(nested(Limits.depth + 1))
                == "E406 \(opening)..<\(opening + width) expression is nested more than 32 levels deep")
    }

    @Test("each pipe nests what is before it one level deeper")
    func pipes() {
        func piped(_ count: Int) -> String { "1" + String(repeating: " | abs", count: count) }
        #expect(House.problems(piped(Limits.depth)) == "none")
        #expect(House.problems(piped(Limits.depth + 1)).hasPrefix("E406 194..<195 "))
        let brackets = String(repeating: "(", count: 20) + "1" + String(repeating: ")", count: 20)
        #expect(House.problems(brackets + String(repeating: " | abs", count: 12)) == "none")
        #expect(House.problems(brackets + String(repeating: " | abs", count: 13)).hasPrefix("E406 "))
        let inner = String(repeating: "(1 | abs) | max(1 | abs, ", count: 2)
        #expect(House.problems(inner + "1))") == "none")
    }

    @Test("operators in a row do not count as nesting")
    func chains() throws {
        #expect(try House.outcome(Array(repeating: "1", count: 1000).joined(separator: " + ")) == "integer 1000")
        #expect(try House.outcome(Array(repeating: "true", count: 400).joined(separator: " and ")) == "boolean true")
        #expect(try House.outcome(Array(repeating: "false", count: 400).joined(separator: " or ")) == "boolean false")
        #expect(try House.outcome(Array(repeating: "null", count: 400).joined(separator: "??") + "??1") == "integer 1")
        #expect(try House.outcome(String(repeating: "1 if false else ", count: 250) + "2") == "integer 2")
        let joined = try House.outcome(Array(repeating: "'ab'", count: 500).joined(separator: " ~ "))
        #expect(joined.count == 1000 + "string ''".count)
    }

    @Test("a chain of a thousand fields is refused")
    func fields() {
        #expect(House.problems("a" + String(repeating: ".b", count: 1000)).hasPrefix("E406 "))
    }

    @Test("the deepest expression that is allowed is evaluated")
    func deepest() throws {
        // A nesting level with every operator that does not nest.
        let level = "0 if false or true and false == false ?? 1 + 1 * abs("
        let text =
            String(repeating: "1 + abs(", count: Limits.depth - 1) + "2"
            + String(repeating: ")", count: Limits.depth - 1)
        #expect(try House.outcome(text) == "integer \(Limits.depth + 1)")
        #expect(House.problems(String(repeating: level, count: 40)).hasPrefix("E4"))
        let conditional = String(repeating: "(1 if true and 1 + 1 * 1 == 1 ?? 2 else ", count: Limits.depth)
        #expect(try House.outcome(conditional + "5" + String(repeating: ")", count: Limits.depth)) == "integer 5")
    }

    @Test("a list has at most 256 entries, and a call at most 256 arguments")
    func lists() {
        func entries(_ count: Int) -> String { Array(repeating: "1", count: count).joined(separator: ",") }
        #expect(House.problems("[\(entries(256))]") == "none")
        #expect(House.problems("[\(entries(257))]") == "E406 513..<514 a list has at most 256 entries")
        #expect(House.problems("max(\(entries(256)))") == "none")
        #expect(House.problems("max(\(entries(257)))") == "E406 516..<517 a call has at most 256 arguments")
    }

    @Test("a text has at most 64 KiB, whichever operation makes it")
    func text() throws {
        var environment = House.environment
        let half = String(repeating: "a", count: Limits.textLength / 2)
        environment.states[0] = .string(half)
        func outcome(_ text: String) throws -> String {
            let expression = try Expression(compiling: text, in: House.wholeScope)
            do {
                guard case .string(let text) = try expression.evaluate(in: environment) else { return "no text" }
                return "\(text.utf8.count)"
            } catch {
                return House.shown(error)
            }
        }
        let tooLong = "the text is longer than 64 KiB"
        #expect(try outcome("states.hall_light ~ states.hall_light") == "65536")
        #expect(try outcome("states.hall_light ~ states.hall_light ~ 'b'") == "R804 0..<43 \(tooLong)")
        #expect(try outcome("replace(states.hall_light, 'a', 'bb')") == "65536")
        #expect(try outcome("replace(states.hall_light, 'a', 'bbb')") == "R804 0..<38 \(tooLong)")
        #expect(try outcome("url(states.hall_light)") == "32768")
        #expect(try outcome("url(replace(states.hall_light, 'a', '/'))") == "R804 0..<41 \(tooLong)")
        #expect(try outcome("upper(replace(states.hall_light, 'aa', 'ŉ'))") == "49152")
        #expect(try outcome("json(states.hall_light ~ states.hall_light)") == "R804 0..<43 \(tooLong)")
        environment.states[0] = .string(half + half)
        #expect(try outcome("states.hall_light") == "65536")
        environment.states[0] = .string(half + half + "a")
        #expect(try outcome("states.hall_light") == "R804 0..<17 \(tooLong)")
        #expect(try outcome("slice(states.hall_light, 1, 70000)") == "65536")
        #expect(throws: EvaluationFailure.self) {
            try Template(compiling: "{{ states.hall_light }}", in: House.scope).text(in: environment)
        }
    }

    @Test("the text that a template gives has at most 64 KiB")
    func template() throws {
        var environment = House.environment
        let template = try Template(compiling: "a{{ states.hall_light }}", in: House.scope)
        environment.states[0] = .string(String(repeating: "b", count: Limits.textLength - 1))
        #expect(try template.text(in: environment).utf8.count == Limits.textLength)
        environment.states[0] = .string(String(repeating: "b", count: Limits.textLength))
        #expect(throws: EvaluationFailure(.tooLong, 0..<0, "the text is longer than 64 KiB")) {
            try template.text(in: environment)
        }
    }

    @Test("a pattern has at most 4096 bytes")
    func pattern() throws {
        var environment = House.environment
        let expression = try Expression(compiling: "like('aaa', states.hall_light)", in: House.scope)
        environment.states[0] = .string(String(repeating: "*", count: Limits.patternLength))
        #expect(try expression.isTrue(in: environment))
        environment.states[0] = .string(String(repeating: "*", count: Limits.patternLength + 1))
        #expect(throws: EvaluationFailure(.tooLong, 0..<30, "the pattern is longer than 4096 bytes")) {
            try expression.isTrue(in: environment)
        }
    }
}
