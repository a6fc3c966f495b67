import Daemon

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
