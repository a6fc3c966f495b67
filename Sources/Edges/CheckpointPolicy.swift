/// When `StoreDisk` copies the write-ahead log into the database file, and whether writers wait for that.
package struct CheckpointPolicy: Hashable, Sendable {
    /// A log with more pages is copied after a sync. 256 pages of 4 KiB are 1 MiB.
    package var pageCount = 256
    /// A log that is longer by this factor is copied completely while writers wait. This happens only if events arrive
    /// faster than a helper thread copies them, for a long time.
    package static let forcedFactor = 16

    package init(pageCount: Int = 256) { self.pageCount = pageCount }

    /// How to copy the log after a sync has ended; `nil` to leave it as it is.
    ///
    /// - Parameters:
    ///   - logPageCount: the pages in the log.
    ///   - isSyncWaiting: true if the next sync waits. It goes first, because an acknowledgement depends on it.
    ///   - isLogSuspect: true if the log's content on the disk is unknown. Copying it would then harm the database.
    package func mode(logPageCount: Int, isSyncWaiting: Bool, isLogSuspect: Bool) -> Database.CheckpointMode? {
        guard !isLogSuspect, logPageCount > pageCount else { return nil }
        if logPageCount > Self.forcedFactor * pageCount { return .truncate }
        return isSyncWaiting ? nil : .passive
    }
}
