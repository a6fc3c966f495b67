import ButtonModel
import MQTTTopics
import TestSupport
import Testing

@testable import Feed

typealias UplinkTalk = Transcript<FeedUplink>

@Suite("The site's side of the feed")
struct FeedUplinkTests {
    /// A site that is connected in session 1, and whose journal of the hall button has these numbers.
    static func connected(last: Int = 0, claimed: Int = 0, first: Int? = nil, isEngineOnline: Bool = true) -> UplinkTalk
    {
        var talk = UplinkTalk(
            FeedUplink(topic: berlin, site: "berlin7", installation: life), at: Instant(sinceBoot: .seconds(100)))
        talk.given(
            .start([hall: FeedJournal(facts(last: last, claimed: claimed), first: first ?? claimed + 1)], term: 0))
        talk.given(.engine(isOnline: isEngineOnline))
        talk.given(.connected(session: 1))
        talk.given(.want(after: claimed))
        talk.wait(.milliseconds(100))
        return talk
    }

    static func entries(_ numbers: ClosedRange<Int>, at instant: Instant) -> [FeedEntry] {
        numbers.map { entry($0, at: instant) }
    }

    @Test("a site says hello when it is connected, with the numbers of its journals, and in a higher session each time")
    func hellos() {
        var talk = UplinkTalk(FeedUplink(topic: berlin, site: "berlin7", installation: life))
        talk.when(
            .start(
                [
                    hall: FeedJournal(facts(last: 5, claimed: 5, done: 4), first: 6),
                    attic: FeedJournal(facts(), first: 1),
                ], term: 3), expect: .nothing)
        talk.when(
            .connected(session: 812),
            expect: .hello(hello(session: 812, term: 3, [hall: facts(last: 5, claimed: 5, done: 4), attic: facts()])))
        talk.when(.disconnected, expect: .nothing)
        talk.when(
            .connected(session: 813),
            expect: .hello(hello(session: 813, term: 3, [hall: facts(last: 5, claimed: 5, done: 4), attic: facts()])))
    }

    @Test("a recorded press is sent at once, and a claim frees it")
    func press() {
        var talk = Self.connected()
        talk.when(
            .recorded(hall, entry(1, at: talk.now)), expect: .message(message(1)),
            .setTimer(talk.now + FeedUplink.claimLimit))
        talk.wait(.milliseconds(3))
        talk.when(.claim(claim(1)), expect: .term(1), .claimed(hall, 1), .cancelTimer)
        talk.when(.done(done(1)), expect: .done(hall, 1))
        #expect(talk.machine.backlog == 0)
    }

    @Test("a message has the ages of its steps when it is sent, and when it is sent again")
    func age() {
        var talk = Self.connected()
        let old = FeedEntry(number: 1, receivedAt: talk.now, steps: [down(1, age: .milliseconds(12))])
        talk.wait(.milliseconds(30))
        talk.when(
            .recorded(hall, old), expect: .message(message(1, age: .milliseconds(42))),
            .setTimer(talk.now + FeedUplink.claimLimit))
        talk.wait(FeedUplink.claimLimit)
        talk.when(.timerFired, expect: .hello(hello([hall: facts(last: 1)])), .read(hall, after: 0, count: 20))
        talk.when(
            .read(hall, [old]), expect: .message(message(1, age: .milliseconds(10_042))),
            .setTimer(talk.now + FeedUplink.claimLimit))
    }

    @Test("a connection is followed by what is not claimed, at most 20 messages, and a claim by the next ones")
    func window() {
        var talk = Self.connected(last: 25, claimed: 2)
        let sent = talk.given(.read(hall, Self.entries(3...22, at: talk.now)))
        #expect(sent == (3...22).map { .message(message($0)) } + [.setTimer(talk.now + FeedUplink.claimLimit)])
        talk.when(.recorded(hall, entry(26, at: talk.now)), expect: .nothing)
        talk.wait(.seconds(1))
        talk.when(
            .claim(claim(4)), expect: .term(1), .claimed(hall, 4), .read(hall, after: 22, count: 2),
            .setTimer(talk.now + FeedUplink.claimLimit))
        talk.when(
            .read(hall, Self.entries(23...24, at: talk.now)), expect: .message(message(23)), .message(message(24)))
    }

