import ButtonModel
import Feed
import Hub
import JSON
import Testing

@testable import Edges

@Suite("Changes of feeds")
struct StoreFeedTests {
    private static let position = FeedPosition(
        site: "tryck/berlin7", button: ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0001)),
        claim: FeedCursor(number: 12, term: 3, engine: "a1", installation: "9f3c", session: 8), done: 11)
    private static let withFormer = FeedPosition(
        site: position.site, button: position.button, claim: position.claim, done: 11,
        formerOpen: FeedFormerOpen(
            place: FeedPlace(site: position.site, button: position.button, installation: "9f3c", number: 9), first: 4))

    @Test(
        "a change in a reserve or a ring is read as it was written",
        arguments: [
            FeedChange.claimed(position), .claimed(withFormer), .removed(site: position.site, position.button),
            .term(7),
        ])
    func kept(change: FeedChange) throws {
        let json = try #require(StoreChange.feed(change).reserveJSON)
        #expect(StoreChange(reserveJSON: json) == .feed(change))
        #expect(FeedChange(key: change.key, value: change.value) == change)
    }

    @Test("numbers that no message has are left out", arguments: [Int64.max, (1 << 53) + 1, 3] as [Int64])
    func impossibleNumbers(last: Int64) throws {
        let change = FeedChange.claimed(Self.withFormer)
        guard case .object(var members)? = change.value else { return #expect(Bool(false), "there is no value") }
        for index in members.indices where members[index].name == "former" {
            members[index].value = ["installation": "9f3c", "first": 4, "last": .integer(last)]
        }
        #expect(FeedChange(key: change.key, value: .object(members)) == .claimed(Self.position))
    }

    @Test("a database returns what was recorded, and invalid rows are reported and left out")
    func database() throws {
        let database = try Database(path: ":memory:", busyTimeout: .zero)
        _ = try StoreSchema.migrate(database)
        try database.begin(entropy: 1) { _ in }
        for change in [FeedChange.claimed(Self.position), .term(7)] { try database.apply(.feed(change)) }
        try database.run("INSERT INTO feed (key, value) VALUES ('tryck/b/feed/80e4da000001/cursor', '{}')")
        var notices: [StoreNotice] = []
        var stored = try database.load { notices.append($0) }
        #expect(stored.feed.positions == [Self.position])
        #expect(stored.feed.term == 7)
        #expect(notices.count == 1)
        try database.apply(.feed(.removed(site: Self.position.site, Self.position.button)))
        stored = try database.load { _ in }
        #expect(stored.feed.positions == [])
    }
}
