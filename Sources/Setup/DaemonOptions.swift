/// The options on the command line of `tryckd`.
package struct DaemonOptions: Hashable, Sendable {
    package var configuration: String?
    package var stateDirectory: String?
    package var controlSocket: String?
    package var logLevel: String?
    /// The file to which all HCI traffic is written.
    package var capture: String?
    package var record: String?

    package init(configuration: String? = nil, stateDirectory: String? = nil, controlSocket: String? = nil) {
        self.configuration = configuration
        self.stateDirectory = stateDirectory
        self.controlSocket = controlSocket
    }

    package enum Request: Hashable, Sendable {
        case run(DaemonOptions)
        case help
        case version
        /// The error in the arguments, as a sentence for the user.
        case usage(String)
    }

    /// - Parameter arguments: the command line without the name of the program.
    package static func parse(_ arguments: [String]) -> Request {
        var options = DaemonOptions()
        var remaining = arguments[...]
        while var argument = remaining.popFirst() {
            var attached: String?
            if argument.hasPrefix("--"), let equals = argument.firstIndex(of: "=") {
                attached = String(argument[argument.index(after: equals)...])
                argument = String(argument[..<equals])
            }
            switch argument {
            case "--help", "-h": return .help
            case "--version": return .version
            case "--config", "--state-directory", "--control-socket", "--log-level", "--capture", "--record":
                guard let value = attached ?? remaining.popFirst(), !value.isEmpty else {
                    return .usage("\(argument) needs a value; see tryckd --help")
                }
                switch argument {
                case "--config": options.configuration = value
                case "--state-directory": options.stateDirectory = value
                case "--control-socket": options.controlSocket = value
                case "--capture": options.capture = value
                case "--record": options.record = value
                default: options.logLevel = value
                }
            default: return .usage("unknown argument \"\(argument)\"; see tryckd --help")
            }
        }
        return .run(options)
    }

    package static let help = """
        USAGE: tryckd [--config FILE] [--state-directory DIRECTORY] [--control-socket PATH] [--log-level LEVEL]
                      [--capture FILE] [--record FILE]

        Runs rules when Flic buttons are pressed. Runs in the foreground until SIGTERM or SIGINT.

          --config FILE             the configuration (default: $TRYCK_CONFIG, ./tryck.yaml, /etc/tryck/tryck.yaml;
                                    without any of them, the defaults are used)
          --state-directory DIR     the directory for pairings (default: /var/lib/tryck, or below $XDG_STATE_HOME)
          --control-socket PATH     the socket for commands (default: /run/tryck/control.sock, or below
                                    $XDG_RUNTIME_DIR)
          --log-level LEVEL         error, warning, info or debug
          --capture FILE            write all Bluetooth traffic to a new file, for Wireshark or btmon -r; at most
                                    64 MiB. If FILE exists, nothing is captured, and the daemon runs without it
          --record FILE             record the input of the daemon, for tryck replay: the text of the rules, names and
                                    addresses of buttons, presses, received messages, requests, the output of
                                    programs. It contains no keys, no values of !secret and !env_var, and no password
                                    of the broker. Read it before you send it. A recording in FILE is continued, up to
                                    256 MiB
          --version                 print the version
          --help                    print this text

        Example: tryckd --config ~/tryck/tryck.yaml

        """
}
