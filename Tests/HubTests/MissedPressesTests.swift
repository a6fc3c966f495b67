import ButtonModel
import Buttons
import Testing

@testable import Hub

@Suite("Presses that never arrived")
struct MissedPressesTests {
    private static let button = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0001))

    private static func event(_ counter: UInt32, boot: UInt32 = 7, _ part: ButtonPart? = nil) -> ButtonEvent {
        ButtonEvent(button: button, bootID: boot, counter: counter, step: .down, ticks: 0, part: part)
    }

    @Test(
        "a press is missing if all its counters lie between two events",
        arguments: [
            // The next step, the next press, and one of which only the down is missing.
            (1, 2, 0), (1, 3, 0), (3, 4, 0), (3, 5, 0), (4, 5, 0), (3, 7, 0), (0, 1, 0), (0, 3, 0),
            // Of the press 5…8 nothing came; it does not matter which steps of the others did.
            (1, 9, 1), (3, 9, 1), (4, 9, 1), (4, 12, 1), (2, 11, 1), (0, 5, 1), (4, 13, 2), (0, 41, 10),
            // A counter does not go back. If it did, nothing would be missing.
            (9, 1, 0), (9, 9, 0), (0, UInt32.max, 1_073_741_823),
        ] as [(UInt32, UInt32, Int)])
    func gaps(last: UInt32, next: UInt32, missing: Int) {
        #expect(MissedPresses.presses(between: last, and: next) == missing)
    }

    @Test("the first event of a new button tells nothing, and each later gap counts, also within a notification")
    func first() {
        var missed = MissedPresses([])
        missed.rebooted(Self.button, from: EventCursor(), to: EventCursor(bootID: 7))
        #expect(missed.received([Self.event(41), Self.event(43)]) == 0)
        #expect(missed.received([Self.event(45), Self.event(57), Self.event(59), Self.event(65)]) == 3)
        #expect(missed.received([Self.event(67)]) == 0)
        #expect(missed.count(of: Self.button) == 3)
        // What was paired again is a new button.
        missed.forget(Self.button)
        #expect(missed.count(of: Self.button) == 0)
        #expect(missed.received([Self.event(101)]) == 0)
    }

    @Test("a button that reboots counts from 0, unless it has named its counter")
    func reboot() {
        var missed = MissedPresses([])
        missed.rebooted(Self.button, from: EventCursor(bootID: 7, eventCount: 88), to: EventCursor(bootID: 8))
        #expect(missed.received([Self.event(9, boot: 8)]) == 2)
        missed.rebooted(
            Self.button, from: EventCursor(bootID: 8, eventCount: 9), to: EventCursor(bootID: 9, eventCount: 12))
        #expect(missed.received([Self.event(33, boot: 9)]) == 0)
        #expect(missed.count(of: Self.button) == 2)
        // The start of a session in which it has another boot id was not heard.
        #expect(missed.received([Self.event(61, boot: 10)]) == 0)
        #expect(missed.received([Self.event(69, boot: 10)]) == 1)
    }

    @Test("the two buttons of a Duo have counters of their own")
    func duo() {
        var missed = MissedPresses([])
        #expect(missed.received([Self.event(1, .big), Self.event(41, .small)]) == 0)
        #expect(missed.received([Self.event(3, .big), Self.event(43, .small)]) == 0)
        #expect(missed.received([Self.event(9, .big), Self.event(53, .small)]) == 1 + 2)
    }
}
