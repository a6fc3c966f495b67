import ButtonModel
import Gestures
import TestSupport
import Testing

@Suite("Turns")
struct MovementTests {
    private func turn(_ steps: Int, part: ButtonPart = .dial, position: Int = 0) -> GestureRecogniser.Input {
        .moved(ButtonMovement(button: .sofa, part: part, steps: steps, position: position, slot: 3))
    }

    private func room(_ collects: Set<Duration>) -> Room { Room(Vocabulary(rotationDurations: collects)) }

    @Test("steps of a dial are summed from the first one on, for each collection time")
    func sums() {
        var room = room([.milliseconds(100), .milliseconds(500)])
        for (steps, position) in [(2, 10), (3, 25), (-1, 20)] {
            room.handle(turn(steps, position: position))
            room.wait(until: room.now + .milliseconds(60))
        }
        room.rest()
        #expect(room.timed == ["turn 5@100", "turn -1@220", "turn 4@500"])
        #expect(room.told.map(\.position) == [25, 20, 20])
        #expect(room.told.map(\.slot) == [3, 3, 3])
        #expect(room.told[2].kind == .rotation(steps: 4, collect: .milliseconds(500)))
        #expect(room.told.allSatisfy { $0.presses == nil })
        #expect(room.told[2].at == .start + .milliseconds(120))
    }

    @Test("a turn that is collected is undecided, and so is a press that is down")
    func undecided() {
        var room = room([.milliseconds(100)])
        room.handle(turn(3))
        #expect(room.recogniser.hasUndecided(of: .sofa))
        room.rest()
        #expect(!room.recogniser.hasUndecided(of: .sofa))
        room.hear(Button(id: .sofa).event(.down, at: 0))
        #expect(room.recogniser.hasUndecided(of: .sofa))
    }

    @Test("a dial that is turned back to where it was reports nothing")
    func back() {
        var room = room([.milliseconds(100)])
        room.handle(turn(3))
        room.handle(turn(-3))
        room.handle(turn(0))
        room.rest()
        #expect(room.told == [])
    }

    @Test("turns while the dial is pressed and while it is released are summed separately")
    func push() {
        var room = room([.milliseconds(100)])
        room.handle(turn(3))
        room.handle(turn(-1, part: .push))
        room.rest()
        #expect(room.timed == ["turn 3@100", "turn -1@100"])
        #expect(room.told.map(\.part) == [.dial, .push])
    }

    @Test("each slot of a selector is summed separately")
    func slots() {
        var room = room([.milliseconds(100)])
        for slot in [3, 4, 3] {
            room.handle(
                .moved(
                    ButtonMovement(
                        button: .sofa, part: .dial, steps: slot, position: slot * 10, slot: slot,
                        dial: .slot(slot))))
        }
        room.rest()
        #expect(room.timed == ["turn 6@100", "turn 4@100"])
        #expect(room.told.map(\.slot) == [3, 4])
        #expect(room.told.map(\.position) == [30, 40])
    }

    @Test("steps of a free dial are summed across slots, and reported with the last slot")
    func free() {
        var room = room([.milliseconds(100)])
        for slot in [3, 4, 5] {
            room.handle(
                .moved(
                    ButtonMovement(
                        button: .sofa, part: .push, steps: 8, position: slot * 8, slot: slot,
                        dial: .free)))
        }
        room.rest()
        #expect(room.timed == ["turn 24@100"])
        #expect(room.told.map(\.slot) == [5])
        #expect(room.told.map(\.position) == [40])
    }

    @Test("with a collection time of zero each step is reported")
    func atOnce() {
        var room = room([.zero])
        room.handle(turn(3))
        room.handle(turn(4))
        #expect(room.told.map(\.word) == ["turn 3", "turn 4"])
    }

    @Test("sums of steps stop at the largest integer")
    func saturating() {
        var room = room([.milliseconds(100)])
        for _ in 0..<3 { room.handle(turn(.max)) }
        for _ in 0..<3 { room.handle(turn(.min, part: .push)) }
        room.rest()
        #expect(room.told.map(\.word) == ["turn \(Int.max)", "turn \(-Int.max)"])
    }
}
