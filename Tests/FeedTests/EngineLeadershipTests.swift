import ButtonModel
import JSON
import MQTTTopics
import TestSupport
import Testing

@testable import Feed

extension EngineLeadership: StateMachine {}

private typealias LeaderTalk = Transcript<NumberedLeadership>
private typealias CopyTalk = Transcript<EngineLeadership>

/// An engine whose tests do not know the numbers of its claims and states: they see its messages without, and a message of its own that
/// they let it receive gets the number of the oldest one of this content that has not come back on this connection.
@dynamicMemberLookup
struct NumberedLeadership: StateMachine {
    private var engine: EngineLeadership
    private var sent: [(message: MQTTMessage, numbered: [UInt8])] = []

    init(_ engine: EngineLeadership) { self.engine = engine }

    subscript<Value>(dynamicMember path: KeyPath<EngineLeadership, Value>) -> Value { engine[keyPath: path] }

    func hasLapsed(at now: Instant) -> Bool { engine.hasLapsed(at: now) }

    func problems() -> [String] { engine.problems() }

    mutating func handle(_ input: EngineLeadership.Input, at now: Instant) -> [EngineLeadership.Effect] {
        engine.handle(numbered(input), at: now).map { effect in
            guard case .publish(var message) = effect else { return effect }
            let payload = message.payload
            message.payload = Self.withoutNumber(payload)
            if message.payload != payload { sent.append((message, payload)) }
            return .publish(message)
        }
    }

    private mutating func numbered(_ input: EngineLeadership.Input) -> EngineLeadership.Input {
        if input == .disconnected { sent = [] }
        guard case .received(let name, let payload, isRetained: false) = input,
            let place = sent.firstIndex(where: { $0.message.topicName == name && $0.message.payload == payload })
        else { return input }
        return .received(topicName: name, payload: sent.remove(at: place).numbered)
    }

    private static func withoutNumber(_ payload: [UInt8]) -> [UInt8] {
        guard let members = (try? JSONValue(parsing: payload))?.objectValue else { return payload }
        return JSONValue.object(members.filter { $0.name != "n" }).encoded()
    }
}

@Suite("Leader and stand-by")
struct EngineLeadershipTests {
    private static let share = EngineShare(index: 2, count: 4) ?? .whole

    private static func claim(_ term: Int, _ engine: String = "a1", number: Int? = nil) -> EngineLeadership.Input {
        .received(
            topicName: "engines/2/leader", payload: EngineTerm(term: term, engine: engine).encoded(number: number))
    }

    private static func retained(_ term: Int, _ engine: String) -> EngineLeadership.Input {
        .received(
            topicName: "engines/2/leader", payload: EngineTerm(term: term, engine: engine).encoded(), isRetained: true)
    }

    private static func state(
        _ isOnline: Bool, _ engine: String = "a1", rules: String = ""
    ) -> EngineLeadership.Input {
        let state = EngineState(isOnline: isOnline, engine: engine, share: share, rules: rules)
        return .received(topicName: "engines/2/state", payload: state.encoded())
    }

    private static func claims(_ term: Int, _ engine: String = "a1") -> EngineLeadership.Effect {
        .publish(
            MQTTMessage(
                topicName: "engines/2/leader", payload: EngineTerm(term: term, engine: engine).encoded(), qos: 1,
                retain: true))
    }

    private static func online(_ engine: String = "a1", rules: String = "") -> EngineLeadership.Effect {
        let state = EngineState(isOnline: true, engine: engine, share: share, rules: rules)
        return .publish(MQTTMessage(topicName: "engines/2/state", payload: state.encoded(), qos: 1, retain: true))
    }

    private static func connected(_ engine: String = "a1", term: Int = 0) -> LeaderTalk {
        var talk = LeaderTalk(
            NumberedLeadership(EngineLeadership(engine: engine, share: share)), at: Instant(sinceBoot: .seconds(100)))
        talk.given(.start(term: term))
        talk.when(.connected, expect: .setTimer(talk.now + .seconds(5)))
        return talk
    }

    /// An engine that leads in term 1.
    private static func leading(_ engine: String = "a1") -> LeaderTalk {
        var talk = connected(engine)
        talk.wait(.seconds(5))
        talk.given(.timerFired)
        talk.given(claim(1, engine))
        talk.wait(.seconds(1))
        _ = confirm(&talk, claim(1, engine))
        return talk
    }

    /// The second of waiting is over, and the claim that the engine publishes then comes back.
    private static func confirm(_ talk: inout LeaderTalk, _ claim: EngineLeadership.Input) -> [EngineLeadership.Effect]
    {
        talk.given(.timerFired)
        return talk.given(claim)
    }

    /// An engine that stands by, while `a1` has led in term 7 for a minute.
    private static func standingBy() -> LeaderTalk {
        var talk = connected("a2")
        talk.given(claim(7))
        talk.given(state(true))
        for _ in 0..<20 {
            talk.wait(.seconds(3))
            talk.given(state(true))
        }
        return talk
    }

    // MARK: Claiming

    @Test("an engine that hears nothing for 5 s claims, claims again a second later, and leads when that comes back")
    func first() {
        var talk = Self.connected(term: 30)
        talk.wait(.seconds(5))
        talk.when(.timerFired, expect: .record(term: 31), Self.claims(31), .setTimer(talk.now + .seconds(1)))
        talk.when(Self.claim(31), expect: .nothing)
        talk.wait(.seconds(1))
        talk.when(.timerFired, expect: Self.claims(31), .setTimer(talk.now + .seconds(1)))
        talk.when(
            Self.claim(31), expect: .lead(term: 31, continues: false), Self.online(), .setTimer(talk.now + .seconds(3)))
    }

    @Test("a stand-by claims with a new term when the leader says that it is offline")
    func takeover() {
        var talk = Self.standingBy()
        talk.when(
            Self.state(false), expect: .record(term: 8), Self.claims(8, "a2"), .setTimer(talk.now + .seconds(1)))
        talk.when(Self.claim(8, "a2"), expect: .nothing)
        talk.wait(.seconds(1))
        talk.given(.timerFired)
        talk.when(
            Self.claim(8, "a2"), expect: .lead(term: 8, continues: false), Self.online("a2"),
            .setTimer(talk.now + .seconds(3)))
    }

    @Test("a stand-by claims when the leader is silent for 10 s")
    func silence() {
        var talk = Self.standingBy()
        talk.wait(.milliseconds(9_999))
        talk.given(.timerFired)
        #expect(talk.machine.state == .standingBy)
        talk.wait(.milliseconds(1))
        talk.when(.timerFired, expect: .record(term: 8), Self.claims(8, "a2"), .setTimer(talk.now + .seconds(1)))
    }

    @Test("a term of engines that is far above all others is ignored by a leader")
    func hugeTerm() {
        let (leap, huge) = (1 << 20, 1 << 53)
        var talk = Self.leading()
        talk.when(.heard(term: huge), expect: .anomaly("the term \(huge) is far above 1, and is ignored"))
        talk.when(
            Self.claim(huge, "a2"),
            expect: .anomaly("engines/2/leader: the term \(huge) is far above 1, and is ignored"))
        talk.when(
            .heard(term: 1 + leap), expect: .stop, .record(term: 2 + leap), Self.claims(2 + leap),
            .setTimer(talk.now + .seconds(1)))
    }

