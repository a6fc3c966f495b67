import ButtonModel
import Testing

@testable import Simulator

@Suite("Finger")
struct FingerTests {
    /// All steps with the milliseconds at which they happen, if every timer fires exactly at its deadline.
    static func steps(_ presses: [SimulatedPress]) -> [String] {
        var finger = Finger()
        var steps: [String] = []
        for press in presses { _ = finger.enqueue(press, at: Instant(sinceBoot: .zero)) }
        while let deadline = finger.deadline {
            for step in finger.advance(to: deadline) {
                let name =
                    switch step {
                    case .down: "down"
                    case .up: "up"
                    case .swiped(let direction): direction.rawValue
                    case .finished(let press): press.rawValue
                    }
                steps.append("\(deadline.nanoseconds / 1_000_000) \(name)")
            }
        }
        return steps
    }

    @Test("each press has its own times")
    func times() {
        #expect(Self.steps([.click]) == ["0 down", "80 up", "80 click"])
        #expect(Self.steps([.doubleClick]) == ["0 down", "80 up", "200 down", "280 up", "280 double_click"])
        #expect(Self.steps([.hold]) == ["0 down", "1300 up", "1300 hold"])
        #expect(Self.steps([.makePublic]) == ["0 down", "7500 up", "7500 make_public"])
    }

    @Test("presses run one after another, 700 ms after the last up")
    func queue() {
        #expect(
            Self.steps([.click, .click, .hold]) == [
                "0 down", "80 up", "80 click", "780 down", "860 up", "860 click", "1560 down", "2860 up", "2860 hold",
            ])
    }

    @Test("single downs and ups are performed at once, and a down while pressed is skipped")
    func held() {
        #expect(Self.steps([.down, .up]) == ["0 down", "0 down", "0 up", "0 up"])
        #expect(Self.steps([.down, .click]) == ["0 down", "0 down", "80 up", "80 click"])
        #expect(Self.steps([.up]) == ["0 up"])
    }

    @Test("a late timer makes a press longer, never shorter")
    func late() {
        var finger = Finger()
        let start = Instant(sinceBoot: .zero)
        _ = finger.enqueue(.click, at: start)
        let steps = finger.advance(to: start + .seconds(5))
        #expect(steps == [.down])
        #expect(finger.deadline == start + .milliseconds(5080))
    }

    @Test("the 65th waiting press is refused")
    func bound() {
        var finger = Finger()
        let taken = (0...Finger.maximumQueuedPresses).map { _ in finger.enqueue(.click, at: Instant(sinceBoot: .zero)) }
        #expect(taken.filter { $0 }.count == Finger.maximumQueuedPresses)
        #expect(taken.last == false)
    }
}
