import ButtonModel
import Expressions
import Gestures
import TestSupport
import Testing

@testable import Rules

@Suite("Variables that are reset each day")
struct ResetTests {
    private static let doses = DeclaredVariable(
        name: "doses", type: .integer, initial: .integer(0), reset: .time(secondOfDay: 0))

    private static let set = House.set([.on(.click, do: .set(0, to: .integer(3)))], variables: [doses])

    private static func talk(_ state: RuleState = RuleState(), at time: UTCTime = House.noon) -> Transcript<RuleEngine>
    {
        House.talk(set, given: state, at: time)
    }

    private static let midnight = "2026-01-16T00:00:00.000Z"

    @Test("at its time of day the variable has its initial value again, is stored, and is reported")
    func midnight() {
        var talk = Self.talk()
        _ = talk.click()
        #expect(talk.pass(.seconds(12 * 3600) - .milliseconds(1)) == [])
        #expect(
            talk.pass(.milliseconds(1)) == ["keep reset of doses at \(Self.midnight)", "keep doses 0", "doses = 0"])
        _ = talk.click()
        #expect(talk.pass(.seconds(86_400)).last == "doses = 0")
        #expect(talk.pass(.seconds(86_400)) == ["keep reset of doses at 2026-01-18T00:00:00.000Z"])
    }

    @Test("a run that waits for the variable continues")
    func wait() throws {
        var scope = House.scope()
        scope.variables["doses"] = Scope.Declared(slot: 0, type: .integer)
        let until = try Expression(compiling: "variables.doses == 0", in: scope, expecting: .condition)
        let wait = Step(.wait(until: until, timeout: .seconds(86_400), otherwise: nil))
        var talk = House.talk(
            House.set([.on(.click, do: .set(0, to: .integer(1)), wait, .say("reset"))], variables: [Self.doses]))
        _ = talk.click()
        #expect(talk.pass(.seconds(12 * 3600)).suffix(2) == ["1 says reset", "completed 1"])
    }

    /// What happens when the clock becomes known after a start with this state.
    private func start(handled: UTCTime?, at time: UTCTime, isBelievable: Bool = true) -> [String] {
        var state = RuleState(variables: ["doses": .integer(3)])
        state.dailyTimes["doses"] = handled
        var talk = Transcript(RuleEngine(Self.set, state: state))
        talk.given(.buttonsChanged(House.identities))
        return talk.tell(.wallClock(time, isBelievable: isBelievable))
    }

    @Test("when the program was down at the time, the variable is reset at the start, and otherwise not")
    func downtime() {
        let night = House.noon + .seconds(13 * 3600)
        #expect(
            start(handled: House.noon, at: night) == [
                "keep reset of doses at 2026-01-16T01:00:00.000Z", "keep doses 0", "doses = 0",
            ])
        #expect(start(handled: House.noon + .seconds(12 * 3600), at: night) == [])
        #expect(start(handled: House.noon, at: House.noon + .seconds(3600)) == [])
        // A variable that is new has missed nothing.
        #expect(start(handled: nil, at: night) == ["keep reset of doses at 2026-01-16T01:00:00.000Z"])
    }

    @Test("a clock that is not believed resets nothing")
    func implausible() {
        #expect(start(handled: UTCTime(milliseconds: 0), at: House.noon, isBelievable: false) == [])
    }

    @Test("a clock that jumps over the time resets, and one that goes back does not reset twice")
    func jumps() {
        var talk = Self.talk()
        _ = talk.click()
        let told = talk.tell(.wallClock(House.noon + .seconds(86_400), isBelievable: true))
        #expect(told.last == "doses = 0")
        _ = talk.click()
        #expect(talk.tell(.wallClock(House.noon + .seconds(3600), isBelievable: true)) == [])
        #expect(talk.pass(.seconds(20 * 3600)) == [])
        // From a clock that was wrong by years, it recovers.
        _ = talk.tell(.wallClock(House.noon + .seconds(86_400 * 1000), isBelievable: true))
        _ = talk.click()
        _ = talk.tell(.wallClock(House.noon, isBelievable: true))
        #expect(talk.pass(.seconds(12 * 3600)).last == "doses = 0")
    }

    @Test("a reload keeps, changes, adds and removes the time")
    func reload() {
        var talk = Self.talk()
        _ = talk.click()
        var other = Self.set
        other.variables[0].reset = .time(secondOfDay: 13 * 3600)
        #expect(talk.tell(.reloaded(other)) == ["keep reset of doses at 2026-01-15T12:00:00.000Z"])
        #expect(talk.pass(.seconds(3600)).last == "doses = 0")
        other.variables[0].reset = nil
        #expect(talk.tell(.reloaded(other)) == ["keep reset of doses at no time"])
        #expect(talk.pass(.seconds(86_400)) == [])
        #expect(talk.tell(.reloaded(Self.set)).count == 1)
        _ = talk.click()
        #expect(talk.pass(.seconds(86_400)).last == "doses = 0")
    }

    @Test("a changed time is a new one, which has missed nothing")
    func changedTime() {
        var talk = Self.talk()
        _ = talk.click()
        _ = talk.pass(.seconds(8 * 3600))
        var other = Self.set
        other.variables[0].reset = .time(secondOfDay: 13 * 3600)
        #expect(talk.tell(.reloaded(other)) == ["keep reset of doses at 2026-01-15T20:00:00.000Z"])
        #expect(talk.pass(.seconds(17 * 3600)).last == "doses = 0")
    }

    @Test("a reload before the clock is known removes a reset")
    func reloadWithoutClock() {
        var talk = Transcript(RuleEngine(Self.set, state: RuleState()))
        talk.given(.buttonsChanged(House.identities))
        var other = Self.set
        other.variables[0].reset = nil
        #expect(talk.tell(.reloaded(other)) == [])
        #expect(talk.tell(.wallClock(House.noon, isBelievable: true)) == [])
        _ = talk.click()
        #expect(talk.pass(.seconds(86_400)) == [])
    }

    @Test("a stored time at the end of its range resets once", arguments: [Int64.min, 0])
    func hostile(milliseconds: Int64) {
        #expect(
            start(handled: UTCTime(milliseconds: milliseconds), at: House.noon) == [
                "keep reset of doses at 2026-01-15T12:00:00.000Z", "keep doses 0", "doses = 0",
            ])
    }

    @Test("what is stored of a variable without reset is removed")
    func removed() {
        var state = RuleState()
        state.dailyTimes["gone"] = House.noon
        var talk = Transcript(RuleEngine(House.set([]), state: state))
        #expect(talk.tell(.wallClock(House.noon, isBelievable: true)) == ["keep reset of gone at no time"])
    }
}
