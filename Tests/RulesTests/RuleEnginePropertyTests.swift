import ButtonModel
import Expressions
import Gestures
import TestSupport
import Testing

@testable import Rules

/// Random inputs for random rule sets; each effect is checked against the effects before it.
@Suite("Random inputs to the rule engine")
struct RuleEnginePropertyTests {
    /// The runs, steps and timers according to the effects so far.
    private struct Ledger {
        var open: [RunID: String] = [:]
        var ended: Set<RunID> = []
        var performed: Set<ActionID> = []
        var unanswered: [ActionID] = []
        var waiting: [RunID: WaitingRun] = [:]
        var timer: Instant?

        mutating func read(_ effect: RuleEngine.Effect, at now: Instant) {
            switch effect {
            case .started(let run, let rule, _):
                #expect(open[run] == nil && !ended.contains(run))
                open[run] = rule
            case .perform(let step, let action, let rule, _):
                #expect(open[step.run] == rule)
                #expect(performed.insert(step).inserted)
                if action.kind != .log { unanswered.append(step) }
            case .cancel(let step):
                #expect(open[step.run] != nil)
                unanswered.removeAll { $0 == step }
            case .stepFailed(let run, let rule, _, _, _, _, _): #expect(open[run] == rule)
            case .finished(let run, let rule, _):
                #expect(open.removeValue(forKey: run) == rule)
                #expect(waiting[run] == nil)
                ended.insert(run)
            case .store(.waiting(let run, let kept)):
                #expect(open[run] != nil)
                waiting[run] = kept
            case .setTimer(let deadline):
                timer = deadline
            case .cancelTimer:
                #expect(timer != nil)
                timer = nil
            case .recognised, .stopped, .interrupted, .store, .variableChanged, .enabledChanged, .triggerModeDropped,
                .subscribe, .unsubscribe, .timesMissed, .log, .oversizedState, .stateFault:
                break
            }
        }
    }

    @Test("a run starts once, performs steps only while it goes on, and ends once", arguments: UInt64(0)..<80)
    func runs(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var talk = House.talk(try RandomHouse.set(&random))
        var ledger = Ledger()
        ledger.timer = talk.machine.timer.armed
        for _ in 0..<250 {
            let input = try RuleEnginePropertyTests.input(&random, &talk, ledger)
            if input == .timerFired { ledger.timer = nil }
            if case .actionFinished(let step, _) = input { ledger.unanswered.removeAll { $0 == step } }
            let effects = talk.given(input)
            for effect in effects { ledger.read(effect, at: talk.now) }
            #expect(ledger.timer == talk.machine.timer.armed)
            RuleEnginePropertyTests.check(talk.machine, against: ledger)
        }
        for effect in talk.given(.stop) { ledger.read(effect, at: talk.now) }
        #expect(Set(ledger.open.keys) == Set(ledger.waiting.keys))
        #expect(talk.given(.timerFired).isEmpty)
    }

    /// Checks the promises of every mode, and that the engine's counts agree with its effects.
    private static func check(_ engine: RuleEngine, against ledger: Ledger) {
        #expect(engine.runCount == ledger.open.count)
        #expect(engine.problems() == [])
        for rule in engine.set.rules {
            let counts = engine.statistics(of: rule.id)?.counts ?? [:]
            let ended = [Outcome.completed, .failed, .cancelled, .interrupted].reduce(0) { $0 + (counts[$1] ?? 0) }
            #expect((counts[.started] ?? 0) - ended == ledger.open.values.count { $0 == rule.id })
        }
    }

