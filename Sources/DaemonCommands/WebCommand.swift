import ArgumentParser
import CommandSupport
import ControlClient
import Glibc
import JSON
import Platform

struct WebCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web",
        abstract: "Print a link to the page.",
        discussion: """
            The page shows buttons, rules and presses, and rules are edited on it. A link lets one browser in, once, within \
            ten minutes; the browser then stays signed in. Needs tryck-web: sudo systemctl enable --now tryck-web

              tryck web
              tryck web --open
            """)

    @Flag(help: "Open the link in the browser of this desktop.")
    var open = false

    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let environment = SystemEnvironment.environmentVariables
        let controlSocket = control.controlSocket ?? ControlSocket.configured(environment: environment)
        let link = try PageLink.request(
            LinkSocket.candidates(controlSocket: controlSocket, environment: environment))
        output.write(["link": .string(link)]) { _ in [Line(link)] }
        guard open else { return }
        guard link.hasPrefix("http") else {
            throw Failure(.unavailable, "Only the proxy knows the beginning of this link. Open it there.")
        }
        guard PageLink.open(link) else {
            throw Failure(.unavailable, "There is no xdg-open. Install xdg-utils, or open the link yourself.")
        }
    }
}
