package import ButtonModel
package import Feed
package import JSON

/// The state of a site's uplink on the disk: the journals of its buttons, and how far engines have claimed them.
package struct StoredUplink: Hashable, Sendable {
    /// The numbers of a button's journal; 0: none. They are kept when the button is removed, because a number is never
    /// given to another press.
    package struct Position: Hashable, Sendable {
        /// The number of the newest entry.
        package var last = 0
        /// The number up to which an engine has claimed the entries.
        package var claimed = 0
        /// The number up to which an engine has done everything.
        package var done = 0
        /// Entries below this number were dropped.
        package var first = 0
        /// The entries of earlier lives that may be unclaimed; `nil` if all of them are claimed.
        package var former: FeedFormer?

        /// The number up to which the entries were claimed or dropped, so that the journal does not have them any more.
        package var gone: Int { max(claimed, first - 1) }
    }

    /// A notification of a button that no engine has claimed.
    package struct Entry: Hashable, Sendable {
        package var receivedAt: UTCTime
        /// The steps of the notification, with the ages that they had at `receivedAt`.
        package var steps: [FeedStep]
        /// The first session in which the entry can have been sent; 0 if it is not known.
        package var session = 0
    }

    /// The number of the latest connection.
    package private(set) var session = 0
    /// The latest session in which entries were sent; `nil` if it is not known.
    package private(set) var asked: Int?
    /// The number of the life (`FeedLife`).
    package private(set) var life = 1
    /// The highest term of a claim.
    package private(set) var term = 0
    package private(set) var positions: [ButtonID: Position] = [:]
    /// The entries of each button, by their numbers.
    package private(set) var entries: [ButtonID: [Int: Entry]] = [:]

    package init() {}

    package mutating func apply(_ change: UplinkChange) {
        switch change {
        case .session(let session): self.session = session
        case .asked(let session): asked = session
        case .life(let number): life = number
        case .term(let term): self.term = term
        case .position(let button, let position):
            positions[button] = position
            entries[button] = entries[button]?.filter { $0.key > position.gone }
        case .entry(let button, let number, let entry): entries[button, default: [:]][number] = entry
        }
    }
}

/// A change of `StoredUplink`, which is stored as a key and a value. A change with the same key replaces it.
package enum UplinkChange: Hashable, Sendable {
    case session(Int)
    /// The latest session in which entries were sent.
    case asked(Int)
    case life(Int)
    case term(Int)
    /// The numbers of a button's journal. This also removes the entries up to `gone`.
    case position(ButtonID, StoredUplink.Position)
    case entry(ButtonID, Int, StoredUplink.Entry)

    private static let root = "uplink"

    package var key: String {
        switch self {
        case .session: "\(Self.root)/session"
        case .asked: "\(Self.root)/asked"
        case .life: "\(Self.root)/life"
        case .term: "\(Self.root)/term"
        case .position(let button, _): "\(Self.root)/\(button)"
        case .entry(let button, let number, _): Self.key(of: button, number)
        }
    }

    /// The key of an entry. The number has 16 digits, so that the order of keys as texts is that of the numbers.
    package static func key(of button: ButtonID, _ number: Int) -> String {
        let digits = String(number)
        return "\(root)/\(button)/" + String(repeating: "0", count: max(0, 16 - digits.count)) + digits
    }

    /// The value for the key; `nil` if the change removes the key.
    package var value: JSONValue? {
        switch self {
        case .session(let number), .asked(let number), .life(let number), .term(let number): .integer(Int64(number))
        case .position(_, let position):
            [
                "n": .integer(Int64(position.last)), "claimed": .integer(Int64(position.claimed)),
                "done": .integer(Int64(position.done)), "first": .integer(Int64(position.first)),
                "former": position.former?.json ?? .null,
            ]
        case .entry(_, let number, let entry):
            [
                "at_ms": .integer(entry.receivedAt.milliseconds), "session": .integer(Int64(entry.session)),
                "message":
                    (try? JSONValue(
                        parsing: FeedMessage(number: number, previous: number - 1, content: .steps(entry.steps))
                            .encoded()))
                    ?? .null,
            ]
        }
    }

    /// Restores a change from its key and value; fails unless a change can have them.
    package init?(key: String, value: JSONValue?) {
        let levels = key.split(separator: "/", omittingEmptySubsequences: false)
        guard (2...3).contains(levels.count), levels[0] == Self.root else { return nil }
        if levels.count == 2, let number = value?.integerValue, number >= 0 {
            switch levels[1] {
            case "session": self = .session(Int(number))
            case "asked": self = .asked(Int(number))
            case "life" where (1...Int64(FeedLife.greatest)).contains(number): self = .life(Int(number))
            case "term": self = .term(Int(number))
            default: return nil
            }
            return
        }
        guard let button = ButtonID(levels[1]) else { return nil }
        if levels.count == 2 {
            guard let last = value?["n"]?.integerValue, let claimed = value?["claimed"]?.integerValue,
                let done = value?["done"]?.integerValue, let first = value?["first"]?.integerValue, last >= 0,
                (0...last).contains(claimed), (0...claimed).contains(done), (0...last + 1).contains(first)
            else { return nil }
            let former = value?["former"].flatMap { try? FeedFormer($0, upTo: Int(last)) }
            self = .position(
                button,
                .init(last: Int(last), claimed: Int(claimed), done: Int(done), first: Int(first), former: former))
            return
        }
        guard let number = Int(levels[2]), number > 0, let time = value?["at_ms"]?.integerValue,
            let message = value?["message"].flatMap({ try? FeedMessage(parsing: $0.encoded(), of: button) }),
            message.number == number, case .steps(let steps) = message.content
        else { return nil }
        let session = Int(max(0, value?["session"]?.integerValue ?? 0))
        self = .entry(button, number, .init(receivedAt: UTCTime(milliseconds: time), steps: steps, session: session))
    }
}
