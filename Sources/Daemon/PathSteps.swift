import Glibc

/// The places where a change changes what a path leads to: its last step, each link on the way, and the first step that is
/// not there.
struct PathSteps: Hashable, Sendable {
    struct Step: Hashable, Sendable {
        /// Without links, and there.
        var directory: String
        var name: String
    }

    /// As the kernel: more links on one way are a circle.
    static let maximumLinks = 40

    private(set) var steps: [Step] = []
    /// What the path leads to, without links; `nil` if there is nothing.
    private(set) var end: String?

    /// - Parameter path: absolute.
    init(_ path: String) {
        var names = PathSteps.names(of: path)
        var here: [Substring] = []
        var links = 0
        while let name = names.popLast() {
            if name == ".." {
                _ = here.popLast()
                continue
            }
            let directory = "/" + here.joined(separator: "/")
            let place = "/" + (here + [name]).joined(separator: "/")
            var status = stat()
            guard lstat(place, &status) == 0 else {
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
            guard links <= PathSteps.maximumLinks, let target = PathSteps.target(of: place) else { return }
            if target.hasPrefix("/") { here = [] }
            names += PathSteps.names(of: target)
        }
        end = "/" + here.joined(separator: "/")
    }

    /// The last one first.
    private static func names(of path: String) -> [Substring] {
        path.split(separator: "/").filter { $0 != "." }.reversed()
    }

    private static func target(of link: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer.prefix(count).lazy.map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }
}