    @Test("what is unclaimed after 10 s is sent once more, after a hello, only while an engine is online")
    func resend() {
        var talk = Self.connected(last: 2, isEngineOnline: false)
        talk.when(.read(hall, Self.entries(1...2, at: talk.now)), expect: .message(message(1)), .message(message(2)))
        talk.wait(.seconds(60))
        talk.when(.engine(isOnline: true), expect: .setTimer(talk.now + FeedUplink.claimLimit))
        talk.wait(.seconds(9))
        talk.when(
            .claim(claim(1)), expect: .term(1), .claimed(hall, 1), .setTimer(talk.now + FeedUplink.claimLimit))
        talk.wait(FeedUplink.claimLimit)
        talk.when(
            .timerFired, expect: .hello(hello(term: 1, [hall: facts(last: 2, claimed: 1, done: 0)])),
            .read(hall, after: 1, count: 20))
        talk.when(
            .read(hall, [entry(2, at: talk.now)]), expect: .message(message(2)),
            .setTimer(talk.now + FeedUplink.claimLimit))
        talk.when(.engine(isOnline: false), expect: .cancelTimer)
    }

    @Test("a want is answered from there")
    func want() {
        var talk = Self.connected(last: 7, claimed: 3)
        talk.given(.read(hall, Self.entries(4...7, at: talk.now)))
        talk.when(.want(after: 5), expect: .read(hall, after: 5, count: 20))
        talk.when(
            .read(hall, Self.entries(6...7, at: talk.now)), expect: .message(message(6)), .message(message(7)))
    }

    @Test("wants of a button are answered once in 50 ms, and the last one counts")
    func manyWants() {
        var talk = Self.connected(last: 3)
        talk.given(.read(hall, Self.entries(1...3, at: talk.now)))
        let first = talk.now
        talk.when(.want(after: 0), expect: .read(hall, after: 0, count: 20), .cancelTimer)
        talk.given(.read(hall, Self.entries(1...3, at: talk.now)))
        talk.wait(.milliseconds(10))
        talk.when(.want(after: 1), expect: .setTimer(first + FeedUplink.minimumWantInterval))
        talk.when(.want(after: 2), expect: .nothing)
        talk.wait(.milliseconds(40))
        talk.when(
            .timerFired, expect: .read(hall, after: 2, count: 20), .setTimer(talk.now + FeedUplink.claimLimit))
    }

    @Test("a want below what is claimed is answered by a hello that says so, and nothing claimed is sent again")
    func wantOfClaimed() {
        var talk = Self.connected(last: 7, claimed: 7)
        talk.when(.want(after: 4), expect: .hello(hello([hall: facts(last: 7, claimed: 7)])))
    }

    @Test("if an engine asks above what is claimed, because its claim was ignored, the site says hello after 10 s")
    func wantOfIgnoredClaim() {
        var talk = Self.connected(last: 3)
        talk.given(.read(hall, Self.entries(1...3, at: talk.now)))
        talk.given(.claim(claim(1, term: 5)))
        // The broker has retained the claim of an earlier engine, whose term is lower.
        talk.when(.claim(claim(3, term: 4)), expect: .nothing)
        talk.wait(.seconds(1))
        talk.when(.want(after: 3), expect: .setTimer(talk.now + FeedUplink.claimLimit))
        talk.wait(FeedUplink.claimLimit)
        talk.when(
            .timerFired, expect: .hello(hello(term: 5, [hall: facts(last: 3, claimed: 1, done: 0)])),
            .read(hall, after: 1, count: 20))
        // The hello says the term, so the engine claims once more.
        talk.when(.claim(claim(3, term: 6)), expect: .term(6), .claimed(hall, 3))
    }

