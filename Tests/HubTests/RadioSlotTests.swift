import ButtonModel
import Buttons
import ESPHome
import Radios
import Testing

@testable import Hub

@Suite("The slot of a radio")
struct RadioSlotTests {
    private static let start = Instant(sinceBoot: .seconds(1000))
    private static let time = UTCTime(milliseconds: 1_795_000_000_000)
    private static let address = BluetoothAddress(rawValue: 0x0011_2233_4455)

    private static func close(_ slot: inout RadioSlot, _ fault: AdapterFault) -> Duration? {
        slot.closed("It is gone.", fault, isHeldClosed: false, time: time, at: start).retryDelay
    }

    @Test(
        "an adapter that was open counts as lost; a program or a proxy does only if it was ready",
        arguments: [
            (ConfiguredRadio("hci:0"), 1), (ConfiguredRadio("h4:tcp:localhost:6402"), 1),
            (ConfiguredRadio("command:ssh"), 0), (ConfiguredRadio("esphome:hall:6053", kind: .esphome(key: nil)), 0),
        ])
    func resets(radio: ConfiguredRadio, count: Int) {
        var slot = RadioSlot(radio)
        slot.opened(isShared: false)
        _ = Self.close(&slot, .absent)
        #expect(slot.history.resets == count)
        slot.opened(isShared: false)
        slot.becameReady(Self.address, at: Self.start)
        _ = Self.close(&slot, .absent)
        #expect(slot.history.resets == count + 1)
    }

    @Test("a radio that cannot be used keeps its connection until it is closed, and the log says once that it cannot")
    func unusable() {
        var slot = RadioSlot(ConfiguredRadio("esphome:hall:6053", kind: .esphome(key: nil)))
        slot.opened(isShared: false)
        let isNews = (0..<2).map { _ in
            slot.becameUnusable("It is taken.", .taken, time: Self.time, at: Self.start)
        }
        #expect(isNews == [true, false] && slot.isOpen)
        _ = Self.close(&slot, .absent)
        #expect(!slot.isOpen)
        var house = ReportingHouse()
        for _ in 0..<2 { house.report(.effect(.controllerUnusable("It is taken.", .taken))) }
        #expect(house.errors.count { $0.contains("It is taken.") } == 1)
    }

    @Test("a proxy that says goodbye has 5 s to restart, and longer after several attempts")
    func restart() {
        var slot = RadioSlot(ConfiguredRadio("esphome:hall:6053", kind: .esphome(key: nil)))
        #expect(Self.close(&slot, .absent) == .seconds(1))
        slot = RadioSlot(ConfiguredRadio("esphome:hall:6053", kind: .esphome(key: nil)))
        #expect((0..<5).map { _ in Self.close(&slot, .restarting) } == [5, 5, 5, 8, 16].map { .seconds($0) })
    }
}
