import BluetoothHost
import ButtonModel
import Bytes

/// The GATT service and the advertising data of a button.
enum FlicGATT {
    /// The characteristic that the host writes, without response.
    static func toButton(_ model: FlicModel) -> BluetoothUUID { .long(octets(1, of: model)) }
    /// The characteristic that the button notifies.
    static func fromButton(_ model: FlicModel) -> BluetoothUUID { .long(octets(2, of: model)) }

    static func services(_ model: FlicModel) -> [LocalService] {
        [
            LocalService(
                uuid: .long(octets(0, of: model)),
                characteristics: [
                    .init(uuid: toButton(model), properties: 0x04), .init(uuid: fromButton(model), properties: 0x10),
                ])
        ]
    }

    /// The ATT_MTU that the button's GATT server supports.
    static let attMTU: UInt16 = 140

    /// The advertising data in private mode: only the flags LE General Discoverable and BR/EDR Not Supported.
    static let flags: [UInt8] = [0x02, 0x01, 0x06]

    /// The advertising data in public mode: flags, service UUID and name.
    ///
    /// The real format of the name is not known, so hosts must not parse it. The simulated name is `F2`, two digits of
    /// the firmware version, and the low 16 bits of the address in hexadecimal; for a Twist `T0`, the digits, and the
    /// low 24 bits of the address in base64url.
    static func publicData(_ model: FlicModel, address: BluetoothAddress, firmwareVersion: UInt32) -> [UInt8] {
        var writer = ByteWriter(capacity: 31)
        writer.bytes(flags)
        structure(0x07, octets(0, of: model), to: &writer)
        let firmware = [firmwareVersion / 10 % 10, firmwareVersion % 10]
        let digits = firmware.map { UInt8(ascii: "0") + UInt8(truncatingIfNeeded: $0) }
        let name: [UInt8] =
            if model == .twist {
                Array("T0".utf8) + digits + base64url(address.rawValue & 0xFF_FFFF)
            } else {
                Array("F2".utf8) + digits + Array([UInt8](address.wireOctets.prefix(2)).hex.utf8)
            }
        structure(0x09, name, to: &writer)
        return writer.bytes
    }

    /// The scan response: manufacturer data with company 0x030F, product type, the upper three octets of the address,
    /// and flags (bit 0: static random address; bit 1: connected to another device).
    static func scanResponse(_ model: FlicModel, address: BluetoothAddress, isConnected: Bool) -> [UInt8] {
        var writer = ByteWriter(capacity: 31)
        var manufacturer = ByteWriter()
        manufacturer.uint16(0x030F)
        // The product type is known only for a Twist; 1 is an assumption.
        manufacturer.uint8(model == .twist ? 0x02 : 0x01)
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

    /// Encodes the low 24 bits as four characters.
    private static func base64url(_ bits: UInt64) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        return [18, 12, 6, 0].map { alphabet[Int(bits >> $0 & 0x3F)] }
    }

    /// The UUID `0042000N-8f59-4420-870d-84f3b617e493`, or `00c9000N-2cbd-4f2a-a725-5ccd960ffb7d` for a Twist, in
    /// little endian order.
    private static func octets(_ number: UInt8, of model: FlicModel) -> [UInt8] {
        if model == .twist {
            [0x7D, 0xFB, 0x0F, 0x96, 0xCD, 0x5C, 0x25, 0xA7, 0x2A, 0x4F, 0xBD, 0x2C, number, 0x00, 0xC9, 0x00]
        } else {
            [0x93, 0xE4, 0x17, 0xB6, 0xF3, 0x84, 0x0D, 0x87, 0x20, 0x44, 0x59, 0x8F, number, 0x00, 0x42, 0x00]
        }
    }
}
