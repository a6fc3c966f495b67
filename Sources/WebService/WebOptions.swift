package import Setup

/// The options on the command line of `tryck-web`.
package struct WebOptions: Hashable, Sendable {
    package var configuration: String?
    package var stateDirectory: String?
    package var controlSocket: String?
    /// The folder with the files of the page.
    package var publicFolder: String?

    package init() {}

    /// - Parameter arguments: the command line without the name of the program.
    package static func parse(_ arguments: [String]) -> ServiceArguments<WebOptions> {
        ServiceArguments(
            arguments, of: "tryck-web", WebOptions(),
            [
                "--config": \.configuration,
                "--state-directory": \.stateDirectory,
                "--control-socket": \.controlSocket,
                "--public": \.publicFolder,
            ])
    }

    package static let help = """
        USAGE: tryck-web [--config FILE] [--state-directory DIRECTORY] [--control-socket PATH] [--public DIRECTORY]

        Serves a page that shows buttons, rules and presses, and on which rules are edited. It asks the running daemon for
        everything. Runs in the foreground until SIGTERM or SIGINT. tryck web prints a link to the page.

          --config FILE             the configuration, whose settings below web: are used (default: $TRYCK_CONFIG,
                                    ./tryck.yaml, /etc/tryck/tryck.yaml; without any of them, the defaults are used)
          --state-directory DIR     the directory for sign-ins (default: $STATE_DIRECTORY, or below $XDG_STATE_HOME)
          --control-socket PATH     the daemon's socket (default: the configured one, /run/tryck/control.sock, or below
                                    $XDG_RUNTIME_DIR)
          --public DIRECTORY        the files of the page (default: $TRYCK_WEB_PUBLIC, or ../share/tryck/web beside the
                                    program)
          --version                 print the version
          --help                    print this text

        Example: tryck-web --config ~/tryck/tryck.yaml

        """
}
