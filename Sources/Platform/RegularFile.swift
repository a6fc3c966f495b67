import Glibc

/// The contents of a regular file. Opening a FIFO or a device does not block; they are refused as `notRegular`.
package struct RegularFile: Sendable {
    package enum Failure: Error, Hashable, Sendable {
        /// The `errno` of a call.
        case system(Int32)
        case notRegular
        case tooLong
    }

    package var octets: [UInt8]
    package var isReadableByOthers: Bool

    /// - Parameter path: if its last component is a symbolic link, opening fails with ELOOP.
    package init(_ path: String, maximumLength: Int) throws(Failure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else { throw .system(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        isReadableByOthers = status.st_mode & 0o077 != 0
        octets = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(errno) }
            guard count > 0 else { return }
            octets.append(contentsOf: chunk[..<count])
            guard octets.count <= maximumLength else { throw .tooLong }
        }
    }
}
