package import Hub

/// The octets of a `RecordRing`, which may be any octets, and the records in them.
///
/// The file has 1,024 slots of 256 octets. Integers are little-endian. The first slot is the header:
///
/// | octets | contents                                                                             |
/// |--------|--------------------------------------------------------------------------------------|
/// | 8      | `magic`, of which the last octet is the version                                      |
/// | 8      | the epoch                                                                            |
/// | …      | zeros                                                                                |
///
/// Each other slot has a number, one more than that of the slot before, and its place follows from its number. A record is
/// one or more slots in succession, and its number is that of the last one:
///
/// | octets | contents                                                                             |
/// |--------|--------------------------------------------------------------------------------------|
/// | 8      | the checksum of the epoch and all other octets                                       |
/// | 8      | the number                                                                           |
/// | 4      | the number of slots of the record after this one                                     |
/// | 4      | the length of the payload in this slot                                               |
/// | …      | the payload, and zeros                                                               |
///
/// A record that is written in part, or that another process has written, has no valid checksum in at least one slot.
package struct RingContents: Sendable {
    package static let slotLength = 256
    /// The number of slots for records.
    package static let slotCount = 1023
    package static let length = (1 + slotCount) * slotLength
    package static let payloadLength = slotLength - headerLength
    private static let headerLength = 24
    private static let magic = Array("TryckL".utf8) + [0, 1]

    package enum Header: Hashable, Sendable {
        /// All octets are zero: the ring contains nothing that the database does not contain.
        case empty
        case epoch(UInt64)
        case unknown
    }

    package struct Record: Hashable, Sendable {
        package var number: UInt64
        package var changes: [StoreChange]
    }

    private struct Slot {
        var number: UInt64
        var remainingCount: UInt32
        var payload: ArraySlice<UInt8>
    }

    let octets: [UInt8]
    package let header: Header

    /// - Parameter octets: the contents of the file.
    package init(_ octets: [UInt8]) {
        self.octets = octets
        if octets.count == Self.length, octets.starts(with: Self.magic), Self.word(octets, 8) != 0,
            octets[16..<Self.slotLength].allSatisfy({ $0 == 0 })
        {
            header = .epoch(Self.word(octets, 8))
        } else if octets.prefix(Self.slotLength).allSatisfy({ $0 == 0 }) {
            header = .empty
        } else {
            header = .unknown
        }
    }

    /// The complete records after a number, up to the first that is missing or damaged.
    ///
    /// - Returns: also true if the ring contains something after these records.
    package func records(after number: UInt64) -> (records: [Record], isDamaged: Bool) {
        guard case .epoch(let epoch) = header else { return ([], false) }
        var records: [Record] = []
        var last = number
        while let (slots, record) = record(after: last, epoch) {
            last += slots
            records.append(record)
            // A ring cannot contain more.
            if last - number >= UInt64(Self.slotCount) { break }
        }
        let isDamaged = (1...Self.slotCount).contains {
            let number = Self.word(octets, $0 * Self.slotLength + 8)
            return number > last
        }
        return (records, isDamaged)
    }

    private func record(after number: UInt64, _ epoch: UInt64) -> (slotCount: UInt64, Record)? {
        var payload: [UInt8] = []
        var remainingCount: UInt32?
        for count in 1...UInt64(Self.slotCount) {
            guard number < UInt64(Int64.max) - count, let slot = slot(number + count, epoch),
                remainingCount == nil || slot.remainingCount == remainingCount
            else { return nil }
            payload += slot.payload
            guard slot.remainingCount > 0 else {
                return RingRecord(decoding: payload).map { (count, Record(number: slot.number, changes: $0.changes)) }
            }
            remainingCount = slot.remainingCount - 1
        }
        return nil
    }

    private func slot(_ number: UInt64, _ epoch: UInt64) -> Slot? {
        let start = Self.offset(of: number)
        let (checksum, found) = (Self.word(octets, start), Self.word(octets, start + 8))
        let lengths = Self.word(octets, start + 16)
        let length = Int(lengths >> 32)
        guard found == number, length <= Self.payloadLength,
            checksum
                == octets.withUnsafeBytes({
                    Self.checksum(UnsafeRawBufferPointer(rebasing: $0[start..<start + Self.slotLength]), epoch)
                })
        else { return nil }
        let payload = octets[start + Self.headerLength..<start + Self.headerLength + length]
        return Slot(number: number, remainingCount: UInt32(truncatingIfNeeded: lengths), payload: payload)
    }

    // MARK: Encoding

    /// The offset of the slot with this number.
    package static func offset(of number: UInt64) -> Int { (1 + Int(number % UInt64(slotCount))) * slotLength }

    /// The number of slots that a payload needs.
    package static func slotCount(of payload: [UInt8]) -> Int {
        max(1, (payload.count + payloadLength - 1) / payloadLength)
    }

    /// The first slot of a ring.
    package static func encodedHeader(epoch: UInt64) -> [UInt8] {
        var octets = magic + [UInt8](repeating: 0, count: slotLength - magic.count)
        octets.withUnsafeMutableBytes { $0.storeBytes(of: epoch.littleEndian, toByteOffset: 8, as: UInt64.self) }
        return octets
    }

    /// The slots of a record, one after the other.
    ///
    /// - Parameter number: that of its first slot.
    package static func encoded(_ payload: [UInt8], first number: UInt64, epoch: UInt64) -> [UInt8] {
        let count = slotCount(of: payload)
        var octets = [UInt8](repeating: 0, count: count * slotLength)
        octets.withUnsafeMutableBytes { octets in
            for index in 0..<count {
                let slot = octets[index * slotLength..<(index + 1) * slotLength]
                encode(payload, index, first: number, epoch: epoch, to: UnsafeMutableRawBufferPointer(rebasing: slot))
            }
        }
        return octets
    }

    /// Writes one slot of a record.
    ///
    /// - Parameters:
    ///   - index: the place of the slot among those of the record.
    ///   - number: the number of the record's first slot.
    ///   - slot: the slot's `slotLength` octets.
    private static func encode(
        _ payload: [UInt8], _ index: Int, first number: UInt64, epoch: UInt64, to slot: UnsafeMutableRawBufferPointer
    ) {
        let first = index * payloadLength
        let length = min(payloadLength, payload.count - first)
        payload.withUnsafeBytes {
            slot[headerLength..<headerLength + length].copyBytes(from: $0[first..<first + length])
        }
        seal(
            slot, number: number + UInt64(index), remainingCount: slotCount(of: payload) - 1 - index, length: length,
            epoch: epoch)
    }

    /// Writes a record that fits into one slot, without an array in between.
    ///
    /// - Returns: false if the record needs more slots. The slot then has no valid checksum.
    static func encode(
        _ record: RingRecord, number: UInt64, epoch: UInt64, to slot: UnsafeMutableRawBufferPointer
    ) -> Bool {
        let length = record.write(to: UnsafeMutableRawBufferPointer(rebasing: slot[headerLength...]))
        guard length <= payloadLength else { return false }
        seal(slot, number: number, remainingCount: 0, length: length, epoch: epoch)
        return true
    }

    /// Completes a slot that has its payload. The checksum is stored last, so a slot that is written in part is not valid.
    private static func seal(
        _ slot: UnsafeMutableRawBufferPointer, number: UInt64, remainingCount: Int, length: Int, epoch: UInt64
    ) {
        let lengths = UInt64(remainingCount) | UInt64(length) << 32
        slot.storeBytes(of: number.littleEndian, toByteOffset: 8, as: UInt64.self)
        slot.storeBytes(of: lengths.littleEndian, toByteOffset: 16, as: UInt64.self)
        UnsafeMutableRawBufferPointer(rebasing: slot[(headerLength + length)...])
            .initializeMemory(as: UInt8.self, repeating: 0)
        slot.storeBytes(of: checksum(UnsafeRawBufferPointer(slot), epoch).littleEndian, as: UInt64.self)
    }

    /// The checksum of a slot. Each step is reversible, so any change of one word changes the result.
    private static func checksum(_ slot: UnsafeRawBufferPointer, _ epoch: UInt64) -> UInt64 {
        var hash = epoch
        for offset in stride(from: 8, to: slotLength, by: 8) {
            let word = UInt64(littleEndian: slot.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 29
        }
        return hash
    }

    private static func word(_ octets: [UInt8], _ offset: Int) -> UInt64 {
        octets.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
    }
}
