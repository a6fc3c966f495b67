import ButtonModel

@testable import Flic

extension FuzzTarget {
    /// Arbitrary notifications of a Duo's events: decoded events can be encoded again, are no more than the bits can
    /// contain, and each event of each button is reported once, in order.
    static let duoEvents = FuzzTarget(name: "duo-events") { octets throws(BrokenPromise) in
        var input = FuzzInput(octets)
        let flags = input.octet()
        let cursor = EventCursor(
            bootID: 1, eventCount: UInt32(input.octet()) << (flags & 0x18), smallEventCount: UInt32(input.octet()))
        var stream = DuoEventStream(
            bigCount: cursor.eventCount, smallCount: cursor.smallEventCount, isDrained: flags & 1 == 0)
        var intake = EventIntake(button: ButtonID(BluetoothAddress(rawValue: 7)), cursor: cursor)
        let now = Instant(sinceBoot: .seconds(100))
        while let step = input.step() {
            let before = stream
            let bits = Array(input.chunk().prefix(Int(step)))
            let events = stream.decode(bits)
            try promise("items have 39 bits at least", 39 * events.count <= 8 * bits.count)
            try promise("times have 47 bits", stream.milliseconds < 1 << 47)
            try promise("no stored item comes after the last one", !before.isDrained || stream.isDrained)
            // Times never decrease; a time that does has wrapped around.
            let times = [before.milliseconds] + events.map(\.milliseconds)
            if zip(times, times.dropFirst()).allSatisfy({ $0 <= $1 }) {
                var (writer, reader) = (before, before)
                let (again, count) = writer.encode(events, room: .max)
                try promise("decoded events can be encoded", count == events.count && writer == stream)
                try promise(
                    "events are the same after a round trip", reader.decode(again) == events && reader == stream)
            }
            let former = intake.cursor
            let told = intake.receive(events, at: now)
            try promise("the cursor never decreases", intake.cursor.covers(former))
            for part in [ButtonPart.big, .small] {
                let counters = told.filter { $0.part == part }.map(\.counter)
                let known = part == .big ? former.eventCount : former.smallEventCount
                try promise("each event is reported once", zip([known] + counters, counters).allSatisfy { $0 < $1 })
            }
        }
    }
}
