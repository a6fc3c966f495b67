import Testing

@Suite("The ledger of presses")
struct LedgerTests {
    private static let press = Ledger.Press(button: "80e4da000001", bootID: 7, counter: 3)

    private func ledger(steps: Int = 1, _ seen: (inout Ledger) -> Void) -> Ledger {
        var ledger = Ledger()
        ledger.pressed(Self.press, steps: steps)
        seen(&ledger)
        return ledger
    }

    private func faults(steps: Int = 1, _ seen: (inout Ledger) -> Void) -> [Ledger.Fault] {
        ledger(steps: steps, seen).findings.map(\.fault)
    }

    @Test(
        "a press that was handled once is correct, also if it arrived several times or its run was reported as interrupted"
    )
    func handled() {
        #expect(faults { $0.marked(Self.press) } == [])
        #expect(
            faults {
                $0.delivered(Self.press, .fresh)
                $0.delivered(Self.press, .tooOld)
                $0.marked(Self.press)
                $0.interrupted(Self.press, run: 4)
                $0.interrupted(Self.press, run: 4)
            } == [])
    }

    @Test("a press without marks, or with a part of them, is lost")
    func lost() {
        #expect(faults { _ in } == [.lost])
        #expect(faults { $0.delivered(Self.press, .fresh) } == [.lost])
        #expect(faults(steps: 2) { $0.marked(Self.press) } == [.lost])
        #expect(faults(steps: 2) { $0.marked(Self.press, step: 1) } == [.lost])
        #expect(
            faults(steps: 2) {
                $0.delivered(Self.press, .tooOld)
                $0.delivered(Self.press, .fresh)
                $0.marked(Self.press)
            } == [.lost])
    }

    @Test("an interrupted and reported press is correct, with any number of its marks")
    func interrupted() {
        #expect(faults { $0.interrupted(Self.press, run: 1) } == [])
        #expect(
            faults(steps: 2) {
                $0.marked(Self.press)
                $0.interrupted(Self.press, run: 1)
            } == [])
    }

    @Test("a failed and reported press is correct")
    func failed() {
        #expect(faults { $0.failed(Self.press) } == [])
        #expect(
            faults(steps: 2) {
                $0.marked(Self.press)
                $0.failed(Self.press)
            } == [])
    }

    @Test("a repeated mark and a second interrupted run are faults")
    func twice() {
        #expect(
            faults {
                $0.marked(Self.press)
                $0.marked(Self.press)
            } == [.markedTwice(step: 0)])
        #expect(
            faults(steps: 2) {
                $0.marked(Self.press, step: 0)
                $0.marked(Self.press, step: 1)
                $0.marked(Self.press, step: 1)
            } == [.markedTwice(step: 1)])
        #expect(
            faults {
                $0.interrupted(Self.press, run: 1)
                $0.interrupted(Self.press, run: 2)
            } == [.interruptedTwice])
    }

    @Test("a press that was too old once may be left out, and one that was too old each time must not be handled")
    func queued() {
        #expect(faults { $0.delivered(Self.press, .tooOld) } == [])
        #expect(faults { $0.delivered(Self.press, .doubtful) } == [])
        #expect(
            faults {
                $0.delivered(Self.press, .fresh)
                $0.delivered(Self.press, .tooOld)
            } == [])
        #expect(
            faults {
                $0.delivered(Self.press, .tooOld)
                $0.marked(Self.press)
            } == [.stale])
        #expect(
            faults {
                $0.delivered(Self.press, .doubtful)
                $0.marked(Self.press)
            } == [])
    }

    @Test("a mark without a press is a fault; another counter or another boot is another press")
    func invented() {
        var other = Self.press
        other.bootID = 8
        var ledger = ledger { $0.marked(Self.press) }
        ledger.marked(other)
        #expect(ledger.findings == [Ledger.Finding(press: other, fault: .invented)])
        other.bootID = 7
        other.counter = 7
        ledger.pressed(other)
        #expect(ledger.findings.map(\.fault) == [.lost, .invented])
        #expect(ledger.findings.map(\.press.counter) == [7, 3])
    }

    @Test("the summary counts each press once")
    func summary() {
        var ledger = ledger {
            $0.marked(Self.press)
            $0.interrupted(Self.press, run: 1)
        }
        for counter in [7, 11, 15, 19] as [UInt32] {
            var press = Self.press
            press.counter = counter
            ledger.pressed(press)
            if counter == 7 { ledger.interrupted(press, run: 2) }
            if counter == 19 { ledger.failed(press) }
            if counter == 11 { ledger.delivered(press, .tooOld) }
        }
        #expect(ledger.summary == Ledger.Summary(pressed: 5, handled: 1, queued: 1, interrupted: 1, failed: 1))
    }
}