    @Test("what the journal has lost comes as one message, and then the rest")
    func lostEntries() {
        var talk = Self.connected(last: 20, claimed: 2)
        talk.given(.disconnected)
        talk.given(.trimmed(hall, first: 20))
        talk.when(
            .connected(session: 2), expect: .hello(hello(session: 2, [hall: facts(last: 20, claimed: 2)])),
            .setTimer(talk.now + FeedUplink.askLimit))
        talk.when(
            .want(after: 2), expect: .asked(session: 2), .message(lost(after: 2, to: 19)),
            .setTimer(talk.now + FeedUplink.claimLimit))
        // The answer to what was read on the earlier connection.
        talk.when(.read(hall, []), expect: .read(hall, after: 19, count: 19))
        var other = Self.connected(last: 20, claimed: 2, first: 20)
        other.when(.read(hall, [entry(20, at: other.now)]), expect: .message(message(20)))
    }

    @Test("an entry that the journal should have and cannot be read counts as lost")
    func unreadable() {
        var talk = Self.connected(last: 5, claimed: 2)
        talk.when(
            .read(hall, [entry(5, at: talk.now)]), expect: .message(lost(after: 2, to: 4)),
            .read(hall, after: 4, count: 19), .setTimer(talk.now + FeedUplink.claimLimit))
        talk.when(.read(hall, [entry(5, at: talk.now)]), expect: .message(message(5)))
        #expect(talk.machine.buttons[hall]?.unclaimed == [4, 5])
    }

