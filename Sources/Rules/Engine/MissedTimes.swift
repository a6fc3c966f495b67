/// Times of day that have passed without firing their triggers, while the program was stopped or because the clock jumped.
///
/// Only the time of the first rule is named, so that a long stop writes one line into the log.
package struct MissedTimes: Hashable, Sendable {
    /// The first rule in the order of the files that has missed a time.
    package var rule: String
    /// The latest time that it has missed, as local time with the offset from UTC.
    package var time: String
    /// The number of triggers of all rules that have missed a time.
    package var count: Int

    package init(rule: String, time: String, count: Int) {
        self.rule = rule
        self.time = time
        self.count = count
    }

    /// The line of the log.
    package var sentence: String {
        "rule \(rule) has missed \(time) and does not run" + (count > 1 ? ", and \(count - 1) more" : "")
    }
}
