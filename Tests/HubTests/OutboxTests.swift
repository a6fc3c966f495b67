import ButtonModel
import MQTTTopics
import Testing

@testable import Hub

@Suite("Messages for the broker")
struct OutboxTests {
    private static let start = Instant(sinceBoot: .seconds(1))

    private static func entry(
        _ id: UInt64, _ messageClass: Outbox.MessageClass, octets: Int = 1, qos: Int = 1,
        timeToLive: Duration = .seconds(9)
    ) -> Outbox.Entry {
        Outbox.Entry(
            id: .queued(id), message: MQTTMessage(topicName: "", payload: Array(repeating: 0, count: octets), qos: qos),
            deadline: start + timeToLive, messageClass: messageClass)
    }

    private static func drain(_ outbox: inout Outbox) -> [UInt64] {
        var ids: [UInt64] = []
        while let entry = outbox.takeNext() {
            ids.append(entry.id.number)
            outbox.handOver(entry)
        }
        return ids
    }

    @Test("each class has its thousand places, and the oldest of the same class makes room")
    func count() {
        var outbox = Outbox()
        for id in 1...1000 as ClosedRange<UInt64> {
            #expect(outbox.add(Self.entry(id, .press)).isEmpty)
            #expect(outbox.add(Self.entry(2000 + id, .other)).isEmpty)
        }
        #expect(outbox.add(Self.entry(3001, .other)).map(\.id) == [2001])
        #expect(outbox.waitingCount == 2000)
        #expect(outbox.add(Self.entry(1001, .press)).map(\.id) == [1])
        #expect(outbox.waitingCount == 2000)
    }

    @Test("each class has its 8 MiB; what is larger than all of them does not wait")
    func octets() {
        var outbox = Outbox()
        let half = Outbox.maximumOctets / 2
        for messageClass in Outbox.MessageClass.allCases {
            #expect(outbox.add(Self.entry(1, messageClass, octets: half)).isEmpty)
            #expect(outbox.add(Self.entry(2, messageClass, octets: half)).isEmpty)
            #expect(outbox.add(Self.entry(3, messageClass, octets: 1)).map(\.id) == [1])
        }
        #expect(outbox.add(Self.entry(4, .other, octets: 2 * half + 1)).map(\.id) == [2, 3, 4])
        #expect(Self.drain(&outbox) == [2, 3])
    }

    @Test("presses go first, and each class keeps its order")
    func order() {
        var outbox = Outbox()
        for id in 1...6 as ClosedRange<UInt64> {
            _ = outbox.add(Self.entry(id, id.isMultiple(of: 2) ? .press : .other))
        }
        #expect(Self.drain(&outbox) == [2, 4, 6, 1, 3, 5])
    }

    @Test("of other messages 64 are on their way at most, and no more than 1 MiB; presses are not held back")
    func inFlight() {
        var outbox = Outbox()
        for id in 1...70 as ClosedRange<UInt64> {
            _ = outbox.add(Self.entry(id, .other, qos: id.isMultiple(of: 2) ? 0 : 1))
        }
        #expect(Self.drain(&outbox) == Array(1...64))
        #expect(!outbox.maySend(Self.entry(71, .other)))
        #expect(outbox.maySend(Self.entry(72, .press)))
        outbox.acknowledged(2)
        _ = outbox.failed(5, isConnected: true, at: Self.start)
        #expect(outbox.problems().isEmpty)
        #expect(Self.drain(&outbox) == [65, 66])

        outbox = Outbox()
        let part = Outbox.maximumOctetsInFlight / 4
        for id in 1...5 as ClosedRange<UInt64> { _ = outbox.add(Self.entry(id, .other, octets: part)) }
        #expect(Self.drain(&outbox) == [1, 2, 3, 4])
        outbox.acknowledged(1)
        #expect(Self.drain(&outbox) == [5])

        // A larger one goes alone.
        outbox = Outbox()
        for id in 1...2 as ClosedRange<UInt64> { _ = outbox.add(Self.entry(id, .other, octets: 5 * part)) }
        #expect(Self.drain(&outbox) == [1])
        outbox.acknowledged(1)
        #expect(Self.drain(&outbox) == [2])
    }

    @Test("a message that waits behind others of its class does not overtake them")
    func behind() {
        var outbox = Outbox()
        #expect(outbox.maySend(Self.entry(1, .other)))
        _ = outbox.add(Self.entry(1, .other))
        #expect(!outbox.maySend(Self.entry(2, .other)))
        #expect(outbox.maySend(Self.entry(2, .press)))
    }

    @Test("what is past its deadline is taken out, of both classes, and frees its places")
    func expiry() {
        var outbox = Outbox()
        _ = outbox.add(Self.entry(1, .other, octets: Outbox.maximumOctets, timeToLive: .seconds(1)))
        _ = outbox.add(Self.entry(2, .press, timeToLive: .seconds(2)))
        #expect(outbox.earliestDeadline == Self.start + .seconds(1))
        #expect(outbox.takeExpired(at: Self.start + .seconds(1)).map(\.id) == [1])
        #expect(outbox.earliestDeadline == Self.start + .seconds(2))
        #expect(outbox.add(Self.entry(3, .other, octets: Outbox.maximumOctets)).isEmpty)
        outbox.remove(2)
        #expect(outbox.waitingCount == 1)
    }

    @Test("a message that may be repeated is handed over twice at most, and not after its deadline; others once")
    func repeated() {
        var outbox = Outbox()
        var entry = Self.entry(1, .other)
        entry.repetition = .once
        outbox.handOver(entry)
        let again = outbox.failed(1, isConnected: true, at: Self.start)
        #expect(again?.attempts == 1)
        if let again { outbox.handOver(again) }
        #expect(outbox.failed(1, isConnected: false, at: Self.start) == nil)
        outbox.handOver(entry)
        #expect(outbox.failed(1, isConnected: false, at: entry.deadline) == nil)
        outbox.handOver(Self.entry(2, .press))
        #expect(outbox.failed(2, isConnected: false, at: Self.start) == nil)
    }

    @Test("the end of a hold is handed over after each of nine lost connections, and twice to a broker that refuses it")
    func endOfHold() {
        for (isConnected, attempts) in [(false, 10), (true, 2)] {
            var outbox = Outbox()
            var entry: Outbox.Entry? = Self.entry(1, .press, timeToLive: .seconds(60))
            entry?.repetition = .often
            var count = 0
            while let next = entry, count < 100 {
                outbox.handOver(next)
                count += 1
                entry = outbox.failed(1, isConnected: isConnected, at: Self.start)
                #expect(outbox.problems().isEmpty)
            }
            #expect(count == attempts)
        }
    }

    @Test("64 lines of the log are on their way at most")
    func lines() {
        var outbox = Outbox()
        let first = (0..<65).map { _ in outbox.admitLine() }
        #expect(first.count { $0 } == 64 && first.last == false)
        outbox.lineEnded()
        let more = outbox.admitLine()
        #expect(more)
    }
}
