import Glibc

/// Opens files below a folder without following links at any step, so that no link leads out of the folder.
package enum BeneathFile {
    /// The folder that contains the file of a path, which the caller closes; `nil`, with `errno` set, if there is none.
    ///
    /// - Parameter segments: the names of the path, of which none is empty, `.` or `..`.
    static func openFolder(_ segments: ArraySlice<String>, in root: String) -> Int32? {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        // The root is configured, so links in its own path are the owner's.
        var folder = open(root, flags)
        guard folder >= 0 else { return nil }
        for name in segments {
            guard name != ".", name != "..", !name.isEmpty, !name.utf8.contains(0), !name.contains("/") else {
                close(folder)
                errno = ENOENT
                return nil
            }
            let next = openat(folder, name, flags | O_NOFOLLOW)
            let reason = errno
            close(folder)
            guard next >= 0 else {
                errno = reason
                return nil
            }
            folder = next
        }
        return folder
    }

    /// The octets of a regular file; `nil` if there is none, or if a link is on the way.
    static func read(_ segments: [String], in root: String, maximumLength: Int = StaticFiles.maximumLength) -> [UInt8]?
    {
        guard let name = segments.last, let folder = openFolder(segments.dropLast(), in: root) else { return nil }
        defer { close(folder) }
        return read(name, in: folder, maximumLength: maximumLength)?.octets
    }

    struct Contents {
        var octets: [UInt8]
        var status: stat
    }

    static func read(_ name: String, in folder: Int32, maximumLength: Int) -> Contents? {
        let file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= maximumLength else {
            return nil
        }
        var octets: [UInt8] = []
        octets.reserveCapacity(Int(status.st_size))
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = Glibc.read(file, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { return Contents(octets: octets, status: status) }
            octets.append(contentsOf: chunk[..<count])
            guard octets.count <= maximumLength else { return nil }
        }
    }
}
