import ButtonModel
import CommandSupport
import Glibc
import JSON
import Platform
import Rules

/// The demo's temporary directory and its files. Rules and simulated buttons are read where they are, so that messages
/// name files that can be edited.
struct DemoFiles: Sendable {
    /// Absolute paths.
    let rules, simulator: String
    private let temporary: TemporaryDirectory
    private let pagePort: Int?
    /// True if `simulate` has to write the simulator file, for the buttons that the rules declare.
    let simulatesDeclaredButtons: Bool

    var directory: String { temporary.path }
    var configuration: String { "\(directory)/tryck.yaml" }
    var controlSocket: String { "\(directory)/control.sock" }
    var stateDirectory: String { "\(directory)/state" }
    var log: String { "\(directory)/tryckd.log" }
    var pageLog: String { "\(directory)/tryck-web.log" }
    var pageState: String { "\(directory)/page" }

    /// - Parameters:
    ///   - rules: a rules file to use instead of the one that is installed.
    ///   - simulator: a simulator file to use instead of the one that is installed. If it is `nil` and `rules` is not, the
    ///     caller has to give the buttons of the rules to `simulate`.
    ///   - pagePort: the port of the page on loopback; `nil` without a page.
    init(rules: String?, simulator: String?, pagePort: Int? = nil) throws(Failure) {
        self.rules = try DemoFiles.locate(rules, "home.yaml", option: "--rules")
        self.pagePort = pagePort
        simulatesDeclaredButtons = rules != nil && simulator == nil
        let located =
            simulatesDeclaredButtons ? nil : try DemoFiles.locate(simulator, "simulator.yaml", option: "--simulator")
        temporary = try TemporaryDirectory()
        self.simulator = located ?? "\(temporary.path)/simulator.yaml"
        guard DemoFiles.write(yaml, to: configuration), mkdir(stateDirectory, 0o700) == 0 else {
            let reason = String(cString: strerror(errno))
            remove()
            throw Failure(
                .unavailable, "\(directory) cannot be written: \(reason). Set TMPDIR to a directory that can.")
        }
    }

    /// Writes the simulator file for the buttons that the rules declare. If they declare none, one button is simulated,
    /// because rules for any button need one, too.
    func simulate(_ buttons: [DeclaredButton]) throws(Failure) {
        var text = "buttons:\n"
        for button in buttons {
            let identity: (key: String, value: String)
            switch button.hardware {
            case .address(let id):
                let address = BluetoothAddress(rawValue: id.rawValue, kind: .public)
                identity = ("address", address.description)
            case .serial(let serial): identity = ("serial", serial)
            case .nickname(let nickname): identity = ("nickname", nickname)
            case .uuid(let uuid): identity = ("uuid", uuid)
            }
            text +=
                "  \(JSONValue.string(button.name)): {model: \(button.model.rawValue), \(identity.key): "
                + "\(JSONValue.string(identity.value)), public: true}\n"
        }
        if buttons.isEmpty { text += "  button: {public: true}\n" }
        guard DemoFiles.write(text, to: simulator) else {
            throw Failure(.unavailable, "\(simulator) cannot be written: \(String(cString: strerror(errno))).")
        }
    }

    /// Removes the directory with everything in it.
    func remove() { temporary.remove() }

    /// The last lines of the daemon's log, to be shown when the daemon has ended by itself.
    func endOfLog(lines: Int) -> [String] { Self.end(ofLog: log, lines: lines) }

    static func end(ofLog log: String, lines: Int) -> [String] {
        guard let file = fopen(log, "r") else { return [] }
        defer { fclose(file) }
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { break }
            text = (text + chunk.prefix(count)).suffix(64 * 1024)
        }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").suffix(lines).map(String.init)
    }

    /// The configuration. A JSON string is also a YAML scalar in quotes.
    private var yaml: String {
        """
        bluetooth: {transport: \(JSONValue.string("simulated:\(simulator)"))}
        mqtt: {broker: embedded}
        rules: \(JSONValue.string(rules))
        state_directory: \(JSONValue.string(stateDirectory))
        web: {listen: "127.0.0.1:\(pagePort ?? 8125)"}

        """
    }

    private static func locate(_ chosen: String?, _ name: String, option: String) throws(Failure) -> String {
        if let chosen {
            guard let path = absolute(chosen) else {
                throw Failure(.configuration, "The file \(chosen) does not exist. Specify another with \(option).")
            }
            return path
        }
        let candidates = ancestors(of: DaemonProgram.directory).map { "\($0)/rules" } + ["/usr/share/tryck/rules"]
        // The two files belong together: a directory with only one of them is another project's.
        let found = candidates.first {
            access("\($0)/home.yaml", R_OK) == 0 && access("\($0)/simulator.yaml", R_OK) == 0
        }
        guard let found else {
            throw Failure(
                .configuration, "The example rules are not installed. Name the files: --rules FILE --simulator FILE"
            )
        }
        return "\(found)/\(name)"
    }

    private static func absolute(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func ancestors(of directory: String) -> [String] {
        directory == "/" || directory == "." ? [directory] : [directory] + ancestors(of: directory.directory)
    }

    private static func write(_ text: String, to path: String) -> Bool {
        guard let file = fopen(path, "wx") else { return false }
        let isWritten = fputs(text, file) >= 0
        return fclose(file) == 0 && isWritten
    }
}
