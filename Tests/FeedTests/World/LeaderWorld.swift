import ButtonModel
import MQTTTopics
import TestSupport
import Testing

@testable import Feed

/// Several engines of one share on a simulated broker. Each can die, be stopped between any two of its steps and wake up, and lose its
/// connection; the broker can die and forget. What is under way can be delayed.
struct LeaderWorld {
    enum Traffic: CaseIterable {
        /// Everything arrives at once.
        case fast
        /// Each connection delays what it carries by up to some seconds, and the broker keeps the order of all messages.
        case slow
        /// Each publisher has a lane of its own to each engine, as a cluster of brokers may have. From one engine to another, a message takes
        /// less time than an engine that claims waits for other claims.
        case separate
    }

    private struct Engine {
        var machine: EngineLeadership
        /// The highest term on its disk.
        var term = 0
        var effects: [EngineLeadership.Effect] = []
        var inputs: [EngineLeadership.Input] = []
        var timer: Instant?
        var leads = false
        /// When the broker last heard of it.
        var heardAt: Instant
        var isStopped = false

        var isBusy: Bool { !effects.isEmpty || !inputs.isEmpty }
    }

    /// One and a half times the keep-alive of 5 s.
    private static let keepAliveLimit = Duration.milliseconds(7500)

    /// What arrives within this time arrives together, so that a story costs less.
    private static let grain = Duration.milliseconds(100)

    private let patience: EnginePatience
    private(set) var now = Instant(sinceBoot: .seconds(1000))
    private var network: SimulatedNetwork
    private let traffic: Traffic
    /// Another part of each engine subscribes to all topics of engines, and the broker sends a copy for each subscription.
    private let hasCopies: Bool
    private var engines: [String: Engine] = [:]
    private var random: SeededGenerator
    private var isQuiet = false
    private(set) var takeovers = 0
    /// The engine whose messages the broker takes as those of a leader.
    private var voice: String?
    private(set) var problems: [String] = []

    init(seed: UInt64, patience: EnginePatience, traffic: Traffic, hasCopies: Bool) {
        self.patience = patience
        self.traffic = traffic
        self.hasCopies = hasCopies
        random = SeededGenerator(seed: seed)
        let delays: SimulatedNetwork.Delays? =
            switch traffic {
            case .fast: nil
            case .slow: .init(maximum: .seconds(4), seed: seed)
            case .separate: .init(maximum: EngineLeadership.claimWait * 45 / 100 - Self.grain, seed: seed)
            }
        network = SimulatedNetwork(
            separatesPublishers: traffic == .separate, delays: delays, sendsCopies: hasCopies)
        for name in ["a1", "a2", "a3"] { start(name, term: 0) }
        for _ in 0..<400 { step(isCalm: false) }
        isQuiet = true
        if traffic == .slow { network.delays?.maximum = .zero }
        for _ in 0..<600 { step(isCalm: true) }
        let leaders = engines.keys.filter { engines[$0]?.leads == true }
        if leaders.count != 1 { problems.append("in the end \(leaders.sorted()) lead") }
    }

    private mutating func start(_ name: String, term: Int) {
        engines[name] = Engine(
            machine: EngineLeadership(engine: name, patience: patience), term: term, heardAt: now)
        engines[name]?.inputs = [.start(term: term)]
    }

    private var names: [String] { engines.keys.sorted() }

    private mutating func step(isCalm: Bool) {
        let name = names[Int.random(in: 0..<3, using: &random)]
        switch isCalm ? 0 : Int.random(in: 0..<20, using: &random) {
        case 0..<15: break
        case 15:
            network.close(name, at: now)
            start(name, term: engines[name]?.term ?? 0)
        case 16: cut(name)
        case 17: engines[name]?.isStopped = true
        case 18:
            if Bool.random(using: &random) { network.handle(.save, at: now) }
            network.handle(.killed, at: now)
            for client in network.takeClosed() { engines[client]?.inputs.append(.disconnected) }
        default: break
        }
        if isCalm || Bool.random(using: &random) { for name in names { engines[name]?.isStopped = false } }
        let end = now + .milliseconds(Int64.random(in: 0...900, using: &random))
        while let arrival = network.nextArrival(after: now), arrival + Self.grain < end {
            pass(arrival + Self.grain - now)
            work()
        }
        pass(end - now)
        work()
    }

    private mutating func cut(_ name: String) {
        guard network.isConnected(name) else { return }
        network.close(name, at: now)
        engines[name]?.inputs.append(.disconnected)
    }

