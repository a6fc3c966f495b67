import ButtonModel
import TestSupport
import Testing

@testable import Gestures

/// A press machine and a clock for its timer. A step without an event stands for a lost link.
private struct Lone {
    var machine: PressMachine
    var log: [(at: Int64, RecognisedEvent)] = []

    init(_ vocabulary: Vocabulary, trustsButton: Bool) {
        machine = PressMachine(button: .kitchen, part: nil, grammar: Grammar(vocabulary))
        machine.isInChord = !trustsButton
    }

    mutating func run(_ steps: [(at: Instant, ButtonEvent?)]) {
        var output: [RecognisedEvent] = []
        func note(_ now: Instant) {
            log += output.map { (now.nanoseconds, $0) }
            output = []
        }
        for (at, event) in steps {
            while let due = machine.deadline, due < at {
                machine.timePassed(at: due, into: &output)
                note(due)
            }
            if let event {
                machine.handle(event, at: at, into: &output)
            } else {
                machine.linkLost(at: at, into: &output)
            }
            note(at)
        }
    }
}

@Suite("The button's verdicts and our own recognition")
struct VerdictTests {
    @Test(
        "recognition from downs and ups alone gives the gestures of the button's verdicts, at the same instants",
        arguments: TriggerMode.allCases, 0..<100 as Range<UInt64>)
    func same(_ mode: TriggerMode, _ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let presses = generator.presses(upTo: 12)
            let button = Button()
            let connectedAt = presses[presses.count - 1].up + 20_000
            var live = button.events(of: presses)
            var stored = button.storedEvents(of: presses, connectedAt: connectedAt)
            // The link is lost after a random event, and is back before three seconds after the latest press began, when a
            // train is decided without the button.
            let candidates = live.indices.dropFirst().filter { index in
                live[..<index].last { $0.step == .down }.map { button.ticks(of: $0) > connectedAt - 98_000 } ?? false
            }
            let lost = Bool.random(using: &generator) ? candidates.randomElement(using: &generator) : nil
            live.removeSubrange((lost ?? live.count)...)
            stored = lost.map { Array(stored[$0...]) } ?? []
            let steps =
                live.map { (Instant(ticks: button.ticks(of: $0)), Optional($0)) }
                + (lost == nil ? [] : [(Instant(ticks: live.last.map(button.ticks(of:)) ?? 0), nil)])
                + stored.map { (Instant(ticks: connectedAt), Optional($0)) }
            var trusting = Lone(Vocabulary(fixedMode: mode), trustsButton: true)
            trusting.run(steps)
            var own = Lone(Vocabulary(fixedMode: mode), trustsButton: false)
            own.run(steps)
            #expect(trusting.log.map(\.1) == own.log.map(\.1), "\(presses)")
            #expect(trusting.log.map(\.at) == own.log.map(\.at), "\(presses)")
        }
    }

    @Test(
        "a mode that the rules' gestures imply recognises what the same fixed mode recognises",
        arguments: TriggerMode.allCases)
    func derived(_ mode: TriggerMode) {
        var vocabulary = Vocabulary(patterns: [.click])
        if mode.hasDoubleClick { vocabulary.patterns.insert(.doubleClick) }
        if mode.hasHold { vocabulary.usesHoldRelease = true }
        #expect(vocabulary.mode == mode)
        var generator = SeededGenerator(seed: 5)
        let presses = generator.presses(upTo: 50)
        var derived = Room(vocabulary)
        derived.press(presses)
        var fixed = Room(Vocabulary(fixedMode: mode))
        fixed.press(presses)
        #expect(derived.told == fixed.told)
    }

    @Test(
        "for a button without verdicts, downs and ups give the gestures of a button with verdicts",
        arguments: TriggerMode.allCases,
        0..<30 as Range<UInt64>)
    func unjudged(_ mode: TriggerMode, _ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let presses = generator.presses(upTo: 20)
        var judged = Room(Vocabulary(fixedMode: mode))
        judged.press(presses)
        var room = Room(Vocabulary(fixedMode: mode), usesButtonVerdicts: false)
        for press in presses {
            for (step, ticks) in [(.down, press.down), (.up(.open), press.up)] as [(PressStep, Int)] {
                room.wait(until: Instant(ticks: ticks))
                room.hear(Button().event(step, at: ticks))
            }
        }
        room.rest()
        #expect(room.told == judged.told)
    }

    @Test("a button's verdict counts even if its down was never received")
    func unseen() {
        var room = Room(Vocabulary())
        for step in [.clickTimeout, .up(.doubleClick), .up(.open), .hold(ofSecondPress: false)] as [PressStep] {
            room.hear(Button().event(step, at: 0))
        }
        #expect(room.told.summary == ["click 1", "up 2", "double_click 2", "up 3", "hold 4"])
    }

    @Test("a vocabulary gives the mode that is set in the button, and how long a click waits")
    func modes() {
        let hold: Set<Duration> = [.seconds(1)]
        let half = Duration.milliseconds(500)
        #expect(said(Vocabulary()) == said(.clickAndDoubleClickAndHold, half))
        #expect(said(Vocabulary(patterns: [.click])) == said(.click, .zero))
        #expect(said(Vocabulary(patterns: [.click], holdStages: hold)) == said(.clickAndHold, nil))
        #expect(said(Vocabulary(usesHoldRelease: true)) == said(.clickAndHold, nil))
        #expect(said(Vocabulary(patterns: [.doubleClick])) == said(.clickAndDoubleClick, half))
        #expect(
            said(Vocabulary(patterns: [.click, .doubleClick], holdStages: hold))
                == said(.clickAndDoubleClickAndHold, half))
        #expect(said(Vocabulary(patterns: [.click, [.short, .short, .short]])) == said(nil, half))
        #expect(said(Vocabulary(patterns: [.click, [.long]])) == said(nil, nil))
        #expect(said(Vocabulary(patterns: [[.long, .short]])) == said(nil, nil))
        #expect(said(Vocabulary(patterns: [.click], holdStages: [.seconds(3)])) == said(nil, nil))
        #expect(said(Vocabulary(patterns: [.click], clickGap: .seconds(2))) == said(nil, .zero))
        #expect(said(Vocabulary(patterns: [.doubleClick], clickGap: .seconds(2))) == said(nil, .seconds(2)))
        #expect(
            said(Vocabulary(patterns: [.click], fixedMode: .clickAndDoubleClick)) == said(.clickAndDoubleClick, half))
        #expect(said(Vocabulary(fixedMode: .click, holdAfter: half)) == said(nil, .zero))
    }

    private func said(_ vocabulary: Vocabulary) -> String { said(vocabulary.mode, vocabulary.clickWait) }

    private func said(_ mode: TriggerMode?, _ wait: Duration?) -> String {
        "\(mode?.rawValue ?? "raw"), \(wait.map { "\($0.milliseconds) ms" } ?? "until up")"
    }
}
