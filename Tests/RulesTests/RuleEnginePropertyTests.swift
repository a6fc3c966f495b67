import ButtonModel
import Rules
import TestSupport
import Testing

@Suite("Whatever happens to the rules")
struct RuleEnginePropertyTests {
    /// Every effect of one random history is held against what was promised.
    @Test("runs begin before they act, act once a step, and end once", arguments: UInt64(0)..<60)
    func invariants(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var engine = House.engine([
            House.rule("toggle", actions: [House.publish, House.log, House.program]), House.lastOnly,
            Rule(
                id: "any", triggers: [Trigger(buttons: [.any], events: [.raw(.down), .gesture(.hold)])],
                actions: [House.program]),
        ])
        var now = House.start
        var timer: Instant?
        var open: [RunID: Int] = [:]
        var ended: Set<RunID> = []
        for _ in 0..<300 {
            now = now + .milliseconds(Int.random(in: 0...4000, using: &random))
            if let due = timer, due <= now { now = due }
            let input: RuleEngine.Input
            switch timer == now ? 4 : Int.random(in: 0..<5, using: &random) {
            case 0...1:
                let age: Duration? =
                    Bool.random(using: &random) ? nil : .seconds(Int.random(in: 0...12, using: &random))
                var event = House.kitchen(
                    Gesture.allCases.randomElement(using: &random) ?? .click, age: age,
                    last: age != nil && Bool.random(using: &random))
                if Int.random(in: 0..<4, using: &random) == 0 { event.event = .raw(.down) }
                input = .occurred(event)
            case 2...3:
                let run = open.keys.sorted().randomElement(using: &random) ?? House.run(99)
                let outcome: StepOutcome =
                    Bool.random(using: &random) ? .completed : .failed(code: "R822", message: "exit status 1")
                input = .stepFinished(StepID(run: run, index: Int.random(in: 0...2, using: &random)), outcome)
            default:
                if let due = timer { now = due }
                input = .timerFired
                timer = nil
            }
            for effect in engine.handle(input, at: now) {
                switch effect {
                case .started(let run, _, _):
                    #expect(open[run] == nil && !ended.contains(run))
                    open[run] = -1
                case .perform(let step, _, _, _):
                    #expect(open[step.run].map { $0 < step.index } == true)
                    open[step.run] = step.index
                case .cancel(let step), .stepFailed(let step, _, _, _): #expect(open[step.run] == step.index)
                case .finished(let run, _, _):
                    #expect(open.removeValue(forKey: run) != nil)
                    ended.insert(run)
                case .setTimer(let deadline):
                    #expect(deadline > now)
                    timer = deadline
                case .cancelTimer:
                    #expect(timer != nil)
                    timer = nil
                case .stopped: break
                }
            }
            #expect(open.isEmpty || timer != nil)
        }
        #expect(!ended.isEmpty)
    }
}
