import ButtonModel
import MQTTTopics
import TestSupport
import Testing

@testable import Feed

typealias SourceTalk = Transcript<FeedSource>

@Suite("The engine's side of the feed")
struct FeedSourceTests {
    static func source(_ positions: [FeedPosition] = []) -> SourceTalk {
        var talk = SourceTalk(FeedSource(engine: "a1"), at: Instant(sinceBoot: .seconds(100)))
        talk.given(.start(positions))
        talk.given(.connected)
        return talk
    }

    /// An engine that leads with term 1, and has asked for what follows the claims of a hello.
    static func leading(_ facts: FeedHello.Button = facts()) -> SourceTalk {
        var talk = source()
        talk.given(.hello(hello([hall: facts])))
        talk.given(.lead(term: 1))
        talk.wait(.seconds(1))
        talk.given(.timerFired)
        return talk
    }

    static func position(_ number: Int, done: Int, term: Int = 1, life: String = life, session: Int = 1) -> FeedPosition
    {
        FeedPosition(
            site: berlin, button: hall, claim: claim(number, term: term, life: life, session: session), done: done)
    }

    // MARK: Unknown, asking, in step

    @Test("an engine asks for what follows the cursor when it leads, and not before")
    func asking() {
        var talk = Self.source()
        talk.when(
            .hello(hello([hall: facts(last: 9, claimed: 7)])),
            expect: .known(site: berlin, hello([hall: facts(last: 9, claimed: 7)])))
        talk.when(.message(message(8)), expect: .nothing)
        talk.when(
            .lead(term: 1), expect: .claim(claim(7)), .want(after: 7), .record(claim(7), done: 7), .done(done(7)))
        #expect(talk.machine.sites[berlin]?.buttons[hall]?.state == .asking)
    }

    @Test("a message whose prev is the cursor is recorded, then claimed, then handed over")
    func taking() {
        var talk = Self.leading(facts(last: 7, claimed: 7))
        talk.when(
            .message(message(8)), expect: .record(claim(8), done: 7), .claim(claim(8)), .took(place(8), [down(8)]))
        talk.when(
            .message(message(9)), expect: .record(claim(9), done: 7), .claim(claim(9)), .took(place(9), [down(9)]))
        #expect(talk.machine.sites[berlin]?.buttons[hall]?.state == .inStep)
    }

    @Test("a message at or below the cursor is passed over")
    func repeated() {
        var talk = Self.leading(facts(last: 7, claimed: 7))
        talk.given(.message(message(8)))
        talk.when(.message(message(8)), expect: .nothing)
        talk.when(.message(message(7)), expect: .nothing)
        talk.when(.message(lost(after: 2, to: 8)), expect: .nothing)
    }

    @Test("a gap is asked for once in 50 ms, and nothing is taken until it is closed")
    func gap() {
        var talk = Self.leading()
        talk.when(.message(message(3)), expect: .want(after: 0))
        talk.wait(.milliseconds(20))
        talk.when(.message(message(4)), expect: .setTimer(talk.now + .milliseconds(30)))
        talk.when(.message(message(5)), expect: .nothing)
        talk.wait(.milliseconds(30))
        talk.when(.timerFired, expect: .want(after: 0))
        for number in 1...5 {
            talk.when(
                .message(message(number)), expect: .record(claim(number), done: 0), .claim(claim(number)),
                .took(place(number), [down(number)]))
        }
        talk.wait(.seconds(1))
        talk.when(.timerFired, expect: .nothing)
    }

    @Test("buttons do not wait for each other")
    func twoButtons() {
        var talk = Self.source()
        talk.given(.hello(hello([hall: facts(), attic: facts()])))
        talk.given(.lead(term: 1))
        talk.given(.message(message(2)))
        talk.when(
            .message(message(1, of: attic), of: attic), expect: .record(claim(1), done: 0, of: attic),
            .claim(claim(1), of: attic), .took(place(1, of: attic), [down(1, of: attic)]))
    }

    @Test("lost messages are claimed and reported, and then the rest is taken")
    func lostMessages() {
        var talk = Self.leading(facts(last: 20, claimed: 2))
        talk.when(
            .message(lost(after: 2, to: 19)), expect: .record(claim(19), done: 2), .claim(claim(19)),
            .lost(place(19), count: 17), .record(claim(19), done: 2), .done(done(19)))
        talk.when(
            .message(message(20)), expect: .record(claim(20), done: 2), .claim(claim(20)),
            .took(place(20), [down(20)]))
        // The report was sent before what is done, so the broker has both.
        talk.when(.acknowledged(topicName: topic(.done(hall))), expect: .nothing)
        talk.when(.acknowledged(topicName: topic(.done(hall))), expect: .record(claim(20), done: 19))
    }

    @Test("lost messages behind an open one are done when that is settled")
    func lostBehindOpen() {
        var talk = Self.leading(facts(last: 20, claimed: 2))
        talk.given(.message(message(3)))
        talk.when(
            .message(lost(after: 3, to: 19)), expect: .record(claim(19), done: 2), .claim(claim(19)),
            .lost(place(19), count: 16))
        for _ in 1...3 { talk.given(.acknowledged(topicName: topic(.cursor(hall)))) }
        talk.when(.settled(place(3)), expect: .record(claim(19), done: 3), .done(done(19)))
    }

    @Test("lost messages of which some are claimed leave a gap")
    func partlyLost() {
        var talk = Self.leading(facts(last: 20, claimed: 5))
        talk.when(.message(lost(after: 2, to: 19)), expect: .want(after: 5))
        talk.given(.message(lost(after: 5, to: 19)))
        #expect(talk.machine.sites[berlin]?.buttons[hall]?.cursor == 19)
    }

    @Test("the time in the broker is part of the age, and a step older than a second counts as queued")
    func age() {
        var talk = Self.leading()
        let onTime = talk.given(.message(message(1, age: .milliseconds(1000))))
        #expect(onTime.last == .took(place(1), [down(1, age: .seconds(1))]))
        let late = talk.given(.message(message(2, age: .milliseconds(1)), brokerAge: .seconds(1)))
        #expect(late.last == .took(place(2), [down(2, age: .milliseconds(1001), queued: true)]))
    }

    // MARK: What is done

    @Test("what is settled is published as done at most once a second")
    func settled() {
        var talk = Self.leading(facts(last: 0))
        for number in 1...4 { talk.given(.message(message(number))) }
        for _ in 1...4 { talk.given(.acknowledged(topicName: topic(.cursor(hall)))) }
        talk.when(.settled(place(1)), expect: .record(claim(4), done: 1), .done(done(1)))
        let published = talk.now
        talk.wait(.milliseconds(300))
        talk.when(.settled(place(2)), expect: .setTimer(published + .seconds(1)))
        talk.when(.settled(place(4)), expect: .nothing)
        talk.when(.settled(place(3)), expect: .nothing)
        talk.wait(.milliseconds(700))
        talk.when(.timerFired, expect: .record(claim(4), done: 4), .done(done(4)))
    }

    @Test("what was claimed and not done is reported as interrupted once when an engine leads")
    func interrupted() {
        var talk = Self.source()
        talk.given(.claim(claim(9, engine: "a2")))
        talk.given(.done(done(6)))
        talk.given(.hello(hello([hall: facts(last: 12, claimed: 8, done: 5)])))
        talk.when(
            .lead(term: 2), expect: .interrupted(place(9), first: 7), .inherited(site: berlin, hall, mayBeDown: true),
            .want(after: 9), .record(claim(9), done: 6), .done(done(9, term: 2)))
        talk.given(.standBy)
        talk.when(.lead(term: 2), expect: .want(after: 9))
        // The report was sent before what is done, so the broker has both.
        talk.when(.acknowledged(topicName: topic(.done(hall))), expect: .record(claim(9), done: 9))
    }

