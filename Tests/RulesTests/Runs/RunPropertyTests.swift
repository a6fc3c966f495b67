import ButtonModel
import Expressions
import TestSupport
import Testing

@testable import Rules

@Suite("Random steps and inputs of a run")
struct RunPropertyTests {
    /// Random steps of every kind, nested at most `depth` deep.
    private static func steps(_ depth: Int, using random: inout SeededGenerator) throws -> [Step] {
        try (0..<Int.random(in: depth == 3 ? 4...12 : 1...3, using: &random)).map { _ in
            var step = try step(depth, using: &random)
            step.continuesOnError = Int.random(in: 0..<20, using: &random) > 0
            step.isEnabled = Int.random(in: 0..<9, using: &random) > 0
            return step
        }
    }

    private static func step(_ depth: Int, using random: inout SeededGenerator) throws -> Step {
        let every = Duration.milliseconds(Int.random(in: 20...900, using: &random))
        switch Int.random(in: depth == 3 ? 5..<18 : depth > 0 ? 0..<18 : 0..<12, using: &random) {
        case 0: return try .publish("lamp/{{ variables.scene }}")
        case 1: return try .run("/bin/a", "{{ variables.name }}").retrying(2, after: every)
        case 2: return try .http("https://example.net/").saving()
        case 3: return try .delay("{{ variables.volume * 10ms }}")
        case 4: return try .wait("states.lux < 20", every)
        case 5: return try .set(RunKit.volume, "{{ variables.volume + 7 }}")
        case 6: return try .set(RunKit.scene, "{{ variables.name }}")
        case 7: return Step(.enable([1], Bool.random(using: &random)))
        case 8: return try .log("{{ results.answer.ok }}")
        case 9: return try .publish("a").within(every)
        case 10: return try .delay("{{ variables.name }}")
        case 11: return Int.random(in: 0..<9, using: &random) == 0 ? try .stop("") : .script(0)
        case 12: return .cycle(try steps(depth - 1, using: &random), try steps(depth - 1, using: &random))
        case 13...14:
            var step = Step.count(Int.random(in: 1...5, using: &random), every: every)
            if case .repeat(var repetition) = step.action {
                repetition.steps = try steps(depth - 1, using: &random)
                repetition.limit = every * Int.random(in: 1...4, using: &random)
                step.action = .repeat(repetition)
            }
            return step
        case 15:
            return Step(
                .repeat(
                    RepeatStep(
                        extent: .whileHeld, every: every, limit: .seconds(3),
                        steps: try steps(depth - 1, using: &random))))
        case 16:
            return try .choose(
                ("states.lux < 20", try steps(depth - 1, using: &random)),
                ("variables.volume > 50", try steps(depth - 1, using: &random)),
                otherwise: try steps(depth - 1, using: &random))
        default: return try .choose(("known(states.door)", try steps(depth - 1, using: &random)))
        }
    }

