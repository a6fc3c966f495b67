import ArgumentParser
import Bytes
import CommandSupport
import CommandText
import JSON
import MQTTTopics
import Platform

extension ButtonCommand {
    struct UpdateFirmware: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "firmware",
            abstract: "Install firmware from a file.",
            usage: "tryck button <name> firmware <file> [--json] [--control-socket <path>]",
            discussion: """
                The file is an image from the maker; the button checks the image's signature. The update takes some \
                minutes. If the connection breaks, the update continues where it stopped. Ctrl-C ends only the \
                command, and the daemon continues the update; --cancel stops it.

                  tryck button kitchen firmware flic2-11.bin
                  tryck button kitchen firmware --cancel
                """)

        @ParentCommand var button: ButtonCommand
        @Argument(help: "The firmware image.", completion: .file()) var file: String?
        @Flag(help: "Stop the update.") var cancel = false
        @OptionGroup var control: ControlOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard cancel != (file != nil) else { throw ValidationError("Name the image, or use --cancel.") }
        }

        func run() throws {
            guard let file else {
                let answer = try control.ask(ButtonRequestName.cancelUpdate, ["id": .string(button.name)])
                return output.write(answer) { [Line("\($0.text("button")) keeps its firmware.")] }
            }
            let image: FileText
            do throws(FileText.Failure) {
                image = try FileText(reading: file)
            } catch {
                throw Failure(.usage, "\(error). Name the image that the maker has published for the button.")
            }
            // No button takes a larger image, and no daemon reads one.
            guard image.octets.count <= 300_000 else {
                throw Failure(.usage, "\(file) is too large for a firmware image; those are at most 256 KiB.")
            }
            try transfer(image.octets)
        }

        private func transfer(_ image: [UInt8]) throws {
            let isJSON = output.json
            try FirmwareGuide(button: button.name, image: image).run(control.candidates) { show($0, isJSON: isJSON) }
        }
    }
}

private func show(_ line: JSONValue, isJSON: Bool) {
    let output = Output.standardOutput
    if isJSON {
        output.write(line: line.description)
    } else {
        output.write(StreamText.lines(line, style: output.style))
    }
}
