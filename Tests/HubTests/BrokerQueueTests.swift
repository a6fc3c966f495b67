import ButtonModel
import MQTTTopics
import Rules
import Testing

@testable import Hub

@Suite("The queue for the broker")
struct BrokerQueueTests {
    private static let start = Instant(sinceBoot: .seconds(1))
    private static let button = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0001))
    private static let run = RunID(rawValue: 7)

    private static func queue(hasBroker: Bool = true, discoveryPrefix: String? = "homeassistant") -> BrokerQueue {
        BrokerQueue(
            HubConfiguration(version: "0", discoveryPrefix: discoveryPrefix, hasBroker: hasBroker),
            installationID: "00ff")
    }

    private static func connected(discoveryPrefix: String? = "homeassistant") -> BrokerQueue {
        var queue = queue(discoveryPrefix: discoveryPrefix)
        queue.connected()
        return queue
    }

    private static func entry(_ id: UInt64, qos: Int = 1, repetition: Outbox.Repetition = .never) -> Outbox.Entry {
        Outbox.Entry(
            id: .queued(id), message: MQTTMessage(topicName: "a", payload: [], qos: qos), deadline: start + .seconds(9),
            repetition: repetition)
    }

    private static func step(_ number: Int) -> MessageOwner {
        .step(ActionID(run: run, index: number), rule: "light", topicName: "a")
    }

    private static func device(firmwareFile: Bool = false) -> ButtonDevice {
        ButtonDevice(
            id: button, address: BluetoothAddress(rawValue: 0x80E4_DA00_0001), name: "hall", serial: "BA00-H00002",
            firmwareVersion: 1, model: .flic2, clickCounts: [], hasFirmwareFile: firmwareFile, usedDials: [])
    }

    /// Takes the retained topics that may be sent now.
    private static func takeRetained(_ queue: inout BrokerQueue) -> [(topic: RetainedTopic, id: MessageID)] {
        var taken: [(topic: RetainedTopic, id: MessageID)] = []
        while let next = queue.takeRetained() { taken.append(next) }
        return taken
    }

    // MARK: Messages

    @Test("a message is sent at once while there is a connection, and waits otherwise")
    func publish() {
        var queue = Self.queue()
        let posting = queue.publish(Self.entry(1), at: Self.start)
        #expect(posting == .waiting(dropped: []))
        #expect(queue.waitingCount == 1 && queue.earliestExpiry == Self.start + .seconds(9))
        queue.connected()
        let taken = queue.takeNext(at: Self.start + .seconds(2))
        #expect(taken?.expiry == .seconds(7))
        #expect(queue.waitingCount == 0 && queue.unacknowledgedCount == 1)
        guard case .sent(let second) = queue.publish(Self.entry(2), at: Self.start) else {
            Issue.record("the message waits")
            return
        }
        #expect(second.id == .queued(2) && second.step == nil)
        #expect(queue.problems().isEmpty)
    }

    @Test("without a broker in the configuration, every message is refused and no topic waits")
    func noBroker() {
        var queue = Self.queue(hasBroker: false)
        let refused = queue.publish(Self.entry(1), at: Self.start)
        #expect(refused == .refused)
        queue.invalidate(.bridgeInfo)
        let owner = queue.ended(.queued(1), isPublished: false)
        #expect(owner == nil && queue.failedCount == 1)
        #expect(queue.retainedCount == 0 && queue.problems().isEmpty)
    }

    @Test("the end of a message tells what it was published for, and is counted")
    func owner() {
        var queue = Self.connected()
        _ = queue.publish(Self.entry(1), for: .interruptedRun(3), at: Self.start)
        let acknowledged = queue.acknowledged(.queued(1))
        #expect(acknowledged == .message)
        let first = queue.ended(.queued(1), isPublished: true)
        #expect(first == .interruptedRun(3))
        let second = queue.ended(.queued(1), isPublished: true)
        #expect(second == nil)
        #expect(queue.ownedCount == 0 && queue.publishedCount == 2)
    }

    @Test("a message that may arrive twice is sent once more, and another has failed")
    func failed() {
        var queue = Self.connected()
        _ = queue.publish(Self.entry(1, repetition: .once), at: Self.start)
        _ = queue.publish(Self.entry(2), at: Self.start)
        guard case .posted(.sent(let again)) = queue.failed(.queued(1), at: Self.start) else {
            Issue.record("the message is not sent once more")
            return
        }
        #expect(again.id == .queued(1))
        let secondFailure = queue.failed(.queued(1), at: Self.start)
        #expect(secondFailure == .message)
        let otherFailure = queue.failed(.queued(2), at: Self.start)
        #expect(otherFailure == .message)
    }

    @Test("the end and the wait of a run are recorded with the last of its messages")
    func runs() {
        var queue = Self.connected()
        let first = Self.entry(1)
        _ = queue.publish(first, for: Self.step(1), at: Self.start)
        _ = queue.publish(Self.entry(2), for: Self.step(2), at: Self.start)
        #expect(!queue.hasWritten(Self.run) && queue.runsWithMessages == [Self.run])
        queue.waitChanged(of: Self.run, .rules(.waiting(Self.run, nil)))
        let mayEnd = queue.runEnded(Self.run)
        #expect(!mayEnd)
        let owner = queue.ended(first.id, isPublished: true)
        #expect(owner == Self.step(1))
        let atFirst = queue.messageEnded(of: Self.run)
        #expect(atFirst.isEmpty)
        let changes = queue.cancel(ActionID(run: Self.run, index: 2))
        #expect(changes == [.rules(.waiting(Self.run, nil)), .runEnded(7)])
        #expect(queue.hasWritten(Self.run) && queue.waitingCount == 0 && queue.problems().isEmpty)
    }

    // MARK: Retained topics

    @Test("everything is published after connecting: states, then discovery, then bridge/state, then rules")
    func republish() {
        var queue = Self.queue()
        queue.invalidate(.status(Self.button))
        queue.invalidate(.variable("gone"))
        queue.connected()
        queue.republish(
            BrokerQueue.Inventory(
                buttons: [Self.button], variables: ["mode"], rules: ["light"], lastRuns: ["light"],
                statistics: ["light"]),
            gone: [.variable("gone")])
        let topics = Self.takeRetained(&queue).map(\.topic)
        #expect(
            topics == [
                .variable("gone"), .bridgeInfo, .bridgeDevices, .bridgePairing, .bridgeHealth, .bridgeRadios, .rules,
                .status(Self.button), .availability(Self.button), .bridgeConfig, .config(Self.button), .bridgeState,
                .variable("mode"),
                .ruleEnabled("light"), .lastRun("light"), .statistics("light"),
            ])
        #expect(queue.problems().isEmpty)
    }

    @Test("leftovers are looked for until every retained topic is acknowledged")
    func leftovers() {
        var queue = Self.connected(discoveryPrefix: nil)
        let payload = Array("x".utf8)
        #expect(queue.leftover("tryck/variables/old", payload) == nil)
        queue.republish(BrokerQueue.Inventory(), gone: [])
        #expect(queue.leftover("tryck/variables/old", payload) == .variable("old"))
        #expect(queue.leftover("tryck/variables/old", []) == nil)
        let longName = String(repeating: "x", count: 300)
        #expect(queue.leftover("tryck/variables/\(longName)", payload) == nil, "it would fill the memory")
        #expect(queue.leftover("tryck/\(Self.button)/availability", payload) == .availability(Self.button))
        queue.clearLeftover(.variable("old"))
        let topics = Self.takeRetained(&queue)
        #expect(topics.last?.topic == .variable("old"))
        var acknowledged: [BrokerQueue.Acknowledged] = []
        for (_, id) in topics { acknowledged.append(queue.acknowledged(id)) }
        #expect(
            acknowledged == topics.dropLast().map { _ in .retained(endsSearch: false) }
                + [.retained(endsSearch: true)])
        #expect(!queue.isLookingForLeftovers && queue.publishedCount == Int64(topics.count))
    }

    @Test("a topic is tried three times, each time after a delay")
    func retainedFailed() {
        var queue = Self.connected()
        var outcomes: [BrokerQueue.Failed] = []
        for _ in 0..<3 {
            queue.invalidate(.rules)
            for (_, id) in Self.takeRetained(&queue) { outcomes.append(queue.failed(id, at: Self.start)) }
        }
        #expect(outcomes == [.retained(.rules), .retained(.rules), .retainedGivenUp(.rules)])
        #expect(queue.failedCount == 1)
    }

    @Test("what was under way when the connection ended is not counted, and topics that waited wait on")
    func disconnected() {
        var queue = Self.connected()
        queue.invalidate(.rules)
        let sent = Self.takeRetained(&queue)
        queue.invalidate(.bridgeInfo)
        let isFirst = queue.settle(.bridgeDevices)
        #expect(isFirst && queue.isSettling)
        let first = queue.disconnected("gone", at: Instant(nanoseconds: 1))
        #expect(first == true)
        let again = queue.disconnected("gone", at: Instant(nanoseconds: 1))
        #expect(again == nil)
        let other = queue.disconnected("still gone", at: Instant(nanoseconds: 1))
        #expect(other == false)
        for (_, id) in sent {
            let acknowledged = queue.acknowledged(id)
            #expect(acknowledged == .message)
        }
        #expect(!queue.isSettling && queue.waitingTopics == [.bridgeInfo] && queue.problems().isEmpty)
        let settles = queue.settle(.rules)
        let taken = queue.takeRetained()
        #expect(!settles && taken == nil)
    }

    // MARK: Home Assistant

    @Test("a component that a device has no more is withdrawn, which takes two messages")
    func withdrawal() {
        var queue = Self.connected()
        let topic = RetainedTopic.config(Self.button)
        _ = queue.announcement(topic, of: Self.device(firmwareFile: true))
        #expect(queue.retainedCount == 0)
        let first = queue.announcement(topic, of: Self.device())
        let followed = Self.takeRetained(&queue)
        #expect(followed.map(\.topic) == [topic])
        let second = queue.announcement(topic, of: Self.device())
        let third = queue.takeRetained()
        #expect(first.payload != second.payload && third == nil)
        #expect(first.topicName == queue.name(of: topic))
        let removed = queue.announcement(topic, of: nil)
        #expect(removed.payload.isEmpty)
    }

    @Test("a device that the user deleted is not announced until its button is paired again")
    func deleted() {
        var queue = Self.connected()
        let topic = RetainedTopic.config(Self.button)
        var isDeleted: [Bool] = []
        for _ in 0..<2 { isDeleted.append(queue.configSeen(topic, [], isRetained: false, of: Self.device())) }
        #expect(isDeleted == [true, false])
        queue.invalidate(topic)
        let hidden = queue.takeRetained()
        #expect(hidden == nil)
        queue.reveal(Self.button)
        queue.invalidate(topic)
        let revealed = Self.takeRetained(&queue)
        #expect(revealed.map(\.topic) == [topic])
    }

    @Test("Home Assistant's start is noticed, unless the broker retained the message about it")
    func homeAssistant() {
        let queue = Self.queue()
        let online = Array("online".utf8)
        #expect(queue.discoveryMessage("homeassistant/status", online, isRetained: false) == .homeAssistantStarted)
        #expect(queue.discoveryMessage("homeassistant/status", online, isRetained: true) == .other)
        #expect(queue.discoveryMessage("tryck/bridge/request/x", online, isRetained: false) == nil)
        #expect((.zero..<Announcements.longestDelay).contains(queue.announcementDelay(at: Self.start)))
        #expect(Self.queue(discoveryPrefix: nil).discoveryFilters.isEmpty)
    }

    @Test("the metrics are outdated after a change of what they show, and not after a retained topic")
    func hasChanged() {
        var queue = Self.queue()
        queue.invalidate(.variable("gone"))
        let atFirst = queue.takeHasChanged()
        #expect(!atFirst)
        queue.connected()
        let connected = queue.takeHasChanged()
        #expect(connected)
        let again = queue.takeHasChanged()
        #expect(!again)
    }
}
