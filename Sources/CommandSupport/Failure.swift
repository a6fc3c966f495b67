package import JSON
package import Platform

/// The reason why a command ends with a status other than 0.
package struct Failure: Error, Hashable, Sendable {
    package var status: ExitStatus
    /// Says what went wrong and what to do next. Empty when the command has already printed that.
    package var sentence: String
    /// Problems in files, for programs.
    package var problems: [JSONValue] = []
    /// The text that is printed for people instead of `sentence`.
    package var report: String?

    package init(_ status: ExitStatus, _ sentence: String) {
        self.status = status
        self.sentence = sentence
    }

    /// A failure because of problems in files.
    ///
    /// - Parameters:
    ///   - sentence: what programs get as the error.
    ///   - report: what people read.
    package init(_ status: ExitStatus, _ sentence: String, problems: [JSONValue], report: String) {
        self.init(status, sentence)
        self.problems = problems
        self.report = report
    }

    /// A failure about which the command has already printed everything.
    package static func silent(_ status: ExitStatus) -> Failure { Failure(status, "") }
}
