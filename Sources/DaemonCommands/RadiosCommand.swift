import ArgumentParser
import CommandSupport
import CommandText
import JSON
import MQTTTopics
import Platform

struct RadiosCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "radios",
        abstract: "List the radios of the daemon, and the buttons that each of them has.",
        discussion: """
            A radio is a Bluetooth adapter of this machine or of another one. The exit status is 1 if a radio has a fault.

              tryck radios
              tryck radios --json | jq '.[] | select(.state != "ready") | .advice'
              tryck radios --find
            """)

    @Flag(
        help:
            "Ask the local network for ESPHome devices, and print lines for tryck.yaml. Needs no daemon, and changes nothing."
    )
    var find = false
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        guard !find else { return try printProxies() }
        let radios = try control.ask(ControlRequestName.radios)
        if output.json {
            Output.standardOutput.write(line: radios.description)
        } else {
            // Lines are not cut off at the width of the terminal, because a fault ends with how to mend it.
            var style = Output.standardOutput.style
            style.width = nil
            let lines = RadioTable.lines(radios.arrayValue ?? [], style: style)
            Output.standardOutput.write(text: lines.map { $0.rendered(style) + "\n" }.joined())
        }
        let hasFault = radios.arrayValue?.contains { $0.text("state") == "failed" } ?? false
        if hasFault { throw Failure.silent(.negativeResult) }
    }

    private func printProxies() throws(Failure) {
        let search = try ProxySearch.run(path: SystemEnvironment.environmentVariables["PATH"] ?? "")
        if output.json {
            Output.standardOutput.write(line: search.json.description)
        } else {
            Output.standardOutput.write(text: search.lines.map { "\($0)\n" }.joined())
        }
    }
}

/// The output of `tryck radios`.
///
///     ✓ attic  hci:00:1A:7D:DA:71:13  4 of 7 links, 9 buttons
///     ✓ hall   bluez                  3 links, 5 buttons, 1 waits for room
///     ✗ shed   command:ssh            ssh ended: Connection refused
enum RadioTable {
    static func lines(_ radios: [JSONValue], style: Style) -> [Line] {
        guard !radios.isEmpty else {
            return ["There is no radio: the configuration says bluetooth: {transport: none}."]
        }
        func width(_ key: String) -> Int { radios.map { $0.text(key).visible.columns }.max() ?? 0 }
        let widths = (name: width("name"), transport: width("transport"))
        return radios.map { radio in
            mark(radio, style) + (" " + radio.text("name").visible.padded(to: widths.name + 2), .strong)
                + (radio.text("transport").visible.padded(to: widths.transport + 2), .plain)
                + (state(radio), .plain)
        }
    }

    private static func mark(_ radio: JSONValue, _ style: Style) -> Line {
        switch radio.text("state") {
        case "ready" where radio["advice"]?.stringValue == nil: Line(style.checkMark, .good)
        case "failed": Line(style.cross, .bad)
        default: Line("!", .doubtful)
        }
    }

    private static func state(_ radio: JSONValue) -> String {
        guard radio.text("state") == "ready" else {
            return radio["advice"]?.stringValue ?? radio.text("state")
        }
        let links = radio["links"]?.integerValue ?? 0
        let buttons = Int64(radio["buttons"]?.arrayValue?.count ?? 0)
        let waiting = Int64(radio["waiting"]?.arrayValue?.count ?? 0)
        return [
            radio.text("description"),
            radio["limit"]?.integerValue.map { "\(links) of \(Quantity.count($0, "link"))" }
                ?? Quantity.count(links, "link"),
            Quantity.count(buttons, "button"),
            waiting == 0 ? "" : waiting == 1 ? "1 waits for room" : "\(waiting) wait for room",
        ].filter { !$0.isEmpty }.joined(separator: ", ") + (radio["advice"]?.stringValue.map { ". \($0)" } ?? "")
    }
}