    @Test("an engine that was off for long believes the high term of the leader")
    func oldRecord() {
        var talk = Self.connected("a2", term: 1)
        talk.given(Self.claim(1 << 30))
        talk.given(Self.state(true))
        talk.wait(.seconds(3))
        talk.given(Self.state(false))
        #expect(talk.machine.highestTerm == 1 << 30 + 1)
    }

    @Test("the will of an engine that stands by does not count")
    func foreignWill() {
        var talk = Self.standingBy()
        talk.when(Self.state(false, "a3"), expect: .nothing)
        var leader = Self.leading()
        leader.when(Self.state(false, "a3"), expect: Self.online())
    }

    @Test("what an earlier process of this engine said online counts as offline")
    func restart() {
        var talk = Self.connected()
        talk.given(Self.claim(4))
        talk.when(Self.state(true), expect: .record(term: 5), Self.claims(5), .setTimer(talk.now + .seconds(1)))
    }

    @Test("after another's claim, none follows for 2.5 s")
    func pause() {
        var talk = Self.connected("a2")
        talk.given(Self.claim(7))
        let heard = talk.now
        talk.wait(.milliseconds(100))
        talk.when(Self.state(false), expect: .setTimer(heard + .milliseconds(2500)))
        talk.wait(.milliseconds(2400))
        talk.when(.timerFired, expect: .record(term: 8), Self.claims(8, "a2"), .setTimer(talk.now + .seconds(1)))
    }

    @Test("a leader that comes back in the pause goes on")
    func pauseEnds() {
        var talk = Self.connected("a2")
        talk.given(Self.claim(7))
        talk.given(Self.state(false))
        talk.given(Self.state(true))
        talk.wait(.seconds(9))
        talk.given(.timerFired)
        #expect(talk.machine.state == .standingBy)
    }

    @Test(
        "of two claims with one term, that of the greater name counts, in whichever order they arrive",
        arguments: [true, false])
    func sameTerm(isOursFirst: Bool) {
        var (small, great) = (Self.connected("a1"), Self.connected("a2"))
        small.wait(.seconds(5))
        great.wait(.seconds(5))
        small.given(.timerFired)
        great.given(.timerFired)
        let claims = [Self.claim(1, "a1", number: 1), Self.claim(1, "a2", number: 1)]
        for claim in isOursFirst ? claims : claims.reversed() {
            small.given(claim)
            great.given(claim)
        }
        #expect(small.machine.state == .standingBy)
        great.wait(.seconds(1))
        // It has claimed again because of the lower claim, and leads by the claim of a second later.
        great.given(Self.claim(1, "a2"))
        #expect(Self.confirm(&great, Self.claim(1, "a2")).first == .lead(term: 1, continues: false))
    }

    @Test("of two engines that claim at the same moment, that with the lower claim never leads, also if it was stopped")
    func sameTermWhileStopped() {
        var talk = Self.connected("a1")
        talk.wait(.seconds(5))
        talk.given(.timerFired)
        talk.given(Self.claim(1, "a1"))
        talk.wait(.seconds(3))
        let effects = talk.given(.timerFired) + talk.given(Self.claim(1, "a2")) + talk.given(Self.claim(1, "a1"))
        #expect(!effects.contains { if case .lead = $0 { true } else { false } })
        #expect(talk.machine.state == .standingBy)
    }

    @Test(
        "an engine waits for the patience of one with a lower claim of the same term that may lead, because it has claimed twice",
        arguments: 1...2)
    func rival(claims: Int) {
        var talk = Self.connected("a2")
        talk.wait(.seconds(5))
        talk.given(.timerFired)
        for number in 1...claims { talk.given(Self.claim(1, "a1", number: number)) }
        for _ in 0...claims { talk.given(Self.claim(1, "a2")) }
        talk.wait(.seconds(1))
        _ = Self.confirm(&talk, Self.claim(1, "a2"))
        #expect(talk.machine.state == (claims == 1 ? .leading : .claiming))
    }

    @Test(
        "an engine waits for the patience of one that has claimed twice in its term: that one has not heard its claim, or connected later",
        arguments: [[1, 2], [2]])
    func rivalAfterOurClaim(numbers: [Int]) {
        var talk = Self.connected("a2")
        talk.wait(.seconds(5))
        talk.given(.timerFired)
        talk.given(Self.claim(1, "a2"))
        for number in numbers { talk.given(Self.claim(1, "a1", number: number)) }
        let heard = talk.now
        Self.expectLead(&talk, term: 1, after: heard + .seconds(10))
    }

    // With a broker that keeps only the order of each publisher, each of two engines may hear its own claim first.
    @Test(
        "an engine waits for the patience of a former leader whose claim it hears after its own, unless that one says that it is offline",
        arguments: [false, true])
    func formerClaims(saysOffline: Bool) {
        var talk = Self.standingBy()
        talk.wait(.seconds(10))
        talk.given(.timerFired)
        talk.given(Self.claim(8, "a2"))
        talk.given(Self.claim(7, number: 5))
        if saysOffline {
            talk.given(Self.state(false))
            talk.given(Self.claim(8, "a2"))
            talk.wait(.seconds(1))
            #expect(Self.confirm(&talk, Self.claim(8, "a2")).first == .lead(term: 8, continues: false))
        } else {
            Self.expectLead(&talk, term: 8, after: talk.now + .seconds(10))
        }
    }

    // Others that have not heard that leader would not wait for it.
    @Test("an engine that waits for a leader and hears a higher claim does not say that it is offline")
    func givesWayWhileWaiting() {
        var talk = Self.standingBy()
        talk.wait(.seconds(10))
        talk.given(.timerFired)
        talk.given(Self.state(true))
        talk.given(Self.claim(8, "a2"))
        talk.wait(.seconds(1))
        _ = Self.confirm(&talk, Self.claim(8, "a2"))
        talk.when(Self.claim(9, "a3"), expect: .setTimer(talk.now + .seconds(10)))
    }

    @Test("of three stand-bys that claim at the same moment the one of the greatest name leads a second later")
    func threeRivals() {
        var engines = ["a1", "a2", "a3"].map { Self.connected($0) }
        var claims: [String] = []
        for place in engines.indices {
            engines[place].wait(.seconds(5))
            engines[place].given(.timerFired)
            claims.append("a\(place + 1)")
        }
        // The broker has each claim before the next one, and the first two engines answer before the third one's claim.
        for name in ["a1", "a2"] {
            for place in engines.indices {
                let effects = engines[place].given(Self.claim(1, name, number: 1))
                if effects.contains(Self.claims(1, "a2")) { claims.insert("a2", at: 2) }
            }
        }
        for name in claims.dropFirst(2) {
            for place in engines.indices { engines[place].given(Self.claim(1, name, number: 1)) }
        }
        for place in engines.indices { engines[place].wait(.seconds(1)) }
        engines[2].given(.timerFired)
        engines[2].given(Self.claim(1, "a3", number: 2))
        #expect(engines.map(\.machine.state) == [.standingBy, .standingBy, .leading])
    }

    @Test("an engine whose second claim does not come back any more is deaf after ten claims")
    func deafWhileClaiming() {
        var talk = Self.connected()
        talk.wait(.seconds(5))
        talk.given(.timerFired)
        talk.given(Self.claim(1))
        for _ in 0..<11 {
            talk.wait(.seconds(1))
            talk.given(.timerFired)
        }
        #expect(talk.machine.isDeaf)
        #expect(talk.machine.state == .standingBy)
    }

