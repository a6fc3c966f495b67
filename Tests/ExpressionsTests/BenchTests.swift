import Expressions
import Testing

/// Prints how long evaluations take. The figures are for people to read; no test compares them.
@Suite("Bench")
struct BenchTests {
    @Test(
        "evaluating expressions prints nanoseconds for each",
        arguments: [
            "variables.guest", "states.hall_light == 'ON'", "(states.lux ?? 0) < 50 and not variables.guest",
            "12 if variables.guest else -12", "states.people * 2 + variables.volume // 3 - 1",
            "trigger.button ~ ' pressed ' ~ trigger.clicks ~ ' times'", "variables.scene in ['cosy', 'off', 'bright']",
            "in_time('sunset - 30m', 'sunrise') and states.people > 0",
        ])
    func evaluation(text: String) throws {
        let expression = try Expression(compiling: text, in: House.wholeScope)
        let environment = House.environment
        let rounds = 2000
        var known = 0
        let time = try ContinuousClock().measure {
            for _ in 0..<rounds where try expression.evaluate(in: environment) != .unknown { known += 1 }
        }
        #expect(known == rounds)
        print("\(time / rounds) \(text)")
    }
}
