import BluetoothHost
import Testing

@Suite("Text of UUIDs")
struct UUIDTests {
    @Test("the octets on the wire are those of the text in reverse")
    func order() throws {
        let uuid = try #require(BluetoothUUID("00420000-8F59-4420-870d-84f3b617e493"))
        #expect(
            uuid == .long([0x93, 0xE4, 0x17, 0xB6, 0xF3, 0x84, 0x0D, 0x87, 0x20, 0x44, 0x59, 0x8F, 0, 0, 0x42, 0]))
        #expect(uuid.description == "00420000-8f59-4420-870d-84f3b617e493")
    }

    @Test(
        "a 16-bit UUID is the same in its short and its long form",
        arguments: ["180f", "180F", "0000180F-0000-1000-8000-00805F9B34FB"])
    func short(text: String) {
        #expect(BluetoothUUID(text) == .short(0x180F))
        #expect(BluetoothUUID(text)?.description == "180f")
    }

    @Test("a 32-bit UUID is kept in its 128-bit form")
    func middle() {
        #expect(BluetoothUUID("12345678-0000-1000-8000-00805f9b34fb")?.wireOctets.count == 16)
    }

    @Test(
        "text that is no UUID is refused",
        arguments: [
            "", "180", "0180f", "18g0", "00420000-8f59-4420-870d-84f3b617e49", "004200008f594420870d84f3b617e493",
            "00420000-8f59-4420-870d84f3b617-e493", "-180f", "0042-0000",
        ])
    func refused(text: String) {
        #expect(BluetoothUUID(text) == nil)
    }

    @Test("a UUID of another number of octets is printed without a trap")
    func odd() {
        #expect(BluetoothUUID.long([1]).description == "01")
        #expect(BluetoothUUID(wireOctets: [1, 2, 3]) == nil)
    }
}
