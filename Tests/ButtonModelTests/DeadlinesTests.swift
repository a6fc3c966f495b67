import ButtonModel
import TestSupport
import Testing

@Suite("Deadlines on one timer")
struct DeadlinesTests {
    @Test("the cached earliest deadline is that of a plain table", arguments: UInt64(0)..<20)
    func earliest(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var deadlines = Deadlines<Int>()
        var plain: [Int: Instant] = [:]
        for _ in 0..<500 {
            let key = Int.random(in: 0..<8, using: &random)
            let instant = Instant(sinceBoot: .seconds(Int.random(in: 0..<6, using: &random)))
            switch Int.random(in: 0..<6, using: &random) {
            case 0..<3:
                deadlines.set(key, at: instant)
                plain[key] = instant
            case 3:
                deadlines.cancel(key)
                plain[key] = nil
            case 4:
                let due = plain.filter { $0.value <= instant }
                #expect(deadlines.due(at: instant) == due.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key))
            default:
                #expect(Set(deadlines.takeDue(at: instant)) == Set(plain.filter { $0.value <= instant }.keys))
                plain = plain.filter { $0.value > instant }
            }
            #expect(deadlines.earliest == plain.values.min())
            #expect(deadlines.count == plain.count)
            #expect(deadlines.problems() == [])
        }
    }

    @Test("the timer gets a command only if the earliest deadline has changed")
    func rearm() {
        var deadlines = Deadlines<String>()
        let early = Instant(sinceBoot: .seconds(1))
        let late = Instant(sinceBoot: .seconds(2))
        #expect(deadlines.rearm() == nil)
        deadlines.set("late", at: late)
        #expect(deadlines.rearm() == .set(late))
        deadlines.set("early", at: early)
        #expect(deadlines.rearm() == .set(early))
        #expect(deadlines.rearm() == nil)
        deadlines.cancel("early")
        #expect(deadlines.rearm() == .set(late))
        deadlines.set("late", at: nil)
        #expect(deadlines.rearm() == .cancel)
    }

    private enum Effect: Hashable, Sendable, TimerEffect {
        case setTimer(Instant)
        case cancelTimer
    }

    @Test("the effects of a timer are the same commands")
    func effects() {
        var deadlines = Deadlines<String>()
        var effects: [Effect] = []
        let deadline = Instant(sinceBoot: .seconds(1))
        deadlines.appendChange(to: &effects)
        #expect(effects == [])
        deadlines.set("key", at: deadline)
        deadlines.appendChange(to: &effects)
        deadlines.appendChange(to: &effects)
        #expect(effects == [.setTimer(deadline)])
        #expect(deadlines.takeDue(at: deadline) == ["key"])
        deadlines.set("key", at: deadline)
        deadlines.appendChange(to: &effects)
        #expect(effects == [.setTimer(deadline), .setTimer(deadline)])
        deadlines.cancel("key")
        deadlines.appendChange(to: &effects)
        #expect(effects == [.setTimer(deadline), .setTimer(deadline), .cancelTimer])
    }
}
