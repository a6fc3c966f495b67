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

    @Test("marks stand in place of values, and are not searched for others")
    func marks() {
        let hide = Redaction(
            ["LUX", "a b", "*", "plain"], marks: ["LUX": "***LUXT***", "a b": "***LUX***", "*": "***S***"])
        #expect(hide("LUX a b a%20b plain") == "***LUXT*** ***LUX*** ***LUX*** ***")
        #expect(hide("2*3") == "2***S***3")
        #expect(hide.withoutMarks("LUX a b") == "*** ***")
        #expect(hide("other") == "other")
        #expect(hide.hiding(["LUX"], marks: ["LUX": "***NEW***"])("LUX") == "***NEW***")
    }

    @Test("in texts of others, values of less than eight octets stay, but not as a whole topic")
    func received() {
        let hide = Redaction(["on", "seven77", "eight888"], marks: ["on": "***ON***"])
        #expect(hide.ofReceived("on seven77 eight888") == "on seven77 ***")
        #expect(hide.ofReceived(jsonOrText: #"{"state":"on"}"#) == #"{"state":"on"}"#)
        #expect(hide(topicName: "on") == "***ON***")
        #expect(hide(topicName: "home/on/eight888") == "home/on/***")
    }

    @Test("an empty value hides nothing, and values can be added later")
    func more() {
        #expect(Redaction([""])("text") == "text")
        #expect(Redaction(["one"]).hiding(["two", ""])("one two three") == "*** *** three")
    }
}
