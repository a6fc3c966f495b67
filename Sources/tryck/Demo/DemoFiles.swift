import Daemon
import Glibc
import JSON

/// The demo's temporary directory and what lies in it. The rules and the buttons are used where they are, so that
/// messages about them name files that can be edited.
struct DemoFiles: Sendable {
    /// Absolute paths.
    let directory, rules, simulator: String

    var configuration: String { "\(directory)/tryck.yaml" }
    var controlSocket: String { "\(directory)/control.sock" }
    var stateDirectory: String { "\(directory)/state" }
    var log: String { "\(directory)/tryckd.log" }

    /// - Parameters:
    ///   - rules: another rules file than the one that came with the program.
    ///   - simulator: likewise the simulated buttons.
    init(rules: String?, simulator: String?) throws(Failure) {
        self.rules = try DemoFiles.locate(rules, "home.yaml", option: "--rules")
        self.simulator = try DemoFiles.locate(simulator, "simulator.yaml", option: "--simulator")
        directory = try DemoFiles.makeDirectory()
        guard DemoFiles.write(yaml, to: configuration), mkdir(stateDirectory, 0o700) == 0 else {
            let reason = String(cString: strerror(errno))
            remove()
            throw Failure(
                .unavailable, "\(directory) cannot be written: \(reason). Set TMPDIR to a directory that can.")
        }
    }

    /// The directory goes away with everything in it.
    func remove() { DemoFiles.remove(directory) }

    /// The last lines of the daemon's log, for the case that it ended.
    func endOfLog(lines: Int) -> [String] {
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

    /// A JSON string is a YAML scalar in quotes.
    private var yaml: String {
        """
        bluetooth: {transport: \(JSONValue.string("simulated:\(simulator)"))}
        mqtt: {broker: embedded}
        rules: \(JSONValue.string(rules))

        """
    }

    private static func locate(_ chosen: String?, _ name: String, option: String) throws(Failure) -> String {
        if let chosen {
            guard let path = absolute(chosen) else {
                throw Failure(.configuration, "There is no file \(chosen); give \(option) one that exists.")
            }
            return path
        }
        let candidates = ancestors(of: DaemonProgram.directory).map { "\($0)/rules" } + ["/usr/share/tryck/rules"]
        // Both belong together: a directory with only one of them is another project's.
        let found = candidates.first {
            access("\($0)/home.yaml", R_OK) == 0 && access("\($0)/simulator.yaml", R_OK) == 0
        }
        guard let found else {
            throw Failure(
                .configuration, "The example rules are not installed. Say where they are: --rules FILE --simulator FILE"
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

    /// A socket's path has room for 107 octets, so a deep `$TMPDIR` is passed over.
    private static func makeDirectory() throws(Failure) -> String {
        let chosen = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        for parent in [chosen, "/tmp", "/var/tmp"] where !parent.isEmpty && parent.utf8.count <= 70 {
            var template = Array("\(parent)/tryck-demo.XXXXXX".utf8CString)
            if mkdtemp(&template) != nil {
                return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            }
        }
        throw Failure(.unavailable, "There is no directory for temporary files. Set TMPDIR to one that can be written.")
    }

    /// Links are removed, not followed.
    private static func remove(_ path: String) {
        guard Glibc.remove(path) != 0, errno == ENOTEMPTY || errno == EEXIST, let entries = opendir(path) else {
            return
        }
        var names: [String] = []
        while let entry = readdir(entries) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        closedir(entries)
        for name in names where name != "." && name != ".." { remove("\(path)/\(name)") }
        Glibc.remove(path)
    }

    private static func write(_ text: String, to path: String) -> Bool {
        guard let file = fopen(path, "wx") else { return false }
        let isWritten = fputs(text, file) >= 0
        return fclose(file) == 0 && isWritten
    }
}
