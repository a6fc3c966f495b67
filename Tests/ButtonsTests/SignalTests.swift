import BluetoothHost
import ButtonModel
import Buttons
import Simulator
import TestSupport
import Testing

@Suite("How strongly a button is heard")
struct SignalTests {
    private static let signal = ButtonManager.Effect.signal(KnownButtonTests.id, rssi: -60)

    private static func measured(_ room: Room) -> Int { room.said.count { $0 == signal } }

    @Test("it is measured when the button is ready, and again with its battery, at once and every three hours")
    func ready() throws {
        var room = Room([KnownButtonTests.hall])
        room.tell(.permitJoin(.seconds(5)))
        room.wait(.seconds(10))
        #expect(Self.measured(room) == 1, "a pairing brings the battery with it")
        room.reach("hall", false)
        room.wait(.seconds(30))
        room.forget()
        room.reach("hall", true)
        room.press("hall", .click)
        room.wait(.seconds(20))
        let ready = try #require(room.said.firstIndex(of: .state(KnownButtonTests.id, .ready)))
        let first = try #require(room.said.firstIndex(of: Self.signal))
        #expect(ready < first && Self.measured(room) == 2)
        room.wait(.seconds(3 * 3600))
        #expect(Self.measured(room) == 3)
    }

    @Test("it is measured on request, where there is a link")
    func request() {
        var room = KnownButtonTests.paired()
        room.tell(.request(KnownButtonTests.id, .measureSignal))
        #expect(room.said == [Self.signal])
        room.reach("hall", false)
        room.wait(.seconds(30))
        room.forget()
        room.tell(.request(KnownButtonTests.id, .measureSignal))
        room.wait(.seconds(30))
        #expect(room.said == [])
    }

    @Test("a button that is let be and advertises is heard once in a search, and once more in the next")
    func advertising() {
        var room = KnownButtonTests.paired()
        room.tell(.request(KnownButtonTests.id, .setConnectionWanted(false)))
        room.wait(.seconds(10))
        for _ in 0..<2 {
            room.forget()
            room.press("hall", .click)
            room.tell(.permitJoin(.seconds(5)))
            room.wait(.seconds(10))
            #expect(Self.measured(room) == 1)
        }
    }

    @Test("an adapter that does not know says nothing, and every button is as ready as before")
    func unknownCommand() {
        var faults = VirtualController.Faults()
        faults.unknownCommands = [.readRSSI]
        var room = Room([KnownButtonTests.hall], faults: faults)
        room.tell(.permitJoin(.seconds(5)))
        room.wait(.seconds(10))
        #expect(Self.measured(room) == 0)
        #expect(room.manager.state(of: KnownButtonTests.id) == .ready)
        #expect(!room.said.contains { if case .controllerFailed = $0 { true } else { false } })
    }
}
