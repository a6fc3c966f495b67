import ButtonModel
import Testing

@testable import Flic

@Suite("A session with a Duo")
struct DuoSessionTests {
    private func duo() -> TwoEnds {
        var ends = TwoEnds(button: TwoEnds.makeButton(model: .duo))
        ends.tellButton(.setPublicMode(true))
        ends.connect(attMTU: 140)
        return ends
    }

    @Test("is known by the pairing")
    func pairing() {
        let ends = duo()
        guard
            case .paired(let identity, _, _)? = ends.hostEffects.first(where: {
                if case .paired = $0 { true } else { false }
            })
        else {
            Issue.record("not paired")
            return
        }
        #expect(identity.model == .duo)
        #expect(ends.failures == [])
    }

    @Test("tells the presses of both buttons, each with its own counter")
    func presses() {
        var ends = duo()
        ends.press(.small, for: .milliseconds(700))
        ends.wait(.seconds(1))
        ends.press(.big, for: .milliseconds(80))
        ends.wait(.seconds(1))
        #expect(ends.events.map(\.part) == [.small, .small, .big, .big, .big])
        #expect(ends.events.map(\.counter) == [1, 3, 1, 3, 4])
        #expect(ends.events.map(\.step) == [.down, .up(.click), .down, .up(.open), .clickTimeout])
        #expect(ends.events.allSatisfy { !$0.wasQueued && $0.age == .zero && $0.swipe == nil })
        #expect(ends.cursor == EventCursor(bootID: 4711, eventCount: 4, smallEventCount: 3))
        let memory = ends.button.eventMemory
        #expect(memory.acknowledged == 4 && memory.smallAcknowledged == 3)
        #expect(memory.stored.isEmpty && memory.smallStored.isEmpty)
    }
}
