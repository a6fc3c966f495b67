import CommandSupport
import ControlClient
import Edges
import Platform
import Setup

extension PathOptions {
    /// The daemon's state directory, provided that no daemon is using it.
    ///
    /// - Throws: `Failure`: 78 when the configuration has an error, 69 while a daemon runs.
    func idleStateDirectory() throws(Failure) -> String {
        let directory: String
        do throws(Setup.Failure) {
            directory = try Setup.stateDirectory(
                DaemonOptions(configuration: config, stateDirectory: stateDirectory),
                environment: SystemEnvironment.environmentVariables)
        } catch {
            throw Failure(error.status, error.text)
        }
        guard !StateDirectoryReport.isInUse(directory) else { throw Self.failure(.inUse(directory: directory)) }
        return directory
    }

    /// Where the daemon may have left a reserve in memory.
    var runtimeDirectories: [String] {
        let environmentVariables = SystemEnvironment.environmentVariables
        return Setup.runtimeDirectories(
            configured: ControlSocket.configured(config, environment: environmentVariables),
            environment: environmentVariables)
    }

    /// Runs `body`, which uses the store, and prints the notices it returns.
    ///
    /// - Throws: `Failure` with status 69.
    static func use<Result>(
        _ body: () throws(StoreFailure) -> (Result, [StoreNotice])
    ) throws(Failure) -> Result {
        do throws(StoreFailure) {
            let (result, notices) = try body()
            for notice in notices { Output.standardError.write(line: "tryck: \(notice)") }
            return result
        } catch {
            throw failure(error)
        }
    }

    private static func failure(_ cause: StoreFailure) -> Failure {
        if case .inUse(let directory) = cause {
            return Failure(.unavailable, "A daemon is using \(directory). Stop it first: systemctl stop tryck")
        }
        return Failure(.unavailable, "\(cause).")
    }
}