    @Test("an engine of whose claims the broker has dropped many leads by the first one that comes back")
    func droppedClaims() throws {
        var (talk, last) = Self.claimed()
        for _ in 0..<100 {
            talk.wait(.seconds(1))
            last = try #require(Self.echoes(talk.given(.timerFired), on: "leader").first)
            // A message of another engine, so this one does not take itself for deaf.
            talk.given(.received(topicName: "engines/2/leader", payload: []))
        }
        talk.given(last)
        #expect(talk.machine.state == .leading)
        #expect(talk.machine.term == 1)
    }

    @Test("messages of a stand-by that come back late do not make it claim while another engine is online")
    func ownLateMessages() {
        var talk = Self.leading("a2")
        talk.given(Self.claim(2, "a1"))
        talk.given(Self.state(true, "a1"))
        // It has sent these before it heard of the other engine.
        talk.given(Self.claim(1, "a2"))
        talk.given(Self.state(true, "a2"))
        talk.wait(.milliseconds(2500))
        talk.given(.timerFired)
        #expect(talk.machine.state == .standingBy)
    }

    @Test("an engine does not lead while the last claim is not its own")
    func lateEcho() {
        var talk = Self.connected()
        talk.wait(.seconds(5))
        talk.given(.timerFired)
        talk.wait(.seconds(1))
        talk.when(.timerFired, expect: Self.claims(1), .setTimer(talk.now + .seconds(1)))
    }

    @Test("a new term is above that of claims, the own disk, and the cursors and hellos of sites")
    func terms() {
        var talk = Self.connected(term: 3)
        talk.given(.heard(term: 11))
        talk.wait(.seconds(5))
        #expect(talk.given(.timerFired).first == .record(term: 12))
        talk.when(
            .heard(term: 20), expect: .record(term: 21), Self.claims(21))
    }

    // MARK: Copies of messages

    /// An engine that has claimed for the first time, and its claim as the broker sends it.
    private static func claimed(
        _ engine: String = "a1"
    ) -> (talk: CopyTalk, claim: EngineLeadership.Input) {
        var talk = CopyTalk(EngineLeadership(engine: engine, share: share), at: Instant(sinceBoot: .seconds(100)))
        talk.given(.start(term: 0))
        talk.given(.connected)
        talk.wait(.seconds(5))
        let claims = echoes(talk.given(.timerFired), on: "leader")
        return (talk, claims.first ?? .disconnected)
    }

    /// What an engine has published on a topic, as the broker sends it.
    private static func echoes(
        _ effects: [EngineLeadership.Effect], on topic: String
    ) -> [EngineLeadership.Input] {
        effects.compactMap {
            guard case .publish(let message) = $0, message.topicName == share.topic + "/" + topic else { return nil }
            return .received(topicName: message.topicName, payload: message.payload)
        }
    }

    @Test("a second copy of the first claim, which the broker sends for another subscription, is not the second claim")
    func copyOfClaim() throws {
        var (talk, first) = Self.claimed()
        talk.given(first)
        talk.wait(.seconds(1))
        let second = try #require(Self.echoes(talk.given(.timerFired), on: "leader").first)
        talk.given(first)
        #expect(talk.machine.state == .claiming)
        talk.given(second)
        #expect(talk.machine.state == .leading)
    }

    @Test("a claim that comes as a retained one, and so may be a copy for another subscription, has not come back")
    func retainedCopyOfClaim() throws {
        var (talk, first) = Self.claimed()
        talk.given(first)
        talk.wait(.seconds(1))
        let second = try #require(Self.echoes(talk.given(.timerFired), on: "leader").first)
        guard case .received(let name, let payload, _) = second else { return }
        talk.given(.received(topicName: name, payload: payload, isRetained: true))
        #expect(talk.machine.state == .claiming)
        talk.given(second)
        #expect(talk.machine.state == .leading)
    }

    @Test("a second copy of a state that was said before does not extend the lease")
    func copyOfState() throws {
        var (talk, first) = Self.claimed()
        talk.given(first)
        talk.wait(.seconds(1))
        let second = try #require(Self.echoes(talk.given(.timerFired), on: "leader").first)
        let state = try #require(Self.echoes(talk.given(second), on: "state").first)
        let said = talk.now
        talk.given(state)
        talk.wait(.seconds(3))
        talk.given(.timerFired)
        talk.given(state)
        talk.wait(said + .seconds(10) - talk.now)
        #expect(talk.machine.hasLapsed(at: talk.now))
    }

    @Test("a fenced leader that hears two copies of its retained claim publishes it once")
    func copiesOfRetainedClaim() throws {
        var (talk, first) = Self.claimed()
        talk.given(first)
        talk.wait(.seconds(1))
        let second = try #require(Self.echoes(talk.given(.timerFired), on: "leader").first)
        talk.given(second)
        talk.given(.disconnected)
        talk.given(.connected)
        let claims = Self.echoes(talk.given(second) + talk.given(second), on: "leader")
        #expect(claims.count == 1)
        #expect(talk.machine.state == .fenced)
        for claim in claims { talk.given(claim) }
        #expect(talk.machine.state == .leading)
    }

    @Test("a second copy of a rival's first claim is not its second one, after which it might lead")
    func copyOfRivalClaim() throws {
        let (_, rival) = Self.claimed("a1")
        var (talk, first) = Self.claimed("a2")
        for claim in [rival, rival, first, first] { talk.given(claim) }
        talk.wait(.seconds(1))
        let second = try #require(Self.echoes(talk.given(.timerFired), on: "leader").first)
        talk.given(second)
        #expect(talk.machine.state == .leading)
    }

    @Test("two copies of what an engine with our name has said before it ended are no running engine")
    func copiesOfNamesake() {
        var (talk, _) = Self.claimed()
        let state = EngineState(isOnline: true, engine: "a1", installation: "ff", share: Self.share)
        for _ in 0..<2 {
            let effects = talk.given(
                .received(topicName: "engines/2/state", payload: state.encoded(), isRetained: true))
            #expect(!effects.contains(.namesake(installation: "ff")))
        }
    }

