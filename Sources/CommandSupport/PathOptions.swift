package import ArgumentParser

/// The options for configuration and state directory, which are the same as the daemon's.
package struct PathOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The configuration. The default is $TRYCK_CONFIG, ./tryck.yaml or /etc/tryck/tryck.yaml.",
            valueName: "file"),
        completion: .file())
    package var config: String?

    @Option(
        help: ArgumentHelp(
            "The directory for pairings and other state. The default is in the configuration, or else the system's.",
            valueName: "directory"),
        completion: .directory)
    package var stateDirectory: String?

    package init() {}
}
