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

    @Test("in texts of others, short values stay, but for a secret that is a whole text, and for a whole topic")
    func received() {
        let hide = Redaction(
            ["on", "4711", "seven77", "eight888"], marks: ["on": "***ON***", "4711": "***pin***"],
            open: ["on", "seven77"])
        let received = hide.ofReceived
        #expect(received("on 4711 seven77 eight888") == "on 4711 seven77 ***")
        for (text, hidden) in [
            ("on", "on"), ("4711", "***pin***"), (#"{"state":"on"}"#, #"{"state":"on"}"#),
            (#"{"code":"4711","n":[4711,47110]}"#, #"{"code":"***pin***","n":["***pin***",47110]}"#),
        ] { #expect(received(jsonOrText: text) == hidden) }
        #expect(hide(topicName: "on") == "***ON***")
        #expect(hide(topicName: "home/on/eight888") == "home/on/***")
        // A value that both a secret and an environment variable have is a secret.
        #expect(Redaction(["on"]).hiding(["on"], open: ["on"]).ofReceived("on") == "***")
        #expect(Redaction(["on"], open: ["on"]).hiding(["on"]).ofReceived("on") == "***")
    }

    @Test("a very short secret, and a short value of an environment variable, stay inside longer words and numbers")
    func words() {
        let hide = Redaction(["1", "on", "button", "4711"], marks: ["4711": "***pin***"], open: ["on", "button"])
        #expect(
            hide("1 of 10: button_1 on, buttons 80:e4:da:1a is (on)")
                == "*** of 10: button_1 ***, buttons 80:e4:da:1a is (***)")
        #expect(hide("on1on on-1 on") == "on1on ***-*** ***")
        #expect(hide("x4711y") == "x***pin***y")
        #expect(
            hide(["kind": "button", "count": 1, "list": ["1", "11"]]) == [
                "kind": "***", "count": 1, "list": ["***", "11"],
            ])
        #expect(Redaction(["é1"])("café1 é1 é12") == "café1 *** é12")
        #expect(
            hide(#"a%2Fon, a%20on, a%2on, x\non, x\u000aon, xnon"#)
                == #"a%2F***, a%20***, a%2on, x\n***, x\u000a***, xnon"#)
    }

    @Test("neither a mark in JSON nor what somebody sends in place of a mark is read as a value")
    func standIns() {
        let hide = Redaction(["longsecretvalue", "7"], marks: ["longsecretvalue": "***token7***", "7": "***pin***"])
        #expect(hide(jsonOrText: #"{"t":"longsecretvalue","u":7}"#) == #"{"t":"***token7***","u":***pin***}"#)
        #expect(hide("longsecretvalue \u{100000}\u{100001}") == "***token7*** \u{FFFD}\u{FFFD}")
        #expect(Redaction([])("\u{100000}") == "\u{100000}")
    }

    @Test("an empty value hides nothing, and values can be added later")
    func more() {
        #expect(Redaction([""])("text") == "text")
        #expect(Redaction(["one"]).hiding(["two", ""])("one two three") == "*** *** three")
    }
}
