import ButtonModel
import TestSupport
import Testing

@testable import Gestures

@Suite("Hostile events")
struct HostileTests {
    private static let steps: [PressStep] = [
        .down, .down, .up(.open), .up(.open), .up(.click), .up(.doubleClick), .up(.afterHold), .up(.afterHoldClick),
        .up(.afterHoldDoubleClick), .hold(ofSecondPress: false), .hold(ofSecondPress: true), .clickTimeout,
    ]
    private static let ages: [Duration] = [
        .zero, .milliseconds(1), .seconds(3), .seconds(-5), .seconds(Int64.max), .seconds(Int64.min),
        .nanoseconds(Int64.max),
    ]

    @Test(
        "no sequence of events makes the recogniser trap, grow without bound or wait for ever",
        arguments: 0..<300 as Range<UInt64>)
    func anything(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var recogniser = GestureRecogniser()
        let chords = [
            Chord(members: [.kitchen, .hall]), Chord(members: [.hall, .sofa], event: .hold),
            Chord(members: [.hall, .hall]),
        ]
        func configure(at now: Instant) {
            let lengths: Set<Duration> = [.zero, .seconds(-1), .seconds(Int64.max), .milliseconds(300)]
            var odd = generator.vocabulary()
            odd.patterns.formUnion([[], Array(repeating: .long, count: 100)])
            if Bool.random(using: &generator) { odd.holdStages = lengths }
            if Bool.random(using: &generator) { odd.clickGap = lengths.randomElement(using: &generator) ?? .zero }
            if Bool.random(using: &generator) { odd.holdAfter = lengths.randomElement(using: &generator) ?? .zero }
            recogniser.configure(
                [.kitchen: odd, .hall: generator.vocabulary()], others: generator.vocabulary(),
                chords: chords.filter { _ in Bool.random(using: &generator) }, at: now)
        }
        var now = Instant.start
        configure(at: now)
        for _ in 0..<400 {
            let button = [ButtonID.kitchen, .hall, .sofa].randomElement(using: &generator) ?? .kitchen
            switch Int.random(in: 0..<40, using: &generator) {
            case 0: _ = recogniser.handle(.linkLost(button), at: now)
            case 1: configure(at: now)
            case 2:
                let steps = [1, -1, .max, .min].randomElement(using: &generator) ?? 1
                _ = recogniser.handle(
                    .moved(
                        ButtonMovement(
                            button: button, part: .dial, steps: steps,
                            age: Self.ages.randomElement(using: &generator) ?? .zero)), at: now)
            case 3:
                let saved = recogniser.saved(button)
                recogniser.restore(button, saved, at: now)
            case 4: now = Instant(nanoseconds: [0, .max, -.max, 5].randomElement(using: &generator) ?? 0)
            case 5, 6, 7:
                var rounds = 0
                now = max(now, recogniser.deadline ?? now)
                while let due = recogniser.deadline, due <= now, rounds < 1000 {
                    _ = recogniser.handle(.timerFired, at: now)
                    rounds += 1
                }
                #expect(rounds <= 1)
            default:
                let ticks =
                    [0, 1, .max, 1 << 47, UInt64.random(in: 0...200_000, using: &generator)]
                    .randomElement(using: &generator) ?? 0
                let event = ButtonEvent(
                    button: button, bootID: UInt32.random(in: 0...1, using: &generator), counter: 0,
                    step: Self.steps.randomElement(using: &generator) ?? .down, ticks: ticks,
                    wasQueued: Bool.random(using: &generator), wasQueuedLast: Bool.random(using: &generator),
                    age: Self.ages.randomElement(using: &generator) ?? .zero,
                    part: [nil, .big, .small].randomElement(using: &generator) ?? nil)
                for told in recogniser.handle(.event(event), at: now) { #expect(told.age >= .zero) }
            }
            for row in recogniser.rows {
                #expect(row.machines.count <= 3)
                for machine in row.machines { #expect(machine.train.count <= Vocabulary.maximumPresses + 1) }
            }
        }
    }

    @Test("a train that no button verdict ends keeps at most two presses")
    func silentButton() {
        var machine = PressMachine(button: .kitchen, part: nil, grammar: Grammar(Vocabulary()))
        var output: [RecognisedEvent] = []
        for press in 0..<100 {
            machine.handle(Button().event(.down, at: press * 100_000), at: .start, into: &output)
            machine.handle(Button().event(.up(.open), at: press * 100_000 + 3000), at: .start, into: &output)
            #expect(machine.train.count <= 2)
        }
    }

    @Test("ends of presses whose beginnings were never reported keep at most two presses, too")
    func onlyEnds() {
        var machine = PressMachine(button: .kitchen, part: nil, grammar: Grammar(Vocabulary()))
        var output: [RecognisedEvent] = []
        for press in 0..<100 {
            machine.handle(Button().event(.up(.open), at: press * 100), at: .start, into: &output)
            #expect(machine.train.count <= 2)
        }
    }

    @Test("random saved text neither traps nor leaves a deadline", arguments: 0..<200 as Range<UInt64>)
    func randomTexts(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let parts = [
            "-", "big", " ", ";", "r", "d", "h", "s", "l", "?", "1", "9223372036854775807", "18446744073709551615", "é",
        ]
        for _ in 0..<50 {
            let text = (0..<Int.random(in: 0...40, using: &generator))
                .map { _ in parts.randomElement(using: &generator) ?? "" }.joined()
            var recogniser = GestureRecogniser()
            recogniser.restore(.kitchen, text, at: .start)
            _ = recogniser.handle(
                .event(ButtonEvent(button: .kitchen, bootID: 1, counter: 0, step: .up(.open), ticks: .max)), at: .start)
            _ = recogniser.handle(.timerFired, at: .start + .seconds(100))
            #expect(recogniser.deadline == nil)
        }
    }

    @Test("the deadline heap knows the earliest deadline after any changes", arguments: 0..<50 as Range<UInt64>)
    func heap(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var heap = DeadlineHeap()
        var naive: [Int: Instant] = [:]
        for _ in 0..<500 {
            let row = Int.random(in: 0..<20, using: &generator)
            let instant =
                Bool.random(using: &generator)
                ? Instant(nanoseconds: Int64.random(in: 0..<50, using: &generator)) : nil
            heap.set(row, to: instant)
            naive[row] = instant
            #expect(heap.earliest?.instant == naive.values.min())
            if let earliest = heap.earliest { #expect(naive[earliest.row] == earliest.instant) }
        }
    }

    @Test(
        "ticks and durations are converted both ways, and stop at the longest value",
        arguments: 0..<100 as Range<UInt64>)
    func ticks(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let ticks = Ticks.random(in: 0...Ticks.longest, using: &generator)
        #expect(Ticks(ticks.duration, roundedUp: true) == ticks)
        #expect(Ticks(.nanoseconds(ticks.nanoseconds(roundedUp: true))) == ticks)
        #expect(Ticks(.milliseconds(500)) == 16_384)
        #expect(Ticks(.milliseconds(200)) == 6553)
        #expect(Ticks(.milliseconds(200), roundedUp: true) == 6554)
        #expect(Ticks(.seconds(Int64.max)) == .longest)
        #expect(Ticks(from: 5, to: 3) == 0)
        #expect(Ticks(from: 0, to: .max) == .longest)
    }
}
