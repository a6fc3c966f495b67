public import BluetoothHost
import Bytes

/// A GATT service that receives one picture, over as many links as are needed.
///
/// | characteristic | properties      | value                                                           |
/// |----------------|-----------------|-----------------------------------------------------------------|
/// | details        | read            | the receiver's description of itself: text                      |
/// | receipt        | write           | the picture that follows: its length (4), its name as text      |
/// | progress       | read, indicate  | octets of that picture received so far (4)                      |
/// | psm            | read            | where to open the channel for it (2)                            |
///
/// The sender writes the receipt, reads the progress, opens the channel, and sends the picture from there on, in
/// SDUs of any length. The receiver counts whole SDUs. When the link is lost, the sender connects again and does the
/// same: a receipt equal to the last one keeps what has come. The progress is indicated at the end.
public enum PictureService {
    public static let uuid = characteristic(0)
    public static let details = characteristic(1)
    public static let receipt = characteristic(2)
    public static let progress = characteristic(3)
    public static let psm = characteristic(4)

    public static func advertisement(_ name: String) -> Advertisement {
        Advertisement(
            data: [ADStructure.flags(0x06), .completeServiceUUIDs([uuid])].encoded,
            scanResponse: [ADStructure.completeLocalName(name)].encoded, interval: 160)
    }

    static func service(details text: String, spsm: SPSM) -> [LocalService] {
        [
            .genericAttribute,
            LocalService(
                uuid: uuid,
                characteristics: [
                    .init(uuid: details, properties: 0x02, value: Array(text.utf8)),
                    .init(uuid: receipt, properties: 0x08),
                    .init(uuid: progress, properties: 0x22, value: count(0)),
                    .init(uuid: psm, properties: 0x02, value: Array(count(Int(spsm.rawValue)).prefix(2))),
                ]),
        ]
    }

    /// `50490000-7470-4b8e-9a3c-000000000000` and the UUIDs that follow it, in the octet order of the wire.
    private static func characteristic(_ number: UInt8) -> BluetoothUUID {
        .long([0, 0, 0, 0, 0, 0, 0x3C, 0x9A, 0x8E, 0x4B, 0x70, 0x74, number, 0, 0x49, 0x50])
    }

    static func count(_ octets: Int) -> [UInt8] {
        var writer = ByteWriter()
        writer.uint32(UInt32(clamping: octets))
        return writer.bytes
    }

    static func count(decoding value: [UInt8]) -> Int? {
        var reader = ByteReader(value)
        return (try? reader.uint32()).map { Int($0) }
    }
}
