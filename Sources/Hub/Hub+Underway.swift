// Counts of work in flight.
extension Hub {
    /// Counts of work in flight, for tests: all zero when the hub is idle.
    package struct Underway: Hashable, Sendable {
        /// Messages, programs and web requests whose end has consequences.
        package var jobs = 0
        /// Notifications of buttons that wait for a sync before they are acknowledged.
        package var unsyncedNotifications = 0
        /// Messages that wait for the broker.
        package var waitingMessages = 0
        /// Messages that were sent and are not acknowledged.
        package var unacknowledgedMessages = 0
        /// Retained topics that wait or are not acknowledged.
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

    /// True if no run, program or web request is in progress.
    package var isBetweenRuns: Bool { !isIncomplete && rules.runCount == 0 && jobs.stepCount == 0 }

    /// True if a press waits for the decision which gesture it belongs to.
    package var hasUndecidedPress: Bool { buttons.keys.contains { !rules.savedTrain(of: $0).isEmpty } }

    /// True if a state of the rules reads this topic.
    package func isState(_ topicName: String) -> Bool { rules.isState(topicName) }
}
