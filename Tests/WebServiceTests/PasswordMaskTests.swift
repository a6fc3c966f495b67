import Testing

@testable import WebService

@Suite("Passwords in rule files")
struct PasswordMaskTests {
    private func masked(_ text: String) -> String {
        String(decoding: PasswordMask(Array(text.utf8)).masked, as: UTF8.self)
    }

    private func restored(_ text: String, _ edited: String) throws -> String {
        String(decoding: try PasswordMask(Array(text.utf8)).restored(Array(edited.utf8)), as: UTF8.self)
    }

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
        ])
    func hidden(text: String, shown: String) throws {
        #expect(masked(text) == shown)
        #expect(try restored(text, masked(text)) == text)
    }

    @Test(
        "what is no password is shown",
        arguments: [
            "password: !secret mqtt", "headers: {Authorization: !secret hue, X: y}", "token: !env_var TOKEN",
            "token: \"{{ states.token }}\"", "topic: home/token/set", "id: secret_door",
            "secret_door:\n  id: x\n  on: y",
            "condition: variables.token == \"x\"", "token: false", "url: https://host:80/path",
            "alias: The secret garden",
            "shell: curl -H \"X-Token: $TOKEN\"",
        ])
    func shown(text: String) { #expect(masked(text) == text) }

    @Test("a password comes back after other lines have changed, and after it has moved")
    func moved() throws {
        let text = "a: b\nmqtt:\n  password: hunter2\n"
        #expect(
            try restored(text, "mqtt:\n    password: *** # same\nc: d\n")
                == "mqtt:\n    password: hunter2 # same\nc: d\n")
        #expect(try restored(text, "c: d\n") == "c: d\n")
        #expect(try restored(text, "  password: new\n") == "  password: new\n")
    }

    @Test("passwords behind the same words come back in their order, and otherwise are asked for")
    func ambiguous() throws {
        let text = "- password: one\n- password: two\n"
        #expect(
            try restored(text, "x: y\n- password: ***\n- password: ***\n") == "x: y\n- password: one\n- password: two\n"
        )
        #expect(throws: PasswordMask.Unknown(line: 2, column: 13)) { try restored(text, "x: y\n- password: ***\n") }
        #expect(throws: PasswordMask.Unknown(line: 1, column: 7)) { try restored(text, "word: ***\n") }
        let same = "- password: one\n- password: one\n"
        #expect(try restored(same, "- password: ***\n") == "- password: one\n")
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
        let mask = PasswordMask(Array("password: hunter2\n".utf8))
        #expect(String(decoding: mask.neutral(mask.masked), as: UTF8.self) == "password: xxx\n")
    }

    @Test("any octets are masked and come back", arguments: 0..<300 as Range<UInt64>)
    func anything(seed: UInt64) throws {
        var generator = Generator(state: seed)
        let pieces = [
            "password", ": ", ":", "=", "\"", "'", "***", "*", "://", "@", "\n", "  ", "- ", "|", "#", "x", "!secret ",
            "{", "[", "\\", "bearer ", "ü",
        ]
        let text = (0..<40).map { _ in pieces[Int(generator.next() % UInt64(pieces.count))] }.joined()
        let mask = PasswordMask(Array(text.utf8))
        #expect(try mask.restored(mask.masked) == Array(text.utf8))
    }

    @Test(
        "the time does not grow with the square of the length of a line",
        arguments: ["*** ", "://", "token", "token\"", "password=x ", "{password: x, ", "'", "bearer "])
    func longLine(piece: String) throws {
        let text = Array(String(repeating: piece, count: 400_000 / piece.utf8.count).utf8)
        var rest = text
        let time = try ContinuousClock().measure {
            let mask = PasswordMask(text)
            rest = try mask.restored(mask.masked)
        }
        #expect(rest == text)
        #expect(time < .seconds(20), "400 kB take far less than a second, and with the square of the length minutes")
    }

    private struct Generator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
    }
}
