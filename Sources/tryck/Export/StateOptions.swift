import ArgumentParser
import Daemon

/// How a command finds what a daemon keeps while it does not run.
struct StateOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The daemon's configuration. Otherwise $TRYCK_CONFIG, ./tryck.yaml, /etc/tryck/tryck.yaml.",
            valueName: "file"))
    var config: String?

    @Option(
        help: ArgumentHelp(
            "Where the daemon keeps pairings. Otherwise where the configuration says, or the usual place.",
            valueName: "directory"))
    var stateDirectory: String?

    /// - Throws: `Failure`: 78 when the configuration has an error.
    func directory() throws(Failure) -> String {
        var options = DaemonOptions()
        options.configuration = config
        options.stateDirectory = stateDirectory
        do throws(Setup.Failure) {
            return try Setup.stateDirectory(options, environment: Surroundings.environment)
        } catch {
            throw Failure(error.status, error.text)
        }
    }

    /// Does something with what is kept; the notices go to the screen.
    ///
    /// - Throws: `Failure` with status 69.
    static func use<Result>(
        _ body: () throws(StoreFailure) -> (Result, [StoreNotice])
    ) throws(Failure) -> Result {
        do throws(StoreFailure) {
            let (result, notices) = try body()
            for notice in notices { Output.standardError.write(line: "tryck: \(notice)") }
            return result
        } catch .inUse(let directory) {
            throw Failure(.unavailable, "A daemon is using \(directory). Stop it first: systemctl stop tryck")
        } catch {
            throw Failure(.unavailable, "\(error).")
        }
    }
}
