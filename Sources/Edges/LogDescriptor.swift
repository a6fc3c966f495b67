import CLinux
import Glibc

/// Writes to standard error without blocking when its reader is slow.
///
/// `O_NONBLOCK` is a flag of the open file description, which is shared with other processes, such as the shell and the
/// other programs of a pipeline. So it is never set on the inherited descriptor.
///
/// | standard error is                     | and is written to with                                                   |
/// |---------------------------------------|--------------------------------------------------------------------------|
/// | a socket, as that of the journal      | `send` with `MSG_DONTWAIT`                                               |
/// | a pipe or a terminal                  | a non-blocking description of our own, opened through /proc/self/fd      |
/// | one of these that belongs to another user and cannot be opened | `poll`, then at most `PIPE_BUF` octets: a pipe that is ready takes so many at once |
/// | a file                                | `write`, which waits for no reader                                       |
struct LogDescriptor: Sendable {
    private enum Method: Hashable {
        case socket, own, polled, file
    }

    private let method: Method
    private let descriptor: Int32

    init(_ descriptor: Int32) {
        var status = stat()
        let kind = fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
        guard kind != S_IFSOCK else {
            (method, self.descriptor) = (.socket, descriptor)
            return
        }
        guard kind == S_IFIFO || isatty(descriptor) == 1 else {
            (method, self.descriptor) = (.file, descriptor)
            return
        }
        let own = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        (method, self.descriptor) = own >= 0 ? (.own, own) : (.polled, descriptor)
    }

    /// Always uses `poll` before writing, for tests.
    init(polling descriptor: Int32) { (method, self.descriptor) = (.polled, descriptor) }

    /// Closes the descriptor that `init` opened, if any.
    func close() {
        if method == .own { Glibc.close(descriptor) }
    }

    /// - Parameter timeoutMilliseconds: the milliseconds to wait for space each time the descriptor accepts nothing more.
    /// - Returns: the number of octets that were written.
    func write(_ octets: UnsafeRawBufferPointer, timeoutMilliseconds: Int32 = 0) -> Int {
        var taken = 0
        while taken < octets.count {
            let count = writeOnce(UnsafeRawBufferPointer(rebasing: octets[taken...]))
            if count > 0 {
                taken += count
            } else if count == 0 || errno != EINTR {
                guard count < 0, errno == EAGAIN, timeoutMilliseconds > 0, isReady(within: timeoutMilliseconds) else {
                    break
                }
            }
        }
        return taken
    }

    private func writeOnce(_ octets: UnsafeRawBufferPointer) -> Int {
        switch method {
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
