import ButtonModel
import JSON
import Testing

@testable import tryck

@Suite("The screen of the demo")
struct DemoScreenTests {
    @Test("lines are stamped, and a new press stands apart")
    func log() {
        var screen = DemoScreen()
        func show(_ line: JSONValue, at milliseconds: Int64) -> [String] {
            let now = Instant(sinceBoot: .milliseconds(milliseconds))
            return screen.lines(line, clock: "13:02:11.204", style: .plain, at: now).map { $0.rendered(.plain) }
        }
        let down: JSONValue = ["kind": "event", "button": "hall", "event": "down"]
        #expect(show(down, at: 0) == ["13:02:11.204  event    hall  down"])
        #expect(show(down, at: 200) == ["13:02:11.204  event    hall  down"])
        #expect(show(["kind": "nothing"], at: 900) == [])
        #expect(show(down, at: 1000) == ["", "13:02:11.204  event    hall  down"])
    }

    @Test("header, keys and hints fit 80 columns")
    func help() {
        let style = Style(usesColour: false, usesUnicode: true, width: 80)
        let lines =
            DemoScreen.header(rules: "/usr/share/tryck/rules/home.yaml")
            + DemoScreen.help(DemoKeyMap(buttons: ["kitchen", "hall"]))
            + DemoScreen.hints(
                broker: "mqtt://127.0.0.1:40001", controlSocket: "/tmp/tryck-demo.abcdef/control.sock")
        let text = lines.map { $0.rendered(style) + "\n" }.joined()
        #expect(!text.contains("…"))
        expectGolden(text, "demo-header.txt")
    }
}