    private static func input(
        _ random: inout SeededGenerator, _ talk: inout Transcript<RuleEngine>, _ ledger: Ledger
    ) throws -> RuleEngine.Input {
        let pause = Duration.milliseconds(Int.random(in: 0...1500, using: &random))
        if let timer = ledger.timer, timer <= talk.now + pause {
            talk.wait(max(.zero, timer - talk.now))
            return .timerFired
        }
        talk.wait(pause)
        let button = [House.kitchen, House.hall, House.desk].randomElement(using: &random) ?? House.kitchen
        switch Int.random(in: 0..<24, using: &random) {
        case 0..<9: return .given(.recognised(RandomHouse.recognised(&random, at: talk.now)))
        case 9..<12:
            let step = ledger.unanswered.randomElement(using: &random) ?? ActionID(run: RunID(rawValue: 1), index: 3)
            return .actionFinished(
                step, Bool.random(using: &random) ? .completed(nil) : .failed(code: "R822", message: "exit status 1"))
        case 12:
            return .handedOver(
                ledger.unanswered.randomElement(using: &random) ?? ActionID(run: RunID(rawValue: 1), index: 0))
        case 13:
            let inputs: [RuleEngine.Input] = [
                .linkTimedOut(button), .rebooted(button), .linkChanged(button, isConnected: true),
                .linkChanged(button, isConnected: false),
            ]
            return inputs[Int.random(in: 0..<inputs.count, using: &random)]
        case 14: return .given(.linkChanged(button, isConnected: Bool.random(using: &random)))
        case 15: return .batteryLow(button)
        case 16:
            return .message(
                topicName: "sensor", payload: Array(#"{"lux": \#(Int.random(in: 0...99, using: &random))}"#.utf8))
        case 17:
            let payloads: [[UInt8]] = [Array("open".utf8), Array("closed".utf8), [0xFF]]
            let payload = payloads.randomElement(using: &random) ?? []
            return .message(topicName: "door", payload: payload, isRetained: Int.random(in: 0..<5, using: &random) == 0)
        case 18:
            return .requested(
                .run(
                    rule: "rule_0", ignoringConditions: Bool.random(using: &random),
                    isDryRun: Bool.random(using: &random)))
        case 19: return .requested(.setEnabled(rule: "rule_1", Bool.random(using: &random)))
        case 20:
            let time = House.noon + .seconds(Int.random(in: -9000...9000, using: &random))
            return .wallClock(time, isBelievable: Bool.random(using: &random))
        case 21: return .buttonsChanged(Array(House.identities.shuffled(using: &random).prefix(3)))
        case 22:
            var set = talk.machine.set
            set.rules.shuffle(using: &random)
            if Bool.random(using: &random) { set.rules.removeLast(min(1, set.rules.count)) }
            if Bool.random(using: &random) {
                set.rules.append(try RandomHouse.rule("new_\(random.next())", &random))
            }
            return .reloaded(set)
        default:
            let event = ButtonEvent(
                button: button, bootID: 1, counter: UInt32.random(in: 0...999, using: &random),
                step: Bool.random(using: &random) ? .down : .up(.open), ticks: random.next() >> 30,
                wasQueued: Bool.random(using: &random), age: .milliseconds(Int.random(in: 0...9000, using: &random)))
            return .pressed([event])
        }
    }

    @Test("the runs stored at any moment go on after a restart", arguments: UInt64(0)..<40)
    func restart(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let set = try RandomHouse.set(&random)
        var talk = House.talk(set)
        var ledger = Ledger()
        for _ in 0..<60 {
            talk.wait(.milliseconds(Int.random(in: 0...500, using: &random)))
            let event = RandomHouse.recognised(&random, at: talk.now)
            for effect in talk.given(.given(.recognised(event))) { ledger.read(effect, at: talk.now) }
        }
        let waiting = Array(ledger.waiting.values)
        var after = Transcript(RuleEngine(set, state: RuleState(waitingRuns: waiting)))
        let time = talk.machine.world.wallClock(at: talk.now)
        let told = after.tell(.wallClock(time, isBelievable: true))
        #expect(told.count { $0.hasSuffix("continues") } == waiting.count)
        #expect(after.machine.scheduler.nextRun > (waiting.map(\.run).max() ?? RunID(rawValue: 0)))
        // Every run ends in this time: by its own steps, or by the time limit of the step that it waits for.
        for _ in 0..<50 { _ = after.pass(.seconds(100)) }
        #expect(after.machine.scheduler.runs.isEmpty)
    }
}