    @Test("an engine that dies before the broker has its report makes it again when it is back")
    func lostReport() {
        var talk = Self.source([Self.position(9, done: 8)])
        let said = hello([hall: facts(last: 9, claimed: 9, done: 8)])
        talk.given(.hello(said))
        let effects = talk.given(.lead(term: 2))
        #expect(effects.contains(.interrupted(place(9), first: 9)))
        let records = effects.compactMap { if case .record(let position) = $0 { position } else { nil } }
        #expect(records.map(\.done) == [8])
        talk = Self.source(records)
        talk.given(.hello(said))
        #expect(talk.given(.lead(term: 3)).contains(.interrupted(place(9), first: 9)))
        // The broker retains what was sent behind the report.
        talk = Self.source(records)
        talk.given(.done(done(9, term: 2)))
        talk.given(.hello(said))
        #expect(!Self.areInterrupted(talk.given(.lead(term: 3))))
    }

    /// The `done` of the records among effects.
    private static func recordedDone(_ effects: [FeedSource.Effect]) -> [Int] {
        effects.compactMap { if case .record(let position) = $0 { position.done } else { nil } }
    }

    @Test(
        "a report of lost messages counts when the broker has acknowledged the done behind it, and is made again otherwise",
        arguments: [true, false])
    func lostReportOfLost(isProcessDead: Bool) {
        var talk = Self.leading(facts(last: 20, claimed: 2))
        for kind in [FeedTopic.Kind.cursor(hall), .want(hall), .done(hall)] {
            talk.given(.acknowledged(topicName: topic(kind)))
        }
        let effects = talk.given(.message(lost(after: 2, to: 19)))
        #expect(effects.contains(.lost(place(19), count: 17)) && effects.contains(.done(done(19))))
        #expect(Self.recordedDone(effects).allSatisfy { $0 == 2 })
        if isProcessDead {
            talk = Self.source([Self.position(19, done: 2)])
        } else {
            talk.given(.disconnected)
            talk.given(.connected)
        }
        talk.given(.claim(claim(19)))
        talk.given(.hello(hello(session: 2, [hall: facts(last: 20, claimed: 19, done: 2)])))
        #expect(talk.given(.lead(term: 2)).contains(.interrupted(place(19), first: 3)))
        for kind in [FeedTopic.Kind.cursor(hall), .want(hall)] { talk.given(.acknowledged(topicName: topic(kind))) }
        #expect(Self.recordedDone(talk.given(.acknowledged(topicName: topic(.done(hall))))) == [19])
    }

    /// The messages that are reported as interrupted, in order.
    private static func interrupted(_ effects: [FeedSource.Effect]) -> [ClosedRange<Int>] {
        effects.compactMap {
            if case .interrupted(let place, let first) = $0 { first...place.number } else { nil }
        }
    }

    @Test("reports are made again without the messages between them on which this engine has acted")
    func separateReports() {
        var talk = Self.leading(facts(last: 11, claimed: 7))
        for kind in [FeedTopic.Kind.cursor(hall), .want(hall), .done(hall)] {
            talk.given(.acknowledged(topicName: topic(kind)))
        }
        // Message 8 is open, so nothing behind it counts as done.
        for number in 8...11 {
            talk.given(.message(message(number)))
            talk.given(.acknowledged(topicName: topic(.cursor(hall))))
            if [9, 11].contains(number) { talk.given(.unhandled(place(number))) }
        }
        talk.given(.disconnected)
        talk.given(.connected)
        talk.given(.claim(claim(11)))
        talk.given(.hello(hello(session: 2, [hall: facts(last: 11, claimed: 11, done: 7)])))
        #expect(Self.interrupted(talk.given(.lead(term: 2))) == [9...9, 11...11])
    }

    @Test("a report that the broker refuses is made again after a pause, also if what was done behind it has arrived")
    func refusedReport() {
        var talk = Self.leading(facts(last: 8, claimed: 7))
        for kind in [FeedTopic.Kind.cursor(hall), .want(hall), .done(hall)] {
            talk.given(.acknowledged(topicName: topic(kind)))
        }
        talk.given(.message(message(8)))
        talk.given(.unhandled(place(8)))
        talk.given(.settled(place(8)))
        for pause in [1, 2, 4] {
            for kind in [FeedTopic.Kind.cursor(hall), .done(hall)] {
                talk.given(.acknowledged(topicName: topic(kind)))
            }
            let effects = talk.given(.reportEnded(place(8), first: 8, isPublished: false))
            #expect(effects.contains(.record(claim(8), done: 7)))
            #expect(effects.contains(.setTimer(talk.now + .seconds(pause))))
            talk.wait(.seconds(pause))
            let again = talk.given(.timerFired)
            #expect(again.contains(.interrupted(place(8), first: 8)) && again.last == .done(done(8)))
        }
        talk.given(.reportEnded(place(8), first: 8, isPublished: true))
        #expect(talk.given(.acknowledged(topicName: topic(.done(hall)))) == [.record(claim(8), done: 8)])
    }

    /// Where the broker has acknowledged everything that was published for the button.
    private static func acknowledgeAll(_ talk: inout SourceTalk) {
        for kind in [FeedTopic.Kind.cursor(hall), .want(hall), .done(hall)] {
            talk.given(.acknowledged(topicName: topic(kind)))
        }
    }

    @Test("a refused report that was made again counts only when the done behind the new report is acknowledged")
    func refusedReportIsMadeAgainAndLost() {
        var talk = Self.leading(facts(last: 8, claimed: 7))
        Self.acknowledgeAll(&talk)
        talk.given(.message(message(8)))
        talk.given(.unhandled(place(8)))
        talk.given(.settled(place(8)))
        Self.acknowledgeAll(&talk)
        talk.given(.reportEnded(place(8), first: 8, isPublished: false))
        talk.wait(.seconds(1))
        #expect(Self.interrupted(talk.given(.timerFired)) == [8...8])
        // Twice, because the next connection may end as well. The retained `done` is the one behind the refused report.
        for session in 2...3 {
            talk.given(.disconnected)
            talk.given(.connected)
            talk.given(.claim(claim(8)))
            talk.given(.done(done(8)))
            talk.given(.hello(hello(session: session, [hall: facts(last: 8, claimed: 8)])))
            #expect(Self.interrupted(talk.given(.lead(term: session))) == [8...8])
        }
        Self.acknowledgeAll(&talk)
        talk.given(.disconnected)
        talk.given(.connected)
        talk.given(.claim(claim(8)))
        talk.given(.done(done(8)))
        talk.given(.hello(hello(session: 4, [hall: facts(last: 8, claimed: 8)])))
        #expect(Self.interrupted(talk.given(.lead(term: 4))) == [])
    }

    @Test("a refused report of a former life is made again on the next connection, whatever done is retained")
    func refusedFormerReport() {
        let said = hello(session: 2, life: secondLife, [hall: facts()])
        var talk = Self.source([Self.position(7, done: 5)])
        talk.given(.hello(said))
        #expect(Self.interrupted(talk.given(.lead(term: 2))) == [6...7])
        talk.given(.reportEnded(place(7), first: 6, isPublished: false))
        for term in 3...4 {
            talk.given(.disconnected)
            talk.given(.connected)
            talk.given(.done(done(0, term: 2, life: secondLife)))
            talk.given(.hello(said))
            #expect(Self.interrupted(talk.given(.lead(term: term))) == [6...7])
        }
        Self.acknowledgeAll(&talk)
        talk.given(.disconnected)
        talk.given(.connected)
        talk.given(.done(done(0, term: 4, life: secondLife)))
        talk.given(.hello(said))
        #expect(Self.interrupted(talk.given(.lead(term: 5))) == [])
    }

