import JSON
import Rules
import Testing

@Suite("What is shown of secrets")
struct RedactionTests {
    @Test("a value is hidden however a step writes it")
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

    @Test("of a value inside another nothing is left of the other")
    func overlapping() {
        #expect(Redaction(["pin", "pinball"])("pinball pin") == "*** ***")
    }

    @Test("an empty value hides nothing, and more can be hidden later")
    func more() {
        #expect(Redaction([""])("text") == "text")
        #expect(Redaction(["one"]).hiding(["two", ""])("one two three") == "*** *** three")
    }
}
