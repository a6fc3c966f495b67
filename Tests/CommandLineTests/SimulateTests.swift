import ButtonModel
import JSON
import Simulator
import Testing

@testable import CommandSupport
@testable import DemoCommands
@testable import Edges

@Suite("Buttons behind foreign controllers")
struct SimulateTests {
    @Test("a controller is named as in tryck.yaml")
    func attachments() {
        #expect(Attachment.parse("h4:tcp:127.0.0.1:6402") == .tcp(host: "127.0.0.1", port: 6402))
        #expect(Attachment.parse("h4:tcp:[::1]:6402") == .tcp(host: "::1", port: 6402))
        #expect(Attachment.parse("h4:unix:/tmp/hci") == .unix(path: "/tmp/hci"))
    }

    @Test(
        "anything else is none",
        arguments: ["", "hci:0", "h4:tcp:6402", "h4:tcp::6402", "h4:tcp:host:0", "h4:tcp:host:65536", "h4:unix:"])
    func noAttachment(text: String) {
        #expect(Attachment.parse(text) == nil)
    }

    @Test(
        "a line is a button and a press",
        arguments: [
            ("kitchen click", SimulateInput.act(button: "kitchen", .press(.click))),
            ("sofa small_swipe_up", .act(button: "sofa", .swipe(.up, part: .small))),
            ("desk push_turn_-5", .act(button: "desk", .pushTurn(hundredths: -5))),
            ("  hall\tmake_public ", .act(button: "hall", .press(.makePublic))),
            ("help", .help),
            ("?", .help),
            ("kitchen", .mistake("Write a button and a press, for example: kitchen click")),
            ("kitchen click twice", .mistake("Write a button and a press, for example: kitchen click")),
            ("attic click", .mistake("There is no button \"attic\". The buttons are: kitchen, hall, sofa, desk.")),
            (
                "kichen click",
                .mistake(
                    "There is no button \"kichen\". Did you mean \"kitchen\"? The buttons are: kitchen, hall, sofa, desk."
                )
            ),
            (
                "hall clik",
                .mistake(
                    "There is no press \"clik\". Did you mean \"click\"? The presses are: \(SimulatedAction.exampleNames)."
                )
            ),
            (
                "desk swipe_up",
                .mistake(
                    "desk is a twist, which does not support swipe_up. It supports: click, double_click, hold, down, up, make_public, "
                        + "turn_10, turn_-10, push_turn_10.")
            ),
            (
                "kitchen turn_5",
                .mistake(
                    "kitchen is a flic2, which does not support turn_5. It supports: click, double_click, hold, down, up, make_public."
                )
            ),
            (
                "hall small_hold",
                .mistake(
                    "hall is a flic2, which does not support small_hold. It supports: click, double_click, hold, down, up, make_public."
                )
            ),
            (
                "hall fly",
                .mistake(
                    "There is no press \"fly\". The presses are: \(SimulatedAction.exampleNames).")
            ),
        ])
    func lines(text: String, expected: SimulateInput) {
        let buttons: [(String, FlicModel)] = [
            ("kitchen", .flic2), ("hall", .flic2), ("sofa", .duo), ("desk", .twist),
        ]
        #expect(SimulateInput(parsing: text, buttons: buttons) == expected)
    }

    @Test("an empty line is nothing", arguments: ["", "  ", "\t"])
    func empty(text: String) {
        #expect(SimulateInput(parsing: text, buttons: [("kitchen", .flic2)]) == nil)
    }

    @Test("the key to trust can be copied into tryck.yaml")
    func trustRoot() {
        let lines = SimulateText.lines(SimulateText.trustRoot("00ff"))
        #expect(lines.map { $0.rendered(.plain) }.contains(#"  bluetooth: {trust_roots: ["00ff"]}"#))
    }

    @Test("notes are said in the button's name")
    func notes() {
        #expect(SimulateText.lines(SimulateText.note("hall", "paired")).map { $0.rendered(.plain) } == ["hall: paired"])
        #expect(
            SimulateText.lines(SimulateText.pressed("hall", "hold")).map { $0.rendered(.plain) } == ["hall: hold done"])
    }
}