    @Test("refused reports of many buttons are made again after longer and longer pauses, also if others are taken")
    func refusedReportsOfManyButtons() {
        let count = 2 * FeedSource.maximumAsked + 1
        let buttons = (1...count).map { ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0000 + UInt64($0))) }
        var talk = Self.source()
        let facts = facts(last: 3, claimed: 3, done: 2)
        talk.given(.hello(hello(Dictionary(uniqueKeysWithValues: buttons.map { ($0, facts) }))))
        let end = talk.now + .seconds(3600)
        var effects = talk.given(.lead(term: 1))
        var reports = 0
        while talk.now < end, reports < 30 * count {
            // The broker answers in order: it takes everything, the reports of the first button too, and refuses the other reports.
            while !effects.isEmpty {
                let answered = effects
                effects = []
                for effect in answered {
                    if case .interrupted(let place, let first) = effect {
                        reports += 1
                        let isPublished = place.button == buttons.first
                        effects += talk.given(.reportEnded(place, first: first, isPublished: isPublished))
                    } else if case .publish(let message) = effect {
                        effects += talk.given(.acknowledged(topicName: message.topicName))
                    }
                }
            }
            // Another report is taken all the time.
            talk.given(.reportEnded(place(3, of: buttons[0]), first: 3, isPublished: true))
            talk.wait(.seconds(1))
            effects = talk.given(.timerFired)
        }
        // After 1, 2, 4, to 256 s, and then in each 300 s; a round of so many buttons takes two seconds more.
        #expect((15 * count...22 * count).contains(reports))
    }

    @Test("a queue of buttons that never runs empty does not grow")
    func queueIsCompact() {
        var queue = FeedQueue()
        let keys = (0..<65).map { FeedSource.ButtonKey(site: "\($0)", button: hall) }
        for key in keys { queue.add(key) }
        for round in 0..<1000 {
            if let key = queue.takeFirst() { queue.add(key) }
            queue.remove(keys[(round + 30) % 65])
            queue.add(keys[(round + 30) % 65])
        }
        #expect(queue.members.count == 65 && queue.order.count <= 2 * 65 + 16)
    }

    @Test(
        "what was claimed in a former life of a site is reported until the broker has acknowledged the done behind the report",
        arguments: [true, false])
    func formerReport(isProcessDead: Bool) throws {
        let said = hello(session: 2, life: secondLife, [hall: facts()])
        let former = FeedSource.Effect.interrupted(place(7), first: 6)
        let nothing = done(0, term: 2, life: secondLife)
        var talk = Self.source([Self.position(7, done: 5)])
        talk.given(.hello(said))
        var effects = talk.given(.lead(term: 2))
        // Twice, because the second report may be lost, too.
        for _ in 0..<2 {
            #expect(effects.contains(former) && effects.contains(.done(nothing)))
            if isProcessDead {
                let records = effects.compactMap { if case .record(let position) = $0 { position } else { nil } }
                talk = Self.source([try #require(records.last)])
            } else {
                talk.given(.disconnected)
                talk.given(.connected)
            }
            var known = talk
            known.given(.done(nothing))
            known.given(.hello(said))
            #expect(Self.interrupted(known.given(.lead(term: 2))) == [])
            talk.given(.claim(claim(7)))
            talk.given(.hello(said))
            effects = talk.given(.lead(term: 2))
        }
        for kind in [FeedTopic.Kind.cursor(hall), .want(hall)] { talk.given(.acknowledged(topicName: topic(kind))) }
        let records = talk.given(.acknowledged(topicName: topic(.done(hall))))
        guard case .record(let position) = records.first else {
            Issue.record("the disk does not say that the report has arrived")
            return
        }
        var restarted = Self.source([position])
        talk.given(.disconnected)
        talk.given(.connected)
        for inputs: [FeedSource.Input] in [[.hello(said), .lead(term: 2)]] {
            #expect(Self.interrupted(inputs.flatMap { restarted.given($0) }) == [])
            #expect(Self.interrupted(inputs.flatMap { talk.given($0) }) == [])
        }
    }

    @Test("a report whose done the broker has not acknowledged is made again after the site has begun a new life")
    func reportOfFormerLife() {
        var talk = Self.broken()
        talk.given(.claim(claim(8)))
        talk.given(.hello(hello([hall: facts(last: 10, claimed: 8, done: 7)])))
        #expect(Self.interrupted(talk.given(.lead(term: 1))) == [9...10])
        talk.given(.disconnected)
        talk.given(.connected)
        talk.given(.claim(claim(8)))
        talk.given(.hello(hello(session: 2, life: secondLife, [hall: facts(last: 7, claimed: 7)])))
        #expect(talk.given(.lead(term: 1)).contains(.interrupted(place(10), first: 9)))
    }

    @Test(
        "a report that the broker has refused is made again after the site has begun a new life, whatever done is retained",
        arguments: [true, false])
    func refusedReportBeforeNewLife(isRemade: Bool) {
        var talk = Self.leading(facts(last: 8, claimed: 7))
        Self.acknowledgeAll(&talk)
        talk.given(.message(message(8)))
        talk.given(.unhandled(place(8)))
        talk.given(.settled(place(8)))
        Self.acknowledgeAll(&talk)
        talk.given(.reportEnded(place(8), first: 8, isPublished: false))
        if isRemade {
            talk.wait(.seconds(1))
            #expect(Self.interrupted(talk.given(.timerFired)) == [8...8])
        }
        talk.given(.disconnected)
        talk.given(.connected)
        talk.given(.claim(claim(8)))
        talk.given(.done(done(8)))
        talk.given(.hello(hello(session: 2, life: secondLife, [hall: facts(last: 7, claimed: 7)])))
        #expect(Self.interrupted(talk.given(.lead(term: 2))) == [8...8])
    }

    @Test("a message on which the owner does not act is reported until the broker has acknowledged the done behind it")
    func unhandled() {
        var talk = Self.leading(facts(last: 8, claimed: 7))
        for kind in [FeedTopic.Kind.cursor(hall), .want(hall), .done(hall)] {
            talk.given(.acknowledged(topicName: topic(kind)))
        }
        talk.given(.message(message(8)))
        talk.when(.unhandled(place(8)), expect: .interrupted(place(8), first: 8))
        talk.given(.settled(place(8)))
        talk.given(.acknowledged(topicName: topic(.cursor(hall))))
        talk.given(.disconnected)
        talk.given(.connected)
        talk.given(.claim(claim(8)))
        talk.given(.hello(hello(session: 2, [hall: facts(last: 8, claimed: 8, done: 7)])))
        #expect(talk.given(.lead(term: 2)).contains(.interrupted(place(8), first: 8)))
    }

    @Test("an engine that leads again inherits the buttons whose messages another one has claimed, each once")
    func inherited() {
        func inherits(_ effects: [FeedSource.Effect]) -> [Bool] {
            effects.compactMap { if case .inherited(_, hall, let mayBeDown) = $0 { mayBeDown } else { nil } }
        }
        var talk = Self.leading(facts(last: 7, claimed: 7))
        talk.given(.message(message(8)))
        talk.given(.settled(place(8)))
        talk.given(.standBy)
        #expect(inherits(talk.given(.lead(term: 2))) == [])
        talk.given(.standBy)
        talk.given(.claim(claim(10, term: 3, engine: "b1")))
        talk.given(.done(done(10, term: 3)))
        #expect(inherits(talk.given(.lead(term: 4))) == [false])
        talk.given(.standBy)
        talk.given(.claim(claim(12, term: 5, engine: "b1")))
        talk.given(.done(done(11, term: 5)))
        #expect(inherits(talk.given(.lead(term: 6))) == [true])
        talk.given(.standBy)
        #expect(inherits(talk.given(.lead(term: 7))) == [])
    }

    @Test("a process that starts inherits what another engine has claimed since, also if all of it is done")
    func inheritedAtStart() {
        var talk = Self.source([Self.position(9, done: 9)])
        talk.given(.claim(claim(12, term: 2, engine: "b1")))
        talk.given(.done(done(12, term: 2)))
        talk.given(.hello(hello([hall: facts(last: 12, claimed: 12)])))
        #expect(talk.given(.lead(term: 3)).contains(.inherited(site: berlin, hall, mayBeDown: false)))
    }

    @Test("what was taken of a former installation does not count in the numbers of the new one")
    func inheritedFromNewInstallation() {
        var talk = Self.leading()
        for number in 1...10 {
            talk.given(.message(message(number)))
            talk.given(.acknowledged(topicName: topic(.cursor(hall))))
        }
        talk.given(.disconnected)
        talk.given(.giveUp(site: berlin, hall))
        talk.given(.connected)
        talk.given(.hello(hello(life: "77aa", [hall: facts(last: 5, claimed: 5, done: 4)])))
        #expect(talk.given(.lead(term: 3)).contains(.inherited(site: berlin, hall, mayBeDown: true)))
    }

    @Test("what was done of a former installation does not count in the numbers of the new one")
    func interruptedFromNewInstallation() {
        var talk = Self.source([Self.position(4, done: 4)])
        talk.given(.hello(hello(session: 2, life: "77aa", [hall: facts(last: 5, claimed: 5, done: 2)])))
        #expect(talk.given(.lead(term: 2)).contains(.interrupted(place(5, life: "77aa"), first: 3)))
    }

    @Test("an engine that comes back reports what its own disk and the site know of, if the broker has forgotten all")
    func forgetfulBroker() {
        var talk = Self.source([Self.position(9, done: 8)])
        talk.given(.hello(hello(session: 2, [hall: facts(last: 12, claimed: 7)])))
        talk.when(
            .lead(term: 2), expect: .interrupted(place(9), first: 9), .inherited(site: berlin, hall, mayBeDown: true),
            .claim(claim(9, term: 2)), .want(after: 9, session: 2), .record(claim(9, term: 2), done: 8),
            .done(done(9, term: 2)))
    }

    @Test("what this engine took is not interrupted by a lost connection if the broker has acknowledged its claim")
    func reconnection() {
        var talk = Self.leading()
        talk.given(.message(message(1)))
        talk.given(.acknowledged(topicName: topic(.cursor(hall))))
        talk.when(.disconnected, expect: .offline(site: berlin))
        talk.given(.connected)
        talk.given(.hello(hello([hall: facts(last: 1)])))
        talk.when(.lead(term: 1), expect: .claim(claim(1)), .want(after: 1))
        talk.when(.settled(place(1)), expect: .record(claim(1), done: 1), .done(done(1)))
    }

    // MARK: The cursor

    @Test(
        "the cursor is the highest of the own record, the retained claim and the hello",
        arguments: [
            [9, 4, 5], [4, 9, 5], [4, 5, 9],
        ])
    func cursors(numbers: [Int]) {
        var talk = Self.source([Self.position(numbers[0], done: numbers[0])])
        talk.given(.hello(hello([hall: facts(last: 9, claimed: numbers[2])])))
        talk.given(.claim(claim(numbers[1])))
        #expect(talk.given(.lead(term: 1)).contains(.want(after: 9)))
    }

    @Test("a retained claim that arrives after the engine leads is adopted, and reported as interrupted")
    func lateClaim() {
        var talk = Self.leading(facts(last: 9, claimed: 4))
        talk.when(
            .claim(claim(6, engine: "a2")), expect: .interrupted(place(6), first: 5),
            .inherited(site: berlin, hall, mayBeDown: true), .want(after: 6), .record(claim(6), done: 4), .done(done(6))
        )
        #expect(talk.machine.sites[berlin]?.buttons[hall]?.state == .asking)
    }

    @Test("our own messages come back without effect")
    func echo() {
        var talk = Self.leading()
        talk.given(.message(message(1)))
        talk.given(.message(message(2)))
        talk.given(.settled(place(2)))
        talk.when(.claim(claim(1)), expect: .nothing)
        talk.when(.claim(claim(2)), expect: .nothing)
        talk.when(.done(done(0)), expect: .nothing)
        talk.given(.standBy)
        talk.when(.lead(term: 1), expect: .want(after: 2))
    }

    @Test("a hello that says more is claimed than the cursor moves it")
    func helloClaims() {
        var talk = Self.leading(facts(last: 9, claimed: 4))
        talk.given(.hello(hello([hall: facts(last: 9, claimed: 7)])))
        talk.when(.message(message(6)), expect: .nothing)
        #expect(talk.given(.message(message(8))).last == .took(place(8), [down(8)]))
    }

    // MARK: Lives and sessions of a site

    @Test("a claim of another installation does not count, and its end is reported")
    func newInstallation() {
        var talk = Self.source([Self.position(500, done: 500, life: "former")])
        talk.given(.claim(claim(500, life: "former")))
        let said = hello(life: "9f3c", [hall: facts(last: 3, claimed: 1)])
        talk.when(
            .hello(said), expect: .known(site: berlin, said),
            .beganAnew(place(1), former: claim(500, life: "former")))
        talk.when(
            .lead(term: 2), expect: .claim(claim(1, term: 2)), .want(after: 1), .record(claim(1, term: 2), done: 1),
            .done(done(1, term: 2)))
        #expect(talk.given(.message(message(2))).last == .took(place(2), [down(2)]))
    }

    @Test("a site that is installed anew while its engine leads begins anew")
    func newInstallationLive() {
        var talk = Self.leading(facts(last: 7, claimed: 7))
        talk.given(.message(message(8)))
        talk.given(.helloEmptied)
        let said = hello(life: "new", [hall: facts()])
        talk.when(
            .hello(said), expect: .known(site: berlin, said), .beganAnew(place(0, life: "new"), former: claim(8)),
            .claim(claim(0, life: "new")), .record(claim(0, life: "new"), done: 0), .want(after: 0, life: "new"))
        #expect(talk.given(.message(message(1))).last == .took(place(1, life: "new"), [down(1)]))
        talk.when(.settled(place(8)), expect: .nothing)
    }

    @Test(
        "a claim above the journal of a site counts until the site begins a new life, and there up to what is of the former"
    )
    func restoredSite() {
        var talk = Self.source([Self.position(500, done: 500, session: 3)])
        talk.given(.claim(claim(500, session: 3)))
        talk.given(.hello(hello(session: 4, [hall: facts(last: 460, claimed: 440)])))
        #expect(talk.given(.lead(term: 2)).contains(.want(after: 500, session: 4)))
        talk.when(.message(message(441)), expect: .nothing)
        let former = FeedFormer(last: 450, certain: 450, session: 0)
        let said = hello(session: 4, life: secondLife, [hall: facts(last: 460, claimed: 440, former: former)])
        let carried = claim(450, term: 2, life: secondLife, session: 4)
        talk.wait(.seconds(1))
        talk.when(
            .hello(said), expect: .restored(site: berlin, FeedLife(secondLife)), .known(site: berlin, said),
            .beganAnew(place(450, life: secondLife), former: claim(500, session: 3)), .claim(carried),
            .want(after: 450, session: 4, life: secondLife), .record(carried, done: 450),
            .done(done(450, term: 2, life: secondLife)))
        #expect(talk.given(.message(message(451))).last == .took(place(451, life: secondLife), [down(451)]))
        // The retained claim of the former life comes late.
        talk.when(.claim(claim(500, session: 3)), expect: .nothing)
    }

    @Test("what may be of a former life is claimed by it and reported, unless the claim is older than it")
    func doubtful() {
        let former = FeedFormer(last: 18, certain: 10, session: 5)
        let said = hello(session: 6, life: secondLife, [hall: facts(last: 20, claimed: 10, former: former)])
        for (session, cursor) in [(4, 10), (5, 15)] {
            var talk = Self.source([Self.position(15, done: 15, session: session)])
            talk.given(.hello(said))
            let effects = talk.given(.lead(term: 2))
            #expect(effects.contains(.want(after: cursor, session: 6, life: secondLife)))
            #expect(
                effects.contains(.interrupted(place(15, life: secondLife), first: 11)) == (cursor == 15))
        }
    }

    @Test("a claim that the hello says counts as one of its session, also beside an older claim")
    func claimedByHello() {
        var talk = Self.source([Self.position(7, done: 7, session: 3)])
        talk.given(.hello(hello(session: 5, [hall: facts(last: 9, claimed: 8)])))
        #expect(talk.given(.lead(term: 2)).contains(.claim(claim(8, term: 2, session: 5))))
    }

    @Test("a stand-by says of a restored site again when it leads, unless another engine has claimed in the new life")
    func restoredAtStandBy() {
        let said = hello(session: 2, life: secondLife, [hall: facts(last: 7, claimed: 7)])
        let restored = FeedSource.Effect.restored(site: berlin, FeedLife(secondLife))
        var talk = Self.source([Self.position(7, done: 7)])
        #expect(talk.machine.unansweredRestores == [])
        #expect(talk.given(.hello(said)).contains(restored))
        #expect(talk.machine.unansweredRestores == [berlin])
        var answered = talk
        #expect(talk.given(.lead(term: 2)).contains(restored))
        #expect(talk.machine.unansweredRestores == [])
        #expect(!talk.given(.lead(term: 3)).contains(restored))
        answered.given(.claim(claim(7, term: 2, engine: "b1", life: secondLife, session: 2)))
        #expect(answered.machine.unansweredRestores == [])
        #expect(!answered.given(.lead(term: 3)).contains(restored))
    }

    @Test("an engine says of a site that was restored, and away when it began to lead, when the site is back, once")
    func restoredAndAway() {
        let restored = FeedSource.Effect.restored(site: berlin, FeedLife(secondLife))
        func said(_ session: Int) -> FeedHello {
            hello(session: session, life: secondLife, [hall: facts(last: 7, claimed: 7)])
        }
        var talk = Self.source([Self.position(7, done: 7)])
        talk.given(.hello(said(2)))
        talk.given(.helloEmptied)
        #expect(!talk.given(.lead(term: 2)).contains(restored))
        #expect(talk.given(.hello(said(3))).contains(restored))
        talk.given(.helloEmptied)
        #expect(!talk.given(.hello(said(4))).contains(restored))
    }

    @Test("a restored site that is away does not wait, and a claim of its former life is no answer")
    func restoredAndUnanswered() {
        var talk = Self.source([Self.position(7, done: 7)])
        talk.given(.hello(hello(session: 2, life: secondLife, [hall: facts(last: 7, claimed: 7)])))
        talk.given(.claim(claim(7, engine: "b1")))
        #expect(talk.machine.unansweredRestores == [berlin])
        talk.given(.helloEmptied)
        #expect(talk.machine.unansweredRestores == [])
    }

    @Test("a site whose hello is an old one waits, until it says a newer one, it or the connection is gone, or we lead")
    func oldHelloIsUnanswered() {
        func said(_ session: Int) -> FeedSource.Input { .hello(hello(session: session, [hall: facts(last: 9)])) }
        func isUnanswered(after inputs: FeedSource.Input...) -> Bool {
            var talk = Self.source()
            for input in [said(3)] + inputs { talk.given(input) }
            return talk.machine.unansweredRestores == [berlin]
        }
        #expect(!isUnanswered())
        #expect(isUnanswered(after: said(2)))
        #expect(isUnanswered(after: .claim(claim(9, session: 4))))
        #expect(isUnanswered(after: .helloEmptied, .claim(claim(9, session: 4)), said(3)))
        #expect(!isUnanswered(after: said(2), said(4)))
        #expect(!isUnanswered(after: said(2), .helloEmptied))
        #expect(!isUnanswered(after: said(2), .disconnected))
        #expect(!isUnanswered(after: said(2), .lead(term: 1)))
    }

    @Test("what an engine claimed before its connection ended is reported when the site is back, once")
    func siteIsAway() {
        var talk = Self.leading()
        talk.given(.message(message(1)))
        talk.given(.helloEmptied)
        talk.given(.disconnected)
        talk.given(.connected)
        #expect(!talk.given(.lead(term: 1)).contains(.interrupted(place(1), first: 1)))
        // A second loss of the connection changes nothing.
        talk.given(.disconnected)
        talk.given(.connected)
        #expect(!talk.given(.lead(term: 1)).contains(.interrupted(place(1), first: 1)))
        let back = talk.given(.hello(hello(session: 2, [hall: facts(last: 1)])))
        #expect(back.count { $0 == .interrupted(place(1), first: 1) } == 1)
        talk.given(.helloEmptied)
        let again = talk.given(.hello(hello(session: 3, [hall: facts(last: 1)])))
        #expect(!again.contains(.interrupted(place(1), first: 1)))
        #expect(talk.given(.message(message(2))).contains(.took(place(2), [down(2)])))
    }

    @Test("of several earlier lives only the last one counts, because its numbers may repeat those of the others")
    func severalLives() {
        var talk = Self.source([Self.position(20, done: 20, life: secondLife)])
        talk.given(.claim(claim(500)))
        let third = "9f3c.3"
        let former = FeedFormer(last: 30, certain: 30, session: 0)
        talk.given(.hello(hello(life: third, [hall: facts(last: 31, claimed: 15, former: former)])))
        #expect(talk.given(.lead(term: 2)).contains(.want(after: 20, life: third)))
    }

    @Test(
        "a new life or installation without a claimed message is reported once, however often the site or the engine connects",
        arguments: [secondLife, "new"])
    func nothingClaimed(life: String) {
        func reports(_ effects: [FeedSource.Effect]) -> Int {
            effects.count {
                switch $0 {
                case .restored, .beganAnew, .interrupted: true
                default: false
                }
            }
        }
        var talk = Self.source([Self.position(7, done: 5)])
        talk.given(.claim(claim(7)))
        let said = hello(session: 2, life: life, [hall: facts()])
        let nothing = claim(0, term: 2, life: life, session: 2)
        var effects = talk.given(.hello(said)) + talk.given(.lead(term: 2))
        // An engine that has heard of a new life before it leads says so again when it leads.
        #expect(reports(effects) == (life == secondLife ? 4 : 1))
        let recorded = effects.compactMap { if case .record(let position) = $0 { position.claim } else { nil } }
        #expect(effects.contains(.claim(nothing)) && recorded.contains(nothing))
        talk.given(.acknowledged(topicName: topic(.done(hall))))
        // The broker retains the claim that it took last: this one, or that of the former life if this one was lost.
        for retained in [nothing, claim(7)] {
            talk.given(.disconnected)
            talk.given(.connected)
            effects = talk.given(.claim(retained)) + talk.given(.hello(said)) + talk.given(.lead(term: 2))
            #expect(reports(effects) == 0)
        }
        talk = Self.source([FeedPosition(site: berlin, button: hall, claim: nothing, done: 0)])
        effects = talk.given(.hello(said)) + talk.given(.claim(nothing)) + talk.given(.lead(term: 3))
        #expect(reports(effects) == 0)
        #expect(talk.given(.message(message(1))).last == .took(place(1, life: life), [down(1)]))
    }

    @Test(
        "a site whose hello is of an earlier session or life is told the later one, by the leader",
        arguments: [life, secondLife])
    func told(later: String) {
        var talk = Self.leading(facts(last: 7, claimed: 7))
        talk.given(.hello(hello(session: 3, life: later, [hall: facts(last: 8, claimed: 7)])))
        talk.given(.message(message(8)))
        let old = FeedSource.Input.hello(hello(session: later == life ? 2 : 9, [hall: facts(last: 7)]))
        let told = talk.given(old)
        #expect(told.contains(.want(after: 0, session: 3, life: later)) && told.count == 2)
        // A site of an earlier version answers with the same hello.
        #expect(!talk.given(old).contains(.want(after: 0, session: 3, life: later)))
        talk.wait(FeedSource.staleHelloReplyInterval)
        #expect(talk.given(old).contains(.want(after: 0, session: 3, life: later)))
        talk.wait(FeedSource.staleHelloReplyInterval)
        talk.given(.standBy)
        #expect(!talk.given(old).contains(.want(after: 0, session: 3, life: later)))
    }

    @Test("a site that says hello again, and whose messages do not come, is asked again")
    func askedAgain() {
        var talk = Self.leading()
        talk.given(.hello(hello([hall: facts(last: 1)])))
        #expect(talk.given(.hello(hello([hall: facts(last: 2)]))).contains(.want(after: 0)))
        for number in 1...2 { talk.given(.message(message(number))) }
        #expect(!talk.given(.hello(hello([hall: facts(last: 2, claimed: 2)]))).contains(.want(after: 2)))
    }

    @Test("a retained hello of the same session may have a lower number than the claims")
    func retainedHello() {
        var talk = Self.source([Self.position(500, done: 500, session: 3)])
        talk.when(
            .hello(hello(session: 3, [hall: facts(last: 450, claimed: 440)])),
            expect: .known(site: berlin, hello(session: 3, [hall: facts(last: 450, claimed: 440)])))
        #expect(talk.given(.lead(term: 2)).contains(.want(after: 500, session: 3)))
    }

    @Test("a hello of an earlier session than the claims is ignored", arguments: [true, false])
    func oldHello(isClaimFirst: Bool) {
        var talk = Self.source()
        let old = FeedSource.Input.hello(hello(session: 2, [hall: facts(last: 9)]))
        for input in isClaimFirst ? [.claim(claim(9, session: 3)), old] : [old, .claim(claim(9, session: 3))] {
            talk.given(input)
        }
        talk.when(.lead(term: 2), expect: .nothing)
        talk.given(.hello(hello(session: 3, [hall: facts(last: 9, claimed: 9)])))
        #expect(talk.machine.sites[berlin]?.buttons[hall]?.state == .asking)
    }

    @Test("the emptied hello of a site says that it is gone, and its next hello is asked again")
    func siteGone() {
        var talk = Self.leading(facts(last: 7, claimed: 7))
        talk.when(.helloEmptied, expect: .offline(site: berlin))
        talk.when(.helloEmptied, expect: .nothing)
        talk.when(.message(message(8)), expect: .nothing)
        let said = hello(session: 2, term: 1, [hall: facts(last: 8, claimed: 7)])
        talk.when(.hello(said), expect: .known(site: berlin, said), .want(after: 7, session: 2))
    }

    @Test("a button that the site no longer names is forgotten, and its retained topics are cleared")
    func removedButton() {
        var talk = Self.leading(facts(last: 7, claimed: 7))
        let clear = [topic(.cursor(hall)), topic(.done(hall))].map {
            FeedSource.Effect.publish(MQTTMessage(topicName: $0, payload: [], qos: 1, retain: true))
        }
        talk.when(
            .hello(hello([:])), expect: .known(site: berlin, hello([:])), .forget(site: berlin, hall),
            .removed(site: berlin, hall), clear[0], clear[1])
    }

    @Test("acknowledgements of a removed button's messages say nothing about the button when its site has it again")
    func acknowledgementsOfRemovedButton() {
        var talk = Self.leading()
        talk.given(.acknowledged(topicName: topic(.want(hall))))
        talk.given(.message(message(1)))
        talk.given(.hello(hello([:])))
        talk.given(.hello(hello([hall: facts()])))
        talk.given(.message(message(1)))
        talk.given(.settled(place(1)))
        // Those of the former claim and of the message that clears it; those of the new claim do not come.
        for _ in 1...2 { talk.given(.acknowledged(topicName: topic(.cursor(hall)))) }
        talk.given(.disconnected)
        talk.given(.connected)
        talk.given(.hello(hello(session: 2, [hall: facts(last: 1)])))
        #expect(talk.given(.lead(term: 1)).contains(.interrupted(place(1), first: 1)))
    }

    // MARK: Terms

    @Test("a higher term in a claim ends the taking until this engine leads again")
    func outranked() {
        var talk = Self.leading()
        talk.given(.claim(claim(1, term: 5, engine: "a2")))
        #expect(!talk.machine.isTaking)
        talk.when(.message(message(1)), expect: .nothing)
        talk.when(.message(message(2)), expect: .nothing)
        #expect(talk.machine.highestTerm == 5)
        #expect(talk.given(.lead(term: 6)).contains(.want(after: 1)))
    }

    @Test(
        "a higher term in a hello does not end the taking, and claims are announced again when this engine has raised its term"
    )
    func siteTerm() {
        var talk = Self.leading()
        talk.given(.message(message(1)))
        talk.given(.hello(hello(session: 2, term: 5, [hall: facts(last: 1)])))
        #expect(talk.machine.siteTerm == 5 && talk.machine.highestTerm == 1)
        #expect(talk.given(.message(message(2))).last == .took(place(2), [down(2)]))
        talk.when(.lead(term: 6), expect: .claim(claim(2, term: 6, session: 2)))
        talk.when(.lead(term: 7), expect: .nothing)
    }

    @Test("an absurd term in a hello is taken as the highest plausible one")
    func absurdTerm() {
        var talk = Self.leading()
        talk.given(.hello(hello(session: 2, term: 1 << 53, [hall: facts()])))
        #expect(talk.machine.siteTerm == 1 + EngineTerm.greatestLeap)
    }

    @Test("the highest term of engines is that of the own records and claims, and that of sites is separate")
    func highestTerm() {
        var talk = Self.source([Self.position(1, done: 1, term: 3)])
        #expect(talk.machine.highestTerm == 3)
        talk.given(.hello(hello(term: 4, [hall: facts()])))
        #expect(talk.machine.highestTerm == 3 && talk.machine.siteTerm == 4)
        talk.given(.claim(claim(1, term: 7)))
        #expect(talk.machine.highestTerm == 7)
    }

    // MARK: The broker

    static func many(_ count: Int) -> FeedHello {
        var said = hello([:])
        for number in 1...count { said.buttons[ButtonID(BluetoothAddress(rawValue: UInt64(number)))] = facts(last: 3) }
        return said
    }

    static func wants(_ effects: [FeedSource.Effect]) -> [String] {
        effects.compactMap {
            if case .publish(let message) = $0, message.topicName.hasSuffix("/want") { message.topicName } else { nil }
        }
    }

    @Test(
        "at most 64 buttons are asked at once, the others as the broker acknowledges, and a press of one that waits waits"
    )
    func pacing() {
        var talk = Self.source()
        talk.given(.hello(Self.many(200)))
        var asked = Self.wants(talk.given(.lead(term: 1)))
        #expect(asked.count == FeedSource.maximumAsked)
        let last = ButtonID(BluetoothAddress(rawValue: 200))
        talk.when(.message(message(1, of: last), of: last), expect: .nothing)
        var count = 0
        while count < asked.count {
            asked += Self.wants(talk.given(.acknowledged(topicName: asked[count])))
            count += 1
            #expect(asked.count - count <= FeedSource.maximumAsked)
        }
        #expect(Set(asked).count == 200)
        #expect(
            talk.given(.message(message(1, of: last), of: last)).last == .took(place(1, of: last), [down(1, of: last)]))
    }

    @Test(
        "while the broker has not acknowledged 256 messages, presses wait at their site, and each is taken once afterwards"
    )
    func backlog() {
        let count = FeedHello.maximumButtons
        var talk = Self.source()
        talk.given(.hello(Self.many(count)))
        var unacknowledged: [String] = []
        var taken: [FeedPlace] = []
        var most = 0
        func give(_ input: FeedSource.Input) {
            for effect in talk.given(input) {
                if case .publish(let message) = effect { unacknowledged.append(message.topicName) }
                if case .took(let place, _) = effect { taken.append(place) }
            }
        }
        /// The broker acknowledges everything, and the site answers each request with all presses of the button.
        func acknowledgeAll(presses: Int) {
            while !unacknowledged.isEmpty {
                most = max(most, unacknowledged.count)
                let topicName = unacknowledged.removeFirst()
                give(.acknowledged(topicName: topicName))
                guard case .want(let button) = FeedTopic(topicName)?.kind else { continue }
                for number in 1...presses { give(.message(message(number, of: button), of: button)) }
            }
        }
        give(.lead(term: 1))
        acknowledgeAll(presses: 3)
        #expect(taken.count == 3 * count && Set(taken).count == taken.count)
        for number in 4...6 {
            for address in 1...UInt64(count) {
                let button = ButtonID(BluetoothAddress(rawValue: address))
                give(.message(message(number, of: button), of: button))
            }
        }
        #expect(taken.count == 3 * count + FeedSource.maximumUnacknowledged)
        acknowledgeAll(presses: 6)
        #expect(taken.count == 6 * count && Set(taken).count == taken.count)
        #expect(most < 2 * FeedSource.maximumUnacknowledged)
    }

    @Test("a claim, a done and a want that were refused are published again after a second")
    func refused() {
        var talk = Self.leading()
        talk.given(.message(message(1)))
        talk.given(.settled(place(1)))
        talk.when(.refused(topicName: topic(.cursor(hall))), expect: .setTimer(talk.now + .seconds(1)))
        talk.wait(.seconds(1))
        talk.when(.timerFired, expect: .claim(claim(1)))
        talk.given(.acknowledged(topicName: topic(.cursor(hall))))
        talk.when(.refused(topicName: topic(.done(hall))), expect: .record(claim(1), done: 1), .done(done(1)))
        talk.when(.message(message(3)), expect: .want(after: 1))
        talk.when(.refused(topicName: topic(.want(hall))), expect: .setTimer(talk.now + .seconds(1)))
        talk.wait(.seconds(1))
        talk.when(.timerFired, expect: .want(after: 1))
    }

    @Test("a claim that the client refused is not confirmed by the acknowledgement of the claim before it")
    func refusedBehindUnacknowledged() {
        var talk = Self.leading()
        for number in 1...2 {
            talk.given(.message(message(number)))
            talk.given(.settled(place(number)))
        }
        talk.given(.refused(topicName: topic(.cursor(hall))))
        talk.given(.acknowledged(topicName: topic(.cursor(hall))))
        talk.given(.disconnected)
        talk.given(.connected)
        talk.given(.claim(claim(1)))
        talk.given(.hello(hello([hall: facts(last: 2, claimed: 1, done: 0)])))
        #expect(talk.given(.lead(term: 1)).contains(.interrupted(place(2), first: 1)))
    }

    @Test("a claim that is refused while another engine leads is announced again")
    func refusedWhileFenced() {
        var talk = Self.leading()
        talk.given(.message(message(1)))
        talk.given(.settled(place(1)))
        talk.given(.fence)
        talk.given(.refused(topicName: topic(.cursor(hall))))
        #expect(talk.given(.lead(term: 1)).contains(.claim(claim(1))))
    }

    @Test("what is done is published when the process ends")
    func resign() {
        var talk = Self.leading(facts(last: 0))
        for number in 1...2 { talk.given(.message(message(number))) }
        for _ in 1...2 { talk.given(.acknowledged(topicName: topic(.cursor(hall)))) }
        talk.given(.settled(place(1)))
        talk.given(.settled(place(2)))
        talk.when(.resign, expect: .record(claim(2), done: 2), .done(done(2)), .cancelTimer)
    }

    // MARK: Hostile input

    @Test("payloads that cannot be read are reported, at most 16 in a connection")
    func hostile() {
        var talk = Self.leading()
        var anomalies = 0
        for kind in [FeedTopic.Kind.hello, .messages(hall), .cursor(hall), .done(hall)] {
            for _ in 0..<10 {
                anomalies += talk.given(.received(topicName: topic(kind), payload: [0x7B], brokerAge: .zero)).count
            }
        }
        #expect(anomalies == FeedSource.maximumAnomalies)
    }

    @Test("a site that says hello too often is gone for the rest of the second, and its last hello counts")
    func helloFlood() {
        var talk = Self.leading()
        var known = 0
        for number in 1...100 {
            let effects = talk.given(.hello(hello(session: 1 + number, [hall: facts(last: number)])))
            known += effects.count { if case .known = $0 { true } else { false } }
        }
        #expect(known == FeedSource.maximumHellos)
        talk.when(.message(message(1)), expect: .nothing)
        talk.wait(.seconds(1))
        let last = hello(session: 101, [hall: facts(last: 100)])
        talk.when(.timerFired, expect: .known(site: berlin, last), .want(after: 0, session: 101))
    }

    @Test("there are at most 1024 sites, and 256 buttons of a site")
    func bounds() {
        var talk = Self.source()
        for number in 0..<1100 {
            talk.given(
                .received(
                    topicName: topic(.hello, of: "site/\(number)"), payload: hello([hall: facts()]).encoded(),
                    brokerAge: .zero))
        }
        #expect(talk.machine.sites.count == FeedSource.maximumSites)
        for number in 0..<300 {
            let id = ButtonID(BluetoothAddress(rawValue: UInt64(number)))
            talk.given(
                .received(
                    topicName: topic(.cursor(id), of: "site/1"), payload: claim(1).encoded(), brokerAge: .zero))
        }
        #expect(talk.machine.sites["site/1"]?.buttons.count == FeedHello.maximumButtons)
    }

    // MARK: Claims that the connection lost

    /// An engine that has taken the messages from 8 to 10, of which the broker has acknowledged the claim of the first, and
    /// that has lost its connection.
    private static func broken() -> SourceTalk {
        var talk = Self.leading(facts(last: 10, claimed: 7))
        // The broker acknowledges what was announced when this engine began to lead, and the claim of message 8.
        talk.given(.acknowledged(topicName: topic(.cursor(hall))))
        talk.given(.message(message(8)))
        talk.given(.acknowledged(topicName: topic(.cursor(hall))))
        for number in [9, 10] { talk.given(.message(message(number))) }
        for number in 8...10 { talk.given(.settled(place(number))) }
        talk.given(.disconnected)
        talk.wait(.seconds(2))
        talk.given(.connected)
        return talk
    }

    @Test(
        "messages whose claims the broker did not acknowledge on a connection that ended are reported as interrupted, once"
    )
    func lostClaims() {
        var talk = Self.broken()
        talk.given(.claim(claim(8)))
        talk.given(.hello(hello([hall: facts(last: 10, claimed: 8, done: 7)])))
        let effects = talk.given(.lead(term: 1))
        #expect(effects.contains(.interrupted(place(10), first: 9)))
        #expect(effects.contains(.claim(claim(10))) && effects.contains(.done(done(10))))
        talk.given(.acknowledged(topicName: topic(.done(hall))))
        talk.given(.disconnected)
        talk.given(.connected)
        talk.given(.claim(claim(10)))
        talk.given(.hello(hello([hall: facts(last: 10, claimed: 10, done: 7)])))
        let later = talk.given(.lead(term: 1))
        #expect(!later.contains { if case .interrupted = $0 { true } else { false } })
    }

    @Test(
        "messages that the broker retains as done are not reported, although the acknowledgements of their claims were lost"
    )
    func lostAcknowledgements() {
        var talk = Self.broken()
        talk.given(.claim(claim(10)))
        talk.given(.done(done(10)))
        talk.given(.hello(hello([hall: facts(last: 10, claimed: 10, done: 10)])))
        let effects = talk.given(.lead(term: 1))
        #expect(!effects.contains { if case .interrupted = $0 { true } else { false } })
    }

    @Test("a report is made again if the connection ends before the broker has acknowledged it", arguments: 0...2)
    func reportAgain(acknowledged count: Int) {
        var talk = Self.broken()
        talk.given(.claim(claim(8)))
        talk.given(.hello(hello([hall: facts(last: 10, claimed: 8, done: 7)])))
        talk.given(.lead(term: 1))
        // The third message, `done`, follows the report, the claim and the want.
        for kind in [FeedTopic.Kind.cursor(hall), .want(hall)].prefix(count) {
            talk.given(.acknowledged(topicName: topic(kind)))
        }
        for session in 2...3 {
            talk.given(.disconnected)
            talk.given(.connected)
            talk.given(.hello(hello(session: session, [hall: facts(last: 10, claimed: 8, done: 7)])))
            #expect(talk.given(.lead(term: 1)).contains(.interrupted(place(10), first: 9)))
        }
        talk.given(.disconnected)
        talk.given(.connected)
        talk.given(.done(done(10)))
        talk.given(.hello(hello(session: 4, [hall: facts(last: 10, claimed: 10, done: 7)])))
        #expect(!Self.areInterrupted(talk.given(.lead(term: 1))))
    }

    @Test("messages whose claims another engine has made and done are not reported")
    func lostClaimsOfStandBy() {
        var talk = Self.broken()
        talk.given(.claim(claim(10, term: 2, engine: "b1")))
        talk.given(.done(done(10, term: 2)))
        talk.given(.hello(hello([hall: facts(last: 10, claimed: 10, done: 10)])))
        let effects = talk.given(.lead(term: 3))
        #expect(!effects.contains { if case .interrupted = $0 { true } else { false } })
    }

    @Test("what is open is given up when the connection has perhaps lost a claim of it, and reported as a whole")
    func givenUp() {
        var talk = Self.leading(facts(last: 10, claimed: 7))
        talk.given(.acknowledged(topicName: topic(.cursor(hall))))
        talk.given(.message(message(8)))
        talk.given(.acknowledged(topicName: topic(.cursor(hall))))
        // The message that is open and confirmed is given up, too.
        let since = talk.now
        talk.wait(.seconds(1))
        talk.given(.message(message(9)))
        talk.given(.fence)
        talk.wait(.seconds(1))
        talk.when(
            .disconnected, expect: .gaveUp([.init(site: berlin, button: hall, since: since)]), .offline(site: berlin))
        talk.given(.settled(place(9)))
        talk.given(.connected)
        talk.given(.hello(hello([hall: facts(last: 10, claimed: 8, done: 7)])))
        #expect(talk.given(.lead(term: 1)).contains(.interrupted(place(9), first: 8)))
    }

    @Test("messages that are given up with others are not settled any more, and are reported later")
    func givenUpWithOthers() {
        var talk = Self.leading(facts(last: 10, claimed: 7))
        talk.given(.acknowledged(topicName: topic(.cursor(hall))))
        talk.given(.message(message(8)))
        talk.given(.acknowledged(topicName: topic(.cursor(hall))))
        talk.given(.disconnected)
        talk.when(
            .giveUp(site: berlin, hall), expect: .gaveUp([.init(site: berlin, button: hall, since: talk.now)]))
        talk.when(.settled(place(8)), expect: .nothing)
        talk.given(.connected)
        talk.given(.hello(hello([hall: facts(last: 10, claimed: 8, done: 7)])))
        #expect(talk.given(.lead(term: 1)).contains(.interrupted(place(8), first: 8)))
    }

    @Test("of more than 1024 open messages the first one still says since when they are given up")
    func givenUpSince() {
        var talk = Self.leading()
        talk.wait(.seconds(2))
        let since = talk.now
        for number in 1...1100 {
            talk.given(.message(message(number)))
            talk.given(.acknowledged(topicName: topic(.cursor(hall))))
            talk.wait(.milliseconds(1))
        }
        talk.given(.disconnected)
        talk.when(.giveUp(site: berlin, hall), expect: .gaveUp([.init(site: berlin, button: hall, since: since)]))
    }

    @Test("what is open when an engine stops is reported by the engine that leads next, also if that is the same one")
    func openAtStop() {
        var talk = Self.leading(facts(last: 10, claimed: 7))
        talk.given(.message(message(8)))
        talk.given(.acknowledged(topicName: topic(.cursor(hall))))
        talk.given(.fence)
        #expect(!talk.given(.lead(term: 1)).contains { if case .interrupted = $0 { true } else { false } })
        talk.given(.standBy)
        #expect(talk.given(.lead(term: 2)).contains(.interrupted(place(8), first: 8)))
        talk.given(.standBy)
        #expect(!talk.given(.lead(term: 3)).contains { if case .interrupted = $0 { true } else { false } })
    }

    @Test(
        "an engine inherits what it reports of itself, because its hold may have ended in an action that was dropped",
        arguments: [true, false])
    func inheritedFromItself(isConfirmed: Bool) {
        let inherited = FeedSource.Effect.inherited(site: berlin, hall, mayBeDown: true)
        var talk = Self.leading(facts(last: 10, claimed: 7))
        talk.given(.message(message(8)))
        if isConfirmed { talk.given(.acknowledged(topicName: topic(.cursor(hall)))) }
        talk.given(.disconnected)
        talk.given(.standBy)
        talk.given(.connected)
        talk.given(.hello(hello([hall: facts(last: 10, claimed: 7)])))
        let effects = talk.given(.lead(term: 2))
        #expect(effects.contains(.interrupted(place(8), first: 8)) && effects.contains(inherited))
        talk.given(.standBy)
        #expect(!talk.given(.lead(term: 3)).contains(inherited))
    }

    @Test("an engine that dies before it has its connection back reports messages whose claims were not acknowledged")
    func deadWithLostClaims() {
        var talk = Self.leading(facts(last: 8, claimed: 7))
        talk.given(.acknowledged(topicName: topic(.cursor(hall))))
        talk.wait(.seconds(2))
        talk.given(.message(message(8)))
        let effects = talk.given(.settled(place(8)))
        // What is done is on its way to the broker behind the claim and the actions. Only the broker can know that it arrived.
        #expect(effects.contains(.done(done(8))))
        let records = effects.compactMap { if case .record(let position) = $0 { position } else { nil } }
        #expect(records.map(\.done) == [7])
        // As soon as it does, so does the disk.
        talk.when(.acknowledged(topicName: topic(.cursor(hall))), expect: .record(claim(8), done: 8))
    }

    private static func areInterrupted(_ effects: [FeedSource.Effect]) -> Bool {
        effects.contains { if case .interrupted = $0 { true } else { false } }
    }

    @Test("the acknowledgement of a claim counts for its messages although the claim before it was refused")
    func acknowledgedAfterRefusal() {
        var talk = Self.leading(facts(last: 9, claimed: 7))
        talk.given(.acknowledged(topicName: topic(.cursor(hall))))
        talk.given(.message(message(8)))
        talk.given(.refused(topicName: topic(.cursor(hall))))
        talk.wait(.seconds(1))
        talk.when(.timerFired, expect: .claim(claim(8)))
        talk.given(.acknowledged(topicName: topic(.cursor(hall))))
        talk.given(.message(message(9)))
        talk.given(.acknowledged(topicName: topic(.cursor(hall))))
        for number in [8, 9] { talk.given(.settled(place(number))) }
        talk.given(.disconnected)
        talk.given(.connected)
        talk.given(.claim(claim(9)))
        talk.given(.hello(hello([hall: facts(last: 9, claimed: 9, done: 7)])))
        #expect(!Self.areInterrupted(talk.given(.lead(term: 1))))
    }

    @Test("acknowledgements of claims of a former installation say nothing about messages of the new one")
    func acknowledgementsOfFormerInstallation() {
        var talk = Self.leading()
        for number in 1...2 { talk.given(.message(message(number))) }
        talk.given(.helloEmptied)
        talk.given(.hello(hello(life: "new", [hall: facts()])))
        talk.given(.message(message(1)))
        for _ in 1...2 { talk.given(.acknowledged(topicName: topic(.cursor(hall)))) }
        talk.given(.settled(place(1, life: "new")))
        talk.given(.disconnected)
        talk.given(.connected)
        talk.given(.hello(hello(session: 2, life: "new", [hall: facts(last: 1)])))
        #expect(talk.given(.lead(term: 1)).contains(.interrupted(place(1, life: "new"), first: 1)))
    }

    @Test("a button with messages that may have been lost does not wait until others were asked")
    func lostBeforeOthers() {
        var said = Self.many(FeedSource.maximumAsked + 1)
        said.buttons[hall] = facts()
        var talk = Self.source()
        talk.given(.hello(said))
        for name in Self.wants(talk.given(.lead(term: 1))) { talk.given(.acknowledged(topicName: name)) }
        #expect(talk.given(.message(message(1))).contains(.took(place(1), [down(1)])))
        talk.given(.settled(place(1)))
        talk.given(.disconnected)
        talk.given(.connected)
        said.session = 2
        said.buttons[hall] = facts(last: 1)
        talk.given(.hello(said))
        #expect(talk.given(.lead(term: 1)).contains(.interrupted(place(1), first: 1)))
    }
}
