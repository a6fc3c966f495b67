import Bytes

/// The UTC offsets in a compiled time zone file ("TZif").
///
///     octet  0…3     4        5…19     20…43
///            "TZif"  version  not used isutcnt, isstdcnt, leapcnt, timecnt, typecnt, charcnt: 4 octets each
///
///     then   timecnt × time           4 octets in version 1
///            timecnt × type           1 octet, an index into the types
///            typecnt × utoff 4, isdst 1, index of a name 1
///            charcnt octets of names, leapcnt × (time, 4), isstdcnt × 1, isutcnt × 1
///
/// From version 2 on, a second header and data block with times of 8 octets follow, then a line feed, a TZ string and a
/// line feed. Integers are big endian.
///
/// - Source: RFC 8536, 3; RFC 9636, 3 for version 4.
struct ZoneFile: Hashable, Sendable {
    /// The maximum size of a file in octets. The largest file of the zone database has 3.5 KiB.
    static let maximumCount = 64 * 1024

    /// A change of the clock to `offset`, in seconds east of UTC, at `moment`, in seconds since 1970-01-01 UTC.
    struct Change: Hashable, Sendable {
        var moment: Int64
        var offset: Int32
    }

    /// The offset before the first change, in seconds east of UTC.
    let firstOffset: Int32
    /// The changes in ascending order of `moment`.
    let changes: [Change]
    /// The rule that applies from the last change on; if `nil`, the last offset continues to apply.
    let rule: ClockRule?

    init(firstOffset: Int32, changes: [Change], rule: ClockRule?) {
        self.firstOffset = firstOffset
        self.changes = changes
        self.rule = rule
    }

    init?(_ octets: [UInt8]) {
        guard octets.count <= ZoneFile.maximumCount else { return nil }
        do {
            var reader = ByteReader(octets)
            guard let header = try Header(&reader) else { return nil }
            guard header.version >= UInt8(ascii: "2") else {
                self.init(header, timeCount: 4, &reader)
                return
            }
            try reader.skip(header.dataCount(timeCount: 4))
            guard let header = try Header(&reader) else { return nil }
            self.init(header, timeCount: 8, &reader)
        } catch {
            return nil
        }
    }
}

extension ZoneFile {
    func offset(at moment: Int64) -> Int {
        guard let last = changes.last, moment < last.moment else {
            return rule?.offset(at: moment) ?? Int(changes.last?.offset ?? firstOffset)
        }
        let later = index(ofFirstChangeAfter: moment)
        return Int(later == 0 ? firstOffset : changes[later - 1].offset)
    }

    /// All offsets that may apply when the local clock shows `local`, in seconds after 1970-01-01 00:00.
    func offsets(near local: Int64) -> Set<Int> {
        let (first, last) = (local - ZoneFile.largestOffset, local + ZoneFile.largestOffset)
        var offsets: Set = [offset(at: first), offset(at: last)]
        for change in changes[index(ofFirstChangeAfter: first)..<index(ofFirstChangeAfter: last)] {
            offsets.insert(Int(change.offset))
        }
        return rule.map { offsets.union($0.offsets) } ?? offsets
    }

    private func index(ofFirstChangeAfter moment: Int64) -> Int {
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].moment <= moment { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension ZoneFile {
    /// In seconds. RFC 8536, 3.2 limits offsets to less than 26 hours; the bound is a little larger.
    static let largestOffset: Int64 = 27 * 3600

    private struct Header {
        var version: UInt8
        var isUTCCount, isStandardCount, leapCount, changeCount, typeCount, nameCount: Int

        /// `nil` if the magic "TZif" is missing.
        init?(_ reader: inout ByteReader) throws(Truncated) {
            guard try reader.bytes(4) == Array("TZif".utf8) else { return nil }
            version = try reader.uint8()
            try reader.skip(15)
            isUTCCount = Int(try reader.uint32().byteSwapped)
            isStandardCount = Int(try reader.uint32().byteSwapped)
            leapCount = Int(try reader.uint32().byteSwapped)
            changeCount = Int(try reader.uint32().byteSwapped)
            typeCount = Int(try reader.uint32().byteSwapped)
            nameCount = Int(try reader.uint32().byteSwapped)
        }

        func dataCount(timeCount: Int) -> Int {
            changeCount * (timeCount + 1) + typeCount * 6 + nameCount + leapCount * (timeCount + 4) + isStandardCount
                + isUTCCount
        }
    }

    private init?(_ header: Header, timeCount: Int, _ reader: inout ByteReader) {
        guard header.typeCount > 0, header.leapCount == 0,
            header.dataCount(timeCount: timeCount) <= reader.remainingCount
        else { return nil }
        do {
            var moments: [Int64] = []
            for _ in 0..<header.changeCount {
                let moment =
                    timeCount == 8
                    ? Int64(bitPattern: try reader.uint64().byteSwapped)
                    : Int64(Int32(bitPattern: try reader.uint32().byteSwapped))
                guard moments.last.map({ $0 < moment }) ?? true else { return nil }
                moments.append(moment)
            }
            let types = try reader.bytes(header.changeCount)
            var offsets: [Int32] = []
            for _ in 0..<header.typeCount {
                let offset = Int32(bitPattern: try reader.uint32().byteSwapped)
                guard (-ZoneFile.largestOffset...ZoneFile.largestOffset).contains(Int64(offset)) else { return nil }
                offsets.append(offset)
                try reader.skip(2)
            }
            guard types.allSatisfy({ $0 < offsets.count }) else { return nil }
            firstOffset = offsets[0]
            changes = zip(moments, types).map { Change(moment: $0, offset: offsets[Int($1)]) }
            try reader.skip(header.nameCount + header.isStandardCount + header.isUTCCount)
            guard timeCount == 8 else {
                rule = nil
                return
            }
            let lineFeed = UInt8(ascii: "\n")
            guard try reader.uint8() == lineFeed else { return nil }
            let rest = reader.remainder()
            let text = rest.prefix { $0 != lineFeed }
            guard text.count < rest.count else { return nil }
            guard !text.isEmpty else {
                rule = nil
                return
            }
            guard let parsed = ClockRule(text) else { return nil }
            rule = parsed
        } catch {
            return nil
        }
    }
}
