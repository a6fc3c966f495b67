/// The exit status of a command.
///
/// - Source: sysexits.h, for the values from 64.
package enum ExitStatus: Int32, Hashable, Sendable {
    case success = 0
    /// The command ran, but its result is negative: a check found errors, or the requested change failed.
    case negativeResult = 1
    case usage = 64
    /// A device, the broker, the daemon or its state directory is not available.
    case unavailable = 69
    /// A fault of Tryck itself.
    case internalError = 70
    /// Output could not be written.
    case inputOutput = 74
    case configuration = 78
}
