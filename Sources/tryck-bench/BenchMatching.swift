import ButtonModel
import CommandSupport
import Expressions
import Platform
import Rules

/// Measures how long an event takes in the recogniser and the rule index, with growing numbers of rules for other buttons.
enum BenchMatching {
    static let counts = [1, 1000, 10_000, 100_000]
    private static let pressesPerRound = 5000
    /// The number of buttons that the rules are spread over.
    private static let otherButtons = 1000

    static func run(rounds: Int) throws(Failure) -> [BenchTable.Section] {
        let idle = try measure(rounds, BenchMatching.counts.map { Bench(set(others: $0, waits: false)) })
        let started = try measure(rounds, [Bench(set(others: 10_000, waits: true))])
        var rows: [BenchTable.Row] = []
        for (count, samples) in zip(counts, idle) {
            rows.append(
                BenchTable.Row(
                    name: "\(count) rule\(count == 1 ? "" : "s") on other buttons", unit: .rate, samples: samples,
                    floor: idle.first,
                    budget: count == 1 ? "at least 1000 k/s" : "at most 1.2 × the time with 1 rule"))
        }
        let title = "events that no rule waits for, on one core"
        return [
            BenchTable.Section(title: title, rows: rows),
            BenchTable.Section(
                title: "events of presses that start a rule",
                rows: [
                    BenchTable.Row(
                        name: "down → log, beside 10000 rules", unit: .rate, samples: started.first ?? [])
                ]),
        ]
    }

    /// Nanoseconds for one event, by bench and round.
    private static func measure(_ rounds: Int, _ benches: [Bench]) throws(Failure) -> [[Double]] {
        var benches = benches
        var samples: [[Double]] = benches.map { _ in [] }
        for _ in 0..<rounds {
            for index in benches.indices { samples[index].append(try benches[index].round()) }
        }
        return samples
    }

    /// An engine, the button that is pressed, and the time of both.
    private struct Bench {
        var engine: RuleEngine
        var now = Instant(sinceBoot: .seconds(1000))
        var counter: UInt32 = 0
        let button = identity(0).id

        init(_ set: RuleSet) {
            engine = RuleEngine(set)
            _ = engine.handle(.wallClock(UTCTime(milliseconds: 1_795_000_000_000), isBelievable: true), at: now)
            _ = engine.handle(.buttonsChanged((0...otherButtons).map(identity)), at: now)
        }

        mutating func round() throws(Failure) -> Double {
            var inputs: [(RuleEngine.Input, Instant)] = []
            for _ in 0..<pressesPerRound {
                for (step, wait) in [(PressStep.down, 1000), (.up(.open), 80), (.clickTimeout, 420)] {
                    now = now + .milliseconds(wait)
                    counter &+= 1
                    let ticks = UInt64(now.nanoseconds / 1000) * 32768 / 1_000_000
                    inputs.append(
                        (
                            .pressed([
                                ButtonEvent(button: button, bootID: 1, counter: counter, step: step, ticks: ticks)
                            ]), now
                        ))
                }
            }
            var recognised = 0
            let time = try coreTime { () throws(Failure) in
                for (input, now) in inputs { recognised += engine.handle(input, at: now).count }
            }
            guard recognised >= 3 * pressesPerRound else {
                throw Failure(.internalError, "Events were lost. Please report it.")
            }
            return time / Double(inputs.count)
        }
    }

    private static func identity(_ number: Int) -> ButtonIdentity {
        ButtonIdentity(
            address: BluetoothAddress(rawValue: 0x80E4_DA02_0000 + UInt64(number)), uuid: "",
            serial: BenchRuleFile.serial(ofButton: number), nickname: "", firmwareVersion: 10)
    }

    private static func set(others: Int, waits: Bool) -> RuleSet {
        let events: [TriggerEvent] = [.click, .doubleClick, .hold(after: nil), .down, .up]
        func rule(_ id: String, button: Int, _ event: TriggerEvent) -> Rule {
            Rule(
                id: id,
                triggers: [
                    Trigger(
                        buttons: [.hardware(.serial(BenchRuleFile.serial(ofButton: button)))], events: [event])
                ],
                steps: [Step(.log(.info, Template(literal: "bench")))])
        }
        var rules = (0..<others).map { number in
            rule("rule\(number)", button: 1 + number % otherButtons, events[number / otherButtons % events.count])
        }
        if waits { rules.append(rule("waits", button: 0, .down)) }
        return RuleSet(rules: rules)
    }
}