    @Test("claims of a lower term and of another installation are ignored, and a higher term is recorded")
    func terms() {
        var talk = Self.connected(last: 5)
        talk.given(.read(hall, Self.entries(1...5, at: talk.now)))
        talk.when(.claim(claim(5, term: 9, life: "former")), expect: .nothing)
        talk.given(.claim(claim(1, term: 4)))
        talk.when(.claim(claim(3, term: 3)), expect: .nothing)
        talk.wait(.seconds(1))
        talk.when(
            .claim(claim(2, term: 6)), expect: .term(6), .claimed(hall, 2), .setTimer(talk.now + FeedUplink.claimLimit))
        talk.given(.disconnected)
        #expect(
            talk.given(.connected(session: 2)).first
                == .hello(hello(session: 2, term: 6, [hall: facts(last: 5, claimed: 2, done: 0)])))
    }

    @Test("what is done was claimed, even if the claim arrives later")
    func doneFirst() {
        var talk = Self.connected(last: 2)
        talk.given(.read(hall, Self.entries(1...2, at: talk.now)))
        talk.when(.done(done(2)), expect: .term(1), .claimed(hall, 2), .done(hall, 2), .cancelTimer)
        talk.when(.claim(claim(2)), expect: .nothing)
    }

    @Test("when a connection ends, what is under way on it is discarded, and the next starts from the cursor")
    func disconnection() {
        var talk = Self.connected(last: 3, claimed: 1)
        talk.given(.read(hall, Self.entries(2...3, at: talk.now)))
        talk.when(.disconnected, expect: .cancelTimer)
        talk.when(.recorded(hall, entry(4, at: talk.now)), expect: .nothing)
        talk.when(.claim(claim(3)), expect: .nothing)
        talk.when(
            .connected(session: 2), expect: .hello(hello(session: 2, [hall: facts(last: 4, claimed: 1)])),
            .setTimer(talk.now + FeedUplink.askLimit))
        talk.when(.want(after: 1), expect: .asked(session: 2), .read(hall, after: 1, count: 20), .cancelTimer)
    }

    @Test("a press while the journal is read is sent after the older ones")
    func pressDuringRead() {
        var talk = Self.connected(last: 2)
        talk.when(.recorded(hall, entry(3, at: talk.now)), expect: .nothing)
        talk.when(
            .read(hall, Self.entries(1...2, at: talk.now)), expect: .message(message(1)), .message(message(2)),
            .read(hall, after: 2, count: 18), .setTimer(talk.now + FeedUplink.claimLimit))
    }

    @Test("a hello follows when a button is paired, renamed or removed")
    func buttons() {
        var talk = Self.connected()
        talk.when(
            .button(attic, FeedJournal(facts(last: 4, claimed: 4), first: 5)),
            expect: .hello(hello([hall: facts(), attic: facts(last: 4, claimed: 4)])))
        var renamed = facts()
        renamed.name = "Landing"
        talk.when(
            .button(hall, FeedJournal(renamed, first: 1)),
            expect: .hello(hello([hall: renamed, attic: facts(last: 4, claimed: 4)])))
        talk.when(.button(hall, FeedJournal(renamed, first: 1)), expect: .nothing)
        talk.when(.removed(attic), expect: .hello(hello([hall: renamed])))
    }

    @Test("a hello that was refused is said again after a second, and a press is not")
    func refusedHello() {
        var talk = Self.connected()
        talk.when(.refused(topicName: topic(.hello)), expect: .setTimer(talk.now + FeedUplink.refusalPause))
        talk.when(.refused(topicName: topic(.messages(hall))), expect: .nothing)
        talk.wait(FeedUplink.refusalPause)
        talk.when(.timerFired, expect: .hello(hello([hall: facts()])))
    }

    @Test("of many hellos in a second, the last one waits for its end")
    func manyHellos() {
        var talk = Self.connected()
        var renamed = facts()
        var said = 0
        for number in 1...100 {
            renamed.name = "Hall \(number)"
            said += talk.given(.button(hall, FeedJournal(renamed, first: 1))).count {
                if case .publish = $0 { true } else { false }
            }
        }
        // The first one followed the connection.
        #expect(said == FeedUplink.maximumHellos - 1)
        talk.wait(.seconds(1))
        talk.when(.timerFired, expect: .hello(hello([hall: renamed])))
    }

    @Test("payloads that cannot be read are reported, at most 16 in a connection")
    func hostile() {
        var talk = Self.connected()
        let name = topic(.cursor(hall))
        var anomalies = 0
        for _ in 0..<100 {
            anomalies += talk.given(.received(topicName: name, payload: Array("{".utf8))).count
        }
        #expect(anomalies == FeedUplink.maximumAnomalies)
        talk.when(
            .received(topicName: topic(.cursor(hall), of: "tryck/paris"), payload: claim(1).encoded()), expect: .nothing
        )
        talk.when(.received(topicName: name, payload: []), expect: .nothing)
    }

    @Test(
        "nothing is sent before an engine asks in this session, and hello is said again every 10 s while one is online")
    func unasked() {
        var talk = UplinkTalk(
            FeedUplink(topic: berlin, site: "berlin7", installation: life), at: Instant(sinceBoot: .seconds(100)))
        talk.given(.start([hall: FeedJournal(facts(last: 2), first: 1)], term: 0))
        talk.given(.connected(session: 2))
        talk.when(.recorded(hall, entry(3, at: talk.now)), expect: .nothing)
        talk.when(.want(after: 0, session: 1, life: life), expect: .nothing)
        talk.when(.engine(isOnline: true), expect: .setTimer(talk.now + .seconds(1)))
        for (waited, next) in [(1, 2), (2, 4), (4, 8), (8, 10), (10, 10)] {
            talk.wait(.seconds(Int64(waited)))
            talk.when(
                .timerFired, expect: .hello(hello(session: 2, [hall: facts(last: 3)])),
                .setTimer(talk.now + .seconds(Int64(next))))
        }
        talk.when(
            .want(after: 1, session: 2, life: life), expect: .asked(session: 2), .read(hall, after: 1, count: 20))
    }

    @Test("a hello that somebody has cleared is said again")
    func clearedHello() {
        var talk = Self.connected(last: 2, claimed: 2)
        let said = hello([hall: facts(last: 2, claimed: 2)])
        talk.when(.hello(said), expect: .nothing)
        talk.when(.received(topicName: topic(.hello), payload: []), expect: .hello(said))
    }

    /// A site whose journal has 10 messages that may have been sent, of which 8 are claimed, and two that were not sent.
    private static func restored() -> UplinkTalk {
        var talk = UplinkTalk(
            FeedUplink(topic: berlin, site: "berlin7", installation: life), at: Instant(sinceBoot: .seconds(100)))
        let journal = FeedJournal(facts(last: 12, claimed: 8), first: 9, sent: 10, unsentSession: 5)
        talk.given(.start([hall: journal], term: 0))
        talk.given(.connected(session: 5))
        return talk
    }

    @Test(
        "a claim or a want of what was never sent, of a later session or of a later life begins a new life",
        arguments: [
            (.claim(claim(11)), 2, .claim(hall, 11)), (.done(done(11)), 2, .claim(hall, 11)),
            (.want(after: 11, session: 5, life: life), 2, .claim(hall, 11)),
            (.claim(claim(3, session: 6)), 2, .claim(hall, 3)),
            (.want(after: 0, session: 6, life: life), 2, .claim(hall, 0)),
            (.claim(claim(3, life: secondLife)), 3, .claim(hall, 3)),
            (.hello(hello(session: 6, [:])), 2, .hello(session: 6)),
        ] as [(FeedUplink.Input, Int, FeedUplink.Evidence)])
    func newLife(input: FeedUplink.Input, number: Int, evidence: FeedUplink.Evidence) {
        var talk = Self.restored()
        let former = FeedFormer(last: 12, certain: 10, session: 5)
        let newLife = FeedLife(root: life, number: number).installation
        #expect(!talk.machine.isRestoreUnanswered)
        talk.when(
            input, expect: .beganLife(number, [hall: former], evidence),
            .hello(
                hello(session: 5, life: newLife, [hall: facts(last: 12, claimed: 8, former: former)])))
        #expect(talk.machine.isRestoreUnanswered)
        // A press of the new life, a want of the former one, and one of the new one.
        talk.when(.recorded(hall, entry(13, at: talk.now)), expect: .nothing)
        talk.when(.want(after: 11, session: 5, life: life), expect: .nothing)
        talk.when(.claim(claim(11)), expect: .nothing)
        talk.when(
            .claim(claim(11, life: newLife, session: 5)), expect: .term(1), .claimed(hall, 11))
        talk.when(
            .want(after: 11, session: 5, life: newLife), expect: .asked(session: 5), .read(hall, after: 11, count: 20))
        #expect(!talk.machine.isRestoreUnanswered)
        talk.given(.read(hall, Self.entries(12...13, at: talk.now)))
        talk.given(.claim(claim(12, life: newLife, session: 5)))
        #expect(talk.machine.buttons[hall]?.facts.former == nil)
    }

    @Test("a process that finds messages of an earlier life waits for an engine that asks for the new ones")
    func unansweredAtStart() {
        var talk = UplinkTalk(
            FeedUplink(topic: berlin, site: "berlin7", installation: life, life: 2),
            at: Instant(sinceBoot: .seconds(100)))
        let former = FeedFormer(last: 12, certain: 10, session: 5)
        talk.given(.start([hall: FeedJournal(facts(last: 12, claimed: 8, former: former), first: 9)], term: 0))
        talk.given(.connected(session: 6))
        #expect(talk.machine.isRestoreUnanswered)
        talk.given(.want(after: 8, session: 6, life: secondLife))
        #expect(!talk.machine.isRestoreUnanswered)
    }

    @Test("a claim of what may have been sent, in an earlier session, is the usual claim")
    func usualClaim() {
        var talk = Self.restored()
        talk.when(.claim(claim(10, session: 4)), expect: .term(1), .claimed(hall, 10))
    }

    @Test("two sites with copies of one disk do not begin lives for ever")
    func twins() {
        var talk = Self.connected()
        for number in 2...9 { talk.given(.hello(hello(session: 1, life: "9f3c.\(number)", [:]))) }
        #expect(talk.machine.life.number <= 2 * FeedUplink.maximumLives + 1)
        talk.given(.hello(hello(session: 1, life: "9f3c.1048576", [:])))
        #expect(talk.machine.life.number < 20)
        talk.given(.disconnected)
        talk.given(.connected(session: 2))
        talk.given(.hello(hello(session: 1, life: "9f3c.1048576", [:])))
        #expect(talk.machine.life.number < 20)
        // When the other site is gone, an engine that has its claims says so again and again.
        talk.wait(FeedUplink.lifeInterval)
        talk.given(.want(after: 0, session: 1, life: "9f3c.30"))
        #expect(talk.machine.life.number == 31)
    }
}
