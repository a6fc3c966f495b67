import ArgumentParser
import CommandSupport
import Setup

/// The options for configuration and state directory, which are the same as the daemon's.
struct PlaceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The configuration. The default is $TRYCK_CONFIG, ./tryck.yaml or /etc/tryck/tryck.yaml.",
            valueName: "file"),
        completion: .file())
    var config: String?

    @Option(
        help: ArgumentHelp(
            "The directory for pairings and other state. The default is in the configuration, or else the system's.",
            valueName: "directory"),
        completion: .directory)
    var stateDirectory: String?

    var daemonOptions: DaemonOptions {
        var options = DaemonOptions()
        options.configuration = config
        options.stateDirectory = stateDirectory
        return options
    }
}
