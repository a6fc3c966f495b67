import Rules

// What is not over yet, for those who look at the hub from outside: where nothing happens any more, there is none of it.
extension Hub {
    /// How many of each there are.
    package struct Underway: Hashable, Sendable {
        /// Publishes, programs and web requests that somebody waits for.
        package var jobs = 0
        /// Notifications of buttons that wait for the disk.
        package var unsyncedNotifications = 0
        /// Messages that wait for the broker.
        package var waitingMessages = 0
        /// Messages the broker has and did not acknowledge.
        package var unacknowledgedMessages = 0
        /// Retained topics that are to be said.
        package var retainedTopics = 0
        package var runs = 0
        package var firmwareReads = 0
        package var isReloading = false

        package init() {}
    }

    package var underway: Underway {
        var underway = Underway()
        underway.jobs = jobs.stepCount + broker.ownedCount
        underway.unsyncedNotifications = journal.awaitingSync.count
        underway.waitingMessages = broker.waitingCount
        underway.unacknowledgedMessages = broker.unacknowledgedCount
        underway.retainedTopics = broker.retainedCount
        underway.runs = rules.runCount
        underway.firmwareReads = jobs.firmwareReadCount
        underway.isReloading = rules.isLoading
        return underway
    }

    /// Of the rules that run.
    package var ruleFingerprint: String { rules.set.fingerprint }
}