    private mutating func pass(_ duration: Duration) {
        for name in names where engines[name]?.isStopped == false { engines[name]?.heardAt = now }
        now = now + duration
        for name in names {
            guard let engine = engines[name] else { continue }
            if now >= engine.heardAt + Self.keepAliveLimit { cut(name) }
            if let timer = engine.timer, timer <= now {
                engines[name]?.timer = nil
                engines[name]?.inputs.append(.timerFired)
            }
        }
        if let timer = network.timer, timer <= now { network.handle(.timerFired, at: now) }
    }

    /// Lets every engine that is not stopped do all that it can.
    private mutating func work() {
        var hasWorked = true
        while hasWorked {
            hasWorked = false
            for name in names where engines[name]?.isStopped == false {
                if engines[name]?.isBusy == false, !network.isConnected(name) {
                    let will = engines[name]?.machine.will
                    network.open(
                        name,
                        .connect(
                            will: will.map {
                                .init(.init(topicName: $0.topicName, payload: $0.payload, isRetained: true))
                            },
                            isCleanStart: true), at: now)
                }
                while engines[name]?.isBusy == true, !stops(name) { act(name) }
            }
            for lane in network.busyLanes(at: now)
            where lane.isToBroker || engines[lane.client]?.isStopped == false {
                hasWorked = true
                guard let answer = network.carry(lane, at: now) else { continue }
                receive(answer, lane.client)
            }
        }
    }

    /// Stops an engine between two of its steps now and then.
    private mutating func stops(_ name: String) -> Bool {
        guard !isQuiet, Int.random(in: 0..<30, using: &random) == 0 else { return false }
        engines[name]?.isStopped = true
        return true
    }

    private mutating func receive(_ answer: SimulatedBroker.Answer, _ name: String) {
        switch answer {
        case .connected:
            let filters = (hasCopies ? ["engines/#"] : []) + (engines[name]?.machine.filters ?? [])
            network.send(name, .subscribe(filters), at: now)
            engines[name]?.inputs.append(.connected)
        case .message(let message, let id, _):
            network.send(name, .acknowledge(id: id), at: now)
            engines[name]?.inputs.append(
                .received(
                    topicName: message.topicName, payload: message.payload, isRetained: message.isRetained))
        case .subscribed, .acknowledged: break
        }
    }

    private mutating func act(_ name: String) {
        guard let effect = engines[name]?.effects.first else {
            guard let input = engines[name]?.inputs.first, var machine = engines[name]?.machine else { return }
            engines[name]?.inputs.removeFirst()
            engines[name]?.effects = machine.checked(input, at: now)
            engines[name]?.machine = machine
            return
        }
        engines[name]?.effects.removeFirst()
        switch effect {
        case .record(let term): engines[name]?.term = term
        case .publish(let message):
            network.send(
                name,
                .publish(
                    .init(topicName: message.topicName, payload: message.payload, isRetained: message.retain), id: 1),
                at: now)
        case .lead: lead(name)
        case .fence, .stop: engines[name]?.leads = false
        case .setTimer(let deadline): engines[name]?.timer = deadline
        case .cancelTimer: engines[name]?.timer = nil
        case .rulesDiffer, .namesake, .otherShare, .deaf, .anomaly: break
        }
    }

    /// True for an engine that leads, and whose messages reach the broker.
    private func canPublish(_ name: String) -> Bool {
        // A stopped engine notices how late it is before it publishes anything.
        guard let machine = engines[name]?.machine, network.isConnected(name) else { return false }
        return machine.isLeading && !machine.hasLapsed(at: now)
    }

    private mutating func lead(_ name: String) {
        if voice != name { takeovers += 1 }
        voice = name
        engines[name]?.leads = true
        for other in names where other != name && canPublish(other) && canPublish(name) {
            problems.append("\(name) leads at \(now.nanoseconds / 1_000_000) ms, and \(other) can still publish")
        }
    }
}

extension EngineLeadershipTests {
    @Test(
        "engines that die, stop and wake up never lead together, and in the end one leads",
        arguments: seeds(60, from: 0))
    func story(seed: UInt64) {
        let world = LeaderWorld(
            seed: seed, patience: seed % 2 == 0 ? .standard : EnginePatience(.seconds(3)),
            traffic: LeaderWorld.Traffic.allCases[Int(seed / 2 % 3)], hasCopies: seed / 6 % 2 == 1)
        #expect(world.problems.isEmpty)
        #expect(world.takeovers > 0)
    }
}
