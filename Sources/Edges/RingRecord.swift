import ButtonModel
import Bytes
package import Hub
import JSON

/// The payload of one record of a `RecordRing`: changes that are applied together. Every change has an encoding.
///
/// A change is an octet for its kind and its values. Integers are little-endian; a text is its length in four octets and its
/// UTF-8; an optional value follows an octet that is 1, and is missing after a 0. The changes of a press have kinds of their
/// own. All others are the JSON of `StoreChange.reserveJSON`, which takes longer to make.
package struct RingRecord: Hashable, Sendable {
    fileprivate enum Kind: UInt8 {
        case json, progress, publishWatermark, runStarted, runEnded, battery, batteryPercentage, fact
    }

    package var changes: [StoreChange]

    package init(_ changes: [StoreChange]) { self.changes = changes }

    package func encoded() -> [UInt8] {
        // Enough for the changes of a press, unless its rule has a long name.
        let (octets, length) = encoded(capacity: 128 * changes.count)
        return length <= octets.count ? octets : encoded(capacity: length).octets
    }

    /// - Returns: no octets if the capacity is less than the length.
    private func encoded(capacity: Int) -> (octets: [UInt8], length: Int) {
        var length = 0
        let octets = [UInt8](unsafeUninitializedCapacity: capacity) { memory, count in
            length = write(to: UnsafeMutableRawBufferPointer(memory))
            count = length <= memory.count ? length : 0
        }
        return (octets, length)
    }

    /// Writes the payload into memory.
    ///
    /// - Returns: the length of the payload. If it is more than the memory has, the memory's contents are of no use.
    func write(to memory: UnsafeMutableRawBufferPointer) -> Int {
        var writer = Writer(memory)
        for change in changes { Self.write(change, to: &writer) }
        return writer.length
    }

    private static func write(_ change: StoreChange, to writer: inout Writer) {
        switch change {
        case .progress(let id, let cursor, let recogniser, let pressCount, let sequence, let publishWatermark, let seen):
            writer.begin(.progress, id)
            writer.cursor(cursor)
            writer.text(recogniser)
            writer.integer(pressCount.value)
            writer.integer(sequence.value)
            writer.integer(publishWatermark)
            writer.flag(seen != nil)
            if let seen { writer.integer(seen.milliseconds) }
        case .publishWatermark(let id, let publishWatermark):
            writer.begin(.publishWatermark, id)
            writer.integer(publishWatermark)
        case .runStarted(let run):
            writer.integer(Kind.runStarted.rawValue)
            writer.integer(run.id)
            writer.text(run.rule)
            writer.flag(run.button != nil)
            if let button = run.button { writer.integer(button.rawValue) }
            writer.cursor(run.event)
            writer.integer(run.startedAt.milliseconds)
        case .runEnded(let id):
            writer.integer(Kind.runEnded.rawValue)
            writer.integer(id)
        case .battery(let id, let millivolts, let measuredAt, let isLow):
            writer.begin(.battery, id)
            writer.level(millivolts, measuredAt, isLow)
        case .batteryPercentage(let id, let percentage, let measuredAt, let isLow):
            writer.begin(.batteryPercentage, id)
            writer.level(percentage, measuredAt, isLow)
        case .fact(let id, let fact):
            writer.begin(.fact, id)
            writer.text(fact.column.name)
            writer.text(fact.value.description)
        case .putButton, .removeButton, .rules, .settings, .feed:
            writer.integer(Kind.json.rawValue)
            writer.text(change.reserveJSON?.description ?? "")
        }
    }

    /// - Returns: `nil` for octets that `encoded` does not make.
    package init?(decoding octets: [UInt8]) {
        var reader = ByteReader(octets)
        changes = []
        while !reader.isAtEnd {
            guard let change = try? Self.read(&reader) else { return nil }
            changes.append(change)
        }
    }

    private static func read(_ reader: inout ByteReader) throws -> StoreChange {
        guard let kind = Kind(rawValue: try reader.uint8()) else { throw Invalid() }
        switch kind {
        case .json:
            guard let json = try? JSONValue(parsing: try reader.text()), let change = StoreChange(reserveJSON: json)
            else { throw Invalid() }
            return change
        case .progress:
            let (id, cursor, recogniser) = (try reader.button(), try reader.cursor(), try reader.text())
            guard let pressCount = Tally(try reader.integer()), let sequence = Tally(try reader.integer())
            else { throw Invalid() }
            return .progress(
                id, cursor, recogniser: recogniser, pressCount: pressCount, sequence: sequence,
                publishWatermark: try reader.integer(),
                seen: try reader.flag() ? UTCTime(milliseconds: try reader.integer()) : nil)
        case .publishWatermark: return .publishWatermark(try reader.button(), try reader.integer())
        case .runStarted:
            let (id, rule) = (try reader.run(), try reader.text())
            let button = try reader.flag() ? try reader.button() : nil
            return .runStarted(
                StoredRun(
                    id: id, rule: rule, button: button, event: try reader.cursor(),
                    startedAt: UTCTime(milliseconds: try reader.integer())))
        case .runEnded: return .runEnded(try reader.run())
        case .battery:
            let (id, level) = (try reader.button(), try reader.level())
            return .battery(id, millivolts: level.value, measuredAt: level.measuredAt, isLow: level.isLow)
        case .batteryPercentage:
            let (id, level) = (try reader.button(), try reader.level())
            return .batteryPercentage(id, level.value, measuredAt: level.measuredAt, isLow: level.isLow)
        case .fact:
            let (id, column) = (try reader.button(), try reader.text())
            guard let value = try? JSONValue(parsing: try reader.text()),
                let fact = StoredFact(column: column, value: value)
            else { throw Invalid() }
            return .fact(id, fact)
        }
    }

    fileprivate struct Invalid: Error {}
}

