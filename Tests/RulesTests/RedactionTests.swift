import JSON
import Rules
import Testing

@Suite("Redaction of secrets")
struct RedactionTests {
    @Test("a secret value is hidden in each form in which a step writes it")
    func forms() throws {
        let secret = "a \"b\"/\nc"
        let hide = Redaction([secret])
        let json = JSONValue.object([.init("key", .string(secret))])
        #expect(hide("it is \(secret).") == "it is ***.")
        #expect(hide(json.description) == #"{"key":"***"}"#)
        #expect(hide(json) == ["key": "***"])
        #expect(hide(jsonOrText: json.description) == #"{"key":"***"}"#)
        #expect(hide("https://web/a%20%22b%22%2F%0Ac?x") == "https://web/***?x")
        #expect(hide(#"log: a "b"/ c"#) == "log: ***")
    }

    @Test("a secret inside another secret is hidden together with it")
    func overlapping() {
        #expect(Redaction(["pin", "pinball"])("pinball pin") == "*** ***")
    }

    @Test("an empty value hides nothing, and values can be added later")
    func more() {
        #expect(Redaction([""])("text") == "text")
        #expect(Redaction(["one"]).hiding(["two", ""])("one two three") == "*** *** three")
    }
}
