import Hub
import JSON

// What is kept of the feeds of sites, by an engine or a site: a row for each key of `FeedChange`, with the value as JSON.
extension Database {
    private static let selectFeed = "SELECT key, value FROM feed ORDER BY key"

    func checkFeed() throws(DatabaseFailure) { try check(Self.selectFeed) }

    /// - Parameter report: called for each invalid row.
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
