import ButtonModel
import Bytes

/// Encoder and decoder of the event notifications of a session with a Duo. Items are encoded as differences from
/// earlier items, so both ends keep the state of the stream.
///
/// A notification is a sequence of items that are not aligned to octets, beginning with the least significant bit:
///
/// | bits             | field                                                                             |
/// |------------------|-----------------------------------------------------------------------------------|
/// | 1                | 0 the big button, 1 the small one                                                 |
/// | 1; 2; 4 + n      | only in a button's first item: the counter's difference, see below                |
/// | 3 + n            | milliseconds since the item before; n is 8, 10, 13, 16, 24, 32, 40 or 48          |
/// | 1; 2             | up to the last stored item: 0 stored; 1, 0 stored and the last; 1, 1 live         |
/// | 3                | kind                                                                              |
/// | 1                | only for kinds 4 and 7: marked                                                    |
/// | 1; 2; 4          | only for kinds 0 to 4 and 6: 0 no gesture; 1, 0 unrecognised; 1, 1 and two bits: a swipe |
/// | 3 × 8            | acceleration                                                                      |
///
/// The counter's difference is encoded as 0 for 1; 1, 0 for 2; else 1, 1, two bits that choose n from 2, 4, 8, 32, and
/// n bits with the difference minus one. For a button's later items it is 1. Ups and downs have odd counters: an even
/// result is incremented.
///
/// The time of the first item of a session is relative to the button's boot.
///
/// - Source: protocol notes, 8.1.
struct DuoEventStream: Hashable, Sendable {
    private(set) var milliseconds: UInt64 = 0
    /// The counters of each button's last item.
    private(set) var bigCount, smallCount: UInt32
    /// True if all stored items have been sent, so that the storage field is absent.
    private(set) var isDrained: Bool

    /// The length of the shortest item in bits. Fewer remaining bits are padding.
    static let minimumItemLength = 39
    private static let countLengths = [2, 4, 8, 32]
    private static let timeLengths = [8, 10, 13, 16, 24, 32, 40, 48]
    private static let clockMask: UInt64 = 1 << 47 - 1

    init(bigCount: UInt32, smallCount: UInt32, isDrained: Bool) {
        self.bigCount = bigCount
        self.smallCount = smallCount
        self.isDrained = isDrained
    }

    /// Decodes the items of a notification. A truncated item, and everything after it, is ignored.
    mutating func decode(_ octets: [UInt8]) -> [DuoEvent] {
        var reader = BitReader(octets)
        var events: [DuoEvent] = []
        while reader.remainingCount >= Self.minimumItemLength {
            var next = self
            guard let event = try? next.read(&reader, after: events) else { break }
            self = next
            events.append(event)
        }
        return events
    }

    private mutating func read(_ reader: inout BitReader, after former: [DuoEvent]) throws(Truncated) -> DuoEvent {
        let part: ButtonPart = try reader.bit() ? .small : .big
        let isFirst = !former.contains { $0.part == part }
        let difference = isFirst ? try Self.difference(&reader) : 1
        let timeLength = Self.timeLengths[Int(try reader.bits(3))]
        milliseconds = (milliseconds &+ (try reader.bits(timeLength))) & Self.clockMask
        var storage = DuoEvent.Storage.live
        if !isDrained {
            if try !reader.bit() {
                storage = .queued
            } else {
                if try !reader.bit() { storage = .queuedLast }
                isDrained = true
            }
        }
        let rawKind = UInt8(truncatingIfNeeded: try reader.bits(3))
        let isMarked = DuoEvent.Kind.hasMark(rawKind) ? try reader.bit() : false
        let kind = DuoEvent.Kind(rawValue: rawKind, isMarked: isMarked)
        let gesture = kind.hasGesture ? try DuoEvent.Gesture(&reader) : .none
        let counter = Self.counter(of: kind, difference, after: count(of: part))
        setCount(of: part, counter)
        return DuoEvent(
            part: part, counter: counter, milliseconds: milliseconds, kind: kind, gesture: gesture, storage: storage,
            acceleration: .init(x: try reader.int8(), y: try reader.int8(), z: try reader.int8()))
    }

    private static func difference(_ reader: inout BitReader) throws(Truncated) -> UInt32 {
        guard try reader.bit() else { return 1 }
        guard try reader.bit() else { return 2 }
        let length = countLengths[Int(try reader.bits(2))]
        return UInt32(truncatingIfNeeded: try reader.bits(length)) &+ 1
    }

