import Testing

@testable import Hub

@Suite("Retained topics in their turn")
struct RetainedQueueTests {
    /// A broker that acknowledges when the test requests it.
    private struct Broker {
        var topics = RetainedQueue()
        var inFlight: [MessageID] = []

        /// Takes what may be sent now.
        mutating func take() -> [RetainedTopic] {
            var taken: [RetainedTopic] = []
            while let topic = topics.take() {
                taken.append(topic)
                inFlight.append(topics.sent(topic))
            }
            return taken
        }

        mutating func acknowledge() -> Bool { topics.acknowledged(inFlight.removeFirst()) != nil }

        mutating func refuse() -> (topic: RetainedTopic, again: Bool)? { topics.failed(inFlight.removeFirst()) }
    }

    @Test("no more than a window of them is on its way, and each acknowledgement lets one follow, in order")
    func window() {
        var broker = Broker()
        let topics = (0..<200).map { RetainedTopic.variable("\($0)") }
        for topic in topics { broker.topics.add(topic) }
        var said = broker.take()
        #expect(broker.inFlight.count == RetainedQueue.maximumInFlight)
        while !broker.inFlight.isEmpty {
            let (isOurs, next) = (broker.acknowledge(), broker.take())
            #expect(isOurs && next.count <= 1)
            said += next
        }
        #expect(said == topics)
        #expect(broker.topics.isIdle)
    }

    @Test("what changes again before its turn is said once, and what changes while it is on its way once more")
    func once() {
        var broker = Broker()
        for _ in 0..<3 { broker.topics.add(.rules) }
        let first = broker.take()
        broker.topics.add(.rules)
        let second = broker.take()
        #expect(first == [.rules] && second == [.rules])
    }

    @Test("what settles waits to be added, in the order in which it came")
    func settling() {
        var broker = Broker()
        let isFirst = [RetainedTopic.bridgeInfo, .rules, .bridgeInfo].map { broker.topics.settle($0) }
        #expect(isFirst == [true, false, false])
        let before = broker.take()
        broker.topics.addSettled()
        let after = broker.take()
        #expect(before == [] && after == [.bridgeInfo, .rules])
    }

    @Test("what fails may be tried again so often, and then no more")
    func failures() {
        var broker = Broker()
        var again: [Bool?] = []
        for _ in 0..<RetainedQueue.maximumAttempts {
            broker.topics.add(.rules)
            _ = broker.take()
            again.append(broker.refuse()?.again)
        }
        #expect(again == [true, true, false])
    }

    @Test("when the broker goes, what waited waits on, and no number comes twice")
    func gone() throws {
        var broker = Broker()
        broker.topics.add(.bridgeInfo)
        _ = broker.take()
        broker.topics.add(.rules)
        let left = broker.topics.takeAll()
        #expect(left == [.rules] && broker.topics.isIdle)
        let before = broker.inFlight
        let isKnown = broker.acknowledge()
        #expect(!isKnown)
        broker.topics.add(.rules)
        _ = broker.take()
        #expect(!before.contains(try #require(broker.inFlight.first)))
    }
}
