import Bytes
import TestSupport
import Testing

@Suite("Hexadecimal text")
struct HexTests {
    @Test("octets written as digits are read back", arguments: 0..<20 as Range<UInt64>)
    func roundTrip(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let octets = random.bytes(Int.random(in: 0..<40, using: &random))
        #expect([UInt8](hex: octets.hex) == octets)
        #expect([UInt8](hex: octets.hex.uppercased()) == octets)
    }

    @Test("digits are lower case, two for each octet")
    func form() {
        #expect([0x00, 0x0A, 0xFF].hex == "000aff")
        #expect([UInt8]().hex.isEmpty)
    }

    @Test(
        "text that is not pairs of hexadecimal digits is refused",
        arguments: ["0", "0g", "0x00", "00 11", "-1", "００", "00\n"])
    func refused(text: String) {
        #expect([UInt8](hex: text) == nil)
    }
}
