import Glibc

/// The directory entries that determine to which file a path leads: the last component, each symbolic link on the way,
/// and the first component that does not exist. A change to any of them may change the result.
struct PathResolution: Hashable, Sendable {
    struct Step: Hashable, Sendable {
        /// An existing directory, without symbolic links.
        var directory: String
        var name: String
    }

    /// The limit of symbolic links in a path, as in the kernel (ELOOP).
    static let maximumLinks = 40

    private(set) var steps: [Step] = []
    /// The path without symbolic links; `nil` if nothing exists there.
    private(set) var end: String?

    /// - Parameter path: an absolute path.
    init(_ path: String) {
        var names = PathResolution.names(of: path)
        var here: [Substring] = []
        var links = 0
        while let name = names.popLast() {
            if name == ".." {
                _ = here.popLast()
                continue
            }
            let directory = "/" + here.joined(separator: "/")
            let entry = "/" + (here + [name]).joined(separator: "/")
            var status = stat()
            guard lstat(entry, &status) == 0 else {
                steps.append(Step(directory: directory, name: String(name)))
                return
            }
            guard status.st_mode & S_IFMT == S_IFLNK else {
                if names.isEmpty { steps.append(Step(directory: directory, name: String(name))) }
                here.append(name)
                continue
            }
            steps.append(Step(directory: directory, name: String(name)))
            links += 1
            guard links <= PathResolution.maximumLinks, let target = PathResolution.target(of: entry) else { return }
            if target.hasPrefix("/") { here = [] }
            names += PathResolution.names(of: target)
        }
        end = "/" + here.joined(separator: "/")
    }

    /// The components of a path, in reverse order.
    private static func names(of path: String) -> [Substring] {
        path.split(separator: "/").filter { $0 != "." }.reversed()
    }

    private static func target(of link: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer.prefix(count).lazy.map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }
}
