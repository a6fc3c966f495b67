import CLinux
import Glibc

/// Tells the service manager how we are: one datagram for each thing said, none when nobody listens.
///
/// - Source: sd_notify(3).
package final class ServiceNotifier: Sendable {
    private let descriptor: Int32
    /// How often the manager wants to hear `watchdog`, at half of the time after which it would kill us. Nil: never.
    package let watchdogInterval: Duration?

    /// - Parameters:
    ///   - socket: `$NOTIFY_SOCKET`: a path, or with a leading `@` an abstract name.
    ///   - watchdogMicroseconds: `$WATCHDOG_USEC`, where `$WATCHDOG_PID` is us or is not set.
    /// - Returns: nil where there is no manager at that address.
    package init?(socket path: String, watchdogMicroseconds: Int64? = nil) {
        guard case .success(let addresses) = SocketAddress.resolve(unixPath: path), let address = addresses.first
        else { return nil }
        descriptor = Glibc.socket(
            AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        watchdogInterval = watchdogMicroseconds.flatMap { $0 > 0 ? .microseconds($0) / 2 : nil }
        guard descriptor >= 0, address.connect(descriptor) == 0 else { return nil }
    }

    /// From the variables that systemd sets. Without them we were started by hand.
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

    /// One line for people, as in `systemctl status`.
    package func status(_ text: String) {
        send("STATUS=" + text.split(whereSeparator: \.isNewline).joined(separator: " "))
    }

    /// A manager that is gone or busy misses it.
    private func send(_ assignment: String) {
        _ = Array(assignment.utf8).withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
