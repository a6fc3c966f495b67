import CommandText
import Edges
import JSON
import Platform
import Setup

/// Derives the findings about the state directory: whether the daemon can write it, its free space, and its database.
struct StateDirectoryDiagnosis: Hashable, Sendable {
    /// The space in octets without which there is a finding. With less, the daemon's next events and the checkpoint of its
    /// write-ahead log may not fit.
    static let leastFreeSpace: UInt64 = 16 * 1024 * 1024

    private let seen: Observations
    private let status: JSONValue?

    init(_ observations: Observations) {
        seen = observations
        status = observations.status
    }

    var state: Finding {
        let directory = seen.stateDirectory
        let path = directory.path.shellWord
        if let fault = status.flatMap({ DaemonFaults($0).store }) {
            let mend =
                fault.hasPrefix("no space left")
                ? Self.makeRoom
                : fault.contains("it was set aside") ? "tryck pair" : "ls -ld \(path)"
            return .problem(.state, fault.asFinding, mend: mend)
        }
        switch directory.condition {
        case .absent: return .ok(.state, "\(directory.path) will be created at the first start")
        case .cannotBeMade(let obstacle, let cause):
            return .problem(
                .state, "\(directory.path) cannot be created: \(obstacle): \(cause)",
                mend: "sudo install -d -m 700 -o \(owner) \(path)")
        case .notADirectory(let path):
            return .problem(
                .state, "\(path) is not a directory", mend: "mv \(path.shellWord) \("\(path).old".shellWord)")
        case .readOnlyFileSystem:
            return .problem(
                .state, "\(directory.path) is on a file system that is mounted read-only",
                mend: "sudo mount -o remount,rw \"$(stat -c %m \(path))\"")
        case .notWritable where status != nil && seen.user != "root":
            return .ok(.state, "\(directory.path) belongs to \(directory.owner ?? "the daemon"), which can write to it")
        case .notWritable where directory.owner == "tryck" && seen.user != "root":
            return .problem(
                .state, "\(directory.path) belongs to the service, and \(seen.user) cannot read it",
                mend: "sudo tryck doctor")
        case .notWritable(let cause):
            return .problem(
                .state, "\(directory.path) is not writable for \(seen.user): \(cause)",
                mend: "sudo chown -R \(owner) \(path)")
        case .full(let cause):
            return .problem(.state, "nothing can be written to \(directory.path): \(cause)", mend: Self.makeRoom)
        case .writable: break
        }
        if let foreignFile = directory.foreignFile {
            let owner = isServices && seen.hasService ? "tryck" : directory.owner ?? seen.user
            return .problem(
                .state, "\(foreignFile.path) belongs to \(foreignFile.owner), but the daemon runs as \(owner)",
                mend: "sudo chown -R \(owner) \(path)")
        }
        // A daemon that answers can write the directory, whichever user it runs as.
        if isServices, seen.hasService, status == nil, let owner = directory.owner, owner != "tryck" {
            return .problem(
                .state, "\(directory.path) belongs to \(owner), but the service runs as tryck",
                mend: "sudo chown -R tryck \(path)")
        }
        guard let mode = directory.mode, mode & 0o077 != 0 else { return .ok(.state, directory.path) }
        return .warning(
            .state, "\(directory.path) has mode 0\(String(mode, radix: 8)), but contains pairing keys",
            mend: "chmod 700 \(path)")
    }

    /// True if the state directory is where systemd puts that of the service.
    private var isServices: Bool { seen.stateDirectory.path.hasPrefix("/var/lib/") }

    /// The user who should own the state directory.
    private var owner: String { isServices ? "tryck" : seen.user }

    var space: Finding? {
        let directory = seen.stateDirectory
        guard let free = directory.freeSpace else { return nil }
        if case .full = directory.condition { return nil }
        let mebibytes = "\(free / 1_048_576) MiB"
        guard free < Self.leastFreeSpace else { return .ok(.space, "\(mebibytes) are free") }
        return .problem(
            .space, "\(mebibytes) are free for \(directory.path), but Tryck needs 16 MiB: free some space",
            mend: Self.makeRoom)
    }

    private static let makeRoom = "sudo journalctl --vacuum-size=50M"

    var database: Finding? {
        switch seen.stateDirectory.database {
        case .absent, .hidden: nil
        case .inUse: status == nil ? nil : .ok(.database, "in use by the daemon")
        case .sound: .ok(.database, "sound")
        case .failed(.damaged(let path, let cause)):
            .problem(
                .database,
                "\(path) is damaged (\(cause)): at its next start the daemon renames it and creates a new one",
                mend: "cp -a \(path.shellWord) \("\(path).copy".shellWord)")
        case .failed(let failure):
            .problem(.database, "\(failure)", mend: "ls -l \(seen.stateDirectory.path.shellWord)")
        }
    }
}
