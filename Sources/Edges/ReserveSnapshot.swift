import Bytes
import Hub
import JSON

/// The contents of one slot of a `Reserve`: changes that the database could not record, in order.
///
/// | octets | contents                                                               |
/// |--------|------------------------------------------------------------------------|
/// | 8      | `magic`, of which the last octet is the version                        |
/// | 8      | the id of the database to which the changes belong                     |
/// | 8      | the number of the snapshot, larger than that of all earlier snapshots  |
/// | 4      | the length of the payload                                              |
/// | 8      | FNV-1a of all other octets, to detect a slot that was written in part  |
/// | …      | the payload, a JSON array: the position in the ring, if any, and the changes |
///
/// Integers are little-endian. `changes` are all unrecorded changes, but `encoded` leaves out some of them: always those
/// without `StoreChange.reserveJSON`, whose values the button reports again, and the state of rules if all changes together
/// do not fit into the slot. The others are what promises P1 and P2 need and what users have set. They include pairing keys,
/// so a reserve is as secret as the database.
struct ReserveSnapshot: Hashable, Sendable {
    /// Enough for the progress of a thousand buttons, or for six hundred presses in the journals of a site.
    static let slotLength = 131_072
    /// The length of a slot in the files of earlier versions.
    static let shortSlotLength = 32_768
    private static let magic = Array("TryckR".utf8) + [0, 1]
    private static let headerLength = 36

    var database: UInt64
    var number: UInt64
    /// The last record of the ring whose changes the snapshot contains; `nil` if there was no ring.
    var ring: RingPosition?
    var changes: [StoreChange]

    /// The octets of the snapshot, without padding to the length of a slot; `nil` if the changes do not fit.
    ///
    /// If they do not fit, the state of rules is left out. A run that waits is then reported as interrupted after a restart,
    /// but no press is handled twice.
    func encoded() -> [UInt8]? {
        let reserved = changes.compactMap { change in change.reserveJSON.map { (change, $0) } }
        let withoutRules = reserved.filter { if case .rules = $0.0 { false } else { true } }
        let position = ring.map { [$0.json] } ?? []
        return encoded(position + reserved.map(\.1)) ?? encoded(position + withoutRules.map(\.1))
    }

    private func encoded(_ values: [JSONValue]) -> [UInt8]? {
        let payload = JSONValue.array(values).encoded()
        guard Self.headerLength + payload.count <= Self.slotLength else { return nil }
        let header = Self.header(database, number, payload.count)
        var writer = ByteWriter(capacity: Self.headerLength + payload.count)
        writer.bytes(header)
        writer.uint64(Self.checksum(header, payload))
        writer.bytes(payload)
        return writer.bytes
    }

    /// Decodes a slot, which may contain any octets.
    ///
    /// - Returns: `nil` if the slot is empty, was written in part, or has other contents or another version.
    init?(decoding slot: [UInt8]) {
        var reader = ByteReader(slot)
        guard let magic = try? reader.bytes(8), magic == Self.magic, let database = try? reader.uint64(),
            let number = try? reader.uint64(), number > 0, number < UInt64(Int64.max),
            let length = try? reader.uint32(), length <= Self.slotLength, let checksum = try? reader.uint64(),
            let payload = try? reader.bytes(Int(length)),
            checksum == Self.checksum(Self.header(database, number, payload.count), payload),
            var values = try? JSONValue(parsing: payload).arrayValue?[...]
        else { return nil }
        let ring = values.first.flatMap { RingPosition(json: $0) }
        if ring != nil { values.removeFirst() }
        let changes = values.compactMap { StoreChange(reserveJSON: $0) }
        guard changes.count == values.count else { return nil }
        self.init(database: database, number: number, ring: ring, changes: changes)
    }

    init(database: UInt64, number: UInt64, ring: RingPosition? = nil, changes: [StoreChange]) {
        self.database = database
        self.number = number
        self.ring = ring
        self.changes = changes
    }

    private static func header(_ database: UInt64, _ number: UInt64, _ length: Int) -> [UInt8] {
        var writer = ByteWriter(capacity: 28)
        writer.bytes(magic)
        writer.uint64(database)
        writer.uint64(number)
        writer.uint32(UInt32(length))
        return writer.bytes
    }

    private static func checksum(_ header: [UInt8], _ payload: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for octets in [header, payload] {
            for octet in octets { hash = (hash ^ UInt64(octet)) &* 0x0000_0100_0000_01B3 }
        }
        return hash
    }
}

extension RingPosition {
    private static let kind = "ring"

    fileprivate var json: JSONValue {
        .array([.string(Self.kind), .string(String(epoch, radix: 16)), .integer(Int64(clamping: number))])
    }

    fileprivate init?(json: JSONValue) {
        guard let values = json.arrayValue, values.count == 3, values[0] == .string(Self.kind),
            let epoch = values[1].stringValue.flatMap({ UInt64($0, radix: 16) }),
            let number = values[2].integerValue, (0..<Int64.max).contains(number)
        else { return nil }
        self.init(epoch: epoch, number: UInt64(number))
    }
}
