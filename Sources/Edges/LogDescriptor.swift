import CLinux
import Glibc

/// Writes to standard error without waiting for its reader.
///
/// `O_NONBLOCK` belongs to what the kernel calls the open file description, which other processes share: a shell, the
/// other programs of a pipeline. So it is never set on the descriptor itself.
///
/// | standard error is                     | and is written to with                                                   |
/// |---------------------------------------|--------------------------------------------------------------------------|
/// | a socket, as the journal's            | `send` with `MSG_DONTWAIT`                                               |
/// | a pipe or a terminal                  | a description of our own, opened anew and not blocking                   |
/// | one of these that belongs to another user and cannot be opened | `poll`, then at most `PIPE_BUF` octets: a pipe that is ready takes so many at once |
/// | a file                                | `write`, which waits for no reader                                       |
struct LogDescriptor: Sendable {
    private enum Way: Hashable {
        case socket, own, polled, file
    }

    private let way: Way
    private let descriptor: Int32

    init(_ descriptor: Int32) {
        var status = stat()
        let kind = fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
        guard kind != S_IFSOCK else {
            (way, self.descriptor) = (.socket, descriptor)
            return
        }
        guard kind == S_IFIFO || isatty(descriptor) == 1 else {
            (way, self.descriptor) = (.file, descriptor)
            return
        }
        let own = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        (way, self.descriptor) = own >= 0 ? (.own, own) : (.polled, descriptor)
    }

    /// One that is asked before each piece, whatever it is.
    init(polling descriptor: Int32) { (way, self.descriptor) = (.polled, descriptor) }

    /// Closes what `init` opened.
    func close() {
        if way == .own { Glibc.close(descriptor) }
    }

    /// - Parameter patience: milliseconds that it may take in all until there is room for more.
    /// - Returns: how many octets of the beginning were taken.
    func write(_ octets: UnsafeRawBufferPointer, patience: Int32 = 0) -> Int {
        var taken = 0
        while taken < octets.count {
            let count = writeOnce(UnsafeRawBufferPointer(rebasing: octets[taken...]))
            if count > 0 {
                taken += count
            } else if count == 0 || errno != EINTR {
                guard count < 0, errno == EAGAIN, patience > 0, isReady(within: patience) else { break }
            }
        }
        return taken
    }

    private func writeOnce(_ octets: UnsafeRawBufferPointer) -> Int {
        switch way {
        case .socket:
            return send(descriptor, octets.baseAddress, octets.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
        case .own, .file: return Glibc.write(descriptor, octets.baseAddress, octets.count)
        case .polled:
            guard isReady(within: 0) else {
                errno = EAGAIN
                return -1
            }
            return Glibc.write(descriptor, octets.baseAddress, min(octets.count, Int(PIPE_BUF)))
        }
    }

    private func isReady(within milliseconds: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&request, 1, milliseconds) == 1 && request.revents & Int16(POLLOUT) != 0
    }
}
