import ButtonModel
import TestSupport
import Testing

private typealias BrokerTalk = Transcript<SimulatedBroker>
private typealias Message = SimulatedBroker.Message

@Suite("The simulated broker")
struct SimulatedBrokerTests {
    private static func talk(_ clients: String...) -> BrokerTalk {
        var talk = BrokerTalk(SimulatedBroker())
        for client in clients { talk.given(.received(client, .connect(will: nil, isCleanStart: true))) }
        return talk
    }

    private static func delivery(
        _ message: Message, to client: String = "b", id: Int, isRepeated: Bool = false
    ) -> SimulatedBroker.Effect {
        .send(client, .message(message, id: id, isRepeated: isRepeated))
    }

    @Test("subscribers get what is retained, then what is published, in the order of one connection")
    func retained() {
        var talk = Self.talk("a", "b")
        let old = Message(topicName: "x/1", payload: [1], isRetained: true)
        talk.when(.received("a", .publish(old, id: 7)), expect: .send("a", .acknowledged(id: 7)))
        talk.when(.received("b", .subscribe(["x/+"])), expect: .send("b", .subscribed), Self.delivery(old, id: 1))
        for number: UInt8 in 2...3 {
            let new = Message(topicName: "x/1", payload: [number], qos: 0)
            talk.when(.received("a", .publish(new, id: 0)), expect: Self.delivery(new, id: Int(number)))
        }
        let other = Message(topicName: "y/1", payload: [4], qos: 0)
        talk.when(.received("a", .publish(other, id: 0)), expect: .nothing)
        let clearing = Message(topicName: "x/1", payload: [], isRetained: true, qos: 0)
        var live = clearing
        live.isRetained = false
        talk.when(.received("a", .publish(clearing, id: 0)), expect: Self.delivery(live, id: 4))
        talk.when(.received("a", .subscribe(["x/+"])), expect: .send("a", .subscribed))
    }

    @Test("a broker that sends copies sends one for each filter that matches, also of what is retained")
    func copies() {
        var talk = BrokerTalk(SimulatedBroker(sendsCopies: true))
        for client in ["a", "b"] { talk.given(.received(client, .connect(will: nil, isCleanStart: true))) }
        let message = Message(topicName: "x/1", payload: [1], isRetained: true, qos: 0)
        talk.given(.received("a", .publish(message, id: 0)))
        talk.when(
            .received("b", .subscribe(["x/+", "#", "y"])), expect: .send("b", .subscribed),
            Self.delivery(message, id: 1), Self.delivery(message, id: 2))
        var live = message
        live.isRetained = false
        talk.when(
            .received("a", .publish(message, id: 0)), expect: Self.delivery(live, id: 3), Self.delivery(live, id: 4))
    }

    @Test(
        "each publisher can have a lane of its own to a client, which keeps the order of its messages, also of its will"
    )
    func lanes() {
        let now = Instant(sinceBoot: .seconds(5))
        var network = SimulatedNetwork(
            separatesPublishers: true, delays: .init(maximum: .milliseconds(100), seed: 1))
        func message(_ number: UInt8) -> Message { Message(topicName: "x", payload: [number], qos: 0) }
        for client in ["a", "b", "c"] {
            network.open(client, .connect(will: .init(message(9)), isCleanStart: true), at: now)
        }
        network.send("c", .subscribe(["x"]), at: now)
        for number: UInt8 in 1...3 { network.send("a", .publish(message(number), id: 0), at: now) }
        network.send("b", .publish(message(4), id: 0), at: now)
        let later = now + .milliseconds(100)
        for lane in ["c", "a", "b"].map({ SimulatedNetwork.Lane(client: $0, isToBroker: true) }) {
            while network.sentCount(lane.client) > 0 { _ = network.carry(lane, at: later) }
        }
        network.close("a", at: later)
        #expect(network.nextArrival(after: later).map { $0 <= later + .milliseconds(100) } == true)
        var heard: [String: [UInt8]] = [:]
        for lane in network.busyLanes where lane.client == "c" {
            while let answer = network.carry(lane, at: later) {
                if case .message(let message, _, _) = answer { heard[lane.publisher, default: []] += message.payload }
            }
        }
        #expect(heard == ["a": [1, 2, 3, 9], "b": [4]])
    }

