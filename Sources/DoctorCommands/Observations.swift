import ButtonModel
import ControlClient
import Edges
import JSON
import Radios
import Setup

/// The observations of `tryck doctor`, which `Diagnosis` judges.
struct Observations: Hashable, Sendable {
    /// A configuration or rules on disk.
    enum File: Hashable, Sendable {
        case absent
        /// A file without errors: what it contains, in the words of `tryck check`, and how many warnings it has.
        case good(name: String, content: String, warnings: Int)
        /// The position of the first error, such as `14:15`, and its code. The message is left out, because it may
        /// quote the file.
        case bad(name: String, errors: Int, position: String, code: String)
        /// The file cannot be used, or a file that it names, for this reason.
        case unusable(String)
        /// The path of the file is not known.
        case unknown
    }

    enum DaemonAnswer: Hashable, Sendable {
        /// The `data` of `status`.
        case status(JSONValue)
        case silent(ControlClientFailure)
    }

    enum Adapter: Hashable, Sendable {
        /// A running daemon has the adapter, or it is not known which adapter to open.
        case notTried
        /// The configuration has no adapter, or a simulated one.
        case notNeeded
        /// The adapter was not opened, so that it is not taken away from BlueZ. If the configuration names the adapter,
        /// BlueZ may be using another.
        case left(String, isChosen: Bool)
        /// BlueZ has the adapter, and shares it.
        case shared(String)
        /// BlueZ is configured, and cannot be used; a sentence for users.
        case notShared(String)
        /// The adapter was opened, and closed again.
        case opened(String)
        case failed(TransportFailure)
    }

    enum Broker: Hashable, Sendable {
        case notTried
        case notNeeded
        /// The daemon starts the broker itself; `isInstalled` tells whether there is a mosquitto for it.
        case embedded(isInstalled: Bool)
        case connected(String)
        case failed(MQTTFailure)
    }

    var now: UTCTime
    /// The user who runs the command.
    var user: String
    /// True if there is a user `tryck`, which means that the service was installed.
    var hasService = false
    /// The configuration to edit, whether it exists or not.
    var configurationPath = "/etc/tryck/tryck.yaml"
    var configuration = File.absent
    var rules = File.absent
    /// The entry file of the rules, whether it exists or not.
    var rulesPath = "/etc/tryck/rules/home.yaml"
    /// True if the configuration has an uplink.
    var isSite = false
    /// True if the password of the broker is not in the configuration, but in `secrets.yaml`.
    var hasSecretPassword = false
    /// How many of the rules' own tests fail.
    var failingTests = 0
    var broker = Broker.notTried
    /// The host of the broker; `nil` for a Unix socket.
    var brokerHost: String?
    var adapter = Adapter.notTried
    /// True if the configuration uses an adapter of this machine.
    var usesAdapter = false
    /// The adapters of this machine, such as `hci0`.
    var adapters: [String] = []
    /// True if bluetoothd runs.
    var isBlueZRunning = false
    /// The links that BlueZ has to buttons, for Tryck or for other programs.
    var blueZLinks: [BlueZButtonLink] = []
    var daemon = DaemonAnswer.silent(.closed)
    /// The daemon's answer to the request `buttons`; `nil` if no daemon has answered.
    var buttons: [JSONValue]?
    var stateDirectory: StateDirectoryReport

    /// The daemon's answer to the request `status`; `nil` if no daemon has answered.
    var status: JSONValue? { if case .status(let status) = daemon { status } else { nil } }

    /// The command that edits the configuration and makes the daemon read it.
    var edit: String { Self.edit(configurationPath, then: "sudo systemctl restart tryck") }

    static func edit(_ path: String, then next: String) -> String {
        path.hasPrefix("/etc/") ? "sudoedit \(path.shellWord) && \(next)" : "${EDITOR:-nano} \(path.shellWord)"
    }
}
