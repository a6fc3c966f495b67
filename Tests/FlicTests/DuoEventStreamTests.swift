import ButtonModel
import TestSupport
import Testing

@testable import Flic

@Suite("Duo: event stream")
struct DuoEventStreamTests {
    /// Random presses of both buttons of a Duo, and the state of the stream before them.
    private struct Story {
        var stream: DuoEventStream
        var events: [DuoEvent]

        init(_ generator: inout SeededGenerator) {
            func draw(_ bound: UInt64) -> UInt64 { generator.next() % bound }
            let isDrained = draw(2) == 0
            stream = DuoEventStream(
                bigCount: UInt32(draw(1 << draw(32))), smallCount: UInt32(draw(1 << draw(32))), isDrained: isDrained)
            var counts = [ButtonPart.big: stream.bigCount, .small: stream.smallCount]
            var milliseconds: UInt64 = 0
            events = []
            let queued = isDrained ? 0 : Int(draw(6))
            let count = queued + Int(draw(6))
            for index in 0..<count {
                let part: ButtonPart = draw(2) == 0 ? .big : .small
                let kind = DuoEvent.Kind(rawValue: UInt8(draw(8)), isMarked: draw(2) == 0)
                // Some counters are skipped, as if their events were lost.
                var counter = (counts[part] ?? 0) &+ (draw(4) == 0 ? UInt32(draw(1 << draw(32))) : 0) &+ 1
                if kind.isOdd, counter.isMultiple(of: 2) { counter &+= 1 }
                counts[part] = counter
                milliseconds = min(milliseconds + draw(1 << draw(46)), 1 << 47 - 1)
                var event = DuoEvent(part: part, counter: counter, milliseconds: milliseconds, kind: kind)
                if kind.hasGesture {
                    let gestures: [DuoEvent.Gesture] =
                        [.none, .unrecognised] + SwipeDirection.allCases.map { .swipe($0) }
                    event.gesture = gestures[Int(draw(6))]
                }
                if index < queued { event.storage = index == queued - 1 && draw(2) == 0 ? .queuedLast : .queued }
                let octets = generator.bytes(3).map { Int8(bitPattern: $0) }
                event.acceleration = .init(x: octets[0], y: octets[1], z: octets[2])
                events.append(event)
            }
        }
    }

    @Test(
        "a host reads the events that a Duo writes, in however many notifications",
        arguments: 0..<300 as Range<UInt64>)
    func roundTrip(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let story = Story(&generator)
        var (writer, reader) = (story.stream, story.stream)
        var rest = story.events[...]
        var read: [DuoEvent] = []
        while !rest.isEmpty {
            let (octets, count) = writer.encode(rest, room: 120)
            #expect(count > 0 && octets.count <= 120)
            read += reader.decode(octets)
            #expect(reader == writer)
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        #expect(read == story.events)
    }

    @Test("a notification that is cut short gives exactly the items before the cut", arguments: 0..<60 as Range<UInt64>)
    func cuts(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let story = Story(&generator)
        var writer = story.stream
        let (octets, count) = writer.encode(story.events, room: .max)
        let whole = story.events.prefix(count)
        for length in 0...octets.count {
            var reader = story.stream
            let events = reader.decode(Array(octets.prefix(length)))
            #expect(events == Array(whole.prefix(events.count)))
            if length == octets.count { #expect(events.count == count) }
            // The state of the stream after a cut is the state after its last whole item.
            var again = story.stream
            _ = again.encode(whole.prefix(events.count), room: .max)
            #expect(reader == again)
        }
    }

    @Test(
        "random octets never trap, and give no more items than fit them", arguments: 0..<300 as Range<UInt64>)
    func randomOctets(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var stream = DuoEventStream(
            bigCount: .max - 2, smallCount: UInt32(truncatingIfNeeded: generator.next()), isDrained: seed % 2 == 0)
        for _ in 0..<20 {
            let octets = generator.bytes(Int(generator.next() % 130))
            let events = stream.decode(octets)
            #expect(events.count <= 8 * octets.count / DuoEventStream.minimumItemLength)
            #expect(events.allSatisfy { $0.milliseconds < 1 << 47 })
        }
    }

    @Test("an item has at least 39 bits; fewer bits are the padding of the last octet")
    func shortest() {
        let events = [
            DuoEvent(part: .big, counter: 3, milliseconds: 0, kind: .init(rawValue: 0)),
            DuoEvent(part: .big, counter: 5, milliseconds: 0, kind: .init(rawValue: 5)),
        ]
        let before = DuoEventStream(bigCount: 1, smallCount: 0, isDrained: true)
        var (writer, reader) = (before, before)
        let octets = writer.encode(events, room: .max).octets
        // The two items have 41 and 39 bits.
        #expect(octets.count == 10)
        #expect(reader.decode(octets) == events)
        reader = before
        #expect(reader.decode(octets.dropLast()) == [events[0]])
    }

    @Test(
        "a time is written in one of eight lengths",
        arguments: zip(0..<8 as Range<UInt64>, [8, 10, 13, 16, 24, 32, 40, 48]))
    func timeLengths(index: UInt64, length: Int) {
        var writer = BitWriter()
        // The first two bits stand for the big button and a counter one above the last; kind 5 is a down.
        writer.bits(0b00, 2)
        writer.bits(index, 3)
        writer.bits(1 << UInt64(length - 2) | 1, length)
        writer.bits(5, 3)
        writer.bits(0xC0_FFEE, 24)
        var stream = DuoEventStream(bigCount: 4, smallCount: 0, isDrained: true)
        let events = stream.decode(writer.octets)
        #expect(events.map(\.milliseconds) == [1 << UInt64(length - 2) | 1])
        #expect(events.first?.acceleration == .init(x: -18, y: -1, z: -64))
    }

    @Test(
        "a counter difference is written in one of four lengths",
        arguments: zip(0..<4 as Range<UInt64>, [2, 4, 8, 32]))
    func countLengths(index: UInt64, length: Int) {
        var writer = BitWriter()
        writer.bits(0b111, 3)
        writer.bits(index, 2)
        writer.bits(1 << UInt64(length - 1), length)
        writer.bits(0, 3)
        writer.bits(7, 8)
        // A single click timeout leaves the counter even.
        writer.bits(6, 3)
        writer.bits(0, 1 + 24)
        var stream = DuoEventStream(bigCount: 0, smallCount: 3, isDrained: true)
        let events = stream.decode(writer.octets)
        #expect(events.map(\.counter) == [4 + 1 << UInt32(length - 1)] && events.map(\.milliseconds) == [7])
        #expect(stream.smallCount == events.first?.counter && stream.bigCount == 0)
    }

    @Test("each kind of event is one event code of a Flic 2, and back")
    func kinds() {
        let codes: [UInt8] = [8, 10, 14, 11, 11, 1, 2, 3]
        for rawValue in 0..<8 as Range<UInt8> {
            let kind = DuoEvent.Kind(rawValue: rawValue)
            #expect(kind.code.rawValue == codes[Int(rawValue)])
        }
        #expect(DuoEvent.Kind(rawValue: 4, isMarked: true).code.rawValue == 15)
        #expect(DuoEvent.Kind(rawValue: 7, isMarked: true).code.rawValue == 7)
        #expect(!DuoEvent.Kind(rawValue: 5, isMarked: true).isMarked)
        for rawValue in [1, 2, 3, 7, 8, 10, 11, 14, 15] as [UInt8] {
            #expect(DuoEvent.Kind(EventCode(rawValue: rawValue)).code.rawValue == rawValue)
        }
    }
}
