package import ButtonModel
package import Feed
package import JSON

/// The state of feeds on the disk. An engine keeps its claims and the highest term, and a site keeps its uplink.
package struct StoredFeed: Hashable, Sendable {
    /// The claim of each button, by the topic of the claim.
    private var claims: [String: FeedPosition] = [:]
    /// The highest term in which this engine has claimed to lead; 0: none.
    package private(set) var term = 0
    package private(set) var uplink = StoredUplink()

    package init() {}

    /// The claims in the order of their topics.
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

/// A change of `StoredFeed`, which is stored as a key and a value. A change with the same key replaces it.
package enum FeedChange: Hashable, Sendable {
    case claimed(FeedPosition)
    /// The button was removed at its site.
    case removed(site: String, ButtonID)
    /// The highest term in which this engine has claimed to lead.
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

    /// The value for the key; `nil` if the change removes the key.
    package var value: JSONValue? {
        switch self {
        case .claimed(let position):
            [
                "claim": (try? JSONValue(parsing: position.claim.encoded())) ?? .null,
                "done": .integer(Int64(position.done)), "former": position.formerOpen?.json ?? .null,
            ]
        case .removed: nil
        case .term(let term): .integer(Int64(term))
        case .uplink(let change): change.value
        }
    }

    /// Restores a change from its key and value; fails unless a change can have them.
    ///
    /// - Parameter value: `nil` or `null` if the change removes the key.
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
        self = .claimed(
            FeedPosition(
                site: topic.site, button: button, claim: claim, done: Int(done),
                formerOpen: value["former"].flatMap { FeedFormerOpen($0, site: topic.site, button) }))
    }
}

extension FeedFormerOpen {
    fileprivate init?(_ json: JSONValue, site: String, _ button: ButtonID) {
        guard let installation = json["installation"]?.stringValue,
            let first = json["first"]?.integerValue.flatMap(Int.init(exactly:)), Self.numbers.contains(first),
            let last = json["last"]?.integerValue.flatMap(Int.init(exactly:)), Self.numbers.contains(last),
            last >= first
        else { return nil }
        self.init(
            place: FeedPlace(site: site, button: button, installation: installation, number: last), first: first)
    }

    fileprivate var json: JSONValue {
        [
            "installation": .string(place.installation), "first": .integer(Int64(first)),
            "last": .integer(Int64(place.number)),
        ]
    }
}
