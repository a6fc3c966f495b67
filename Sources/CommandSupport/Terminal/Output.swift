import Glibc
import Platform
import Synchronization

/// Standard output or standard error of this process.
package struct Output: Sendable {
    package static let standardOutput = Output(descriptor: STDOUT_FILENO)
    package static let standardError = Output(descriptor: STDERR_FILENO)

    package let descriptor: Int32

    /// Why something could not be written to standard output: the first reason, in the system's words. `nil` if everything was
    /// written, or if the reader has closed the pipe, as `head` does when it needs no more.
    package static var failureOfStandardOutput: String? {
        failureCode.withLock { $0 == 0 ? nil : systemMessage($0) }
    }

    private static let failureCode = Mutex<Int32>(0)

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// The style for the terminal, with its present width.
    package var style: Style {
        Style(isTerminal: isTerminal, width: width) { name in getenv(name).map { String(cString: $0) } }
    }

    private var width: Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    @discardableResult
    package func write(line: String) -> Bool { write(text: line + "\n") }

    @discardableResult
    package func write(_ line: Line) -> Bool { write([line]) }

    @discardableResult
    package func write(_ lines: [Line]) -> Bool {
        let style = style
        return write(text: lines.map { $0.rendered(style) + "\n" }.joined())
    }

    /// Writes a text in as few calls as possible, so that lines of several programs do not mix.
    ///
    /// - Returns: false when the reader is gone.
    @discardableResult
    package func write(text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count < 0, errno == EAGAIN {
                // Another program has made the terminal non-blocking, and it is slower than this program.
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wait, 1, -1)
            } else if errno != EINTR {
                let code = errno
                if descriptor == STDOUT_FILENO, code != EPIPE {
                    Self.failureCode.withLock { if $0 == 0 { $0 = code } }
                }
                return false
            }
        }
        return true
    }
}
