import ButtonModel
import Simulator
import TestSupport
import Testing

@testable import DemoCommands

extension DemoKeys: StateMachine {}

@Suite("Keys of the demo")
struct DemoKeysTests {
    static func keys() -> Transcript<DemoKeys> { Transcript(DemoKeys(DemoKeyMap(buttons: ["kitchen", "hall"]))) }

    static func key(_ key: Character) -> DemoKeys.Input { .byte(key.asciiValue ?? 0) }

    @Test("its letter presses a button and lets go after a tap")
    func tap() {
        var talk = Self.keys()
        let end = talk.now + DemoKeys.tapDuration
        talk.when(Self.key("k"), expect: .act(button: "kitchen", .press(.down)), .setTimer(end))
        talk.wait(DemoKeys.tapDuration)
        talk.when(.timerFired, expect: .act(button: "kitchen", .press(.up)), .cancelTimer)
    }

    @Test("twice quickly is two presses, one after the other")
    func doubleTap() {
        var talk = Self.keys()
        talk.given(Self.key("k"))
        talk.wait(DemoKeys.tapDuration)
        talk.when(.timerFired, expect: .act(button: "kitchen", .press(.up)), .cancelTimer)
        talk.wait(.milliseconds(60))
        let end = talk.now + DemoKeys.tapDuration
        talk.when(Self.key("k"), expect: .act(button: "kitchen", .press(.down)), .setTimer(end))
    }

    @Test("a key that repeats itself keeps the button down")
    func repetition() {
        var talk = Self.keys()
        talk.given(Self.key("k"))
        for _ in 0..<3 {
            talk.wait(.milliseconds(33))
            talk.when(Self.key("k"), expect: .setTimer(talk.now + DemoKeys.tapDuration))
        }
        talk.wait(.milliseconds(99))
        talk.when(.timerFired, expect: .setTimer(talk.now + .milliseconds(1)))
        talk.wait(.milliseconds(1))
        talk.when(.timerFired, expect: .act(button: "kitchen", .press(.up)), .cancelTimer)
    }

    @Test("the capital letter holds the button down until it comes again")
    func hold() {
        var talk = Self.keys()
        talk.when(Self.key("H"), expect: .act(button: "hall", .press(.down)), .cancelTimer)
        talk.wait(.seconds(5))
        talk.when(.timerFired, expect: .cancelTimer)
        talk.when(Self.key("H"), expect: .act(button: "hall", .press(.up)))
    }

    @Test("the small letter lets go of a held button, too")
    func letGo() {
        var talk = Self.keys()
        talk.given(Self.key("H"))
        talk.when(Self.key("h"), expect: .act(button: "hall", .press(.up)))
    }

    @Test("two buttons can be down at once, each for its own time")
    func both() {
        var talk = Self.keys()
        talk.given(Self.key("k"))
        let end = talk.now + DemoKeys.tapDuration
        talk.wait(.milliseconds(50))
        talk.when(Self.key("h"), expect: .act(button: "hall", .press(.down)), .setTimer(end))
        talk.wait(.milliseconds(50))
        talk.when(.timerFired, expect: .act(button: "kitchen", .press(.up)), .setTimer(talk.now + .milliseconds(50)))
    }

    @Test("q, Ctrl-C and Ctrl-D quit", arguments: [UInt8(ascii: "q"), 3, 4])
    func quit(byte: UInt8) {
        var talk = Self.keys()
        talk.when(.byte(byte), expect: .quit)
    }

    @Test("arrows and function keys are not letters", arguments: ["\u{1B}[H", "\u{1B}OH", "\u{1B}[1;5H", "\u{1B}k"])
    func escapeSequences(text: String) {
        var talk = Self.keys()
        for byte in text.utf8 { talk.when(.byte(byte), expect: .nothing) }
        #expect(talk.given(Self.key("?")) == [.help])
    }

    static func dials() -> Transcript<DemoKeys> {
        Transcript(
            DemoKeys(
                DemoKeyMap(
                    buttons: ["kitchen", "sofa", "desk"], models: ["sofa": .duo, "desk": .twist])))
    }

    @Test("the arrows swipe over the Duo, the button that was pressed last")
    func arrows() {
        var talk = Self.dials()
        for byte in "\u{1B}[".utf8 { talk.when(.byte(byte), expect: .nothing) }
        talk.when(Self.key("C"), expect: .act(button: "sofa", .swipe(.right)))
        talk.given(Self.key("m"))
        for byte in "\u{1B}O".utf8 { talk.when(.byte(byte), expect: .nothing) }
        talk.when(Self.key("A"), expect: .act(button: "sofa", .swipe(.up, part: .small)))
    }

    @Test("plus and minus turn the Twist, or the Duo while it is held")
    func turns() {
        var talk = Self.dials()
        talk.when(Self.key("+"), expect: .act(button: "desk", .turn(hundredths: DemoKeys.turn)))
        talk.given(Self.key("S"))
        talk.when(Self.key("-"), expect: .act(button: "sofa", .turn(hundredths: -DemoKeys.turn)))
        talk.given(Self.key("s"))
        talk.when(Self.key("-"), expect: .act(button: "desk", .turn(hundredths: -DemoKeys.turn)))
    }

    @Test("a Duo has two keys")
    func smallKey() {
        var talk = Self.dials()
        let end = talk.now + DemoKeys.tapDuration
        talk.when(Self.key("m"), expect: .act(button: "sofa", .press(.down, part: .small)), .setTimer(end))
        talk.when(
            Self.key("S"), expect: .act(button: "sofa", .press(.down)), .setTimer(end))
    }

    @Test("no byte does more than it should", arguments: UInt8.min ... .max)
    func otherBytes(byte: UInt8) {
        guard !"kKhHq?\u{3}\u{4}".utf8.contains(byte) else { return }
        var talk = Self.keys()
        talk.when(.byte(byte), expect: .nothing)
        #expect(talk.given(.byte(byte)) == [])
    }

    @Test(
        "each button gets a letter of its name, or any other, and q is never one",
        arguments: [
            (["kitchen", "hall"], "kh"), (["hall", "hallway"], "ha"), (["q", "queue"], "au"), (["Küche", "k"], "ka"),
            (["日本"], "a"),
        ])
    func keyMap(buttons: [String], keys: String) {
        #expect(String(DemoKeyMap(buttons: buttons).entries.map(\.key)) == keys)
    }

    @Test("with more buttons than letters the last have none")
    func manyButtons() {
        #expect(DemoKeyMap(buttons: (1...30).map { "b\($0)" }).entries.count == 25)
    }
}