    @Test("a client that was stopped reads what has reached its connection in the order of arrival")
    func order() {
        var now = Instant(sinceBoot: .seconds(5))
        var network = SimulatedNetwork(separatesPublishers: true)
        for client in ["a", "b", "c"] {
            network.open(client, .connect(will: nil, isCleanStart: true), at: now)
            _ = network.carry(.init(client: client, isToBroker: true), at: now)
        }
        network.send("c", .subscribe(["x"]), at: now)
        _ = network.carry(.init(client: "c", isToBroker: true), at: now)
        for (number, client) in [(1, "b"), (2, "a"), (3, "a"), (4, "a"), (5, "b")] as [(UInt8, String)] {
            now = now + .milliseconds(1)
            network.send(client, .publish(Message(topicName: "x", payload: [number], qos: 0), id: 0), at: now)
            _ = network.carry(.init(client: client, isToBroker: true), at: now)
        }
        var heard: [UInt8] = []
        while case let lanes = network.busyLanes(at: now).filter({ $0.client == "c" }), !lanes.isEmpty {
            for lane in lanes {
                if case .message(let message, _, _)? = network.carry(lane, at: now) { heard += message.payload }
            }
        }
        #expect(heard == [1, 2, 3, 4, 5])
    }

    @Test("a will is published when the connection is lost, after its delay, and not after a goodbye or a return")
    func wills() {
        let will = Message(topicName: "w", payload: [1], qos: 0)
        var talk = Self.talk("b")
        talk.given(.received("b", .subscribe(["w"])))
        talk.given(.received("a", .connect(will: .init(will), isCleanStart: true)))
        talk.when(.connectionLost("a"), expect: Self.delivery(will, id: 1))
        talk.when(.connectionLost("a"), expect: .nothing)
        talk.given(.received("a", .connect(will: .init(will), isCleanStart: true)))
        talk.when(.received("a", .disconnect), expect: .nothing)
        let late = SimulatedBroker.Packet.connect(will: .init(will, delay: .seconds(3)), isCleanStart: true)
        talk.given(.received("a", late))
        talk.when(.connectionLost("a"), expect: .setTimer(talk.now + .seconds(3)))
        talk.wait(.seconds(1))
        talk.when(.received("a", late), expect: .send("a", .connected(isSessionPresent: false)), .cancelTimer)
        talk.given(.connectionLost("a"))
        talk.wait(.seconds(3))
        talk.when(.timerFired, expect: Self.delivery(will, id: 2))
    }

    @Test("a message expires, and says what is left of its expiry")
    func expiry() {
        var talk = Self.talk("a")
        let message = Message(topicName: "x", payload: [1], isRetained: true, qos: 0, expiry: .seconds(10))
        talk.given(.received("a", .publish(message, id: 0)))
        talk.wait(.seconds(4))
        var rest = message
        rest.expiry = .seconds(6)
        talk.when(
            .received("a", .subscribe(["x"])), expect: .send("a", .subscribed), Self.delivery(rest, to: "a", id: 1))
        talk.wait(.seconds(6))
        talk.when(.received("a", .subscribe(["x"])), expect: .send("a", .subscribed))
    }

    @Test("a persistent session keeps messages, and sends again what is not acknowledged; a clean one does not")
    func sessions() {
        var talk = Self.talk("a")
        let persistent = SimulatedBroker.Packet.connect(will: nil, isCleanStart: false)
        talk.given(.received("b", persistent))
        talk.given(.received("b", .subscribe(["x"])))
        let messages = (1...3).map { Message(topicName: "x", payload: [$0]) }
        talk.given(.received("a", .publish(messages[0], id: 1)))
        talk.given(.received("a", .publish(messages[1], id: 2)))
        talk.given(.received("b", .acknowledge(id: 1)))
        talk.given(.connectionLost("b"))
        talk.given(.received("a", .publish(messages[2], id: 3)))
        talk.when(
            .received("b", persistent), expect: .send("b", .connected(isSessionPresent: true)),
            Self.delivery(messages[1], id: 2, isRepeated: true), Self.delivery(messages[2], id: 3))
        talk.when(
            .repeatUnacknowledged("b"),
            expect: Self.delivery(messages[1], id: 2, isRepeated: true),
            Self.delivery(messages[2], id: 3, isRepeated: true))
        talk.when(
            .received("b", .connect(will: nil, isCleanStart: true)), expect: .close("b"),
            .send("b", .connected(isSessionPresent: false)))
    }

    @Test("a broker that is killed forgets what it has not saved, and publishes no will")
    func killed() {
        var talk = Self.talk("a")
        talk.given(.received("b", .connect(will: .init(Message(topicName: "w", payload: [1])), isCleanStart: true)))
        talk.given(.received("a", .publish(Message(topicName: "x", payload: [1], isRetained: true), id: 1)))
        talk.given(.save)
        talk.given(.received("a", .publish(Message(topicName: "x", payload: [2], isRetained: true), id: 2)))
        talk.when(.killed, expect: .close("a"), .close("b"))
        #expect(talk.machine.retainedPayload(of: "x") == [1])
        #expect(talk.machine.retainedPayload(of: "w") == nil)
        talk.when(.received("a", .subscribe(["x"])), expect: .nothing)
    }
}
