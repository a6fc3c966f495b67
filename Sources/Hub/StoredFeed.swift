package import ButtonModel
package import Feed
package import JSON

/// What is kept on the disk of the feeds of sites: by an engine its claims and the highest term, and by a site its uplink.
package struct StoredFeed: Hashable, Sendable {
    /// The claim of each button, by the topic of the claim.
    private var claims: [String: FeedPosition] = [:]
    /// The highest term in which this engine has claimed to lead; 0: none.
    package private(set) var term = 0
    package private(set) var uplink = StoredUplink()

    package init() {}

    /// In the order of their topics.
    package var positions: [FeedPosition] { claims.sorted { $0.key < $1.key }.map(\.value) }

    package mutating func apply(_ change: FeedChange) {
        switch change {
        case .claimed(let position): claims[change.key] = position
        case .removed: claims[change.key] = nil
        case .term(let term): self.term = term
        case .uplink(let change): uplink.apply(change)
        }
    }
}

/// A change of what is kept of feeds. It has a key, which it shares only with changes that replace it, and a value.
package enum FeedChange: Hashable, Sendable {
    case claimed(FeedPosition)
    case removed(site: String, ButtonID)
    case term(Int)
    case uplink(UplinkChange)

    private static let termKey = "term"

    /// The topic of the claim, `term`, or a key of the uplink.
    package var key: String {
        switch self {
        case .claimed(let position): FeedTopic(position.site, .cursor(position.button)).description
        case .removed(let site, let button): FeedTopic(site, .cursor(button)).description
        case .term: Self.termKey
        case .uplink(let change): change.key
        }
    }

    /// `nil` if the key has no value any more.
    package var value: JSONValue? {
        switch self {
        case .claimed(let position):
            [
                "claim": (try? JSONValue(parsing: position.claim.encoded())) ?? .null,
                "done": .integer(Int64(position.done)),
            ]
        case .removed: nil
        case .term(let term): .integer(Int64(term))
        case .uplink(let change): change.value
        }
    }

    /// - Parameter value: `nil` or `null` for a key that has no value any more.
    /// - Returns: `nil` unless this type makes such a key and value.
    package init?(key: String, value: JSONValue?) {
        if key == Self.termKey {
            guard let term = value?.integerValue, term >= 0 else { return nil }
            self = .term(Int(term))
            return
        }
        if let change = UplinkChange(key: key, value: value) {
            self = .uplink(change)
            return
        }
        guard let topic = FeedTopic(key), case .cursor(let button) = topic.kind else { return nil }
        guard let value, value != .null else {
            self = .removed(site: topic.site, button)
            return
        }
        guard let claim = value["claim"].flatMap({ try? FeedCursor(parsing: $0.encoded()) }),
            let done = value["done"]?.integerValue, (0...Int64(claim.number)).contains(done)
        else { return nil }
        self = .claimed(FeedPosition(site: topic.site, button: button, claim: claim, done: Int(done)))
    }
}
