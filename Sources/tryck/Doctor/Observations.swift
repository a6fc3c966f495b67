import ButtonModel
import Daemon
import JSON
import RuleLoader

/// What `tryck doctor` has seen, for `Diagnosis` to judge.
struct Observations: Hashable, Sendable {
    /// A configuration or rules on disk.
    enum File: Hashable, Sendable {
        case absent
        /// What it holds, as `tryck check` calls it, and whether `tryck check` has something to say nevertheless.
        case good(name: String, content: String, warnings: Int)
        /// The first error is at `place`, as in `14:15`, and has this code. The rest of it may quote the file.
        case bad(name: String, errors: Int, place: String, code: String)
        /// Or something it names.
        case unusable(String)
        /// Nobody knows where it would be.
        case unknown
    }

    enum DaemonAnswer: Hashable, Sendable {
        /// The `data` of `status`.
        case status(JSONValue)
        case silent(ControlClientFailure)
    }

    enum Adapter: Hashable, Sendable {
        /// A running daemon has it, or nobody knows which it is to be.
        case notTried
        /// The configuration wants none, or a simulated one.
        case notNeeded
        /// It was not opened, not to take it away from BlueZ, which may have another where this one was chosen.
        case left(String, isChosen: Bool)
        /// It was opened, and closed again.
        case opened(String)
        case failed(TransportFailure)
    }

    enum Broker: Hashable, Sendable {
        case notTried
        case notNeeded
        /// It comes with the daemon; whether there is a mosquitto to start.
        case embedded(isInstalled: Bool)
        case connected(String)
        case failed(MQTTFailure)
    }

    var now: UTCTime
    /// Who has asked.
    var user: String
    /// There is a user `tryck`, so the service was installed.
    var hasService = false
    /// The file to mend, whether or not it is there.
    var configurationPath = "/etc/tryck/tryck.yaml"
    var configuration = File.absent
    var rules = File.absent
    /// What the rules' own tests say, when one fails.
    var failingTests = 0
    var broker = Broker.notTried
    /// Where it should be; `nil` for a path.
    var brokerHost: String?
    var adapter = Adapter.notTried
    var daemon = DaemonAnswer.silent(.closed)
    var stateDirectory: StateDirectoryReport
}
