import Almanac
import ButtonModel
import Expressions
import Gestures
import TestSupport
import Testing

@testable import Rules

@Suite("Runs that wait for a time or a state")
struct AwaitedWorldTests {
    private static func step(_ origins: Trigger.Origin..., timeout: Duration = .seconds(3600)) -> Step {
        let triggers = origins.enumerated().map { Trigger(origin: $1, id: "trigger\($0)") }
        return Step(
            .waitFor(
                WaitForStep(triggers, timeout: timeout, then: [.say("happened")], otherwise: [.say("over")])),
            path: "actions[0].wait_for")
    }

    private static func at(_ seconds: Int...) -> Trigger.Origin {
        .times(TimeTrigger(seconds.map { .time(secondOfDay: 43_200 + $0) }))
    }

    private static func door(_ to: String..., for duration: Duration = .zero) -> Trigger.Origin {
        .states(StateTrigger(["door"], to: to.map(Value.string), for: duration))
    }

    private static func heard(_ text: String, isRetained: Bool = false) -> RuleEngine.Input {
        .message(topicName: "door", payload: Array(text.utf8), isRetained: isRetained)
    }

    private static func ends(_ run: Int, _ word: String = "happened") -> [String] {
        ["\(run) says \(word)", "completed \(run)"]
    }

    // MARK: Times of day

    /// A zone five hours west of UTC, as a zone file (RFC 8536) that has only the rule for all years.
    private static let panama: TimeZone? = {
        let header = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15) + [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        let block =
            header + [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 4] + [0xFF, 0xFF, 0xB9, 0xB0, 0, 0] + Array("EST\0".utf8)
        return TimeZone(named: "America/Panama", block + block + Array("\nEST5\n".utf8))
    }()

    @Test("the next time of the list continues the run, and a time after the end of the wait does not")
    func time() {
        var talk = House.talk(.on(.click, do: Self.step(Self.at(600, 60), timeout: .seconds(120))))
        #expect(talk.click() == ["started 1 rule"])
        #expect(talk.pass(.seconds(59)) == [])
        #expect(talk.pass(.seconds(1)) == Self.ends(1))
        _ = talk.click()
        #expect(talk.pass(.seconds(119)) == [])
        #expect(talk.pass(.seconds(1)) == Self.ends(2, "over"))
    }

    @Test("a time that is now when the step begins has not come after it, and one at the end of the wait has")
    func limits() {
        var talk = House.talk(.on(.click, do: Self.step(Self.at(0), timeout: .seconds(10))))
        _ = talk.click()
        #expect(talk.pass(.seconds(10)) == Self.ends(1, "over"))
        talk = House.talk(.on(.click, do: Self.step(Self.at(10), timeout: .seconds(10))))
        _ = talk.click()
        #expect(talk.pass(.seconds(10)) == Self.ends(1))
    }

    @Test("a clock that is set past the time continues the run, and one that is set back does not bring it again")
    func clock() {
        var talk = House.talk(.on(.click, do: Self.step(Self.at(60))))
        _ = talk.click()
        talk.wait(.seconds(10))
        let told = talk.tell(.wallClock(House.noon + .seconds(1800), isBelievable: true))
        #expect(told == Self.ends(1))
        _ = talk.tell(.wallClock(House.noon + .seconds(90), isBelievable: true))
        _ = talk.click()
        _ = talk.tell(.wallClock(House.noon, isBelievable: true))
        #expect(talk.pass(.seconds(3600)) == Self.ends(2, "over"))
    }

    @Test("no time comes while the clock is not believed, and those before it is believed again are over")
    func implausible() {
        var talk = House.talk(.on(.click, do: Self.step(Self.at(60, 600))))
        _ = talk.tell(.wallClock(House.noon, isBelievable: false))
        _ = talk.click()
        #expect(talk.pass(.seconds(120)) == [])
        #expect(talk.tell(.wallClock(House.noon + .seconds(120), isBelievable: true)) == [])
        #expect(talk.pass(.seconds(479)) == [])
        #expect(talk.pass(.seconds(1)) == Self.ends(1))
    }