    @Test("states and claims of an engine of an earlier version, without a number, are read")
    func withoutNumbers() throws {
        let state = Array(#"{"state":"online","engine":"a1","share":"2 of 4","rules":"r1"}"#.utf8)
        #expect(try EngineState(parsing: state).isOnline)
        var talk = CopyTalk(EngineLeadership(engine: "a2", share: Self.share), at: Instant(sinceBoot: .seconds(100)))
        talk.given(.start(term: 0))
        talk.given(.connected)
        talk.given(
            .received(
                topicName: "engines/2/leader", payload: Array(#"{"term":7,"engine":"a1"}"#.utf8), isRetained: true)
        )
        talk.given(.received(topicName: "engines/2/state", payload: state, isRetained: true))
        #expect(talk.machine.state == .standingBy && talk.machine.highestTerm == 7)
    }

    // MARK: Access rules that let an engine write and not read

    /// A message without content on the topic of the claims, which is not retained.
    private static let probe = EngineLeadership.Effect.publish(
        MQTTMessage(topicName: "engines/2/leader", payload: [], qos: 1, retain: false))
    /// The same from the broker.
    private static let probeHeard = EngineLeadership.Input.received(topicName: "engines/2/leader", payload: [])

    private static func offline(_ engine: String = "a1") -> EngineLeadership.Effect {
        let state = EngineState(isOnline: false, engine: engine, share: share)
        return .publish(MQTTMessage(topicName: "engines/2/state", payload: state.encoded(), qos: 1, retain: true))
    }

    /// An engine whose claims do not come back, and which has claimed ten times.
    private static func deaf(hearing term: Int? = nil) -> (talk: LeaderTalk, last: [EngineLeadership.Effect]) {
        var talk = connected()
        talk.wait(.seconds(5))
        talk.given(.timerFired)
        // The engine that led has not heard of our claim when it publishes its last cursors.
        if let term { talk.given(.heard(term: term)) }
        for _ in 0..<9 {
            talk.wait(.seconds(1))
            talk.given(.timerFired)
        }
        talk.wait(.seconds(1))
        let last = talk.given(.timerFired)
        return (talk, last)
    }

    @Test(
        "an engine that does not hear its claims for 10 s claims no more, says that it is offline, and reports it",
        arguments: [nil, 40])
    func deaf(term: Int?) {
        var (talk, last) = Self.deaf(hearing: term)
        #expect(
            last == [.deaf(true), Self.offline(), Self.probe, .setTimer(talk.now + .seconds(10))])
        #expect(talk.machine.isDeaf && talk.machine.state == .standingBy)
        // Neither silence nor the claims of messages by the good leader make it claim.
        talk.when(.heard(term: 50), expect: .nothing)
        for _ in 0..<5 {
            talk.wait(.seconds(10))
            talk.when(.timerFired, expect: Self.probe, .setTimer(talk.now + .seconds(10)))
        }
        #expect(talk.machine.isDeaf)
    }

    @Test("it does not claim on its next connection either before it hears something, and asks the broker for that")
    func deafAgain() {
        var (talk, _) = Self.deaf()
        talk.when(.disconnected, expect: .cancelTimer)
        talk.when(.connected, expect: Self.probe, .setTimer(talk.now + .seconds(5)))
        for _ in 0..<6 {
            talk.wait(.seconds(5))
            #expect(!talk.given(.timerFired).contains { if case .record = $0 { true } else { false } })
        }
    }

    @Test("when its own message comes back, it waits whether another engine leads, and claims if none does")
    func hearsAgain() {
        var (talk, _) = Self.deaf()
        talk.when(Self.probeHeard, expect: .deaf(false))
        #expect(!talk.machine.isDeaf)
        talk.wait(.milliseconds(9_999))
        talk.given(.timerFired)
        #expect(talk.machine.state == .standingBy)
        talk.wait(.milliseconds(1))
        talk.when(.timerFired, expect: .record(term: 2), Self.claims(2), .setTimer(talk.now + .seconds(1)))
    }

    @Test("an engine that hears the leader again stands by for it, and says that it could lead")
    func hearsLeader() {
        var (talk, _) = Self.deaf()
        talk.when(Self.claim(3, "a2"), expect: .deaf(false))
        let presence = EnginePresence(claim: EngineTerm(term: 3, engine: "a1"), share: Self.share)
        talk.when(
            Self.state(true, "a2"),
            expect: .publish(
                MQTTMessage(topicName: "engines/2/standby", payload: presence.encoded(), qos: 1, retain: false)),
            .setTimer(talk.now + .seconds(3)))
        #expect(talk.machine.state == .standingBy)
    }

    @Test("a stand-by that may write claims and not read them stops a good leader once, which leads again")
    func deafStandBy() {
        var good = Self.leading("a1")
        var deaf = Self.connected("a2")
        var stops = 0
        for _ in 0..<600 {
            good.wait(.milliseconds(100))
            deaf.wait(.milliseconds(100))
            var effects = good.given(.timerFired) + deaf.given(.timerFired)
            // What the leader claims of sites has its term, and these topics may be read.
            if good.machine.isLeading { effects += deaf.given(.heard(term: good.machine.term)) }
            while !effects.isEmpty {
                var answers: [EngineLeadership.Effect] = []
                for effect in effects {
                    if effect == .stop { stops += 1 }
                    guard case .publish(let message) = effect else { continue }
                    answers += good.given(.received(topicName: message.topicName, payload: message.payload))
                }
                effects = answers
            }
        }
        #expect(good.machine.isLeading && deaf.machine.isDeaf)
        #expect(stops == 1)
    }

    /// An engine that hears that `a1` is online, and no claim.
    private static func hearsOnlyStates() -> LeaderTalk {
        var talk = connected("a2")
        talk.when(state(true), expect: probe, .setTimer(talk.now + .seconds(10)))
        return talk
    }

    /// The leader says for some seconds that it is online.
    private static func goOn(_ talk: inout LeaderTalk, for seconds: Int) -> [EngineLeadership.Effect] {
        (0..<seconds).flatMap { second in
            talk.wait(.seconds(1))
            return talk.given(.timerFired) + (second % 3 == 0 ? talk.given(state(true)) : [])
        }
    }

    @Test("a stand-by that hears states and no claims asks the broker for its own message, and is deaf without it")
    func hearsNoClaims() {
        var talk = Self.hearsOnlyStates()
        #expect(!Self.goOn(&talk, for: 19).contains(.deaf(true)))
        #expect(Self.goOn(&talk, for: 1).contains(.deaf(true)))
        #expect(talk.machine.isDeaf && talk.machine.state == .standingBy)
        // When the leader is gone, it does not claim.
        let effects = talk.given(Self.state(false)) + Self.goOn(&talk, for: 1)
        #expect(!effects.contains { if case .record = $0 { true } else { false } })
        talk.when(Self.probeHeard, expect: .deaf(false), .setTimer(talk.now + .seconds(10)))
    }

    @Test("a stand-by whose message comes back is not deaf, and asks no more on this connection")
    func hearsItself() {
        var talk = Self.hearsOnlyStates()
        talk.given(Self.probeHeard)
        #expect(!Self.goOn(&talk, for: 60).contains(Self.probe))
        #expect(!talk.machine.isDeaf)
        talk.given(.disconnected)
        talk.given(.connected)
        #expect(talk.given(Self.state(true)).contains(Self.probe))
    }

    @Test("a stand-by that was stopped while it waits for its message, or hears what is retained, is not deaf")
    func slowProbe() {
        var stopped = Self.hearsOnlyStates()
        stopped.wait(.seconds(60))
        stopped.given(.timerFired)
        #expect(!stopped.machine.isDeaf)
        var busy = Self.hearsOnlyStates()
        for _ in 0..<6 {
            _ = Self.goOn(&busy, for: 10)
            #expect(busy.machine.missesClaims)
            busy.given(.backlog)
        }
        #expect(!busy.machine.isDeaf)
    }

    @Test("an engine whose claims come back late, behind much else, claims until it hears them, and then leads")
    func slowClaim() {
        var talk = Self.connected()
        talk.wait(.seconds(5))
        talk.given(.timerFired)
        for _ in 0..<9 {
            talk.wait(.seconds(1))
            talk.when(.timerFired, expect: Self.claims(1), .setTimer(talk.now + .seconds(1)))
        }
        // It may have been stopped and have published all of them at the same moment, so it leads by none of them.
        for _ in 0..<10 { talk.given(Self.claim(1)) }
        #expect(talk.machine.state == .claiming)
        talk.wait(.seconds(1))
        talk.when(.timerFired, expect: Self.claims(1), .setTimer(talk.now + .seconds(1)))
        #expect(talk.given(Self.claim(1)).first == .lead(term: 1, continues: false))
    }

    @Test("an engine whose claims come back behind a long backlog of retained messages is not deaf")
    func backlog() {
        var talk = Self.connected()
        talk.wait(.seconds(5))
        talk.given(.timerFired)
        for _ in 0..<30 {
            talk.wait(.seconds(1))
            talk.when(.timerFired, expect: Self.claims(1), .setTimer(talk.now + .seconds(1)))
            #expect(talk.machine.missesClaims)
            talk.when(.backlog, expect: .nothing)
        }
        #expect(!talk.machine.isDeaf && !talk.machine.missesClaims)
    }

    @Test("an engine that was stopped while it claimed has not missed its claims")
    func stoppedWhileClaiming() {
        var talk = Self.connected()
        talk.wait(.seconds(5))
        talk.given(.timerFired)
        talk.wait(.seconds(60))
        talk.when(.timerFired, expect: Self.claims(1), .setTimer(talk.now + .seconds(1)))
        #expect(!talk.machine.isDeaf)
    }

    // MARK: Leading

    @Test("a leader says online every 3 s")
    func repeats() {
        var talk = Self.leading()
        for _ in 0..<3 {
            talk.wait(.seconds(3))
            talk.when(.timerFired, expect: Self.online(), .setTimer(talk.now + .seconds(3)))
            talk.given(Self.state(true))
        }
    }

    // MARK: Patience

    @Test("a leader whose states do not come back acts on nothing after its patience, until its claim comes back")
    func lease() {
        var talk = Self.leading()
        for _ in 0..<3 {
            talk.wait(.seconds(3))
            talk.given(.timerFired)
        }
        talk.wait(.milliseconds(999))
        talk.given(.timerFired)
        #expect(talk.machine.state == .leading)
        talk.wait(.milliseconds(1))
        talk.when(.timerFired, expect: .fence, Self.claims(1), .setTimer(talk.now + .seconds(10)))
        #expect(talk.machine.state == .fenced)
        talk.when(
            Self.claim(1), expect: .lead(term: 1, continues: true), Self.online(), .setTimer(talk.now + .seconds(3)))
    }

    @Test("the lease counts from when the state was said, and not from when it came back")
    func slowEcho() {
        var talk = Self.leading()
        talk.wait(.seconds(3))
        talk.given(.timerFired)
        talk.given(Self.state(true))
        talk.wait(.seconds(2))
        talk.given(Self.state(true))
        talk.wait(.milliseconds(7_999))
        #expect(!talk.machine.hasLapsed(at: talk.now))
        talk.wait(.milliseconds(1))
        #expect(talk.machine.hasLapsed(at: talk.now))
    }

    @Test("the lease of a leader that was silent counts from when it sent the claim that has come back")
    func slowClaimOfLeader() {
        var talk = Self.leading()
        talk.wait(.seconds(10))
        talk.given(.timerFired)
        let claimed = talk.now
        talk.wait(.seconds(6))
        talk.given(Self.claim(1))
        #expect(talk.machine.state == .leading)
        // Others have heard the claim when it was sent, perhaps, and wait for a second more than the patience.
        talk.wait(claimed + .milliseconds(10_999) - talk.now)
        #expect(!talk.machine.hasLapsed(at: talk.now))
        talk.wait(.milliseconds(1))
        #expect(talk.machine.hasLapsed(at: talk.now))
    }

    @Test("a leader that was silent does not go on when a claim comes back that it sent too long ago")
    func oldClaimOfLeader() {
        var talk = Self.leading()
        // It has claimed again because of the claim of another engine, and the broker is slow.
        talk.given(Self.claim(0, "a0"))
        talk.wait(.seconds(12))
        talk.when(.timerFired, expect: .fence, Self.claims(1), .setTimer(talk.now + .seconds(10)))
        talk.when(Self.claim(1), expect: .nothing)
        #expect(talk.machine.state == .fenced)
        talk.when(
            Self.claim(1), expect: .lead(term: 1, continues: true), Self.online(), .setTimer(talk.now + .seconds(3)))
    }

    /// The engine `a2` claims each second until this time, so that other engines do not count it as silent, and leads soon after it.
    private static func expectLead(_ talk: inout LeaderTalk, term: Int, after time: Instant) {
        while talk.now < time {
            talk.wait(.milliseconds(500))
            if talk.given(.timerFired).contains(claims(term, "a2")) { talk.given(claim(term, "a2")) }
            #expect(talk.machine.state == .claiming)
        }
        talk.wait(.seconds(2))
        let effects = confirm(&talk, claim(term, "a2")) + talk.given(claim(term, "a2"))
        #expect(effects.contains(.lead(term: term, continues: false)))
    }

    // The broker has these messages before our claim, so their engine may act until its patience is over, although it hears our claim
    // late.
    @Test(
        "an engine that hears the former leader before its own claim does not lead before that one's patience is over",
        arguments: [claim(7), state(true)])
    func formerIsAlive(sign: EngineLeadership.Input) {
        var talk = Self.standingBy()
        talk.wait(.seconds(10))
        talk.given(.timerFired)
        talk.wait(.milliseconds(500))
        talk.given(sign)
        let heard = talk.now
        talk.given(Self.claim(8, "a2"))
        Self.expectLead(&talk, term: 8, after: heard + .seconds(10))
    }

    @Test("an engine that claims again in a higher term waits for a leader that it hears before that claim")
    func formerIsAliveInHigherTerm() {
        var talk = Self.standingBy()
        talk.wait(.seconds(10))
        talk.given(.timerFired)
        talk.given(Self.claim(8, "a2"))
        // The other engine has led in term 9 meanwhile, and a site's message shows that.
        #expect(talk.given(.heard(term: 9)).contains(.record(term: 10)))
        talk.given(Self.state(true))
        let heard = talk.now
        talk.given(Self.claim(10, "a2"))
        Self.expectLead(&talk, term: 10, after: heard + .seconds(10))
    }

    @Test("it leads a second after its claim if the former leader is offline then, or was heard after the claim")
    func formerIsGone() {
        var talk = Self.standingBy()
        talk.wait(.seconds(10))
        talk.given(.timerFired)
        talk.given(Self.state(true))
        talk.given(Self.claim(8, "a2"))
        talk.given(Self.state(false))
        talk.wait(.seconds(1))
        #expect(Self.confirm(&talk, Self.claim(8, "a2")).first == .lead(term: 8, continues: false))
        var other = Self.standingBy()
        other.wait(.seconds(10))
        other.given(.timerFired)
        other.given(Self.claim(8, "a2"))
        other.given(Self.state(true))
        other.wait(.seconds(1))
        #expect(Self.confirm(&other, Self.claim(8, "a2")).first == .lead(term: 8, continues: false))
    }

    @Test("that one of several former leaders is offline says nothing about the others")
    func severalFormers() {
        var talk = Self.connected("a3")
        talk.given(Self.claim(7))
        talk.given(Self.state(true))
        talk.wait(.seconds(10))
        talk.given(.timerFired)
        talk.given(Self.state(true))
        talk.given(Self.state(true, "a2"))
        talk.given(Self.state(false, "a2"))
        talk.given(Self.claim(8, "a3"))
        talk.wait(.seconds(1))
        _ = Self.confirm(&talk, Self.claim(8, "a3"))
        #expect(talk.machine.state == .claiming)
    }

    @Test("an engine that was stopped after its claim came back claims again, because another one may lead by then")
    func stoppedBeforeLeading() {
        var talk = Self.connected()
        talk.wait(.seconds(5))
        talk.given(.timerFired)
        talk.given(Self.claim(1))
        talk.wait(.seconds(11))
        talk.when(.timerFired, expect: Self.claims(1), .setTimer(talk.now + .seconds(1)))
        #expect(talk.machine.state == .claiming)
        #expect(talk.given(Self.claim(1)).first == .lead(term: 1, continues: false))
    }

    @Test("the lease of an engine that leads late counts from when it sent the claim that has come back")
    func leadsLate() {
        var talk = Self.connected()
        talk.wait(.seconds(5))
        talk.given(.timerFired)
        talk.given(Self.claim(1))
        talk.wait(.seconds(1))
        talk.given(.timerFired)
        let claimed = talk.now
        talk.wait(.seconds(7))
        #expect(talk.given(Self.claim(1)).first == .lead(term: 1, continues: false))
        talk.wait(claimed + .milliseconds(10_999) - talk.now)
        #expect(!talk.machine.hasLapsed(at: talk.now))
        talk.wait(.milliseconds(1))
        #expect(talk.machine.hasLapsed(at: talk.now))
    }

    @Test("a leader that was stopped and finds another one's claim stands by")
    func lapsed() {
        var talk = Self.leading()
        talk.wait(.seconds(30))
        talk.when(
            Self.claim(2, "a2"), expect: .fence, Self.claims(1), .stop, Self.offline(),
            .setTimer(talk.now + .seconds(10)))
        #expect(talk.machine.state == .standingBy)
    }

    @Test("if the claim does not come back either, it claims anew, and what ran ends")
    func lost() {
        var talk = Self.leading()
        talk.wait(.seconds(10))
        talk.given(.timerFired)
        talk.wait(.seconds(10))
        talk.when(.timerFired, expect: .stop, .record(term: 2), Self.claims(2), .setTimer(talk.now + .seconds(1)))
    }

    @Test("a stand-by waits as long as the leader says, and a leader says so if that is not the standard")
    func patience() throws {
        let patience = EnginePatience(.seconds(3))
        let state = EngineState(isOnline: true, engine: "a1", share: Self.share, patience: patience)
        #expect(try EngineState(parsing: state.encoded()) == state)
        #expect(String(decoding: state.encoded(), as: UTF8.self).contains(#""patience_ms":3000"#))
        var talk = Self.connected("a2")
        talk.given(Self.claim(7))
        talk.given(.received(topicName: "engines/2/state", payload: state.encoded()))
        talk.wait(.milliseconds(2_999))
        talk.given(.timerFired)
        #expect(talk.machine.state == .standingBy)
        talk.wait(.milliseconds(1))
        #expect(talk.given(.timerFired).contains(.record(term: 8)))
    }

    @Test("a broker ends the connection of a silent engine soon, but libmosquitto takes no keep-alive below 5 s")
    func keepAlive() {
        #expect(EnginePatience(.seconds(2)).keepAlive == .seconds(5))
        #expect(EnginePatience.standard.keepAlive == .seconds(5))
        #expect(EnginePatience(.seconds(60)).keepAlive == .seconds(30))
        #expect(EnginePatience(.seconds(1)).limit == .seconds(2) && EnginePatience(.seconds(61)).limit == .seconds(60))
        #expect(EnginePatience.standard.stateInterval == .seconds(3))
        #expect(EnginePatience.standard.presenceLimit == .seconds(7))
    }

    @Test(
        "a leader that hears a higher term, or its own with a greater name, stops at once, and says that it is offline",
        arguments: [(2, "a0"), (1, "a2")])
    func outbid(term: Int, engine: String) {
        var talk = Self.leading()
        talk.when(
            Self.claim(term, engine), expect: .stop, Self.offline(), .setTimer(talk.now + .seconds(10)))
        #expect(talk.machine.state == .standingBy)
    }

    @Test("a leader that hears a lower claim, or that another one is online, publishes its own again")
    func lowerClaim() {
        var talk = Self.leading("a2")
        talk.when(Self.claim(1, "a1"), expect: Self.claims(1, "a2"))
        talk.when(Self.state(true, "a1"), expect: Self.claims(1, "a2"))
    }

    @Test("a leader that hears of a higher term from a site goes on, and raises its term with its next state")
    func sitesKnowMore() {
        var talk = Self.leading()
        talk.when(.sitesHeard(term: 9), expect: .nothing)
        talk.wait(.seconds(3))
        talk.when(
            .timerFired, expect: .record(term: 10), Self.claims(10), .lead(term: 10, continues: true), Self.online(),
            .setTimer(talk.now + .seconds(3)))
        talk.when(Self.claim(10), expect: .nothing)
        talk.when(.sitesHeard(term: 1 << 53), expect: .nothing)
        talk.wait(.seconds(3))
        #expect(talk.given(.timerFired).first == .record(term: 11 + 1 << 20))
    }

    @Test("a site cannot postpone that an engine leads")
    func sitesWhileClaiming() {
        var talk = Self.connected()
        talk.wait(.seconds(5))
        talk.given(.timerFired)
        talk.given(Self.claim(1))
        for term in 2...10 {
            talk.wait(.milliseconds(100))
            talk.when(.sitesHeard(term: term), expect: .nothing)
        }
        talk.wait(.milliseconds(100))
        #expect(Self.confirm(&talk, Self.claim(1)).first == .lead(term: 1, continues: false))
    }

    // MARK: Ending in order

    private static func presence(
        _ engine: String, term: Int, rules: String = "", share: EngineShare = share
    ) -> EngineLeadership.Input {
        let presence = EnginePresence(claim: EngineTerm(term: term, engine: engine), rules: rules, share: share)
        return .received(topicName: "engines/2/standby", payload: presence.encoded())
    }

    @Test("a stand-by says every 3 s that it could lead, while the leader is online")
    func presence() {
        var talk = Self.connected("a2")
        talk.given(Self.claim(7))
        let presence = EnginePresence(claim: EngineTerm(term: 7, engine: "a2"), share: Self.share)
        let message = MQTTMessage(
            topicName: "engines/2/standby", payload: presence.encoded(), qos: 1, retain: false)
        talk.when(Self.state(true), expect: .publish(message), .setTimer(talk.now + .seconds(3)))
        talk.wait(.seconds(3))
        #expect(talk.given(.timerFired).contains(.publish(message)))
    }

    @Test("a stand-by whose timer fires late claims, and does not say online")
    func lateTimer() {
        var talk = Self.standingBy()
        talk.wait(.seconds(9))
        talk.given(.timerFired)
        // The silence of the leader is due after 10 s, and the next presence after 12 s.
        talk.wait(.seconds(4))
        talk.when(.timerFired, expect: .record(term: 8), Self.claims(8, "a2"), .setTimer(talk.now + .seconds(1)))
    }

    @Test("a leader that ends in order claims for its stand-by, which leads when its own claim comes back")
    func handOver() {
        var leader = Self.leading()
        leader.given(Self.presence("a2", term: 1))
        leader.when(.resign, expect: .stop, Self.claims(2, "a2"), .setTimer(leader.now + .seconds(10)))
        var talk = Self.standingBy()
        talk.when(
            Self.claim(8, "a2"), expect: .record(term: 8), Self.claims(8, "a2"), .setTimer(talk.now + .seconds(1)))
        talk.when(
            Self.claim(8, "a2"), expect: .lead(term: 8, continues: false), Self.online("a2"),
            .setTimer(talk.now + .seconds(3)))
    }

    @Test("the claim that a leader makes for its stand-by has the number 1, by which nobody leads")
    func handOverNumber() {
        var (leader, claim) = Self.claimed()
        leader.given(claim)
        leader.wait(.seconds(1))
        for claim in Self.echoes(leader.given(.timerFired), on: "leader") { leader.given(claim) }
        #expect(leader.machine.isLeading)
        leader.given(Self.presence("a2", term: 1))
        #expect(Self.echoes(leader.given(.resign), on: "leader") == [Self.claim(2, "a2", number: 1)])
    }

    @Test("a stand-by that receives the leader's last claim late does not lead before an engine that has claimed since")
    func lateHandOver() {
        var talk = Self.standingBy()
        let effects =
            talk.given(Self.claim(8, "a2")) + talk.given(Self.claim(9, "a3"))
            + talk.given(Self.claim(8, "a2"))
        #expect(!effects.contains { if case .lead = $0 { true } else { false } })
        #expect(talk.machine.state == .standingBy)
    }

    @Test("an engine for which the leader has claimed does not take the leader for gone when it stands by again")
    func vacantAtHandOver() {
        var talk = Self.connected("a2")
        talk.given(Self.claim(7))
        talk.given(Self.state(true))
        talk.given(Self.state(false))
        talk.given(Self.claim(8, "a2"))
        talk.given(Self.claim(9))
        talk.wait(.seconds(3))
        talk.given(.canRecord(false))
        talk.given(.canRecord(true))
        #expect(talk.machine.state == .standingBy)
    }

    @Test("a leader that ends claims for its stand-by with a term that this one does not know yet")
    func handOverAboveStandBy() {
        var leader = Self.leading()
        // The stand-by has recorded higher terms, of claims that the broker never had.
        leader.given(Self.presence("a2", term: 5))
        #expect(leader.given(.resign).contains(Self.claims(6, "a2")))
    }

    @Test(
        "a leader without a stand-by, or whose stand-by was not heard for 7 s, says that it is offline",
        arguments: [true, false])
    func noStandBy(hadOne: Bool) {
        var leader = Self.leading()
        if hadOne { leader.given(Self.presence("a2", term: 1)) }
        leader.wait(.seconds(7))
        let offline = EngineState(isOnline: false, engine: "a1", share: Self.share)
        let message = MQTTMessage(topicName: "engines/2/state", payload: offline.encoded(), qos: 1, retain: true)
        leader.when(.resign, expect: .stop, .publish(message), .setTimer(leader.now + .seconds(10)))
    }

    @Test("a claim in our name that is retained from an earlier process is no reason to lead at once")
    func retainedClaim() {
        var talk = Self.connected("a2", term: 3)
        talk.when(Self.claim(8, "a2"), expect: .nothing)
        #expect(talk.machine.state == .standingBy)
    }

    @Test("an engine that can record nothing hands over, claims nothing, and refuses to lead for another")
    func cannotRecord() {
        var talk = Self.leading()
        talk.given(.canRecord(false))
        #expect(talk.machine.state == .standingBy)
        talk.given(Self.state(false))
        talk.wait(.seconds(60))
        talk.when(.timerFired, expect: .nothing)
        talk.when(.canRecord(true), expect: .record(term: 2), Self.claims(2), .setTimer(talk.now + .seconds(1)))
        var other = Self.standingBy()
        other.given(.canRecord(false))
        #expect(!other.given(Self.claim(8, "a2")).contains(.lead(term: 8, continues: false)))
        #expect(other.machine.state == .standingBy)
    }

    @Test("an engine that can record nothing does not wait for the end of the pause after another claim")
    func cannotRecordInPause() {
        var talk = Self.connected("a2")
        talk.given(Self.claim(7))
        talk.when(Self.state(false), expect: .setTimer(talk.now + .milliseconds(2500)))
        talk.when(.canRecord(false), expect: .cancelTimer)
        talk.when(.canRecord(true), expect: .setTimer(talk.now + .milliseconds(2500)))
    }

    // MARK: Namesakes

    @Test("of two engines with one name, the second stands by, reports it, and takes over as any stand-by")
    func namesake() {
        var talk = LeaderTalk(
            NumberedLeadership(EngineLeadership(engine: "a1", installation: "aa", share: Self.share)),
            at: Instant(sinceBoot: .seconds(100)))
        func state(_ isOnline: Bool, isRetained: Bool = false) -> EngineLeadership.Input {
            let state = EngineState(isOnline: isOnline, engine: "a1", installation: "ff", share: Self.share)
            return .received(topicName: "engines/2/state", payload: state.encoded(), isRetained: isRetained)
        }
        talk.given(.start(term: 0))
        talk.given(.connected)
        talk.given(
            .received(
                topicName: "engines/2/leader",
                payload: EngineTerm(term: 7, engine: "a1", installation: "ff").encoded()))
        #expect(!talk.given(state(true, isRetained: true)).contains(.namesake(installation: "ff")))
        talk.wait(.seconds(3))
        #expect(talk.given(state(true)).contains(.namesake(installation: "ff")))
        talk.wait(.seconds(3))
        #expect(!talk.given(state(true)).contains(.namesake(installation: "ff")))
        #expect(talk.machine.state == .standingBy)
        talk.given(state(false))
        #expect(talk.machine.state == .claiming)
        talk.wait(.seconds(10))
        #expect(talk.given(.timerFired).contains(.namesake(installation: nil)))
    }

    // MARK: Fenced

    @Test("a leader that loses its connection acts on nothing, and goes on if its claim is still retained")
    func fence() {
        var talk = Self.leading()
        talk.when(.disconnected, expect: .fence, .cancelTimer)
        talk.wait(.seconds(60))
        talk.when(.connected, expect: .setTimer(talk.now + .milliseconds(1500)))
        talk.when(Self.state(false), expect: .nothing)
        talk.when(Self.claim(1), expect: Self.claims(1), .setTimer(talk.now + .seconds(10)))
        talk.when(
            Self.claim(1), expect: .lead(term: 1, continues: true), Self.online(), .setTimer(talk.now + .seconds(3)))
    }

    @Test("a leader that receives its retained claim late does not lead before an engine that has claimed since")
    func lateRetainedClaim() {
        var talk = Self.leading()
        talk.given(.disconnected)
        talk.given(.connected)
        // The process was stopped. Another engine has claimed because of the will, and leads by now.
        talk.wait(.seconds(3))
        talk.when(Self.claim(1), expect: Self.claims(1), .setTimer(talk.now + .seconds(10)))
        talk.when(Self.claim(2, "a2"), expect: .stop, Self.offline())
    }

    @Test("a fenced leader goes on when its claim comes back after 9 s, behind what the broker sends about many sites")
    func fencedBehindBacklog() {
        var talk = Self.leading()
        talk.given(.disconnected)
        talk.given(.connected)
        talk.given(Self.claim(1))
        for _ in 0..<3 {
            talk.wait(.seconds(3))
            talk.given(.timerFired)
        }
        let effects = talk.given(Self.claim(1))
        #expect(effects.contains(.lead(term: 1, continues: true)))
        #expect(talk.machine.state == .leading)
    }

    @Test("a second copy of the retained claim does not make a fenced leader go on")
    func copyOfRetainedClaim() {
        var talk = Self.leading()
        talk.given(.disconnected)
        talk.given(.connected)
        for _ in 0..<2 { talk.given(Self.retained(1, "a1")) }
        #expect(talk.machine.state == .fenced)
        talk.given(Self.claim(1))
        #expect(talk.machine.state == .leading)
    }

    // The broker has forgotten our claim, or that engine was not connected when it had it.
    @Test(
        "a fenced leader that hears another engine claim for the second time below its own claim claims anew, and waits for it",
        arguments: 1...2)
    func fencedBesideLeader(number: Int) {
        var talk = Self.leading("a2")
        talk.given(.disconnected)
        talk.given(.connected)
        talk.given(Self.claim(1, "a2"))
        let effects = talk.given(Self.claim(1, "a1", number: number))
        guard number > 1 else {
            #expect(talk.machine.state == .fenced)
            return
        }
        #expect(effects.prefix(3) == [.stop, .record(term: 2), Self.claims(2, "a2")])
        talk.given(Self.claim(1, "a2"))
        talk.given(Self.claim(2, "a2"))
        Self.expectLead(&talk, term: 2, after: talk.now + .seconds(10))
    }

    @Test("a fenced leader that was replaced stops")
    func replaced() {
        var talk = Self.leading()
        talk.given(.disconnected)
        talk.given(.connected)
        talk.when(Self.claim(2, "a2"), expect: .stop, .setTimer(talk.now + .seconds(10)))
    }

    @Test(
        "a fenced leader that finds no claim, or an older one, stops and claims with a new term",
        arguments: [true, false])
    func forgetfulBroker(isOlder: Bool) {
        var talk = Self.leading("a2")
        talk.given(.disconnected)
        talk.given(.connected)
        if isOlder { talk.when(Self.retained(1, "a1"), expect: .nothing) }
        talk.wait(.milliseconds(1500))
        talk.when(
            .timerFired, expect: .stop, .record(term: 2), Self.claims(2, "a2"), .setTimer(talk.now + .seconds(1)))
    }

    @Test("a claim that loses its connection is over")
    func lostClaim() {
        var talk = Self.connected()
        talk.wait(.seconds(5))
        talk.given(.timerFired)
        talk.when(.disconnected, expect: .cancelTimer)
        talk.when(.connected, expect: .setTimer(talk.now + .seconds(5)))
    }

    // MARK: Rules, payloads

    @Test("a stand-by whose rules differ from the leader's reports it once for each pair")
    func rules() {
        var talk = Self.standingBy()
        talk.given(.rules("r1"))
        talk.given(Self.state(true, rules: "r1"))
        #expect(talk.given(Self.state(true, rules: "r2")).contains(.rulesDiffer(engine: "a1", leads: true)))
        #expect(!talk.given(Self.state(true, rules: "r2")).contains(.rulesDiffer(engine: "a1", leads: true)))
        talk.when(.rules("r2"), expect: .nothing)
        talk.when(.rules("r3"), expect: .rulesDiffer(engine: "a1", leads: true))
        var leader = Self.leading()
        leader.when(.rules("r1"), expect: Self.online(rules: "r1"))
        leader.when(Self.presence("a2", term: 1, rules: "r1"), expect: .nothing)
        leader.when(Self.presence("a2", term: 1, rules: "r2"), expect: .rulesDiffer(engine: "a2", leads: false))
        leader.when(Self.presence("a2", term: 1, rules: "r2"), expect: .nothing)
        leader.when(Self.presence("a3", term: 1, rules: "r2"), expect: .rulesDiffer(engine: "a3", leads: false))
        leader.when(Self.presence("a2", term: 1, rules: "r2"), expect: .nothing)
        // An engine of an earlier version does not say its rules.
        leader.when(Self.presence("a4", term: 1), expect: .nothing)
    }

    @Test("the other engine's rules count as different until they are the same, or that engine is silent")
    func otherRules() throws {
        var talk = Self.standingBy()
        talk.given(.rules("r1"))
        talk.given(Self.state(true, rules: "r2"))
        #expect(talk.machine.otherRules?.engine == "a1" && talk.machine.otherRules?.leads == true)
        for _ in 0..<10 {
            talk.wait(.seconds(3))
            talk.given(.timerFired)
            talk.given(Self.state(true, rules: "r2"))
            #expect(talk.machine.otherRules != nil)
        }
        talk.given(Self.state(true, rules: "r1"))
        #expect(talk.machine.otherRules == nil)
        talk.given(.rules("r3"))
        #expect(talk.machine.otherRules != nil)
        talk.given(.rules("r1"))
        #expect(talk.machine.otherRules == nil)
        var leader = Self.leading()
        leader.given(.rules("r1"))
        leader.given(Self.presence("a2", term: 1, rules: "r2"))
        // A second stand-by with our rules does not end what is said of the first one.
        leader.given(Self.presence("a3", term: 1, rules: "r1"))
        #expect(leader.machine.otherRules?.engine == "a2" && leader.machine.otherRules?.leads == false)
        // A stand-by with a patience of 60 s speaks every 18 s.
        leader.wait(.milliseconds(41_999))
        leader.given(.timerFired)
        #expect(leader.machine.otherRules != nil)
        leader.wait(.milliseconds(1))
        leader.given(.timerFired)
        #expect(leader.machine.otherRules == nil)
    }

    @Test("an engine with another number of shares is reported once, and again when it has the same number")
    func otherShare() throws {
        let other = try #require(EngineShare(index: 2, count: 8))
        var talk = Self.leading()
        #expect(talk.given(Self.presence("a2", term: 1, share: other)).contains(.otherShare(other, of: "a2")))
        let again = talk.given(Self.presence("a2", term: 1, share: other))
        #expect(!again.contains { if case .otherShare = $0 { true } else { false } })
        #expect(talk.given(Self.presence("a2", term: 1)).contains(.otherShare(nil, of: "a2")))
    }

    @Test("the will says offline, and payloads say the share")
    func will() {
        let talk = Self.connected()
        #expect(talk.machine.will.topicName == "engines/2/state")
        #expect(
            String(decoding: talk.machine.will.payload, as: UTF8.self)
                == #"{"state":"offline","engine":"a1","share":"2 of 4"}"#)
        #expect(talk.machine.filters == ["engines/2/leader", "engines/2/state", "engines/2/standby"])
        #expect(EngineShare.whole.topic == "engines/1")
    }

    @Test(
        "a share is one of its count",
        arguments: ["0 of 1", "2 of 1", "1 of 1025", "1of 2", "1 of", "1  of 2", "a of b"])
    func shares(text: String) {
        #expect(EngineShare(text) == nil)
        #expect(EngineShare("4 of 4")?.description == "4 of 4")
    }

    @Test("payloads that cannot be read are reported, at most 16 in a connection")
    func hostile() {
        var talk = Self.connected()
        var anomalies = 0
        for _ in 0..<20 {
            for name in ["engines/2/leader", "engines/2/state"] {
                anomalies += talk.given(.received(topicName: name, payload: [0x7B])).count
            }
        }
        #expect(anomalies == EngineLeadership.maximumAnomalies)
    }
}
