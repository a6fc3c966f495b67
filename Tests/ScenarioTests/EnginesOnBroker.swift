import ButtonModel
import Hub
import JSON
import MQTTTopics

/// Several engines on one broker that delivers at once, retains, and publishes wills. Acknowledgements come at once as well.
struct EnginesOnBroker {
    private(set) var engines: [EngineHouse]
    private var isConnected: [Bool]
    private(set) var retained: [String: [UInt8]] = [:]
    /// Everything that was published, with the engine that did.
    private(set) var published: [(engine: Int, message: MQTTMessage)] = []
    /// The warnings in the log of each engine.
    private(set) var warnings: [[String]]
    /// Publications that are to be delivered.
    private var queue: [MQTTMessage] = []
    /// Engines to which the broker delivers nothing of `engines/#`, although it has granted their subscriptions.
    var deaf: Set<Int> = []
    /// Engines to which the broker delivers only the states of `engines/#`, as with `pattern read engines/+/state`.
    var hearsOnlyStates: Set<Int> = []

    init(_ engines: [EngineHouse]) {
        self.engines = engines
        isConnected = engines.map { _ in false }
        warnings = engines.map { _ in [] }
    }

    mutating func connect(_ engine: Int) {
        isConnected[engine] = true
        take(.brokerConnected, engine)
        for (name, payload) in retained.sorted(by: { $0.key < $1.key }) { hear(name, payload, engine) }
        deliver()
    }

    /// Sends an input to one engine, and delivers what follows.
    mutating func tell(_ input: Hub.Input, _ engine: Int) {
        take(input, engine)
        deliver()
    }

    /// The process of an engine is killed, and the broker publishes its will.
    mutating func kill(_ engine: Int) {
        isConnected[engine] = false
        let will = engines[engine].hub.offlineMessage
        receive(will)
        deliver()
    }

    mutating func wait(_ duration: Duration, step: Duration = .milliseconds(100)) {
        var passed = Duration.zero
        while passed < duration {
            passed += step
            for engine in engines.indices {
                engines[engine].now = engines[engine].now + step
                if isConnected[engine] { take(.timerFired, engine) }
            }
            deliver()
        }
    }

    /// A client that is no engine publishes a message.
    mutating func publish(_ topicName: String, _ payload: [UInt8], retain: Bool = false) {
        receive(MQTTMessage(topicName: topicName, payload: payload, qos: 1, retain: retain))
        deliver()
    }

    /// The engines that lead.
    var leaders: [Int] {
        mutating get {
            var leaders: [Int] = []
            for engine in engines.indices where isConnected[engine] {
                if engines[engine].status["engine"]?["state"] == "leading" { leaders.append(engine) }
            }
            return leaders
        }
    }

    mutating func status(_ engine: Int) -> String { engines[engine].status.description }

    /// The part `engine` of the status.
    mutating func engineStatus(_ engine: Int) -> JSONValue { engines[engine].status["engine"] ?? .null }

    /// The payloads that were published on a topic.
    func payloads(on topicName: String) -> [String] {
        published.filter { $0.message.topicName == topicName }.map {
            String(decoding: $0.message.payload, as: UTF8.self)
        }
    }

    private mutating func take(_ input: Hub.Input, _ engine: Int) {
        var inputs = [input]
        while !inputs.isEmpty {
            for effect in engines[engine].take(inputs.removeFirst()) {
                switch effect {
                case .publish(let id, let message, _) where isConnected[engine]:
                    published.append((engine, message))
                    receive(message)
                    inputs.append(.published(id))
                case .sync(let token): inputs.append(.synced(token, true))
                case .log(.warning, let text): warnings[engine].append(text)
                default: break
                }
            }
        }
    }

    private mutating func hear(_ topicName: String, _ payload: [UInt8], _ engine: Int) {
        if deaf.contains(engine), topicName.hasPrefix("engines/") { return }
        if hearsOnlyStates.contains(engine), topicName.hasPrefix("engines/"), !topicName.hasSuffix("/state") { return }
        take(.messageReceived(topicName: topicName, payload: payload, retained: false), engine)
    }

    private mutating func receive(_ message: MQTTMessage) {
        if message.retain { retained[message.topicName] = message.payload.isEmpty ? nil : message.payload }
        queue.append(message)
    }

    private mutating func deliver() {
        while !queue.isEmpty {
            let message = queue.removeFirst()
            guard message.topicName.hasPrefix("engines/") || message.topicName.hasPrefix("tryck/") else { continue }
            for engine in engines.indices where isConnected[engine] { hear(message.topicName, message.payload, engine) }
        }
    }
}
