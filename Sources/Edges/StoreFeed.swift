import Hub
import JSON

// The table `feed`, in which an engine or a site keeps the state of its feeds: a row for each key of `FeedChange`, with the
// value as JSON.
extension Database {
    private static let selectFeed = "SELECT key, value FROM feed ORDER BY key"

    /// - Throws: the failure of a query of the table, if the table or a column is missing.
    func checkFeed() throws(DatabaseFailure) { try check(Self.selectFeed) }

    /// - Parameter report: called for each invalid row, which is left out.
    func loadFeed(_ report: (StoreNotice) -> Void) throws(DatabaseFailure) -> StoredFeed {
        var feed = StoredFeed()
        _ = try rows(Self.selectFeed) { row -> Void? in
            guard let key = row.text(0), let value = row.text(1).flatMap({ try? JSONValue(parsing: $0) }),
                let change = FeedChange(key: key, value: value)
            else {
                report(.unreadable(table: "feed", row: row.text(0) ?? "?"))
                return nil
            }
            feed.apply(change)
            return ()
        }
        return feed
    }

    /// Records a change. A new position of a journal also deletes the entries that it makes obsolete.
    func apply(_ change: FeedChange) throws(DatabaseFailure) {
        if case .uplink(.position(let button, let position)) = change {
            try run(
                "DELETE FROM feed WHERE key BETWEEN ? AND ?", .text(UplinkChange.key(of: button, 0)),
                .text(UplinkChange.key(of: button, position.gone)))
        }
        if let value = change.value {
            try run(
                "INSERT OR REPLACE INTO feed (key, value) VALUES (?, ?)", .text(change.key), .text(value.description))
        } else {
            try run("DELETE FROM feed WHERE key = ?", .text(change.key))
        }
    }
}
