/// Decides which syncs are useless, because their records could not be written.
///
/// The hub requests a sync with the token of the record, before it learns that the record has failed. From `recordFailed` it
/// then learns that nothing of this record may be acknowledged.
package struct FailedRecords: Sendable {
    private var tokens: Set<RecordToken> = []

    package init() {}

    /// - Parameter refuge: where the changes are instead. A sync of the reserve on the disk is useful.
    package mutating func recordFailed(_ token: RecordToken?, _ refuge: RecordRefuge) {
        if refuge != .disk, let token { tokens.insert(token) }
    }

    /// The database has recorded all changes, including those whose records had failed.
    package mutating func recorded() { tokens.removeAll() }

    /// True if the sync is to be made. Each sync is requested once.
    package mutating func isSyncUseful(_ token: RecordToken) -> Bool { tokens.remove(token) == nil }
}
