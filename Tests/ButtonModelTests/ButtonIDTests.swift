import ButtonModel
import TestSupport
import Testing

@Suite("Bluetooth addresses and button ids")
struct ButtonIDTests {
    @Test("an address is read in upper and lower case, and written in upper case")
    func text() throws {
        let address = try #require(BluetoothAddress("80:e4:dA:01:02:03"))
        #expect(address.rawValue == 0x80E4_DA01_0203)
        #expect(address.description == "80:E4:DA:01:02:03")
        #expect(address.wireOctets == [0x03, 0x02, 0x01, 0xDA, 0xE4, 0x80])
    }

    @Test(
        "text that is not six pairs of hexadecimal digits is no address",
        arguments: [
            "", "80:E4:DA:01:02", "80:E4:DA:01:02:03:04", "80-E4-DA-01-02-03", "80:E4:DA:01:02:3", "80:E4:DA:01:02:+3",
            "80:E4:DA:01:02:-3", "80:E4:DA:01:02:0g", "80:E4:DA:01:02:\u{661}\u{661}", ":::::", "80E4DA010203",
        ])
    func malformed(text: String) {
        #expect(BluetoothAddress(text) == nil)
    }

    @Test("an id is the address in lower case without colons, with its leading zeros")
    func identifier() throws {
        let id = ButtonID(BluetoothAddress(rawValue: 0x00E4_DA01_0203))
        #expect(id.description == "00e4da010203")
        #expect(ButtonID("00e4da010203") == id)
    }

    @Test(
        "text that is not twelve lower-case digits is no id",
        arguments: [
            "", "00E4DA010203", "0e4da010203", "00e4da0102034", "00:e4:da:01:02", "+0e4da010203", "00e4da01020g",
        ])
    func malformedIdentifier(text: String) {
        #expect(ButtonID(text) == nil)
    }

    @Test("addresses and ids written as text are read back", arguments: UInt64(0)..<50)
    func roundTrip(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let address = BluetoothAddress(rawValue: random.next(), kind: .random)
        #expect(BluetoothAddress(address.description, kind: .random) == address)
        #expect(ButtonID(ButtonID(address).description) == ButtonID(address))
    }
}
