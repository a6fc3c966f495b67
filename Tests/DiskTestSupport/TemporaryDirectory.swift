public import Glibc

/// An empty directory of the test's own, gone with the last reference.
public final class TemporaryDirectory: Sendable {
    public let path: String

    public init(in parent: String = "/tmp") {
        let name = strdup(parent + "/tryck-tests-XXXXXX")
        defer { free(name) }
        guard let name, mkdtemp(name) != nil else { preconditionFailure("mkdtemp: \(errno)") }
        path = String(cString: name)
    }

    deinit { removeTree(path) }

    /// The names of the entries.
    public var names: [String] { entries(of: path).sorted() }

    public func empty() {
        for name in entries(of: path) { removeTree(path + "/" + name) }
    }
}

private func removeTree(_ path: String) {
    for name in entries(of: path) { removeTree(path + "/" + name) }
    remove(path)
}

private func entries(of path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != ".", name != ".." { names.append(name) }
    }
    return names
}

public func readFile(_ path: String) -> [UInt8] {
    let file = open(path, O_RDONLY)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var octets: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while case let count = read(file, &chunk, chunk.count), count > 0 { octets += chunk.prefix(count) }
    return octets
}

public func writeFile(_ path: String, _ octets: some Collection<UInt8>, mode: mode_t = 0o600) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode)
    precondition(file >= 0, "\(path): \(errno)")
    let octets = Array(octets)
    precondition(write(file, octets, octets.count) == octets.count, "\(path): \(errno)")
    close(file)
}

public func mode(of path: String) -> mode_t? {
    var information = stat()
    return stat(path, &information) == 0 ? information.st_mode & 0o7777 : nil
}
