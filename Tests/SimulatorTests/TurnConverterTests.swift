import ButtonModel
import TestSupport
import Testing

@testable import Simulator

@Suite("Conversion of turns")
struct TurnConverterTests {
    @Test("a host counts exactly the hundredths that were turned, in either direction", arguments: UInt64(0)..<20)
    func exact(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var hand = TurnConverter()
        // A host adds the remainder of a turn to the next turn.
        var rest = 0
        for _ in 0..<500 {
            let hundredths = Int.random(in: -120...120, using: &generator)
            rest += 100 * hand.units(hundredths: hundredths, of: .free)
            #expect(rest / Dial.unitsPerTurn == hundredths)
            rest %= Dial.unitsPerTurn
        }
    }

    @Test("each dial and each session has its own surplus, and a turn is limited")
    func apart() {
        var hand = TurnConverter()
        #expect(hand.units(hundredths: 1, of: .free) == 492 && hand.units(hundredths: 1, of: .slot(1)) == 492)
        #expect(hand.units(hundredths: 1, of: .free) == 492 && hand.units(hundredths: 1, of: .free) == 491)
        hand.sessionBegan()
        #expect(hand.units(hundredths: 1, of: .free) == 492)
        hand.sessionBegan()
        #expect(hand.units(hundredths: .max, of: .free) == 100 * Dial.unitsPerTurn)
        #expect(hand.units(hundredths: .min, of: .free) == -100 * Dial.unitsPerTurn)
    }
}
