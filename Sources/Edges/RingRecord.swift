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
        var writer = ByteWriter(capacity: 96 * changes.count)
        for change in changes { Self.write(change, to: &writer) }
        return writer.bytes
    }

    private static func write(_ change: StoreChange, to writer: inout ByteWriter) {
        switch change {
        case .progress(let id, let cursor, let recogniser, let pressCount, let sequence, let publishWatermark, let seen):
            writer.begin(.progress, id)
            writer.cursor(cursor)
            writer.text(recogniser)
            writer.integer(pressCount.value)
            writer.integer(sequence.value)
            writer.integer(publishWatermark)
            writer.uint8(seen == nil ? 0 : 1)
            if let seen { writer.integer(seen.milliseconds) }
        case .publishWatermark(let id, let publishWatermark):
            writer.begin(.publishWatermark, id)
            writer.integer(publishWatermark)
        case .runStarted(let run):
            writer.uint8(Kind.runStarted.rawValue)
            writer.uint64(run.id)
            writer.text(run.rule)
            writer.uint8(run.button == nil ? 0 : 1)
            if let button = run.button { writer.uint64(button.rawValue) }
            writer.cursor(run.event)
            writer.integer(run.startedAt.milliseconds)
        case .runEnded(let id):
            writer.uint8(Kind.runEnded.rawValue)
            writer.uint64(id)
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
            writer.uint8(Kind.json.rawValue)
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

extension ByteWriter {
    fileprivate mutating func begin(_ kind: RingRecord.Kind, _ button: ButtonID) {
        uint8(kind.rawValue)
        uint64(button.rawValue)
    }

    fileprivate mutating func integer(_ value: Int64) { uint64(UInt64(bitPattern: value)) }

    fileprivate mutating func text(_ text: String) {
        uint32(UInt32(clamping: text.utf8.count))
        bytes(text.utf8)
    }

    fileprivate mutating func cursor(_ cursor: EventCursor) {
        uint32(cursor.bootID)
        uint32(cursor.eventCount)
        uint32(cursor.smallEventCount)
    }

    fileprivate mutating func level(_ value: Int, _ measuredAt: UTCTime, _ isLow: Bool) {
        integer(Int64(value))
        integer(measuredAt.milliseconds)
        uint8(isLow ? 1 : 0)
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