extension RingRecord {
    /// Writes into memory of a fixed size. Every press is encoded before its rules act, and an array that grows executes a thousand
    /// instructions more.
    private struct Writer {
        private let memory: UnsafeMutableRawBufferPointer
        /// The length of everything that was to be written. What does not fit into the memory is not written.
        private(set) var length = 0

        init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

        mutating func integer<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value) {
            let start = length
            length += MemoryLayout<Value>.size
            guard length <= memory.count else { return }
            memory.storeBytes(of: value.littleEndian, toByteOffset: start, as: Value.self)
        }

        mutating func text(_ text: String) {
            var text = text
            text.withUTF8 { octets in
                integer(UInt32(clamping: octets.count))
                let start = length
                length += octets.count
                guard length <= memory.count else { return }
                UnsafeMutableRawBufferPointer(rebasing: memory[start..<length]).copyBytes(from: octets)
            }
        }

        mutating func flag(_ flag: Bool) { integer(flag ? 1 : 0 as UInt8) }

        mutating func begin(_ kind: Kind, _ button: ButtonID) {
            integer(kind.rawValue)
            integer(button.rawValue)
        }

        mutating func cursor(_ cursor: EventCursor) {
            integer(cursor.bootID)
            integer(cursor.eventCount)
            integer(cursor.smallEventCount)
        }

        mutating func level(_ value: Int, _ measuredAt: UTCTime, _ isLow: Bool) {
            integer(Int64(value))
            integer(measuredAt.milliseconds)
            flag(isLow)
        }
    }
}

extension ByteReader {
    fileprivate mutating func integer() throws -> Int64 { Int64(bitPattern: try uint64()) }

    fileprivate mutating func flag() throws -> Bool {
        switch try uint8() {
        case 0: return false
        case 1: return true
        case _: throw RingRecord.Invalid()
        }
    }

    fileprivate mutating func text() throws -> String {
        let octets = try bytes(Int(try uint32()))
        guard let text = String(validating: octets, as: UTF8.self) else { throw RingRecord.Invalid() }
        return text
    }

    fileprivate mutating func button() throws -> ButtonID {
        ButtonID(BluetoothAddress(rawValue: try uint64()))
    }

    /// A run's id, which is less than the maximum so that `nextRun` can be larger.
    fileprivate mutating func run() throws -> UInt64 {
        let id = try uint64()
        guard id < UInt64(Int64.max) else { throw RingRecord.Invalid() }
        return id
    }

    fileprivate mutating func cursor() throws -> EventCursor {
        EventCursor(bootID: try uint32(), eventCount: try uint32(), smallEventCount: try uint32())
    }

    fileprivate mutating func level() throws -> (value: Int, measuredAt: UTCTime, isLow: Bool) {
        (Int(try integer()), UTCTime(milliseconds: try integer()), try flag())
    }
}
