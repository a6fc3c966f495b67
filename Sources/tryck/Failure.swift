/// Why a command ends with another status than 0.
struct Failure: Error, Hashable, Sendable {
    var status: ExitStatus
    /// Says what to do next. Empty when everything has been said already.
    var sentence: String

    init(_ status: ExitStatus, _ sentence: String) {
        self.status = status
        self.sentence = sentence
    }

    /// The command has printed what there is to say.
    static func silent(_ status: ExitStatus) -> Failure { Failure(status, "") }
}

/// What the process tells its caller.
///
/// - Source: sysexits.h, from 64 on.
enum ExitStatus: Int32, Hashable, Sendable {
    case done = 0
    /// The question was understood, and the answer is no.
    case no = 1
    case usage = 64
    /// A device, the broker or the daemon.
    case unavailable = 69
    case ourBug = 70
    case configuration = 78
}