    private static func counter(of kind: DuoEvent.Kind, _ difference: UInt32, after count: UInt32) -> UInt32 {
        let counter = count &+ difference
        return kind.isOdd && counter.isMultiple(of: 2) ? counter &+ 1 : counter
    }

    private func count(of part: ButtonPart) -> UInt32 { part == .small ? smallCount : bigCount }

    private mutating func setCount(of part: ButtonPart, _ count: UInt32) {
        if part == .small { smallCount = count } else { bigCount = count }
    }
}

extension DuoEventStream {
    /// Encodes the oldest events as one notification. Returns it with the number of events in it: at least one, unless
    /// there are no events.
    ///
    /// - Parameter events: in the order of their times. The notification ends before an event whose counter does not
    ///   follow that of the same button's previous event.
    mutating func encode(_ events: some Collection<DuoEvent>, room: Int) -> (octets: [UInt8], count: Int) {
        var writer = BitWriter()
        var written: [DuoEvent] = []
        for event in events {
            var next = self
            var longer = writer
            guard next.write(event, after: written, to: &longer), written.isEmpty || longer.octets.count <= room else {
                break
            }
            self = next
            writer = longer
            written.append(event)
        }
        return (writer.octets, written.count)
    }

    /// - Returns: whether the event can be in the same notification as the previous events.
    private mutating func write(_ event: DuoEvent, after former: [DuoEvent], to writer: inout BitWriter) -> Bool {
        let count = count(of: event.part)
        let isFirst = !former.contains { $0.part == event.part }
        if Self.counter(of: event.kind, 1, after: count) != event.counter, !isFirst { return false }
        writer.bit(event.part == .small)
        if isFirst { Self.write(difference: difference(to: event, after: count), to: &writer) }
        let elapsed = event.milliseconds > milliseconds ? event.milliseconds - milliseconds : 0
        Self.write(elapsed, lengths: Self.timeLengths, to: &writer)
        if !isDrained {
            writer.bit(event.storage != .queued)
            if event.storage != .queued { writer.bit(event.storage == .live) }
            isDrained = event.storage != .queued
        }
        writer.bits(UInt64(event.kind.rawValue), 3)
        if DuoEvent.Kind.hasMark(event.kind.rawValue) { writer.bit(event.kind.isMarked) }
        if event.kind.hasGesture { event.gesture.write(to: &writer) }
        for octet in [event.acceleration.x, event.acceleration.y, event.acceleration.z] {
            writer.bits(UInt64(UInt8(bitPattern: octet)), 8)
        }
        milliseconds += elapsed
        setCount(of: event.part, event.counter)
        return true
    }

    private func difference(to event: DuoEvent, after count: UInt32) -> UInt32 {
        Self.counter(of: event.kind, 1, after: count) == event.counter ? 1 : event.counter &- count
    }

    private static func write(difference: UInt32, to writer: inout BitWriter) {
        writer.bit(difference != 1)
        guard difference != 1 else { return }
        writer.bit(difference != 2)
        guard difference != 2 else { return }
        write(UInt64(difference &- 1), lengths: countLengths, to: &writer)
    }

    /// Writes the index of the shortest length that is sufficient for the value, and the value.
    private static func write(_ value: UInt64, lengths: [Int], to writer: inout BitWriter) {
        for (index, length) in lengths.enumerated() where value >> UInt64(length) == 0 {
            writer.bits(UInt64(index), lengths.count == 4 ? 2 : 3)
            return writer.bits(value, length)
        }
    }
}

extension DuoEvent.Gesture {
    private static let directions: [SwipeDirection] = [.left, .right, .up, .down]

    fileprivate init(_ reader: inout BitReader) throws(Truncated) {
        guard try reader.bit() else {
            self = .none
            return
        }
        guard try reader.bit() else {
            self = .unrecognised
            return
        }
        self = .swipe(Self.directions[Int(try reader.bits(2))])
    }

    fileprivate func write(to writer: inout BitWriter) {
        switch self {
        case .none: writer.bit(false)
        case .unrecognised: writer.bits(0b01, 2)
        case .swipe(let direction):
            writer.bits(0b11, 2)
            writer.bits(UInt64(Self.directions.firstIndex(of: direction) ?? 0), 2)
        }
    }
}

extension BitReader {
    fileprivate mutating func int8() throws(Truncated) -> Int8 {
        Int8(bitPattern: UInt8(truncatingIfNeeded: try bits(8)))
    }
}
