import JSON
import Testing

@testable import CommandSupport
@testable import DemoCommands

@Suite("The screen of the demo")
struct DemoScreenTests {
    static func show(all: Bool = true, _ lines: JSONValue...) -> [String] {
        var screen = DemoScreen(showsAll: all)
        return lines.flatMap { screen.lines($0, clock: "13:02:11.204", style: .plain) }.map { $0.rendered(.plain) }
    }

    static func event(_ event: JSONValue) -> JSONValue { ["kind": "event", "button": "hall", "event": event] }

    @Test("lines are stamped, and each press stands apart")
    func log() {
        #expect(
            Self.show(Self.event("down"), Self.event("up"), Self.event("click"), Self.event("down")) == [
                "", "13:02:11.204  event    hall  down", "13:02:11.204  event    hall  up",
                "13:02:11.204  event    hall  click", "", "13:02:11.204  event    hall  down",
            ])
    }

    @Test("the two presses of a double click stand together")
    func doubleClick() {
        let lines = Self.show(Self.event("down"), Self.event("up"), Self.event("down"), Self.event("up"))
        #expect(lines.count { $0.isEmpty } == 1)
    }

    @Test("lines that belong to another stand under its text")
    func process() {
        let lines = Self.show(["kind": "process", "command": ["date"], "status": 0, "stdout": "13:02"])
        #expect(lines == ["13:02:11.204  program  date  exit 0", "                       │ 13:02"])
    }

    @Test("presses, rules and their effects are shown, and with --all the rest")
    func all() {
        let effects: [JSONValue] = [
            Self.event("click"), ["kind": "rule", "rule": "r", "outcome": "completed"],
            ["kind": "publish", "topic": "home/hall", "payload": "ON"],
            ["kind": "variable", "variable": "guest", "value": true],
            ["kind": "log", "rule": "r", "message": "lit", "level": "info"],
            ["kind": "pairing", "step": "failed", "advice": "Hold it longer."],
        ]
        let rest: [JSONValue] = [
            Self.event("down"), Self.event("up"), ["kind": "pairing", "step": "paired", "button": "hall"],
            ["kind": "publish", "topic": "tryck/80e4da000001/action", "payload": "click"],
            ["kind": "publish", "topic": "homeassistant/device/x/config", "payload": "{}"],
            ["kind": "broker", "state": "connected"],
        ]
        for line in effects + rest { #expect(Self.show(all: true, line).contains { !$0.isEmpty }, "\(line)") }
        for line in effects { #expect(Self.show(all: false, line).contains { !$0.isEmpty }, "\(line)") }
        for line in rest.prefix(5) { #expect(Self.show(all: false, line) == [], "\(line)") }
        #expect(
            Self.show(
                all: false, Self.event("down"), Self.event("up"), Self.event("click"), Self.event("down"),
                Self.event("up"), Self.event("click"))
                == ["13:02:11.204  event    hall  click", "", "13:02:11.204  event    hall  click"])
    }

    @Test("header, keys and hints fit 80 columns")
    func help() {
        let style = Style(usesColour: false, usesUnicode: true, width: 80)
        let lines =
            DemoScreen.header(rules: "/usr/share/tryck/rules/home.yaml")
            + DemoScreen.help(DemoKeyMap(buttons: ["kitchen", "hall"]))
            + DemoScreen.hints(
                broker: "unix:/tmp/tryck-demo.abcdef/state/broker/mqtt.sock",
                controlSocket: "/tmp/tryck-demo.abcdef/control.sock")
        let text = lines.map { $0.rendered(style) + "\n" }.joined()
        #expect(!text.contains("…"))
        expectGolden(text, "demo-header.txt")
    }
}
