import ArgumentParser
import CommandSupport
import Glibc
import Platform

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the daemon in the foreground.",
        discussion: """
            Replaces its process by tryckd with the same options. SIGTERM or Ctrl-C ends the daemon.

              tryck run --config tryck.yaml
            """)

    @OptionGroup var paths: PathOptions

    @Option(help: ArgumentHelp("The socket for commands.", valueName: "path"))
    var controlSocket: String?

    @Option(help: ArgumentHelp("The log level: debug, info, warning or error.", valueName: "level"))
    var logLevel: String?

    @Option(
        help: ArgumentHelp(
            """
            Write the Bluetooth traffic of the first radio that is neither a proxy nor shared with BlueZ to a new file, \
            for Wireshark or btmon -r. At most 64 MiB.
            """,
            valueName: "file"))
    var capture: String?

    @Option(
        help: ArgumentHelp(
            """
            Record the input of the daemon, for tryck replay. The recording contains no keys and no passwords, but \
            rules, names of buttons, presses, messages and the output of programs. tryck replay --help says which \
            secrets can be in it. Read it before you send it.
            """, valueName: "file"))
    var record: String?

    /// The options as arguments for tryckd.
    var arguments: [String] {
        let options = [
            ("--config", paths.config), ("--state-directory", paths.stateDirectory),
            ("--control-socket", controlSocket),
            ("--log-level", logLevel), ("--capture", capture), ("--record", record),
        ]
        return options.flatMap { name, value in value.map { [name, $0] } ?? [] }
    }

    func run() throws {
        let program = try DaemonProgram.locate()
        var argv = ([program] + arguments).map { strdup($0) }
        argv.append(nil)
        execv(program, argv)
        throw Failure(.internalError, "\(program) cannot be started: \(String(cString: strerror(errno))).")
    }
}
