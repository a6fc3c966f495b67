import Testing

@testable import WebService

@Suite("Passwords in rule files")
struct PasswordMaskTests {
    private func mask(_ text: String) -> PasswordMask { PasswordMask(Array(text.utf8), key: [1]) }

    private func masked(_ text: String) -> String { String(decoding: mask(text).masked, as: UTF8.self) }

    /// The masked text without the digits of the marks.
    private func shape(_ text: String) -> String { masked(text).replacing(/\*\*\*[0-9a-f]{8}/, with: "***") }

    private func restored(_ text: String, _ edited: String) throws -> String {
        String(decoding: try mask(text).restored(Array(edited.utf8)), as: UTF8.self)
    }

    /// The mark of the only password of a text.
    private func mark(_ password: String) -> String { String(masked("password: \(password)").dropFirst(10)) }

    @Test(
        "a password in clear is hidden, and comes back",
        arguments: [
            ("password: hunter2", "password: ***"), ("password: \"hunter 2\" # old", "password: \"***\" # old"),
            ("  - pwd: 'hunter2'", "  - pwd: '***'"), ("password: correct horse # x", "password: *** # x"),
            ("headers: {Authorization: \"Bearer hunter2hunter2\", X: y}", "headers: {Authorization: \"***\", X: y}"),
            ("headers: {X-Api-Key: hunter2, X: y}", "headers: {X-Api-Key: ***, X: y}"),
            ("url: https://ada:hunter2@host/path@x", "url: https://***@host/path@x"),
            ("url: \"https://host/?a=b&access_token=hunter2&c=d\"", "url: \"https://host/?a=b&access_token=***&c=d\""),
            ("shell: curl -H 'Authorization: Bearer hunter2x'", "shell: curl -H 'Authorization: ***"),
            ("shell: mysql --password=hunter2 db", "shell: mysql --password=*** db"),
            ("payload: '{\"token\":\"hunter2\"}'", "payload: '{\"token\":\"***\"}'"),
            ("payload: \"{\\\"token\\\":\\\"hunter2\\\"}\"", "payload: \"{\\\"token\\\":\\\"***\\\"}\""),
            ("token: |\n  hunter2\n  hunter3\nx: y", "token: |\n  ***\n  ***\nx: y"),
            ("token:\n  hunter2\nx: y", "token:\n  ***\nx: y"),
            ("tokens:\n  - hunter2\n  - b", "tokens:\n  - ***\n  - ***"),
            ("password: hunter2\n  hunter3\nx: y", "password: ***\n  ***\nx: y"),
            ("password: \"hunter2\n  hunter3\"\nx: y", "password: \"***\n  ***\nx: y"),
            ("# password: hunter2", "# password: ***"), ("PASSWORD:\thunter2", "PASSWORD:\t***"),
            ("password: hunter2*", "password: ***"), ("password: *", "password: ***"),
            ("password: 1234\r\nx: y\r\n", "password: ***\r\nx: y\r\n"),
            ("password: $ecret99", "password: ***"), ("password : hunter2", "password : ***"),
            ("{\"token\" : \"hunter2\"}", "{\"token\" : \"***\"}"),
            ("headers: {X-Password: *pw, X-Token: hunter2}", "headers: {X-Password: *pw, X-Token: ***}"),
            ("run: [tool, --password, hunter2]", "run: [tool, --password, ***]"),
            ("shell: tool --token hunter2 x", "shell: tool --token *** x"),
            ("password: &pw hunter2", "password: &pw ***"),
            ("headers: {Cookie: a=hunter2}", "headers: {Cookie: ***}"),
            ("auth: hunter2", "auth: ***"), ("headers: {X-Auth: hunter2}", "headers: {X-Auth: ***}"),
            ("url: \"https://host/?key=hunter2&a=b\"", "url: \"https://host/?key=***&a=b\""),
            ("shell: curl -u ada:hunter2 host", "shell: curl -u *** host"),
            ("run: [curl, \"-u\", \"ada:hunter2\", host]", "run: [curl, \"-u\", \"***\", host]"),
            ("shell: mosquitto_pub -u ada -P hunter2 -t a", "shell: mosquitto_pub -u ada -P *** -t a"),
        ])
    func hidden(text: String, shown: String) throws {
        #expect(shape(text) == shown)
        #expect(try restored(text, masked(text)) == text)
    }

