import Testing

@Suite("Functions")
struct FunctionTests {
    @Test(
        "known tells whether a value is unknown, and default replaces an unknown value",
        arguments: [
            ("known(1)", "boolean true"),
            ("known(null)", "boolean false"),
            ("default(states.lux, 3)", "number 3"),
            ("states.lux | default(3) | round", "integer 3"),
            ("known(states.lux)", "boolean false"),
            ("states.door | default('shut') | upper", "string 'OPEN'"),
        ])
    func unknown(text: String, outcome: String) throws {
        #expect(try House.outcome(text) == outcome)
    }

    @Test(
        "integer, number and string convert values, or fail and say which value they cannot convert",
        arguments: [
            ("integer('12')", "integer 12"),
            ("integer('2.0')", "integer 2"),
            ("integer('2.9')", #"R803 0..<14 "2.9" is not an integer"#),
            ("integer(2.9)", #"R803 0..<12 "2.9" is not an integer"#),
            ("integer(2.0)", "integer 2"),
            ("integer('x')", #"R803 0..<12 "x" is not an integer"#),
            ("integer('x', 7)", "integer 7"),
            ("integer('9223372036854775808')", #"R803 0..<30 "9223372036854775808" is not an integer"#),
            ("integer('-9223372036854775808')", "integer -9223372036854775808"),
            ("integer('1e3')", "integer 1000"),
            ("integer(' 1')", #"R803 0..<13 " 1" is not an integer"#),
            ("number('21.5')", "number 21.5"),
            ("number('21.5e-1')", "number 2.15"),
            ("number('1e400')", #"R803 0..<15 "1e400" is not a number"#),
            ("number('inf')", #"R803 0..<13 "inf" is not a number"#),
            ("number('0x10')", #"R803 0..<14 "0x10" is not a number"#),
            ("number(states.people)", "number 2"),
            ("number('', 2)", "number 2"),
            ("string(12) ~ string(1m30s)", "string '121m30s'"),
            ("string(states.lux)", "R801 7..<17 states.lux is unknown"),
        ])
    func conversions(text: String, outcome: String) throws {
        #expect(try House.outcome(text) == outcome)
    }

    @Test(
        "round rounds halves away from zero, as the number is written",
        arguments: [
            ("round(2.5)", "integer 3"),
            ("round(-2.5)", "integer -3"),
            ("round(0.5)", "integer 1"),
            ("round(-0.4)", "integer 0"),
            ("round(2.675, 2)", "number 2.68"),
            ("round(1.005, 2)", "number 1.01"),
            ("round(12, 1)", "number 12"),
            ("round(2.5, -1)", "R802 0..<14 round keeps at least 0 digits, not -1"),
            ("round(1.5, 20)", "number 1.5"),
            ("round(9300000000000000000.0)", "R802 0..<28 the result does not fit 64 bits"),
            ("round(9.995, 2)", "number 10"),
            ("floor(-2.5)", "integer -3"),
            ("ceil(-2.5)", "integer -2"),
            ("floor(7)", "integer 7"),
            ("abs(-3)", "integer 3"),
            ("abs(-2.5)", "number 2.5"),
            ("abs(-9223372036854775808)", "R802 0..<25 the result does not fit 64 bits"),
            ("-5 | abs", "integer -5"),
            ("(-5) | abs", "integer 5"),
            ("-2 | abs", "integer -2"),
            ("(-2) | abs", "integer 2"),
        ])
    func rounding(text: String, outcome: String) throws {
        #expect(try House.outcome(text) == outcome)
    }

    @Test(
        "min, max and clamp give the type of their arguments",
        arguments: [
            ("min(1, 2)", "integer 1"),
            ("min(1, 2.5)", "number 1"),
            ("max(1, 2.5, 2)", "number 2.5"),
            ("max(1s, 1m)", "duration 1m"),
            ("clamp(5, 1, 3)", "integer 3"),
            ("clamp(0, 1, 3)", "integer 1"),
            ("clamp(2, 3, 1)", "integer 3"),
            ("clamp(2.5, 1, 3)", "number 2.5"),
            ("3 | max(5, 4)", "integer 5"),
        ])
    func extremes(text: String, outcome: String) throws {
        #expect(try House.outcome(text) == outcome)
    }

    @Test(
        "text functions count and change Unicode scalars, from 0 on",
        arguments: [
            ("lower('ÄBC')", "string 'äbc'"),
            ("upper('straße')", "string 'STRASSE'"),
            ("trim('  a b ')", "string 'a b'"),
            ("replace('banana', 'ana', 'X')", "string 'bXna'"),
            ("replace('aaaa', 'aa', 'a')", "string 'aa'"),
            ("replace('abc', '', 'x')", "string 'abc'"),
            ("slice('héllo', 1, 3)", "string 'éll'"),
            ("slice('hello', -2, 3)", "string 'h'"),
            ("slice('hello', 3, 100)", "string 'lo'"),
            ("slice('hello', 1, -1)", "string ''"),
            ("slice('hello', 9223372036854775807, 9223372036854775807)", "string ''"),
            ("length('héllo')", "integer 5"),
            ("'a' | upper ~ 'b'", "string 'Ab'"),
            ("' a ' | trim | upper | length", "integer 1"),
        ])
    func text(text: String, outcome: String) throws {
        #expect(try House.outcome(text) == outcome)
    }

    @Test(
        "text is found however its accents are composed",
        arguments: [
            ("contains('abc', 'bc')", "boolean true"),
            ("contains('abc', '')", "boolean true"),
            ("starts_with('abc', 'ab')", "boolean true"),
            ("ends_with('abc', 'bc')", "boolean true"),
            ("ends_with('abc', 'abcd')", "boolean false"),
            ("like('kitchen_light', 'kit*light')", "boolean true"),
            ("like('abc', 'a?c')", "boolean true"),
            ("like('abc', '?')", "boolean false"),
            ("like('', '*')", "boolean true"),
            ("like('abcbc', '*bc')", "boolean true"),
            ("like('aXbXc', 'a*X?X*')", "boolean true"),
        ])
    func searching(text: String, outcome: String) throws {
        #expect(try House.outcome(text) == outcome)
    }

    @Test(
        "next gives the entry after a value and begins again after the last, also for the values of a variable",
        arguments: [
            ("next(['a', 'b'], 'a')", "string 'b'"),
            ("next(['a', 'b'], 'b')", "string 'a'"),
            ("next(['a', 'b'], 'z')", "string 'a'"),
            ("next([1, 2.5], 1)", "number 2.5"),
            ("next(variables.scene)", "string 'off'"),
            ("next(variables.ratio)", "number 1"),
        ])
    func next(text: String, outcome: String) throws {
        #expect(try House.outcome(text) == outcome)
    }

    @Test(
        "durations are converted to numbers of a unit",
        arguments: [
            ("seconds(1500ms)", "number 1.5"),
            ("milliseconds(2s)", "integer 2000"),
            ("minutes_since(trigger.at)", "integer 0"),
            ("minutes_since('2026-03-29T00:28:30Z')", "integer 1"),
            ("minutes_since('2026-03-29T01:30:01.5+01:00')", "integer -1"),
            ("minutes_since('2026-03-28T22:30:00-02:00')", "integer 0"),
            ("minutes_since('2024-02-29T00:30:00z')", "integer 1092960"),
            ("minutes_since('')", #"R803 0..<17 "" is no time"#),
            ("minutes_since('2026-02-29T00:00:00Z')", #"R803 0..<37 "2026-02-29T00:00:00Z" is no time"#),
            ("minutes_since('2026-03-29T01:30:00')", #"R803 0..<36 "2026-03-29T01:30:00" is no time"#),
        ])
    func durations(text: String, outcome: String) throws {
        #expect(try House.outcome(text) == outcome)
    }

    @Test(
        "JSON is written by type, and read by a JSON pointer",
        arguments: [
            (#"json('a"b')"#, #"string '"a\"b"'"#),
            ("json([1, 2])", "string '[1,2]'"),
            ("json(1.5)", "string '1.5'"),
            ("json(1m)", #"string '"1m"'"#),
            ("json_get(results.answer.body, '/state')", "string or unknown 'on'"),
            ("json_get(results.answer.body, '/lamps/0/level')", "string or unknown '0.5'"),
            ("json_get(results.answer.body, '/lamps/1/a~1b')", "string or unknown 'true'"),
            ("json_get(results.answer.body, '/lamps/1/n')", "string or unknown null"),
            ("json_get(results.answer.body, '/lamps/0')", #"string or unknown '{"level":0.5}'"#),
            ("json_get(results.answer.body, '/x')", "string or unknown null"),
            ("json_get('{', '/x')", "string or unknown null"),
            ("json_get('5', '')", "string or unknown '5'"),
        ])
    func json(text: String, outcome: String) throws {
        #expect(try House.outcome(text) == outcome)
    }

    @Test(
        "every character with a meaning in a URL is percent-encoded",
        arguments: [
            ("url('a b/ü~')", "string 'a%20b%2F%C3%BC~'")
        ])
    func url(text: String, outcome: String) throws {
        #expect(try House.outcome(text) == outcome)
    }

    @Test(
        "a window of the day may span midnight, and may begin or end with the sun",
        arguments: [
            ("in_time('22:00', '06:00')", "boolean true"),
            ("in_time('01:30', '01:31')", "boolean true"),
            ("in_time('00:00', '01:30')", "boolean false"),
            ("in_time('sunset', 'sunrise')", "boolean true"),
            ("in_time('sunset - 30m', 'dawn+1h')", "boolean true"),
        ])
    func windows(text: String, outcome: String) throws {
        #expect(try House.outcome(text) == outcome)
    }
}
