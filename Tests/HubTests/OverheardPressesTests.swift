import ButtonModel
import Feed
import Testing

@testable import Hub

@Suite("Presses of sites that an engine hears while another one leads")
struct OverheardPressesTests {
    private static let berlin = "tryck/berlin7"
    private static let oslo = "tryck/oslo2"
    private static let hall = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0001))
    private static let attic = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0002))

    /// A `down` whose counter is the number of its message.
    private static func down(_ number: Int, of button: ButtonID = hall) -> ButtonEvent {
        ButtonEvent(button: button, bootID: 7, counter: UInt32(number), step: .down, ticks: 0)
    }

    private static func message(_ number: Int, of button: ButtonID = hall) -> FeedMessage {
        FeedMessage(number: number, previous: number - 1, content: .steps([.press(down(number, of: button))]))
    }

    @Test("what another engine claims is told once, in the order of the messages, and for its site and button only")
    func claimed() {
        var presses = OverheardPresses()
        for number in [2, 1, 3] { presses.heard(Self.message(number), of: Self.hall, from: Self.berlin) }
        presses.heard(Self.message(1, of: Self.attic), of: Self.attic, from: Self.berlin)
        presses.heard(Self.message(1), of: Self.hall, from: Self.oslo)
        #expect(presses.claimed(2, of: Self.hall, from: Self.berlin) == [Self.down(1), Self.down(2)])
        #expect(presses.claimed(2, of: Self.hall, from: Self.berlin) == [])
        #expect(presses.count == 3)
        #expect(presses.claimed(9, of: Self.hall, from: Self.berlin) == [Self.down(3)])
        #expect(presses.claimed(9, of: Self.hall, from: Self.oslo) == [Self.down(1)])
        #expect(presses.count == 1)
    }

    @Test("a message that is sent again counts once, and one without presses does not count")
    func repeated() {
        var presses = OverheardPresses()
        for _ in 1...3 { presses.heard(Self.message(1), of: Self.hall, from: Self.berlin) }
        presses.heard(
            FeedMessage(number: 5, previous: 1, content: .lost), of: Self.hall, from: Self.berlin)
        let turn = ButtonMovement(button: Self.hall, part: .dial, steps: 4)
        presses.heard(
            FeedMessage(number: 6, previous: 5, content: .steps([.turn(turn)])), of: Self.hall, from: Self.berlin)
        #expect(presses.count == 1)
        #expect(presses.claimed(9, of: Self.hall, from: Self.berlin) == [Self.down(1)])
        #expect(presses.count == 0)
    }

    @Test("the messages of one site are forgotten, and those of other sites stay")
    func forgotten() {
        var presses = OverheardPresses()
        for number in 1...3 { presses.heard(Self.message(number), of: Self.hall, from: Self.berlin) }
        presses.heard(Self.message(1), of: Self.hall, from: Self.oslo)
        presses.forget(Self.berlin)
        #expect(presses.count == 1)
        #expect(presses.claimed(9, of: Self.hall, from: Self.berlin) == [])
        #expect(presses.claimed(9, of: Self.hall, from: Self.oslo) == [Self.down(1)])
    }

    @Test("one message above the limit, all are forgotten before it is heard")
    func limit() {
        var presses = OverheardPresses()
        let buttons = (0..<64).map { ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0100 + $0)) }
        let perButton = OverheardPresses.maximumCount / buttons.count
        for button in buttons {
            for number in 1...perButton {
                presses.heard(Self.message(number, of: button), of: button, from: Self.berlin)
            }
        }
        presses.heard(Self.message(1, of: buttons[0]), of: buttons[0], from: Self.berlin)
        #expect(presses.count == OverheardPresses.maximumCount)
        presses.heard(Self.message(1), of: Self.hall, from: Self.berlin)
        #expect(presses.count == 1)
        #expect(presses.claimed(1, of: Self.hall, from: Self.berlin) == [Self.down(1)])
        #expect(buttons.allSatisfy { presses.claimed(perButton, of: $0, from: Self.berlin) == [] })
    }

    // MARK: The engine

    private static func feed() -> EngineFeed {
        var feed = EngineFeed(
            EngineConfiguration(name: "a2", sites: ["tryck/+"]), stored: StoredState(installationID: "00a2"))
        feed.arrived(berlin, saying: hello("9f3c"))
        return feed
    }

    private static func hello(_ installation: String) -> FeedHello {
        FeedHello(site: "berlin7", installation: installation, session: 1)
    }

    private static func hear(_ number: Int, _ feed: inout EngineFeed) {
        feed.overhear(FeedTopic(berlin, .messages(hall)), message(number).encoded())
    }

    private static func hearClaim(_ number: Int, _ feed: inout EngineFeed, of installation: String = "9f3c") {
        let claim = FeedCursor(number: number, term: 1, engine: "a1", installation: installation, session: 1)
        feed.overhear(FeedTopic(berlin, .cursor(hall)), claim.encoded())
    }

    @Test("an engine that stands by knows the presses that another one has claimed")
    func standby() {
        var feed = Self.feed()
        Self.hear(1, &feed)
        #expect(!feed.hasHandled(Self.down(1)))
        Self.hearClaim(1, &feed, of: "9f3c.2")
        #expect(!feed.hasHandled(Self.down(1)))
        Self.hearClaim(1, &feed)
        #expect(feed.hasHandled(Self.down(1)))
    }

    @Test("a press is over if a later one of its button and boot was handled, although it was not heard")
    func over() {
        var feed = Self.feed()
        Self.hear(2, &feed)
        Self.hearClaim(2, &feed)
        #expect(!feed.hasHandled(Self.down(1)) && feed.isOver(Self.down(1)))
        #expect(!feed.isOver(Self.down(3)))
        var afterReboot = Self.down(1)
        afterReboot.bootID = 8
        #expect(!feed.isOver(afterReboot))
    }

    @Test(
        "a claim says nothing about messages from before another installation or life of the site",
        arguments: ["9f3c.2", "77aa"])
    func otherInstallation(installation: String) {
        var feed = Self.feed()
        Self.hear(1, &feed)
        feed.arrived(Self.berlin, saying: Self.hello(installation))
        Self.hear(2, &feed)
        Self.hearClaim(2, &feed, of: installation)
        #expect(!feed.hasHandled(Self.down(1)))
        #expect(feed.hasHandled(Self.down(2)))
    }

    @Test(
        "a claim says nothing about messages that were heard before the site was gone, because it sends the others again"
    )
    func gone() {
        var feed = Self.feed()
        Self.hear(1, &feed)
        _ = feed.left(Self.berlin)
        feed.arrived(Self.berlin, saying: Self.hello("9f3c"))
        Self.hearClaim(1, &feed)
        #expect(!feed.hasHandled(Self.down(1)))
    }

    @Test("an engine overhears while it is fenced, and not while it leads")
    func fenced() {
        var feed = Self.feed()
        Self.hear(1, &feed)
        feed.leads(in: 2)
        Self.hear(2, &feed)
        feed.fence(at: Instant(sinceBoot: .seconds(5)))
        Self.hear(3, &feed)
        Self.hearClaim(3, &feed)
        #expect(!feed.hasHandled(Self.down(1)) && !feed.hasHandled(Self.down(2)))
        #expect(feed.hasHandled(Self.down(3)))
    }
}
