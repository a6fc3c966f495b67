import ButtonModel
import Rules

/// A button that reports raw presses. Its clock is that of the test, and its steps have the verdicts that a real button
/// would give.
struct FakeButton {
    let id: ButtonID
    private var counter: UInt32 = 0
    private var pressedAt: Instant?

    init(_ id: ButtonID) { self.id = id }

    mutating func down(at now: Instant) -> RuleEngine.Input {
        pressedAt = now
        return event(.down, at: now)
    }

    mutating func hold(at now: Instant) -> RuleEngine.Input { event(.hold(ofSecondPress: false), at: now) }

    mutating func up(at now: Instant) -> RuleEngine.Input {
        let duration = pressedAt.map { now - $0 } ?? .zero
        let release: PressStep.Release =
            duration >= .seconds(1) ? .afterHold : duration > .milliseconds(500) ? .click : .open
        return event(.up(release), at: now)
    }

    mutating func clickTimeout(at now: Instant) -> RuleEngine.Input { event(.clickTimeout, at: now) }

    private mutating func event(_ step: PressStep, at now: Instant) -> RuleEngine.Input {
        counter += 1
        let ticks = UInt64(max(0, now.nanoseconds)) / 1_000_000 * 32_768 / 1000
        return .pressed([ButtonEvent(button: id, bootID: 1, counter: counter, step: step, ticks: ticks)])
    }
}
