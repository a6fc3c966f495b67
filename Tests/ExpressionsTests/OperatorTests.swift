import Expressions
import Testing

@Suite("Operators")
struct OperatorTests {
    @Test(
        "integer arithmetic gives integers, numbers stay finite, and durations are whole milliseconds",
        arguments: [
            ("1 + 2 * 3", "integer 7"),
            ("1 + 2.5", "number 3.5"),
            ("7 / 2", "number 3.5"),
            ("6 / 2", "number 3"),
            ("-7 // 2", "integer -4"),
            ("7 // -2", "integer -4"),
            ("-7 % 3", "integer 2"),
            ("7 % -3", "integer -2"),
            ("9223372036854775807 + 1", "R802 0..<23 the result does not fit 64 bits"),
            ("-9223372036854775808", "integer -9223372036854775808"),
            ("- -9223372036854775808", "R802 0..<22 the result does not fit 64 bits"),
            ("-9223372036854775808 // -1", "R802 0..<26 the result does not fit 64 bits"),
            ("-9223372036854775808 % -1", "integer 0"),
            ("1 / 0", "R802 0..<5 division by zero"),
            ("1 // 0", "R802 0..<6 division by zero"),
            ("1 % 0", "R802 0..<5 division by zero"),
            ("1.0 / 0", "R802 0..<7 division by zero"),
            ("1h30m + 5s", "duration 1h30m5s"),
            ("1s * 2.5", "duration 2s500ms"),
            ("1s / 3", "duration 333ms"),
            ("3 * 1h", "duration 3h"),
            ("1s - 5s", "duration -4s"),
            ("-(5s)", "duration -5s"),
            ("-5s", "duration -5s"),
            ("[1, 2.5]", "list of number [1, 2.5]"),
            ("[]", "list []"),
            ("0", "integer 0"),
            ("0.50", "number 0.5"),
            ("-0.0", "number 0"),
            ("1.5 + 2.5", "number 4"),
            ("2 * 2.5", "number 5"),
            ("9223372036854775807 * 2", "R802 0..<23 the result does not fit 64 bits"),
            ("-9223372036854775808 - 1", "R802 0..<24 the result does not fit 64 bits"),
            ("-7 // 2 * 2 + -7 % 2", "integer -7"),
            ("7.5 / 2", "number 3.75"),
            ("-7.5 * 2", "number -15"),
            ("1s / 0", "R802 0..<6 division by zero"),
            ("1s / 0.0", "R802 0..<8 division by zero"),
            ("2h - 30m", "duration 1h30m"),
            ("2.5 * 2s", "duration 5s"),
            ("1 - 1 - 1", "integer -1"),
            ("8 / 4 / 2", "number 1"),
            ("36500d * 1000000000000", "R802 0..<22 the result does not fit 64 bits"),
        ])
    func arithmetic(text: String, outcome: String) throws {
        #expect(try House.outcome(text) == outcome)
    }

