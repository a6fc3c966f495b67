import ControlClient
import Glibc
import Platform
package import Settings
package import Setup

/// The settings of `tryck-web` that are known before it listens.
package struct WebSetup: Sendable {
    package var web: Configuration.Web
    /// Where a daemon may listen, to be tried in this order.
    package var controlSockets: [String]
    /// The socket on which `tryck web` asks for links.
    package var linkSocket: String
    /// The directory for the file with the sessions.
    package var stateDirectory: String
    /// The state directory of the daemon, for its history.
    package var daemonStateDirectory: String
    /// The options with which a daemon would find the same files.
    package var daemonOptions: DaemonOptions
    package var rules: RulesOnDisk
    package var publicFolder: String?
    package var policy: RequestPolicy
    /// Warnings about the configuration as rendered text.
    package var notices: [String]

    /// - Parameter sourceFolder: the folder with the files of the page in the source tree, in a debug build.
    /// - Throws: `Setup.Failure` if a named file is missing, or the configuration has an error.
    package init(
        _ options: WebOptions, environment: [String: String], sourceFolder: String?
    ) throws(Setup.Failure) {
        let files = ConfigurationFiles(environment: environment)
        let found = try files.configuration(at: options.configuration)
        web = found.configuration.web
        if case .unix(let path) = web.listen {
            web.listen = .unix(path: resolve(path, in: found.directory, home: environment["HOME"]))
        }
        notices = found.notices

        let base = SystemEnvironment.workingDirectory
        let chosen = options.controlSocket.map { resolve($0, in: base) }
        let configured = found.configuration.controlSocket.map {
            resolve($0, in: found.directory, home: environment["HOME"])
        }
        controlSockets = ControlSocket.candidates(
            chosen: chosen, configured: configured, runtimeDirectory: environment["XDG_RUNTIME_DIR"])
        let locations = Locations(environment: environment, isRoot: SystemEnvironment.isRoot)
        stateDirectory = options.stateDirectory.map { resolve($0, in: base) } ?? locations.stateDirectory
        // If the page runs as a service, it has a state directory of its own, and the daemon has the usual one.
        daemonStateDirectory =
            files.stateDirectory(found.configuration, in: found.directory)
            ?? (environment["STATE_DIRECTORY"] == nil ? locations.stateDirectory : "/var/lib/tryck")
        daemonOptions = DaemonOptions(
            configuration: options.configuration, stateDirectory: daemonStateDirectory, controlSocket: chosen)
        linkSocket =
            environment["RUNTIME_DIRECTORY"].map { "\($0)/\(LinkSocket.name)" }
            ?? LinkSocket.candidates(controlSocket: chosen ?? configured, environment: environment).first
            ?? stateDirectory + "/" + LinkSocket.name
        rules = RulesOnDisk(found.configuration, in: found.directory, files: files)
        publicFolder = Self.publicFolder(options, environment: environment, sourceFolder: sourceFolder)
        policy = RequestPolicy(.of(web, hostName: Self.hostName))
    }

    private static func publicFolder(
        _ options: WebOptions, environment: [String: String], sourceFolder: String?
    ) -> String? {
        let base = SystemEnvironment.workingDirectory
        if let chosen = options.publicFolder ?? environment["TRYCK_WEB_PUBLIC"] { return resolve(chosen, in: base) }
        if let program = realpath("/proc/self/exe", nil) {
            defer { free(program) }
            let folder = SystemEnvironment.directory(of: String(cString: program)) + "/../share/tryck/web"
            if access(folder + "/index.html", R_OK) == 0 { return folder }
        }
        return sourceFolder
    }

    private static var hostName: String? {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
