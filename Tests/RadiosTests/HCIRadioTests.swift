import ButtonModel
import Radios
import Testing

@Suite("A radio of our own")
struct HCIRadioTests {
    @Test("what belongs to another kind of radio has no effect")
    func otherKinds() {
        var radio = HCIRadio()
        let now = Instant(sinceBoot: .seconds(1000))
        #expect(radio.handle(.bus(.ownerLost), at: now).isEmpty)
        #expect(radio.handle(.busOpened(.any), at: now).isEmpty)
    }
}
