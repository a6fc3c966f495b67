import CLinux
import Glibc
import Platform

/// Notifies systemd of the daemon's state, with a datagram for each message.
///
/// - Source: sd_notify(3).
package final class ServiceNotifier: Sendable {
    private let descriptor: Int32
    /// The interval for `watchdog`: half of the time after which systemd kills the daemon. `nil`: there is no watchdog.
    package let watchdogInterval: Duration?

    /// - Parameters:
    ///   - socket: `$NOTIFY_SOCKET`, a path, or with a leading `@` an abstract name.
    ///   - watchdogMicroseconds: `$WATCHDOG_USEC`, if `$WATCHDOG_PID` is this process or is not set.
    /// - Returns: `nil` if there is no socket at that address.
    package init?(socket path: String, watchdogMicroseconds: Int64? = nil) {
        guard case .success(let addresses) = SocketAddress.resolve(unixPath: path), let address = addresses.first
        else { return nil }
        descriptor = Glibc.socket(
            AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        watchdogInterval = watchdogMicroseconds.flatMap { $0 > 0 ? .microseconds($0) / 2 : nil }
        guard descriptor >= 0, address.connect(descriptor) == 0 else { return nil }
    }

    /// Uses the variables that systemd sets; `nil` if they are not set.
    package static func fromEnvironment() -> ServiceNotifier? {
        guard let path = variable("NOTIFY_SOCKET") else { return nil }
        let isForUs = variable("WATCHDOG_PID").map { $0 == String(getpid()) } ?? true
        return ServiceNotifier(
            socket: path, watchdogMicroseconds: isForUs ? variable("WATCHDOG_USEC").flatMap { Int64($0) } : nil)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    package func ready() { send("READY=1") }
    package func stopping() { send("STOPPING=1") }
    package func watchdog() { send("WATCHDOG=1") }

    /// Sets the status line of `systemctl status`.
    package func status(_ text: String) {
        send("STATUS=" + text.split(whereSeparator: \.isNewline).joined(separator: " "))
    }

    /// Failures are ignored: a manager that is gone or busy misses the message.
    private func send(_ assignment: String) {
        _ = Array(assignment.utf8).withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
