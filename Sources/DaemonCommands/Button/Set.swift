import ArgumentParser
import ButtonModel
import CommandSupport
import JSON
import MQTTTopics

extension ButtonCommand {
    struct Set: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Change settings of the button.",
            usage: "tryck button <name> set [<options>]",
            discussion: """
                Settings that are stored on the button are sent to it when it is connected.

                  tryck button kitchen set --trigger-mode click_and_hold
                  tryck button kitchen set --latency-mode low --nickname Kitchen
                  tryck button desk set --led-mode point --position slot_3=75
                """)

        @ParentCommand var button: ButtonCommand

        @Option(
            help: """
                The gestures that the button reports: auto (those that the rules need), \
                \(TriggerMode.allCases.map(\.rawValue).joined(separator: ", ")).
                """)
        var triggerMode: String?

        @Option(
            help: """
                The latency mode: low, normal or high. A low latency uses more battery on a bad radio link.
                """)
        var latencyMode: String?

        @Option(help: "The name stored on the button, at most 23 bytes. A longer name is cut between characters.")
        var nickname: String?

        @Option(
            help: ArgumentHelp(
                "The time without a press after which the button disconnects: 40 to 510, or never.",
                valueName: "seconds"))
        var autoDisconnect: String?

        @Option(
            help: ArgumentHelp(
                "What the LEDs of a Twist show: \(LEDMode.allCases.map(\.rawValue).joined(separator: ", ")).",
                valueName: "mode"))
        var ledMode: String?

        @Option(
            help: ArgumentHelp(
                "Set the position of a dial, 0 to 100. The dials of a Duo are big and small, those of a Twist slot_1 … slot_12 and free.",
                valueName: "dial=percent"))
        var position: [String] = []

        @OptionGroup var control: ControlOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard !options.isEmpty else { throw ValidationError("Name a setting, such as --latency-mode low.") }
            guard latencyMode.map({ LatencyMode(rawValue: $0) != nil }) ?? true else {
                throw ValidationError("--latency-mode takes low, normal or high.")
            }
            if let text = autoDisconnect, text != "never", Int64(text) == nil {
                throw ValidationError("--auto-disconnect takes 40 to 510 seconds, or never.")
            }
            guard positions.count == position.count else {
                throw ValidationError("--position takes a dial and 0 to 100, such as slot_3=75.")
            }
        }

        func run() throws {
            let answer = try control.ask(
                ButtonRequestName.options, ["id": .string(button.name), "options": .object(options)])
            output.write(answer) { ButtonText.settings($0) + ButtonText.note($0) }
        }

        private var options: [JSONValue.Member] {
            var options: [JSONValue.Member] = []
            if let triggerMode { options.append(.init("trigger_mode", .string(triggerMode))) }
            if let latencyMode { options.append(.init("latency_mode", .string(latencyMode))) }
            if let nickname { options.append(.init("nickname", .string(nickname))) }
            if let autoDisconnect {
                options.append(
                    .init("auto_disconnect_time", Int64(autoDisconnect).map(JSONValue.integer) ?? .null))
            }
            if let ledMode { options.append(.init("led_mode", .string(ledMode))) }
            if !position.isEmpty { options.append(.init("positions", .object(positions))) }
            return options
        }

        private var positions: [JSONValue.Member] {
            position.compactMap { text in
                let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, let percentage = Int64(parts[1]) else { return nil }
                return .init(String(parts[0]), .integer(percentage))
            }
        }
    }
}