    @Test("runs go first, then the rules of the same time, and the rule of the run is busy with restart")
    func order() {
        func timed(_ id: String, _ mode: Rule.Mode, _ steps: Step...) -> Rule {
            Rule(
                id: id, triggers: [Trigger(origin: Self.at(60)), Trigger(buttons: [.declared(0)], events: [.click])],
                steps: steps, mode: mode)
        }
        var talk = House.talk(
            timed("other", .single, .say("other")), timed("waits", .restart, Self.step(Self.at(60))))
        #expect(talk.click().last == "completed 1")
        #expect(
            talk.pass(.seconds(60)) == [
                "2 says happened", "completed 2", "started 3 other",
                "stopped waits, dropped_busy: restart: its run waited for this event", "3 says other", "completed 3",
            ])
    }

    @Test("a reload with another time zone continues no run, which then waits for the time in the new zone")
    func zone() throws {
        var set = House.set([.on(.click, do: Self.step(Self.at(600), timeout: .seconds(86_400)))])
        var talk = House.talk(set)
        _ = talk.click()
        // West of here it is earlier, so the time comes five hours later.
        set.timeZone = try #require(Self.panama)
        #expect(talk.tell(.reloaded(set)) == [])
        #expect(talk.pass(.seconds(5 * 3600 + 599)) == [])
        #expect(talk.pass(.seconds(1)) == Self.ends(1))
    }

    // MARK: States

    @Test("a change between two known values continues the run; a retained message and a first value do not")
    func state() {
        var talk = House.talk(.on(.click, do: Self.step(Self.door("open"))))
        _ = talk.click()
        #expect(talk.tell(Self.heard("open")) == [])
        #expect(talk.tell(Self.heard("closed")) == [])
        #expect(talk.tell(Self.heard("open", isRetained: true)) == [])
        #expect(talk.tell(Self.heard("closed")) == [])
        #expect(talk.tell(Self.heard("open")) == Self.ends(1))
    }

    @Test("a value that is there when the step begins is no change, and one that changes at the end of the wait is")
    func present() {
        var talk = House.talk(.on(.click, do: Self.step(Self.door("open"), timeout: .seconds(5))))
        _ = talk.tell(Self.heard("closed"))
        _ = talk.tell(Self.heard("open"))
        _ = talk.click()
        #expect(talk.pass(.seconds(5)) == Self.ends(1, "over"))
        _ = talk.click()
        _ = talk.tell(Self.heard("closed"))
        talk.wait(.seconds(5))
        #expect(talk.tell(Self.heard("open")) == Self.ends(2))
    }

    @Test("with for, the value must last; the time begins with a change after the step began")
    func lasting() {
        var talk = House.talk(.on(.click, do: Self.step(Self.door("open", for: .seconds(30)))))
        _ = talk.tell(Self.heard("closed"))
        _ = talk.tell(Self.heard("open"))
        _ = talk.click()
        #expect(talk.pass(.seconds(60)) == [])
        _ = talk.tell(Self.heard("closed"))
        _ = talk.tell(Self.heard("open"))
        #expect(talk.pass(.seconds(20)) == [])
        _ = talk.tell(Self.heard("closed"))
        #expect(talk.pass(.seconds(60)) == [])
        _ = talk.tell(Self.heard("open"))
        #expect(talk.pass(.seconds(29)) == [])
        #expect(talk.pass(.seconds(1)) == Self.ends(1))
    }

    @Test("a value that would last beyond the end of the wait is too late")
    func tooLate() {
        var talk = House.talk(
            .on(.click, do: Self.step(Self.door("open", for: .seconds(30)), timeout: .seconds(40))))
        _ = talk.tell(Self.heard("closed"))
        _ = talk.click()
        _ = talk.pass(.seconds(11))
        _ = talk.tell(Self.heard("open"))
        #expect(talk.pass(.seconds(29)) == Self.ends(1, "over"))
    }

    @Test("a message with two states continues a run once, which then waits for the next change")
    func together() {
        let states = [
            DeclaredState(name: "first", topicName: "both", pointer: "/a"),
            DeclaredState(name: "second", topicName: "both", pointer: "/b"),
        ]
        let step = Step(
            .waitFor(
                WaitForStep(
                    [Trigger(origin: .states(StateTrigger(["first", "second"])))], timeout: .seconds(60),
                    then: [.say("changed")])))
        var talk = House.talk(House.set([.on(.click, do: step, step)], states: states))
        func message(_ number: Int) -> RuleEngine.Input {
            .message(topicName: "both", payload: Array(#"{"a": \#(number), "b": \#(number)}"#.utf8))
        }
        _ = talk.tell(message(1))
        _ = talk.click()
        #expect(talk.tell(message(2)) == ["1 says changed"])
        #expect(talk.tell(message(3)) == ["1 says changed", "completed 1"])
    }

    @Test("a change starts rules as usual after the runs that waited for it, also if a press would be claimed")
    func rules() {
        let wait = WaitForStep(
            [Trigger(buttons: [.declared(1)], events: [.click]), Trigger(origin: Self.door())], timeout: .seconds(60),
            claims: true, then: [.say("happened")])
        var talk = House.talk(
            .on(.click, do: Step(.waitFor(wait))),
            Rule(id: "other", triggers: [Trigger(origin: Self.door())], steps: [.say("other")]))
        _ = talk.tell(Self.heard("closed"))
        _ = talk.click()
        #expect(
            talk.tell(Self.heard("open")) == [
                "1 says happened", "completed 1", "started 2 other", "2 says other", "completed 2",
            ])
    }

    @Test("later steps read what happened, and the trace says it in words")
    func result() throws {
        var scope = House.scope()
        scope.results = ["it": .awaited(slot: 0)]
        let text = "{{ results.it.happened }} {{ results.it.event }} {{ results.it.button }}{{ results.it.id }}"
        var step = Self.step(Self.at(60), Self.door())
        step.savesAs = 0
        var rule = Rule.on(.click, do: step, Step(.log(.info, try Template(compiling: text, in: scope))))
        rule.resultCount = 1
        var talk = House.talk(rule)
        _ = talk.tell(Self.heard("closed"))
        _ = talk.click()
        #expect(talk.pass(.seconds(60)).dropFirst().first == "1 says true at trigger0")
        _ = talk.click()
        talk.wait(.seconds(2))
        #expect(talk.tell(Self.heard("open")).dropFirst().first == "2 says true state trigger1")
        let notes = talk.machine.traces(of: "rule").last?.lines.map(\.text) ?? []
        #expect(
            notes.prefix(2) == [
                "waits for 12:01, or a change of door, at most 1h", "door from closed to open after 2s",
            ])
        _ = talk.click()
        #expect(talk.pass(.seconds(3600)).dropFirst().first == "3 says false  ")
    }

    // MARK: Restarts and reloads

    /// The engine of a later process, which does not know the time yet.
    private static func restarted(_ set: RuleSet, _ state: RuleState) -> Transcript<RuleEngine> {
        var talk = Transcript(RuleEngine(set, state: state))
        talk.given(.buttonsChanged(House.identities))
        return talk
    }

    /// Gives inputs to an engine whose process is then killed.
    private static func killed(_ set: RuleSet, _ inputs: [RuleEngine.Input]) -> RuleState {
        var state = RuleState()
        var talk = House.talk(set)
        for input in inputs {
            for effect in talk.given(input) { if case .store(let change) = effect { state.apply(change) } }
        }
        return state
    }

    private static func click(_ talk: Transcript<RuleEngine>) -> RuleEngine.Input {
        .event(.pattern([.short]), at: talk.now)
    }

    @Test("a time that came while the program was stopped continues the run, unless it is ten minutes ago")
    func restartTime() {
        let set = House.set([.on(.click, onRestart: .resume, do: Self.step(Self.at(60), timeout: .seconds(900)))])
        let state = Self.killed(set, [Self.click(House.talk(set))])
        #expect(state.waitingRuns.count == 1)
        func resumed(_ pause: Duration) -> (Transcript<RuleEngine>, [String]) {
            var talk = Self.restarted(set, state)
            let told = talk.tell(.wallClock(House.noon + pause, isBelievable: true))
            return (talk, told)
        }
        var (talk, told) = resumed(.seconds(30))
        #expect(told == ["info: run 1 of rule continues"])
        #expect(talk.pass(.seconds(29)) == [])
        #expect(talk.pass(.seconds(1)).first == "1 says happened")
        (talk, told) = resumed(.seconds(600))
        #expect(told.prefix(2) == ["info: run 1 of rule continues", "1 says happened"])
        (talk, told) = resumed(.seconds(661))
        #expect(told.first == "warning: run 1 of rule is not resumed: it should have continued 10m1s ago")
    }

    @Test("a wait that was over before its time came has not seen it, however late the program starts")
    func restartOver() {
        let set = House.set([.on(.click, onRestart: .resume, do: Self.step(Self.at(60), timeout: .seconds(30)))])
        let state = Self.killed(set, [Self.click(House.talk(set))])
        var talk = Self.restarted(set, state)
        _ = talk.tell(.wallClock(House.noon + .seconds(120), isBelievable: true))
        #expect(talk.pass(.zero).first == "1 says over")
    }

    @Test("a lasting value counts anew after a restart, if the state still has it")
    func restartState() {
        for trigger in [Self.door("open", for: .seconds(60)), Self.door(for: .seconds(60))] {
            let set = House.set([.on(.click, onRestart: .resume, do: Self.step(trigger))])
            let state = Self.killed(
                set, [Self.heard("closed"), Self.click(House.talk(set)), Self.heard("open")])
            func resumed(_ text: String, isKnownFirst: Bool) -> [String] {
                var talk = Self.restarted(set, state)
                if isKnownFirst { _ = talk.tell(Self.heard(text, isRetained: true)) }
                _ = talk.tell(.wallClock(House.noon + .seconds(50), isBelievable: true))
                if !isKnownFirst { _ = talk.tell(Self.heard(text, isRetained: true)) }
                return talk.pass(.seconds(59)) + ["-"] + talk.pass(.seconds(1))
            }
            for isKnownFirst in [true, false] {
                #expect(resumed("open", isKnownFirst: isKnownFirst).prefix(2) == ["-", "1 says happened"])
                #expect(resumed("closed", isKnownFirst: isKnownFirst) == ["-"])
            }
        }
    }

    @Test("a run stored by an earlier version goes on, and one whose wait cannot be read does not")
    func stored() throws {
        let set = House.set([.on(.click, onRestart: .resume, do: Self.step(Self.at(60), Self.door()))])
        var state = Self.killed(set, [Self.click(House.talk(set))])
        let saved = state.waitingRuns[0].saved
        let seen = try #require(saved.firstRange(of: #","seen":"#)?.lowerBound)
        for (text, isRead) in [
            (String(saved[..<seen]) + "}", true), (saved.replacing("1768478400000", with: "true"), false),
            (saved.replacing("[]]}", with: #"[[1,"door","open"]]]}"#), true),
            (saved.replacing("[]]}", with: #"[[1,"lux",7]]]}"#), false),
            (saved.replacing("[]]}", with: #"[[0,"door","open"]]]}"#), false),
            (saved.replacing("[]]}", with: #"[[9,"door","open"]]]}"#), false),
        ] {
            state.waitingRuns[0].saved = text
            var talk = Self.restarted(set, state)
            let told = talk.tell(.wallClock(House.noon, isBelievable: true))
            #expect(told.first?.hasSuffix("continues") == isRead, "\(text)")
        }
    }

    @Test("a reload that leaves the rule alone keeps the wait, but not the time of a state that is another one now")
    func reload() {
        let rule = Rule.on(.click, do: Self.step(Self.door("open", for: .seconds(60)), Self.at(1800)))
        var talk = House.talk(rule)
        _ = talk.tell(Self.heard("closed"))
        _ = talk.click()
        _ = talk.tell(Self.heard("open"))
        talk.wait(.seconds(30))
        let moved = House.set([.on(.up, id: "new", do: .say("x")), rule], states: House.states.reversed())
        #expect(talk.tell(.reloaded(moved)) == [])
        var other = talk
        #expect(talk.pass(.seconds(29)) == [])
        #expect(talk.pass(.seconds(1)) == Self.ends(1))
        var states = House.states
        states[1].topicName = "another"
        _ = other.tell(.reloaded(House.set([rule], states: states)))
        #expect(other.pass(.seconds(1769)) == [])
        #expect(other.pass(.seconds(1)) == Self.ends(1))
    }

    @Test("a thousand waiting runs share one timer, and the change of another state touches none of them")
    func many() {
        var rule = Rule.on(.click, mode: .parallel, max: 1000, do: Self.step(Self.at(600), Self.door()))
        rule.rateLimit = Rule.Rate(count: 10_000, per: .seconds(1))
        var talk = House.talk(rule)
        for _ in 0..<1000 { _ = talk.click() }
        #expect(talk.machine.runCount == 1000)
        #expect(talk.machine.timer.armed == talk.now + .seconds(600))
        let lux = RuleEngine.Input.message(topicName: "sensor", payload: Array(#"{"lux": 7}"#.utf8))
        #expect(talk.given(lux).isEmpty)
        #expect(talk.pass(.seconds(600)).count == 2000)
    }
}
