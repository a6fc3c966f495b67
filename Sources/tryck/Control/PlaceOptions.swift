import ArgumentParser
import CommandSupport
import Setup

/// The options for configuration and state directory, which are the same as the daemon's.
struct PlaceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The configuration. Otherwise $TRYCK_CONFIG, ./tryck.yaml, /etc/tryck/tryck.yaml.", valueName: "file"),
        completion: .file())
    var config: String?

    @Option(
        help: ArgumentHelp(
            "Where pairings and the like are kept. Otherwise where the configuration says, or the usual place.",
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
