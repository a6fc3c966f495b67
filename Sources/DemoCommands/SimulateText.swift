import CommandSupport
import CommandText
import JSON
import Simulator

/// The output of `tryck simulate`: JSON lines, or the same in words, except for what a note says anyway.
enum SimulateText {
    static func trustRoot(_ key: String) -> JSONValue { ["kind": "trust_root", "key": .string(key)] }

    static func attached(_ button: String, address: String) -> JSONValue {
        ["kind": "attached", "button": .string(button), "address": .string(address)]
    }

    static func listening(_ path: String) -> JSONValue { ["kind": "listening", "path": .string(path)] }

    static func note(_ button: String, _ note: String) -> JSONValue {
        ["kind": "note", "button": .string(button), "note": .string(note)]
    }

    static func pressed(_ button: String, _ press: String) -> JSONValue {
        ["kind": "pressed", "button": .string(button), "press": .string(press)]
    }

    static func lines(_ line: JSONValue) -> [Line] {
        let button = Line(line.text("button"), .strong)
        switch line["kind"]?.stringValue {
        case "trust_root":
            return [
                "A daemon accepts these buttons when its tryck.yaml says:",
                Line("  bluetooth: {trust_roots: [\"\(line.text("key"))\"]}", .strong),
            ]
        case "listening": return [Line("A daemon finds them with the transport h4:unix:\(line.text("path"))")]
        case "note": return [button + ": \(line.text("note"))"]
        case "pressed": return [button + (": \(line.text("press")) done", .faint)]
        default: return []
        }
    }

    static func help(buttons: [String]) -> [Line] {
        [
            Line("Type a button and a press, for example: ") + ("\(buttons.first ?? "kitchen") click", .strong),
            Line("Buttons: \(buttons.joined(separator: ", "))", .faint),
            Line("Presses: \(SimulatedAction.exampleNames). Ctrl-D ends.", .faint),
        ]
    }
}