    @Test(
        "what is no password is shown",
        arguments: [
            "password: !secret mqtt", "headers: {Authorization: !secret hue, X: y}", "token: !env_var TOKEN",
            "token: \"{{ states.token }}\"", "topic: home/token/set", "id: secret_door",
            "secret_door:\n  id: x\n  on: y",
            "condition: variables.token == \"x\"", "token: false", "url: https://host:80/path",
            "alias: The secret garden", "author: Ada", "pass the ball: x", "shell: tool -u ada", "key: value",
            "shell: \"curl -u {{ states.login }}\"", "shell: curl -u $LOGIN",
            "shell: mosquitto_pub -P $PASSWORD", "run: [mosquitto_pub, -P, !secret mqtt]",
            "shell: \"mosquitto_pub -P {{ states.word }}\"",
            "shell: curl -H \"X-Token: $TOKEN\"",
        ])
    func shown(text: String) { #expect(masked(text) == text) }

    @Test("a password comes back after other lines have changed, and after it has moved")
    func moved() throws {
        let text = "a: b\nmqtt:\n  password: hunter2\n"
        #expect(
            try restored(text, "mqtt:\n    password: \(mark("hunter2")) # same\nc: d\n")
                == "mqtt:\n    password: hunter2 # same\nc: d\n")
        #expect(try restored(text, "c: d\n") == "c: d\n")
        #expect(try restored(text, "  password: new\n") == "  password: new\n")
    }

    @Test(
        "different passwords have different marks, and keep them when lines change places, in each version of the file")
    func numbered() throws {
        let text = "- password: one\n- password: two\n- password: one\n- token: two\n"
        let (one, two) = (mark("one"), mark("two"))
        #expect(one != two)
        #expect(masked(text) == "- password: \(one)\n- password: \(two)\n- password: \(one)\n- token: \(two)\n")
        #expect(
            try restored("- password: new\n" + text, "x: y\n- password: \(two)\n- password: \(one)\n")
                == "x: y\n- password: two\n- password: one\n")
    }

    @Test("a mark that stands for no password is refused")
    func unknown() {
        let text = "- password: one\n- password: two\n"
        #expect(throws: PasswordMask.Unknown(line: 2, column: 13)) { try restored(text, "x: y\n- password: ***\n") }
        #expect(throws: PasswordMask.Unknown(line: 1, column: 8)) { try restored(text, "token: \(mark("three"))\n") }
    }

    @Test("a mark is refused where the page would show its password", arguments: ["alias: ", "alias: >-\n  "])
    func shownElsewhere(before: String) {
        #expect(throws: PasswordMask.Unknown.self) {
            try restored("password: hunter2\n", before + mark("hunter2") + "\n")
        }
    }

    @Test("a mark with too few or too many asterisks is refused", arguments: [1, 2, 4, 5])
    func damaged(count: Int) {
        let mark = String(repeating: "*", count: count) + mark("hunter2").dropFirst(3)
        #expect(throws: PasswordMask.Unknown.self) { try restored("password: hunter2\n", "password: \"\(mark)\"\n") }
    }

    @Test("a line that becomes a comment keeps its password")
    func comment() throws {
        #expect(try restored("password: hunter2\n", "# password: \(mark("hunter2"))\n") == "# password: hunter2\n")
    }

    @Test("many passwords and many marks take time and memory in proportion to their number", .timeLimit(.minutes(1)))
    func many() throws {
        let text = (0..<10_000).map { "password: \($0)x\n" }.joined()
        #expect(try restored(text, masked(text)) == text)
        let stars = String(repeating: "*** ", count: 200_000)
        #expect(throws: PasswordMask.Unknown.self) { try restored("password: hunter2\n", "x" + stars) }
        #expect(try restored("x" + stars, "x" + stars) == "x" + stars)
    }

    @Test("asterisks that stand in a file, or that a comment gets, stay")
    func asterisks() throws {
        let text = "# *** note ***\nalias: '***'\n"
        #expect(masked(text) == text)
        #expect(try restored(text, text) == text)
        #expect(try restored("a: b\n", "# *** new\na: b\n") == "# *** new\na: b\n")
    }

    @Test("a text for a check has words of the same length instead")
    func neutral() {
        let mask = mask("password: hunter2\n")
        let digits = mark("hunter2").dropFirst(3)
        #expect(String(decoding: mask.neutral(mask.masked), as: UTF8.self) == "password: xxx\(digits)\n")
    }

    @Test("any octets are masked and come back", arguments: 0..<2000 as Range<UInt64>)
    func anything(seed: UInt64) throws {
        var generator = Generator(state: seed)
        let pieces = [
            "password", ": ", ":", "=", "\"", "'", "***", "*", "://", "@", "\n", "  ", "- ", "|", "#", "x", "!secret ",
            "{", "[", "\\", "bearer ", "ü", "2", "***0123abcd",
        ]
        let text = (0..<40).map { _ in pieces[Int(generator.next() % UInt64(pieces.count))] }.joined()
        let mask = mask(text)
        #expect(try mask.restored(mask.masked) == Array(text.utf8))
    }

    @Test(
        "the time does not grow with the square of the length of a line", .timeLimit(.minutes(1)),
        arguments: ["*** ", "://", "token", "token\"", "password=x ", "{password: x, ", "'", "bearer "])
    func longLine(piece: String) throws {
        let text = String(repeating: piece, count: 400_000 / piece.utf8.count)
        #expect(try restored(text, masked(text)) == text)
    }

    private struct Generator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
    }
}
