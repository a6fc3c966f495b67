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
    struct Surroundings: Sendable {
        var environment: [String: String]
        var isRoot: Bool
        var workingDirectory: String
    }

    /// - Parameter directory: the directory of the configuration file.
    init(_ options: DaemonOptions, _ configuration: Configuration, in directory: String, _ surroundings: Surroundings) {
        let home = surroundings.environment["HOME"]
        let locations = Locations(environment: surroundings.environment, isRoot: surroundings.isRoot)
        func path(_ option: String?, _ configured: String?) -> String? {
            option.map { resolve($0, in: surroundings.workingDirectory) }
                ?? configured.map { resolve($0, in: directory, home: home) }
        }
        stateDirectory = path(options.stateDirectory, configuration.stateDirectory) ?? locations.stateDirectory
        controlSocket = path(options.controlSocket, configuration.controlSocket) ?? locations.controlSocket
        capture = path(options.capture, nil)
        recording = path(options.record, nil)
        metricsFile = path(nil, configuration.metricsTextfile)
    }
}

extension DaemonPaths.Surroundings {
    /// The surroundings of this process, with these environment variables.
    init(environment: [String: String]) {
        self.init(
            environment: environment, isRoot: SystemEnvironment.isRoot,
            workingDirectory: SystemEnvironment.workingDirectory)
    }
}
