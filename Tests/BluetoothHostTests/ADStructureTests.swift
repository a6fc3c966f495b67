import BluetoothHost
import Testing

@Suite("AD structures")
struct ADStructureTests {
    private static let service = BluetoothUUID("00420000-8f59-4420-870d-84f3b617e493")!
    private static let manufacturer = ADStructure.ManufacturerData(company: 0x030F, data: [2, 0xDA, 0xE4, 0x80, 0])

    @Test("the advertisement of a public button is encoded and parsed")
    func roundTrip() {
        let built: [ADStructure] = [
            .flags(6), .completeServiceUUIDs([Self.service]), .completeLocalName("F2 é"),
            .manufacturerData(Self.manufacturer),
        ]
        let parsed = ADStructure.parse(built.encoded)
        #expect(parsed == built)
        #expect(built.encoded.prefix(5) == [2, 1, 6, 17, 7])
        #expect(parsed.serviceUUIDs == [Self.service])
        #expect(parsed.localName == "F2 é")
        #expect(parsed.manufacturerData == Self.manufacturer)
    }

    @Test("service UUIDs are read from complete and incomplete lists of both lengths")
    func lists() {
        let structures = ADStructure.parse(
            [5, 2, 0x0F, 0x18, 0x0A, 0x18, 3, 3, 0x12, 0x18] + [17, 6] + Self.service.wireOctets)
        #expect(structures.serviceUUIDs == [.short(0x180F), .short(0x180A), .short(0x1812), Self.service])
    }

    @Test("a list of UUIDs that is cut short gives its whole UUIDs")
    func partUUID() {
        #expect(ADStructure(type: 3, data: [0x0F, 0x18, 0x0A]).serviceUUIDs == [.short(0x180F)])
    }

    @Test("an advertisement of a private button has flags only")
    func flagsOnly() {
        let structures = ADStructure.parse([2, 1, 6])
        #expect(structures == [.flags(6)])
        #expect(structures.serviceUUIDs.isEmpty)
        #expect(structures.localName == nil)
        #expect(structures.manufacturerData == nil)
    }

    @Test(
        "an advertisement that is cut short gives the AD structures before the cut",
        arguments: [
            ([2, 1, 6, 0, 2, 1, 5], 1), ([2, 1, 6, 9, 9, 1], 1), ([2, 1, 6, 5], 1), ([], 0), ([0], 0), ([1], 0),
            ([1, 9], 1),
            ([255, 255], 0),
        ] as [([UInt8], Int)])
    func garbage(octets: [UInt8], count: Int) {
        #expect(ADStructure.parse(octets).count == count)
    }

    @Test("manufacturer data too short for a company identifier is ignored")
    func shortManufacturerData() {
        #expect(ADStructure(type: 0xFF, data: [0x0F]).manufacturerData == nil)
    }

    @Test("data longer than its length octet can count is cut")
    func tooLong() {
        #expect(ADStructure(type: 9, data: Array(repeating: 0x41, count: 300)).encoded.count == 256)
    }
}
