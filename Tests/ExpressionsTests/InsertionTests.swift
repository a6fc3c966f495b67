import Expressions
import Testing

@Suite("Values inserted into topics, URLs and headers")
struct InsertionTests {
    private func inserted(
        _ value: String, in template: String, _ insertion: Insertion
    ) throws -> String {
        var environment = House.environment
        environment.states[0] = .string(value)
        let template = try Template(compiling: template, in: House.scope, inserting: insertion)
        do {
            return try template.text(in: environment)
        } catch {
            return House.shown(error)
        }
    }

    @Test(
        "a value in a topic can add neither a level nor a wildcard",
        arguments: [
            ("lamp", "home/lamp/set"), ("größe 1", "home/größe 1/set"), ("$SYS", "home/$SYS/set"),
            ("a/b", "R831 5..<28 a value with / cannot be part of a topic"),
            ("+", "R831 5..<28 a value with + cannot be part of a topic"),
            ("a#", "R831 5..<28 a value with # cannot be part of a topic"),
            ("a\u{0}", "R831 5..<28 a value with a NUL cannot be part of a topic"),
            ("", "R831 5..<28 an empty value cannot be part of a topic"),
        ])
    func topic(value: String, text: String) throws {
        #expect(try inserted(value, in: "home/{{ states.hall_light }}/set", .topic) == text)
    }

    @Test("the literal text of a publish topic may have levels but no wildcards")
    func topicLiteral() {
        let problem = "a publish topic cannot contain # or +"
        #expect(TemplateTests.problems("a/{{ trigger.button }}/#", inserting: .topic) == "E508 23..<24 \(problem)")
        #expect(TemplateTests.problems("a/+/b", inserting: .topic) == "E508 2..<3 \(problem)")
        #expect(TemplateTests.problems("a/{{ '+' }}", inserting: .topic) == "none")
    }

    @Test("a value in a URL is percent-encoded, including its slashes")
    func url() throws {
        let template = "https://example.net/{{ states.hall_light }}?q={{ states.hall_light }}"
        #expect(
            try inserted("../a b&c=ü%", in: template, .url)
                == "https://example.net/..%2Fa%20b%26c%3D%C3%BC%25?q=..%2Fa%20b%26c%3D%C3%BC%25")
        #expect(try inserted("A-z_0.9~", in: template, .url) == "https://example.net/A-z_0.9~?q=A-z_0.9~")
    }

    @Test(
        "an expression in the host of a URL, or where it could extend the host, is refused",
        arguments: [
            ("{{ 'x' }}", 0..<9), ("https://{{ 'x' }}/", 8..<17), ("https://a.{{ 'x' }}/", 10..<19),
            ("https://a{{ 'x' }}", 9..<18), ("https://a:{{ '80' }}/", 10..<20), ("https:{{ 'x' }}", 6..<15),
            ("https:///{{ 'x' }}", 9..<18), ("/a/{{ 'x' }}", 3..<12),
        ])
    func host(template: String, range: Range<Int>) {
        #expect(
            TemplateTests.problems(template, inserting: .url)
                == "E509 \(range) the host of a URL must be literal")
    }

    @Test(
        "after the host of a URL an expression may stand anywhere",
        arguments: ["/{{ 1 }}", "?a={{ 1 }}", "#{{ 1 }}", ":80/a/{{ 1 }}", ""])
    func afterHost(rest: String) {
        #expect(TemplateTests.problems("https://a.example" + rest, inserting: .url) == "none")
    }

    @Test("a line break or a NUL in a header value is refused", arguments: ["\r", "\n", "\u{0}", "a\r\nHost: b"])
    func header(value: String) throws {
        #expect(
            try inserted(value, in: "Bearer {{ states.hall_light }}", .header)
                == "R832 7..<30 a value with a line break or a NUL cannot be part of a header")
    }

    @Test("in other places a value is inserted unchanged")
    func plain() throws {
        #expect(try inserted("a/+\r\n\u{0}", in: "{{ states.hall_light }}!", .plain) == "a/+\r\n\u{0}!")
        #expect(try inserted("Bearer", in: "{{ states.hall_light }} x", .header) == "Bearer x")
    }
}
