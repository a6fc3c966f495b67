import Edges
import Glibc
import Platform

/// A directory for the files of the embedded broker, which only the daemon's user may enter.
///
/// Other users may be able to create files beside it. So the directory and the files in it are opened without following links, and
/// are changed through descriptors. It is locked while this value exists, so that `removeAbandoned` of another process spares it.
final class BrokerDirectory {
    /// Why a broker cannot be started.
    struct Failure: Error {
        var sentence: String
    }

    static let configurationName = "mosquitto.conf"
    static let socketName = "mqtt.sock"
    private static let temporaryPrefix = "tryck-broker."
    /// What `mkdtemp` replaces.
    private static let temporarySuffix = "XXXXXX"
    /// The maximum number of entries of a directory that are examined for abandoned directories.
    private static let maximumEntries = 100_000

    let path: String
    private let descriptor: Int32

    private init(opening path: String) throws(Failure) {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_uid == geteuid() else {
            if descriptor >= 0 { close(descriptor) }
            throw Failure(sentence: "\(path) is no directory of this user, so mosquitto cannot use it")
        }
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Creates the directory if it is missing, and closes it to others.
    static func open(_ path: String) throws(Failure) -> BrokerDirectory {
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            throw Failure(sentence: "cannot create \(path) for mosquitto: \(systemMessage(errno))")
        }
        let directory = try BrokerDirectory(opening: path)
        guard fchmod(directory.descriptor, 0o700) == 0 else {
            throw Failure(sentence: "cannot restrict access to \(path): \(systemMessage(errno))")
        }
        guard directory.lock() else {
            throw Failure(sentence: "another program uses \(path) for mosquitto")
        }
        return directory
    }

    /// Creates a new directory in another one.
    static func temporary(in parent: String) throws(Failure) -> BrokerDirectory {
        var template = Array("\(parent)/\(temporaryPrefix)\(temporarySuffix)".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(sentence: "cannot create a directory in \(parent): \(systemMessage(errno))")
        }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        do {
            return try open(path)
        } catch {
            rmdir(path)
            throw error
        }
    }

    /// - Returns: false if another process uses the directory.
    private func lock() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

    /// True if the path still leads to this directory.
    var isThere: Bool {
        var (here, there) = (stat(), stat())
        return fstat(descriptor, &here) == 0 && lstat(path, &there) == 0
            && here.st_dev == there.st_dev && here.st_ino == there.st_ino
    }

    /// Writes a new file, in place of one with this name. An old file is not changed, because it may have another name elsewhere.
    ///
    /// - Returns: the file, which leads to its text also after another user has replaced the directory.
    func write(_ text: String, to name: String) throws(Failure) -> OwnedDescriptor {
        remove(name)
        let octets = Array(text.utf8)
        let file = OwnedDescriptor(openat(descriptor, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600))
        guard file.isOpen, Glibc.write(file.rawValue, octets, octets.count) == octets.count else {
            throw Failure(sentence: "cannot write \(path)/\(name): \(systemMessage(errno))")
        }
        return file
    }

    func remove(_ name: String) { unlinkat(descriptor, name, 0) }

    /// Removes the directory with the broker's files. A directory with other files stays.
    func remove() {
        for name in [Self.configurationName, Self.socketName] { remove(name) }
        rmdir(path)
    }

    // MARK: What killed processes have left

    /// Removes the temporary directories in another one that processes of this user have left when they were killed.
    ///
    /// - Parameter isListening: whether a broker accepts connections on this socket file. A broker of an earlier version uses its
    ///   directory without a lock.
    static func removeAbandoned(in parent: String, unless isListening: (_ socketPath: String) -> Bool) {
        for name in names(in: parent) where isTemporary(name) {
            guard let directory = try? BrokerDirectory(opening: "\(parent)/\(name)"), directory.lock(),
                names(in: directory.path).allSatisfy({ $0 == configurationName || $0 == socketName }),
                !isListening("\(directory.path)/\(socketName)")
            else { continue }
            directory.remove()
        }
    }

    private static func isTemporary(_ name: String) -> Bool {
        name.hasPrefix(temporaryPrefix) && name.utf8.count == temporaryPrefix.utf8.count + temporarySuffix.utf8.count
    }

    /// The names in a directory, in no order.
    private static func names(in directory: String) -> [String] {
        guard let entries = opendir(directory) else { return [] }
        defer { closedir(entries) }
        var names: [String] = []
        while names.count < maximumEntries, let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
