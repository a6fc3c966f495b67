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

    /// - Parameter arguments: the command line without the name of the program.
    package static func parse(_ arguments: [String]) -> ServiceArguments<DaemonOptions> {
        ServiceArguments(
            arguments, of: "tryckd", DaemonOptions(),
            [
                "--config": \.configuration,
                "--state-directory": \.stateDirectory,
                "--control-socket": \.controlSocket,
                "--log-level": \.logLevel,
                "--capture": \.capture,
                "--record": \.record,
            ])
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
