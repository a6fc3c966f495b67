import BluetoothHost
import ButtonModel
import Bytes

/// What a Flic 2 shows of itself before any of its own protocol: its service, and what it advertises.
enum FlicGATT {
    static let service = uuid(0x0042_0000)
    /// Write without response.
    static let toButton = uuid(0x0042_0001)
    /// Notify.
    static let fromButton = uuid(0x0042_0002)

    static let services = [
        LocalService(
            uuid: service,
            characteristics: [
                .init(uuid: toButton, properties: 0x04), .init(uuid: fromButton, properties: 0x10),
            ])
    ]

    /// The ATT_MTU of the button's own stack.
    static let attMTU: UInt16 = 140

    /// Everyday advertising says nothing but the flags: LE General Discoverable, no BR/EDR.
    static let flags: [UInt8] = [0x02, 0x01, 0x06]

    /// Public mode: flags, the service, a name.
    ///
    /// The name's true form is not known; nobody may parse it. Ours is `F2`, the firmware's two digits and the
    /// low 16 bits of the address.
    static func publicData(address: BluetoothAddress, firmwareVersion: UInt32) -> [UInt8] {
        var writer = ByteWriter(capacity: 31)
        writer.bytes(flags)
        structure(0x07, octets(0x0042_0000), to: &writer)
        let firmware = [firmwareVersion / 10 % 10, firmwareVersion % 10]
        let digits = firmware.map { UInt8(ascii: "0") + UInt8(truncatingIfNeeded: $0) }
        let low = [UInt8](address.wireOctets.prefix(2)).hex
        structure(0x09, [UInt8]("F2".utf8) + digits + [UInt8](low.utf8), to: &writer)
        return writer.bytes
    }

    /// Manufacturer data: company 0x030F, product type, the address's upper three octets, flags (bit 0: static
    /// random address; bit 1: connected to another device).
    static func scanResponse(address: BluetoothAddress, isConnected: Bool) -> [UInt8] {
        var writer = ByteWriter(capacity: 31)
        var manufacturer = ByteWriter()
        manufacturer.uint16(0x030F)
        // Not known for a Flic 2; 2 would be a Twist.
        manufacturer.uint8(0x01)
        manufacturer.bytes(address.wireOctets.suffix(3))
        manufacturer.uint8(address.kind.rawValue | (isConnected ? 0b10 : 0))
        structure(0xFF, manufacturer.bytes, to: &writer)
        return writer.bytes
    }

    private static func structure(_ kind: UInt8, _ data: [UInt8], to writer: inout ByteWriter) {
        writer.uint8(UInt8(truncatingIfNeeded: data.count + 1))
        writer.uint8(kind)
        writer.bytes(data)
    }

    private static func uuid(_ head: UInt32) -> UUID { .long(octets(head)) }

    /// `xxxxxxxx-8f59-4420-870d-84f3b617e493` in the order of the wire.
    private static func octets(_ head: UInt32) -> [UInt8] {
        var writer = ByteWriter(capacity: 16)
        writer.bytes([0x93, 0xE4, 0x17, 0xB6, 0xF3, 0x84, 0x0D, 0x87, 0x20, 0x44, 0x59, 0x8F])
        writer.uint32(head)
        return writer.bytes
    }
}
