import Expressions
import Testing

@Suite("Problems that the checker reports")
struct ProblemTests {
    @Test(
        "a syntax mistake is reported at its place, with the right spelling",
        arguments: [
            ("9223372036854775808", "E401 0..<19 this number is too large"),
            ("1e3", #"E401 0..<3 "1e3" is not a valid number; write 1000"#),
            (".5", #"E401 0..<2 ".5" is not a valid number; write 0.5"#),
            ("017", #"E401 0..<3 "017" begins with 0; write 17"#),
            ("0x1f", #"E401 0..<4 "0x1f" is not a valid number; write 31"#),
            ("1_000", #"E401 0..<5 "1_000" is not a valid number; write 1000"#),
            ("1.5s", #"E401 0..<4 "1.5s" is not a duration; write 1s500ms"#),
            ("0.5s", #"E401 0..<4 "0.5s" is not a duration; write 500ms"#),
            ("10 s", #"E401 3..<4 unexpected "s""#),
            ("1 < 2 < 3", #"E401 6..<7 unexpected "<"; write 1 < 2 and 2 < 3"#),
            ("1 < x < 3", #"E401 6..<7 unexpected "<"; write 1 < x and x < 3"#),
            ("1 < 2 < 3 < 4", #"E401 6..<7 unexpected "<"; write 1 < 2 and 2 < 3"#),
            ("1 in a not in b + 1", #"E401 7..<10 unexpected "not"; write 1 in a and a not in b + 1"#),
            ("1 if 2 if 3 else 4", "E401 2..<4 this if has no else; write a if b else c"),
            ("1 if 2 3", #"E401 7..<8 unexpected "3""#),
            ("(1 if true)", "E401 3..<5 this if has no else; write a if b else c"),
            ("1 else 2", #"E401 2..<6 unexpected "else""#),
            ("1 + not 2", #"E401 4..<7 unexpected "not""#),
            ("-not 2", #"E401 1..<4 unexpected "not""#),
            ("if states.lux", #"E401 0..<2 unexpected "if""#),
            ("'a' if variables.guest", "E401 4..<6 this if has no else; write a if b else c"),
            ("states.people = 1", #"E401 14..<15 unexpected "="; to compare, write =="#),
            ("true && false", #"E401 5..<7 unexpected "&&"; write and"#),
            ("true || false", #"E401 5..<7 unexpected "||"; write or"#),
            ("!true", #"E401 0..<1 unexpected "!"; write not"#),
            ("{{ 1 }}", "E401 0..<2 this is an expression already; remove the braces"),
            ("1 is 2", #"E401 2..<4 unexpected "is"; to compare, write =="#),
            ("1 2", #"E401 2..<3 unexpected "2""#),
            ("(1 + 2", "E401 0..<1 this ( is not closed; a ) is missing"),
            ("[1, 2", "E401 0..<1 this [ is not closed; a ] is missing"),
            ("1 +", "E401 3..<3 the expression ends where a value is expected"),
            ("'abc", "E401 0..<1 this text is not closed; a ' is missing"),
            (#"'a\d'"#, #"E401 2..<4 unknown escape \d; write \\ for a backslash"#),
            (#"'\u{110000}'"#, #"E401 1..<11 \u{110000} is not a character; write \u{1F4A1}"#),
            ("a ? b : c", #"E401 2..<3 unexpected "?"; write a if b else c"#),
            ("1 if 2", "E401 2..<4 this if has no else; write a if b else c"),
            ("5 not 3", #"E401 2..<5 unexpected "not""#),
            ("round(1e19)", #"E401 6..<10 "1e19" is not a valid number; write 10000000000000000000"#),
            ("states.hall_light[0]", #"E401 17..<18 unexpected "[""#),
            ("[1,]", #"E401 3..<4 unexpected "]""#),
            ("(,)", #"E401 1..<2 unexpected ",""#),
            ("f(", "E401 2..<2 the expression ends where a value is expected"),
            ("1 in [1, 2", "E401 5..<6 this [ is not closed; a ] is missing"),
            ("{a}", #"E401 0..<1 unexpected "{""#),
            ("é", #"E401 0..<2 unexpected "é""#),
            ("a & b", #"E401 2..<3 unexpected "&"; write and, or ~ to join text"#),
            ("a.1", #"E401 1..<3 ".1" is not a valid number; write 0.1"#),
            ("1.", "E401 2..<2 the expression ends where a value is expected"),
            ("2 ** 3", #"E401 3..<4 unexpected "*""#),
            ("1 < 2 == true", #"E401 6..<8 unexpected "=="; write 1 < 2 and 2 == true"#),
            ("a = b", #"E401 2..<3 unexpected "="; to compare, write =="#),
            ("a := b", #"E401 2..<3 unexpected ":"; write a if b else c"#),
            ("1 /* c */", #"E401 3..<4 unexpected "*""#),
            ("states.lux # x", ##"E401 11..<12 unexpected "#""##),
            ("if 1 then 2", #"E401 0..<2 unexpected "if""#),
            ("states['lux']", #"E401 6..<7 unexpected "[""#),
            ("10x", #"E401 0..<3 "10x" is not a duration; write 10s, 500ms or 1h30m"#),
            ("5m30", #"E401 0..<4 "5m30" is not a duration; write 10s, 500ms or 1h30m"#),
            ("1m1h", #"E401 0..<4 "1m1h" is not a duration; write 10s, 500ms or 1h30m"#),
            ("500000d", #"E401 0..<7 "500000d" is longer than a hundred years"#),
            ("true and", "E401 8..<8 the expression ends where a value is expected"),
            ("not", "E401 3..<3 the expression ends where a value is expected"),
            ("x | ", "E401 3..<3 the expression ends where a value is expected"),
            ("1 | 2", #"E401 4..<5 unexpected "2""#),
            ("()", #"E401 1..<2 unexpected ")""#),
            ("1e", #"E401 0..<2 "1e" is not a duration; write 10s, 500ms or 1h30m"#),
            ("00", #"E401 0..<2 "00" begins with 0; write 0"#),
            ("100000d * 1000000000000", #"E401 0..<7 "100000d" is longer than a hundred years"#),
        ])
    func syntax(text: String, problem: String) {
        #expect(House.problems(text, in: House.wholeScope) == problem)
    }

    @Test(
        "an unknown name is reported with a suggestion",
        arguments: [
            ("states.hall_light == ON", "E402 21..<23 unknown name ON; write 'ON' for text"),
            ("states.hall_light == True", "E402 21..<25 unknown name True; write true"),
            ("None", "E402 0..<4 unknown name None; write null, or 'None' for text"),
            ("states.lux == none", "E402 14..<18 unknown name none; write null, or 'none' for text"),
            ("trigger", #"E402 0..<7 "trigger" is not a value; write trigger.button"#),
            ("trigger.buton", #"E402 8..<13 trigger has no field "buton"; did you mean "button"?"#),
            ("triger.button", #"E402 0..<6 unknown name triger; did you mean "trigger"?"#),
            ("buttons.kitchen", #"E402 0..<15 "buttons.kitchen" is not a value; write buttons.kitchen.connected"#),
            ("buttons.kitchen.helt", #"E402 16..<20 buttons.kitchen has no field "helt"; did you mean "held"?"#),
            ("results.maybe.ok", #"E402 8..<13 not every path to this step saves "maybe""#),
            ("results.answr.ok", #"E402 8..<13 no step before this one saves "answr"; did you mean "answer"?"#),
            (
                "results.answer.happened",
                "E402 15..<23 results.answer has no field \"happened\"; only wait_for has it"
            ),
            (
                "results.second.stdout",
                "E402 15..<21 results.second has no field \"stdout\"; wait_for does not have it; read happened, event, button or id"
            ),
            ("results.answer.stdou", #"E402 15..<20 results.answer has no field "stdou"; did you mean "stdout"?"#),
            ("inputs.lmp", #"E402 7..<10 this script has no input "lmp"; did you mean "lamp"?"#),
            ("states.lux.value", #"E402 11..<16 states.lux is a value and has no field "value""#),
            ("scene", "E402 0..<5 unknown name scene; write variables.scene, or 'scene' for text"),
            ("new > 3", "E402 0..<3 unknown name new; write trigger.new, or 'new' for text"),
            ("trigger.to == 'a'", #"E402 8..<10 trigger has no field "to"; write trigger.new"#),
            ("trigger.from_state == 'a'", #"E402 8..<18 trigger has no field "from_state"; write trigger.old"#),
            ("volume + 1", "E402 0..<6 unknown name volume; write variables.volume, or 'volume' for text"),
            ("length", "E402 0..<6 length is a function; write length(s)"),
            ("'abc'.length", #"E402 6..<12 string has no field "length""#),
            ("in_time(sunset, '22:00')", "E402 8..<14 unknown name sunset; write 'sunset' for text"),
        ])
    func names(text: String, problem: String) {
        #expect(House.problems(text, in: House.wholeScope) == problem)
    }

    @Test(
        "an unknown function is reported with a suggestion",
        arguments: [
            ("rnd(1)", #"E403 0..<3 unknown function "rnd"; did you mean "round"?"#),
            ("int('3')", #"E403 0..<3 unknown function "int"; write integer"#),
            ("now()", #"E403 0..<3 unknown function "now"; write now.hour"#),
            ("states('x')", #"E403 0..<6 unknown function "states"; write states.hall_light"#),
            ("is_state('a', 'b')", #"E403 0..<8 unknown function "is_state"; write states.hall_light == 'b'"#),
            ("1 | abs | foo", #"E403 10..<13 unknown function "foo"; did you mean "floor"?"#),
        ])
    func functions(text: String, problem: String) {
        #expect(House.problems(text, in: House.wholeScope) == problem)
    }

    @Test(
        "operands whose types do not fit are reported with what to write instead",
        arguments: [
            (
                "2.5 // 1",
                "E404 0..<8 cannot divide number and integer: 2.5 // 1; // needs integers; round(x) gives one"
            ),
            ("1h / 1m", "E404 0..<7 cannot divide duration and duration: 1h / 1m; seconds(d) gives a number"),
            (
                "trigger.old + 1",
                "E404 0..<15 cannot add string and integer: trigger.old + 1; write number(trigger.old), or use ~ to join text"
            ),
            (
                "1 - trigger.new",
                "E404 0..<15 cannot subtract integer and string: 1 - trigger.new; write number(trigger.new)"
            ),
            ("'a' + 'b'", "E404 0..<9 cannot add string and string: 'a' + 'b'; use ~ to join text"),
            (
                "states.hall_light + 1",
                "E404 0..<21 cannot add string and integer: states.hall_light + 1; give hall_light (7:3) type: number, or use ~ to join text"
            ),
            (
                "variables.label + 1",
                "E404 0..<19 cannot add string and integer: variables.label + 1; remove the quotes from label (17:3), or use ~ to join text"
            ),
            (
                "states.hall_light == 1",
                "E404 0..<22 cannot compare string with integer: states.hall_light == 1; give hall_light (7:3) type: integer"
            ),
            (
                "states.hall_light < 2.5",
                "E404 0..<23 cannot compare string with number: states.hall_light < 2.5; give hall_light (7:3) type: number"
            ),
            ("true < false", "E404 0..<12 cannot compare boolean with boolean: true < false"),
            ("[1, 'a']", "E404 4..<7 the entries of a list are of one type; this one is string, the others integer"),
            ("[[1]]", "E404 1..<4 a list cannot hold a list: [1]"),
            ("[null]", "E404 1..<5 null can only be compared with == and !=; write known(x)"),
            ("1 in 'abc'", "E404 0..<10 cannot look for integer in string: 1 in 'abc'"),
            ("1 in ['a']", "E404 0..<10 cannot look for integer in list of string: 1 in ['a']"),
            ("null in [1]", "E404 0..<4 null can only be compared with == and !=; write known(x)"),
            ("not 1", "E404 4..<5 not needs a boolean, not integer: 1; write 1 != 0"),
            ("1 and true", "E404 0..<1 and needs a boolean, not integer: 1; write 1 != 0"),
            ("1 if true else 'a'", "E404 15..<18 if and else need values of the same type, not integer and string"),
            ("1 if 2 else 3", "E404 5..<6 if needs a boolean, not integer: 2; write 2 != 0"),
            ("default(1, 'a')", "E404 11..<14 default needs values of the same type, not integer and string"),
            ("integer('x', 7.5)", "E404 13..<16 integer takes an integer, not number: 7.5; round(x) gives an integer"),
            ("string([1])", "E404 7..<10 a list cannot be converted to text: [1]; write json([1])"),
            ("string(null)", "E404 7..<11 null cannot be converted to text; write '' for empty text"),
            ("round('a')", "E404 6..<9 round takes a number, not string: 'a'; number(x) converts text to a number"),
            ("round(1, 2, 3)", "E404 0..<5 round takes 1 or 2 arguments, not 3; write round(x, n)"),
            ("round()", "E404 0..<5 round takes 1 or 2 arguments, not 0; write round(x, n)"),
            ("abs(1s)", "E404 4..<6 abs takes a number, not duration: 1s; seconds(d) gives a number"),
            ("min(3)", "E404 0..<3 min takes at least 2 arguments, not 1; write min(a, b, …)"),
            ("max(1s, 1)", "E404 8..<9 max needs values of the same type, not duration and integer"),
            ("next([], 1)", "E404 5..<7 an empty list has no next entry"),
            ("next(variables.guest)", #"E404 5..<20 variable "guest" has no values; give guest (14:3) values: […]"#),
            ("next(variables.volume)", #"E404 5..<21 variable "volume" has no values; give volume (15:3) values: […]"#),
            ("next(states.door)", "E404 5..<16 next needs a list and a value, or a variable; write next(list, x)"),
            ("next(1)", "E404 5..<6 next needs a list and a value, or a variable; write next(list, x)"),
            ("seconds(5)", "E404 8..<9 seconds takes a duration, not integer: 5"),
            ("json_get('{}', 'x')", #"E404 15..<18 "x" is not a JSON pointer; write '/state' or '/lamps/0/on'"#),
            (
                "in_time(states.door, '22:00')",
                "E404 8..<19 in_time takes times that are written out, not states.door; write in_time('22:00', 'sunrise + 30m')"
            ),
            ("in_time('22:00')", "E404 0..<7 in_time takes 2 arguments, not 1; write in_time(after, before)"),
            ("'a' ~ 1 + 2", "E404 8..<9 cannot use + on text; ~ joins text; put brackets around a sum: a ~ (b + c)"),
            ("'a' ~ 1 - 2", "E404 8..<9 cannot use - on text; ~ joins text; put brackets around a sum: a ~ (b + c)"),
            (
                "1 - 'a' ~ 2",
                "E404 0..<7 cannot subtract integer and string: 1 - 'a'; number(x) converts text to a number"
            ),
            ("states.lux + 'a'", "E404 0..<16 cannot add number and string: states.lux + 'a'; use ~ to join text"),
            ("-'a'", "E404 0..<4 - needs a number or a duration, not string: 'a'"),
            ("null + 1", "E404 0..<4 null can only be compared with == and !=; write known(x)"),
            ("null and true", "E404 0..<4 null can only be compared with == and !=; write known(x)"),
            ("contains(1, 'a')", "E404 9..<10 contains takes text, not integer: 1; string(x) converts it to text"),
            (
                "min('1', 2)",
                "E404 4..<7 min takes a number or a duration, not string: '1'; number(x) converts text to a number"
            ),
            (
                "min(states.hall_light, 2)",
                "E404 4..<21 min takes a number or a duration, not string: states.hall_light; give hall_light (7:3) type: number"
            ),
            (
                "not states.people",
                "E404 4..<17 not needs a boolean, not integer: states.people; write states.people != 0"
            ),
            (
                "states.people and true",
                "E404 0..<13 and needs a boolean, not integer: states.people; write states.people != 0"
            ),
            (
                "1 if states.people else 2",
                "E404 5..<18 if needs a boolean, not integer: states.people; write states.people != 0"
            ),
            (
                "1 in states.people",
                "E404 0..<18 cannot look for integer in integer: 1 in states.people; write x in [a, b], or t in s"
            ),
            ("2 in states.hall_light", "E404 0..<22 cannot look for integer in string: 2 in states.hall_light"),
            ("1 == 'a'", "E404 0..<8 cannot compare integer with string: 1 == 'a'; write number('a')"),
            (
                "true == 'on'",
                "E404 0..<12 cannot compare boolean with string: true == 'on'; compare with text such as 'ON'"
            ),
            ("[1] == ['a']", "E404 0..<12 cannot compare list of integer with list of string: [1] == ['a']"),
            ("1 if null else 2", "E404 5..<9 null can only be compared with == and !=; write known(x)"),
        ])
    func types(text: String, problem: String) {
        #expect(House.problems(text, in: House.wholeScope) == problem)
    }

    @Test(
        "a value that may be unknown needs a fallback",
        arguments: [
            ("states.lux + 1", "E405 0..<10 states.lux may be unknown; write (states.lux ?? 0) or give it a default"),
            ("states.lux < 50", "E405 0..<10 states.lux may be unknown; write (states.lux ?? 0) or give it a default"),
            (
                "integer(states.door)",
                "E405 8..<19 states.door may be unknown; write (states.door ?? '') or give it a default"
            ),
            ("json(states.lux)", "E405 5..<15 states.lux may be unknown; write (states.lux ?? 0) or give it a default"),
            ("-states.lux", "E405 1..<11 states.lux may be unknown; write (states.lux ?? 0) or give it a default"),
            (
                "states.door in ['a']",
                "E405 0..<11 states.door may be unknown; write (states.door ?? '') or give it a default"
            ),
        ])
    func unknown(text: String, problem: String) {
        #expect(House.problems(text, in: House.wholeScope) == problem)
    }

    @Test(
        "a misspelt declared name has the error code of its kind, and so has a misspelt time of day",
        arguments: [
            ("in_time('22:00', '22:00')", "E205 17..<24 a window from '22:00' to the same time is empty"),
            ("in_time('25:00', '06:00')", #"E207 8..<15 "25:00" is not a time of day (00:00 to 23:59:59)"#),
            ("in_time('7:00', '08:00')", #"E207 8..<14 "7:00" is not a time of day; write 07:00"#),
            ("in_time('sunset - 0.5h', '22:00')", #"E207 8..<23 "0.5h" is not a duration; write 30m"#),
            ("in_time('sunset * 3', '22:00')", #"E207 8..<20 "sunset * 3" is not a time of day (00:00 to 23:59:59)"#),
            ("buttons.kitchn.held", #"E301 8..<14 unknown button "kitchn"; did you mean "kitchen"?"#),
            ("variables.scen", #"E304 10..<14 unknown variable "scen"; did you mean "scene"?"#),
            ("states.hal_light", #"E305 7..<16 unknown state "hal_light"; did you mean "hall_light"?"#),
            ("rules.goodnite.enabled", #"E311 6..<14 unknown rule "goodnite""#),
        ])
    func declared(text: String, problem: String) {
        #expect(House.problems(text, in: House.wholeScope) == problem)
    }

    @Test(
        "a name that exists only in other places is reported with those places",
        arguments: [
            ("error.code", #"E402 0..<5 there is no "error" here; error belongs inside on_error"#),
            ("repeat.index", #"E402 0..<6 there is no "repeat" here; repeat belongs inside the actions of a repeat"#),
            ("inputs.lamp", #"E402 0..<6 there is no "inputs" here; inputs belong inside a script"#),
            ("sun.is_up", "E512 0..<3 sun needs location: with latitude and longitude"),
            ("in_time('sunset', '23:00')", "E512 8..<16 sunset needs location: with latitude and longitude"),
        ])
    func absent(text: String, problem: String) {
        #expect(House.problems(text) == problem)
    }

    @Test(
        "a condition must be a known boolean",
        arguments: [
            ("variables.guest", "none"),
            (
                "states.people",
                "E404 0..<13 a condition must be a boolean, not integer: states.people; "
                    + "write states.people != 0"
            ),
            (
                "states.lux",
                "E404 0..<10 a condition must be a boolean, not number or unknown: states.lux; "
                    + "write known(states.lux), or compare it"
            ),
            (
                "trigger.button",
                "E404 0..<14 a condition must be a boolean, not string: trigger.button; "
                    + "write trigger.button == 'ON'"
            ),
            (
                "true if variables.guest else null",
                "E405 0..<33 true if variables.guest else null may be unknown; "
                    + "write (true if variables.guest else null ?? false)"
            ),
        ])
    func condition(text: String, problem: String) {
        #expect(House.problems(text, expecting: .condition) == problem)
    }

    @Test(
        "an expression of the wrong type is reported with the conversion to the wanted type",
        arguments: [
            ("2.5", .integer, "E404 0..<3 this must be integer, not number: 2.5; write round(2.5)"),
            ("2", .number, "none"),
            ("'a'", .number, "E404 0..<3 this must be number, not string: 'a'; write number('a')"),
            (
                "states.hall_light", .integer,
                "E404 0..<17 this must be integer, not string: states.hall_light; give hall_light (7:3) type: integer"
            ),
            ("5", .string, "E404 0..<1 this must be string, not integer: 5; write string(5)"),
            ("5", .duration, "E404 0..<1 this must be duration, not integer: 5; write 5 * 1s"),
            (
                "states.door", .string,
                "E405 0..<11 states.door may be unknown; write (states.door ?? '') or give it a default"
            ),
            ("states.door", .string.optional, "none"),
            ("null", .string.optional, "none"),
            ("[]", .list(of: .integer), "none"),
        ] as [(String, ExpressionType, String)])
    func expectedType(text: String, type: ExpressionType, problem: String) {
        #expect(House.problems(text, expecting: .type(type)) == problem)
    }

    @Test("every mistake is reported once, in the order of the text")
    func several() {
        let problems = House.problems("variables.scen == 'a' and (triger.id ?? 'b') == ON or length(1)")
        #expect(
            problems == """
                E304 10..<14 unknown variable "scen"; did you mean "scene"?
                E402 27..<33 unknown name triger; did you mean "trigger"?
                E402 48..<50 unknown name ON; write 'ON' for text
                E404 61..<62 length takes text, not integer: 1; string(x) converts it to text
                """)
    }

    @Test("the suggested spelling can replace what was written")
    func suggestions() throws {
        let text = "states.hal_light = ON"
        let fixed = text.replacing("=", with: "==")
        #expect(ProblemTests.repaired(text) == "states.hal_light == ON")
        #expect(ProblemTests.repaired(fixed) == "states.hall_light == 'ON'")
        #expect(House.problems("states.hall_light == 'ON'") == "none")
    }

    private static func repaired(_ text: String) -> String? {
        do throws(ExpressionProblems) {
            _ = try Expression(compiling: text, in: House.scope)
            return nil
        } catch {
            var octets = Array(text.utf8)
            for problem in error.list.reversed() {
                guard let change = problem.hint?.changes.first else { continue }
                octets.replaceSubrange(change.place ?? problem.range, with: change.text.utf8)
            }
            return String(decoding: octets, as: UTF8.self)
        }
    }
}
