import Platform
import Settings

/// The absolute paths that a daemon uses, as its command line and its configuration name them.
///
/// The command line has precedence over the configuration, and the configuration over `Locations`. Relative paths of the command line
/// begin in the working directory, and those of the configuration in the directory of its file.
struct DaemonPaths: Hashable, Sendable {
    var stateDirectory: String
    var controlSocket: String
    /// The file to which all HCI traffic is written.
    var capture: String?
    /// The file to which a recording is written.
    var recording: String?
    /// The metrics file for Prometheus.
    var metricsFile: String?

    /// What the paths depend on besides the options and the configuration.
    struct ProcessEnvironment: Sendable {
        /// The environment variables.
        var variables: [String: String]
        var isRoot: Bool
        var workingDirectory: String
    }

    /// - Parameter directory: the directory of the configuration file.
    init(
        _ options: DaemonOptions, _ configuration: Configuration, in directory: String, _ process: ProcessEnvironment
    ) {
        let home = process.variables["HOME"]
        let locations = Locations(environment: process.variables, isRoot: process.isRoot)
        func path(_ option: String?, _ configured: String?) -> String? {
            option.map { resolve($0, in: process.workingDirectory) }
                ?? configured.map { resolve($0, in: directory, home: home) }
        }
        stateDirectory = path(options.stateDirectory, configuration.stateDirectory) ?? locations.stateDirectory
        controlSocket = path(options.controlSocket, configuration.controlSocket) ?? locations.controlSocket
        capture = path(options.capture, nil)
        recording = path(options.record, nil)
        metricsFile = path(nil, configuration.metricsTextfile)
    }
}

extension DaemonPaths.ProcessEnvironment {
    /// The user and the working directory of this process, with these environment variables.
    init(variables: [String: String]) {
        self.init(
            variables: variables, isRoot: SystemEnvironment.isRoot,
            workingDirectory: SystemEnvironment.workingDirectory)
    }
}