    /// Checks each effect of one random run against the effects before it.
    @Test(
        "a run ends, does nothing afterwards, and each step is answered or cancelled once",
        arguments: UInt64(0)..<300)
    func invariants(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let script = Script(name: "script", steps: try Self.steps(1, using: &random), resultCount: 1)
            .withoutScripts
        let set = RunKit.set(
            try Self.steps(3, using: &random), onError: try Self.steps(1, using: &random), scripts: [script])
        var talk = Transcript<RunInWorld>(set: set, isDryRun: seed % 10 == 0)
        var open: ActionID?
        var answer: Duration?
        var performed: Set<ActionID> = []
        var inputs = 0
        /// The number of inputs after which the run is cancelled.
        let inputLimit = Int.random(in: 1...150, using: &random)

        func check(_ effects: [RuleEngine.Effect], after input: String) {
            var failures = 0
            for effect in effects {
                switch effect {
                case .perform(let step, let action, _, _):
                    #expect(!talk.machine.run.isDryRun)
                    #expect(performed.insert(step).inserted, "\(step) twice")
                    #expect(open == nil, "\(input)")
                    if case .log = action { continue }
                    open = step
                case .cancel(let step):
                    #expect(open == step)
                    open = nil
                case .stepFailed(_, _, _, _, _, _, let isFinal): failures += isFinal ? 1 : 0
                default: Issue.record("\(effect) is not a run's to say")
                }
            }
            #expect(failures <= 2)
        }

        check(talk.given(.begin), after: "begin")
        while talk.result == nil {
            inputs += 1
            #expect(inputs < 100_000)
            guard inputs < 100_000 else { return }
            // The run waits for a timer or for an answer.
            #expect(talk.timer != nil || open != nil)
            #expect(talk.timer.map { $0 >= .zero } ?? true)
            if answer == nil, open != nil { answer = .milliseconds(Int.random(in: 0...6000, using: &random)) }
            if inputs == inputLimit {
                check(talk.given(.cancel), after: "cancel")
                #expect(talk.result == .cancelled)
                continue
            }
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                talk.wait(min(talk.timer ?? .seconds(1), .milliseconds(Int.random(in: 0...300, using: &random))))
                check(
                    talk.given(.state(RunKit.lux, .integer(Int64.random(in: 0...60, using: &random)))), after: "state")
            case 1:
                let name = ["day", "night", "1s", "-x", "a/b", ""].randomElement(using: &random) ?? ""
                check(talk.given(.variable(RunKit.name, .string(name))), after: "variable")
            case 2: check(talk.given(.released), after: "released")
            case 3:
                if let step = open { check(talk.given(.handedOver(step.index)), after: "handed over") }
            case 4:
                check(talk.given(.finished(Int.random(in: 900...999, using: &random), .completed())), after: "stray")
            default:
                if let step = open, let delay = answer, talk.timer.map({ delay <= $0 }) ?? true {
                    talk.wait(delay)
                    answer = nil
                    open = nil
                    let outcome: ActionResult =
                        Bool.random(using: &random)
                        ? .completed(ResultFacts(status: 200)) : .failed(code: "R822", message: "exit status 1")
                    check(talk.given(.finished(step.index, outcome)), after: "answer")
                } else if let timer = talk.timer {
                    talk.wait(timer)
                    answer = nil
                    check(talk.given(.timerFired), after: "timer")
                }
            }
            let run = talk.machine.run
            if let waiting = run.saved(in: talk.machine.world, at: talk.now), let deadline = run.deadline {
                let again = Run(
                    waiting, rule: 0, remaining: deadline - talk.now, in: talk.machine.world, at: talk.now)
                #expect(again?.frames.map(\.position) == run.frames.map(\.position))
                #expect(again?.locals == run.locals)
            }
        }
        #expect(open == nil)
        #expect(talk.timer == nil)
        #expect(talk.machine.run.trace.lines.count <= RunTrace.maximumLines)
        talk.wait(.seconds(1_000_000))
        let more: [RunInWorld.Input] = [
            .timerFired, .released, .state(RunKit.lux, .integer(1)), .finished(performed.count - 1, .completed()),
            .handedOver(0), .begin, .cancel,
        ]
        for input in more { talk.when(input, expect: .nothing) }
    }
}

extension Script {
    /// The script without calls of scripts, so that it does not call itself.
    fileprivate var withoutScripts: Script {
        func without(_ steps: [Step]) -> [Step] {
            steps.map { step in
                var step = step
                switch step.action {
                case .script: step.action = .log(.info, Template(literal: "no script"))
                case .cycle(let entries, let reset): step.action = .cycle(entries.map(without), resetAfter: reset)
                case .repeat(var repetition):
                    repetition.steps = without(repetition.steps)
                    step.action = .repeat(repetition)
                case .choose(let branches, let otherwise, let isIf):
                    let changed = branches.map {
                        var branch = $0
                        branch.steps = without(branch.steps)
                        return branch
                    }
                    step.action = .choose(changed, otherwise: without(otherwise), isIf: isIf)
                case .waitFor(var wait):
                    wait.then = without(wait.then)
                    wait.otherwise = without(wait.otherwise)
                    step.action = .waitFor(wait)
                case .perform, .delay, .wait, .set, .enable, .cancel, .log, .stop: break
                }
                return step
            }
        }
        var script = self
        script.steps = without(steps)
        return script
    }
}
