/// What a process tells its caller.
///
/// - Source: sysexits.h, from 64 on.
package enum ExitStatus: Int32, Hashable, Sendable {
    case done = 0
    /// The question was understood, and the answer is no.
    case no = 1
    case usage = 64
    /// A device, the broker, the daemon or its state directory.
    case unavailable = 69
    case ourBug = 70
    case configuration = 78
}