    @Test(
        "numbers compare by value, text compares by code point, and unknown equals only null",
        arguments: [
            ("states.lux == 1", "boolean false"),
            ("states.lux == null", "boolean true"),
            ("states.lux != null", "boolean false"),
            ("states.people == null", "boolean false"),
            ("'a' == 'a'", "boolean true"),
            ("'a' < 'b'", "boolean true"),
            ("'é' < 'z'", "boolean false"),
            ("1 == 1.0", "boolean true"),
            ("9007199254740993 == 9007199254740992.0", "boolean false"),
            ("2 in [1, 2.0]", "boolean true"),
            ("'a' in ['b', 'c']", "boolean false"),
            ("'bc' in 'abcd'", "boolean true"),
            ("'a' == null", "boolean false"),
            ("null == null", "boolean true"),
            ("[1] == [1.0]", "boolean true"),
            ("[] == [1]", "boolean false"),
            ("states . lux == null", "boolean true"),
            ("1s == 1000ms", "boolean true"),
            ("1m > 59s", "boolean true"),
            ("'a' <= 'a'", "boolean true"),
            ("'a' >= 'b'", "boolean false"),
            ("'Z' < 'a'", "boolean true"),
            ("'' < 'a'", "boolean true"),
            ("1 != 1", "boolean false"),
            ("1 <= 1.0", "boolean true"),
            ("2 > 1.5", "boolean true"),
            (#"'e\u{301}' == '\u{e9}'"#, "boolean false"),
            ("1 in []", "boolean false"),
            ("1.5 in [1, 1.5]", "boolean true"),
            ("1s in [1000ms]", "boolean true"),
            ("true in [false]", "boolean false"),
            ("'' in 'abc'", "boolean true"),
        ])
    func comparisons(text: String, outcome: String) throws {
        #expect(try House.outcome(text) == outcome)
    }

    @Test(
        "and, or and if evaluate only the operands they need",
        arguments: [
            ("(states.lux ?? 0) + 1", "number 1"),
            ("states.lux ?? 1.5", "number 1.5"),
            ("null ?? 1", "integer 1"),
            ("states.lux ?? null", "number or unknown null"),
            ("'a' not in ['b']", "boolean true"),
            ("not true", "boolean false"),
            ("1 if true else 2.5", "number 1"),
            ("1 if false else 2 if false else 3", "integer 3"),
            ("true or 1 / 0 == 1", "boolean true"),
            ("false and 1 / 0 == 1", "boolean false"),
            ("'d' not in 'abc'", "boolean true"),
            ("true and false or true", "boolean true"),
            ("not true == false", "boolean true"),
            ("not (true and false)", "boolean true"),
            ("1 + 1 == 2 and 3 - 1 == 2", "boolean true"),
            ("states.lux ?? states.people ?? 7", "number 2"),
            ("null ?? null ?? 3", "integer 3"),
            ("'x' if false else 'y' if true else 'z'", "string 'y'"),
            ("null if false else 1", "integer or unknown 1"),
            ("[1, 2] if true else []", "list of integer [1, 2]"),
        ])
    func logic(text: String, outcome: String) throws {
        #expect(try House.outcome(text) == outcome)
    }

    @Test(
        "~ joins the text of both sides",
        arguments: [
            ("'a' ~ 1 ~ true ~ 1.50 ~ 90s", "string 'a1true1.51m30s'"),
            ("'a' ~ states.lux", "R801 6..<16 states.lux is unknown"),
            (#""it's""#, "string 'it's'"),
            ("1 + 2 ~ 'a'", "string '3a'"),
            ("states.door ~ 'x'", "string 'openx'"),
            (#""a" ~ "\"""#, #"string 'a"'"#),
            ("2 + 3 ~ 4", "string '54'"),
        ])
    func text(text: String, outcome: String) throws {
        #expect(try House.outcome(text) == outcome)
    }

    @Test(
        "an integer is converted to a number if the type of its expression is number",
        arguments: [
            ("1 if true else 2.5", 1), ("states.lux ?? 1", 1), ("default(states.lux, 1)", 1), ("min(1, 2.5)", 1),
            ("clamp(1, 0, 2.5)", 1), ("next([1, 2.5], 9)", 1), ("next([states.people, 2.5], 2.5)", 2),
            ("next(variables.ratio)", 1), ("round(12, 1)", 12), ("number('a', 2)", 2), ("states.people * 1.0", 2),
        ])
    func numbers(text: String, number: Double) throws {
        let expression = try Expression(compiling: text, in: House.scope)
        #expect(try expression.evaluate(in: House.environment) == .number(number))
        let list = try Expression(compiling: "[1, \(text)]", in: House.scope)
        #expect(try list.evaluate(in: House.environment) == .list([.number(1), .number(number)]))
    }

    @Test("a list that is written out holds numbers when one of its entries is one")
    func listOfNumbers() throws {
        let list = try Expression(compiling: "[1, 2.5]", in: House.scope)
        #expect(try list.evaluate(in: House.environment) == .list([.number(1), .number(2.5)]))
        let wanted = try Expression(compiling: "[1]", in: House.scope, expecting: .type(.list(of: .number)))
        #expect(try wanted.evaluate(in: House.environment) == .list([.number(1)]))
    }
}
