import Glibc
import Platform
package import Reactor

/// Writes the metrics file for Prometheus. A new version is written to a temporary file, whose name does not end in
/// `.prom`, and then renamed, so that readers always find a complete file.
///
/// A helper thread writes one version at a time. Only the latest of the versions that arrive meanwhile is written next.
/// There is no fsync, because the file is written again after a power failure anyway.
@ReactorActor
package final class MetricsFile {
    /// The delay in nanoseconds before another attempt after a failure.
    package nonisolated static let retryDelay: Int64 = 60_000_000_000

    private let loop: EventLoop
    private let path: String
    private let retryDelay: Int64
    private let notice: @ReactorActor (String) -> Void
    private var next: [UInt8]?
    private var isWriting = false
    /// The failure that was reported last.
    private var fault: String?
    private var finished: (@ReactorActor () -> Void)?

    private lazy var timer = loop.timer { [weak self] in self?.advance() }

    /// - Parameters:
    ///   - path: absolute.
    ///   - notice: receives a sentence for the log when writing fails for another reason than before, or succeeds
    ///     again.
    package init(
        loop: EventLoop, path: String, retryDelay: Int64 = retryDelay,
        _ notice: @escaping @ReactorActor (String) -> Void
    ) {
        self.loop = loop
        self.path = path
        self.retryDelay = retryDelay
        self.notice = notice
    }

    package func write(_ octets: [UInt8]) {
        next = octets
        advance()
    }

    /// Calls `done` when no write is in progress or waiting. A failed write is not repeated after that.
    package func finish(_ done: @escaping @ReactorActor () -> Void) {
        timer.cancel()
        guard isWriting else { return done() }
        finished = done
    }

    private func advance() {
        guard !isWriting, let octets = next.take() else { return }
        isWriting = true
        timer.cancel()
        loop.offload { [path] in
            MetricsFile.replace(path, by: octets)
        } then: { [self] failure in
            isWriting = false
            report(failure)
            if failure != nil, next == nil, finished == nil {
                next = octets
                timer.set(at: loop.nanosecondsSinceBoot + retryDelay)
            } else {
                advance()
            }
            guard !isWriting, let done = finished.take() else { return }
            done()
        }
    }

    private func report(_ failure: String?) {
        defer { fault = failure }
        guard failure != fault else { return }
        notice(failure ?? "\(path) can be written again")
    }

    /// - Returns: a sentence if that failed.
    nonisolated private static func replace(_ path: String, by octets: [UInt8]) -> String? {
        let temporary = path + ".tmp"
        // Removes the file of an earlier crash, or a link that another user may have created there.
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { return sentence(path, errno) }
        var remaining = octets[...]
        // The mode must not depend on the umask, because the reader is another user's program.
        var failure = fchmod(descriptor, 0o644) == 0 ? 0 : errno
        while failure == 0, !remaining.isEmpty {
            let count = remaining.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count > 0 { remaining = remaining.dropFirst(count) } else { failure = count < 0 ? errno : ENOSPC }
        }
        close(descriptor)
        if failure == 0, rename(temporary, path) != 0 { failure = errno }
        guard failure != 0 else { return nil }
        unlink(temporary)
        return sentence(path, failure)
    }

    nonisolated private static func sentence(_ path: String, _ error: Int32) -> String {
        let directory = SystemEnvironment.directory(of: path)
        let advice =
            switch error {
            case ENOENT, ENOTDIR: "create the directory \(directory), or set another path in metrics.textfile"
            case EACCES, EPERM: "let the user that tryckd runs as write in \(directory)"
            case EROFS: "let tryckd write in \(directory); under systemd, with ReadWritePaths=\(directory)"
            case EISDIR, ENOTEMPTY, EEXIST: "set metrics.textfile to the path of a file"
            case ENOSPC, EDQUOT: "free space on the disk it is on"
            default: "set another path in metrics.textfile"
            }
        return "the metrics file \(path) cannot be written: \(systemMessage(error)); \(advice)"
    }
}
