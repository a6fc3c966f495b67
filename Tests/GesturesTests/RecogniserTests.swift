import ButtonModel
import Gestures
import Testing

@Suite("Recogniser")
struct RecogniserTests {
    private func gestures(_ steps: [PressStep], in mode: TriggerMode) -> [Gesture] {
        var recogniser = Recogniser()
        return steps.flatMap { recogniser.recognise($0, in: mode) }.map(\.gesture)
    }

    private static let click: [PressStep] = [.down, .up(.open), .clickTimeout]
    private static let held: [PressStep] = [.down, .hold(ofSecondPress: false), .up(.afterHoldClick)]
    private static let heldSecondPress: [PressStep] = [
        .down, .up(.open), .down, .hold(ofSecondPress: true), .up(.afterHoldDoubleClick),
    ]

    @Test("a click fires on the down where nothing else is listened for")
    func clickOnDown() {
        var recogniser = Recogniser()
        #expect(recogniser.recognise(.down, in: .click) == [.init(gesture: .click)])
        #expect(recogniser.recognise(.up(.open), in: .click) == [])
        #expect(recogniser.recognise(.clickTimeout, in: .click) == [])
    }

    @Test("the up of a reported hold is a hold_release")
    func holdRelease() {
        #expect(gestures(RecogniserTests.held, in: .clickAndHold) == [.hold, .holdRelease])
        #expect(gestures(RecogniserTests.held, in: .clickAndDoubleClickAndHold) == [.hold, .holdRelease])
    }

    @Test("a hold that the mode does not report has no release")
    func unreportedHold() {
        #expect(gestures(RecogniserTests.held, in: .clickAndDoubleClick) == [.click])
        #expect(gestures(RecogniserTests.heldSecondPress, in: .clickAndDoubleClickAndHold) == [.doubleClick])
    }

    @Test("where double clicks are not listened for, holding the second press is a click and a hold")
    func secondPressHeld() {
        #expect(gestures(RecogniserTests.heldSecondPress, in: .clickAndHold) == [.click, .hold, .holdRelease])
    }

    @Test("three fast clicks are a double click and a click")
    func threeClicks() {
        let steps: [PressStep] = [.down, .up(.open), .down, .up(.doubleClick)] + RecogniserTests.click
        #expect(gestures(steps, in: .clickAndDoubleClick) == [.doubleClick, .click])
    }

    @Test("a gesture counts as queued when any of its presses was, and the next one does not")
    func queuedTrain() {
        var recogniser = Recogniser()
        let mode = TriggerMode.clickAndDoubleClick
        _ = recogniser.recognise(.down, wasQueued: true, in: mode)
        _ = recogniser.recognise(.up(.open), wasQueued: true, in: mode)
        _ = recogniser.recognise(.down, in: mode)
        #expect(recogniser.recognise(.up(.doubleClick), in: mode) == [.init(gesture: .doubleClick, wasQueued: true)])
        _ = recogniser.recognise(.down, in: mode)
        #expect(recogniser.recognise(.up(.click), in: mode) == [.init(gesture: .click, wasQueued: false)])
    }

    @Test("a restart in the middle of a hold still sees its release, as queued")
    func restartWhileHeld() {
        var before = Recogniser()
        _ = before.recognise(.down, in: .clickAndHold)
        _ = before.recognise(.hold(ofSecondPress: false), in: .clickAndHold)
        var after = Recogniser(saved: before.saved)
        #expect(
            after.recognise(.up(.afterHoldClick), in: .clickAndHold) == [.init(gesture: .holdRelease, wasQueued: true)])
        #expect(after.saved == "")
    }

    @Test(
        "auto takes the smallest mode that serves",
        arguments: [
            ([], .clickAndDoubleClickAndHold),
            ([.click], .click),
            ([.hold], .clickAndHold),
            ([.click, .holdRelease], .clickAndHold),
            ([.doubleClick], .clickAndDoubleClick),
            ([.click, .doubleClick], .clickAndDoubleClick),
            ([.doubleClick, .hold], .clickAndDoubleClickAndHold),
        ] as [(Set<Gesture>, TriggerMode)])
    func smallestMode(_ used: Set<Gesture>, _ mode: TriggerMode) {
        #expect(TriggerMode(serving: used) == mode)
    }
}
