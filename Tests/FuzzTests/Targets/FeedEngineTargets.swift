import ButtonModel
import Hub
import MQTTTopics
import Rules

@testable import Feed

extension FuzzTarget {
    /// Which engine leads, and arbitrary payloads from other engines: an engine leads only with a connection, in a term that it
    /// has recorded and claimed, and its terms grow.
    static let feedLeader = FuzzTarget(name: "feed-leader") { octets throws(BrokenPromise) in
        var input = FuzzInput(octets)
        var bench = FeedLeaderBench()
        while let step = input.step() { try bench.take(step, &input) }
    }

    /// The whole hub as an engine, and messages of sites and engines: it publishes nothing without a connection, and its
    /// invariants hold.
    static let feedEngine = FuzzTarget(name: "feed-engine") { octets throws(BrokenPromise) in
        var input = FuzzInput(octets)
        var bench = FeedEngineBench()
        while let step = input.step() { try bench.take(step, &input) }
    }
}

private func anEngine(_ octet: UInt8) -> (name: String, installation: String) {
    (octet & 1 == 0 ? "e" : "f", octet & 2 == 0 ? "aa" : "bb")
}

private struct FeedLeaderBench: TimedBench {
    private var leadership = EngineLeadership(engine: "e", installation: "aa")
    var now = Instant(sinceBoot: .seconds(100))
    var timer: Instant?
    private var isConnected = false
    private var recorded = 0
    private var leads = false

    init() { _ = leadership.handle(.start(term: 0), at: now) }

    mutating func take(_ step: UInt8, _ input: inout FuzzInput) throws(BrokenPromise) {
        switch step & 0xF {
        case 0:
            guard !isConnected else { return }
            isConnected = true
            try give(.connected)
        case 1:
            isConnected = false
            try give(.disconnected)
        case 2, 3, 4:
            let (name, installation) = anEngine(step >> 4)
            let claim = EngineTerm(term: Int(input.octet()), engine: name, installation: installation)
            try hear("leader", claim.encoded())
        case 5, 6:
            let (name, installation) = anEngine(step >> 4)
            let state = EngineState(
                isOnline: step >> 6 & 1 == 0, engine: name, installation: installation, share: .whole,
                rules: String(input.octet() & 1))
            try hear("state", state.encoded())
        case 7:
            let (name, installation) = anEngine(step >> 4)
            let presence = EngineTerm(term: Int(input.octet()), engine: name, installation: installation)
            try hear("standby", presence.encoded())
        case 8: try give(.heard(term: Int(input.octet()) << Int(step >> 4)))
        case 9: try give(.sitesHeard(term: Int(input.octet()) << Int(step >> 2)))
        case 10: try give(.canRecord(step >> 4 & 3 != 0))
        case 11: try give(.rules(String(step >> 4 & 1)))
        case 12, 13: try pass(input.pause())
        default: try hear(["leader", "state", "standby", "x"][Int(step >> 4 & 3)], input.chunk())
        }
    }

    private mutating func hear(_ topic: String, _ payload: [UInt8]) throws(BrokenPromise) {
        try give(.received(topicName: "engines/1/\(topic)", payload: payload))
    }

    mutating func fireTimer() throws(BrokenPromise) { try give(.timerFired) }

    private mutating func give(_ input: EngineLeadership.Input) throws(BrokenPromise) {
        for effect in leadership.handle(input, at: now) {
            switch effect {
            case .record(let term):
                try promise("terms grow", term > recorded)
                recorded = term
            case .publish(let message):
                try promise("nothing is published without a connection", isConnected)
                try promise("a topic is of the share", message.topicName.hasPrefix("engines/1/"))
            case .lead(let term, _):
                try promise("an engine leads with a connection, in a recorded term", isConnected && term == recorded)
                leads = true
            case .fence, .stop:
                try promise("only a leader stops or is fenced", leads)
                if effect == .stop { leads = false }
            case .setTimer(let deadline):
                try promise("a deadline lies ahead", deadline > now)
                timer = deadline
            case .cancelTimer: timer = nil
            case .rulesDiffer, .namesake, .otherShare, .deaf, .anomaly: break
            }
        }
        #if DEBUG
            let problems = leadership.problems()
            try promise("no invariant is violated: \(problems)", problems.isEmpty)
        #endif
    }
}

private struct FeedEngineBench: TimedBench {
    private static let buttons = (1...4).map { ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0000 + $0)) }
    private var hub: Hub
    var now = Instant(sinceBoot: .seconds(100))
    var timer: Instant?
    private var isConnected = false
    private var unacknowledged: [MessageID] = []
    private var inputs: [Hub.Input] = []
    private var claim: [UInt8] = []

    init() {
        hub = Hub(
            HubConfiguration(
                version: "fuzz", radios: [], engine: EngineConfiguration(name: "e", sites: ["tryck/+"])),
            stored: StoredState(installationID: "00aa"), rules: RuleSet())
        _ = hub.handleCompletely(.wallClock(UTCTime(milliseconds: 1_795_000_000_000)), at: now)
        _ = hub.handleCompletely(.start, at: now)
    }

    mutating func take(_ step: UInt8, _ input: inout FuzzInput) throws(BrokenPromise) {
        let button = Self.buttons[Int(step >> 4 & 3)]
        let site = step >> 6 & 1 == 0 ? "tryck/a" : "tryck/b"
        switch step & 0xF {
        case 0:
            guard !isConnected else { return }
            isConnected = true
            try give(.brokerConnected)
        case 1:
            guard isConnected else { return }
            isConnected = false
            try give(.brokerDisconnected("gone"))
            for id in unacknowledged { try give(.publishFailed(id, "gone")) }
            unacknowledged = []
        case 2: try hear("engines/1/leader", claim)
        case 3:
            let (name, installation) = anEngine(step >> 4)
            let other = EngineTerm(term: Int(input.octet()), engine: name, installation: installation)
            try hear("engines/1/\(step >> 6 & 1 == 0 ? "leader" : "standby")", other.encoded())
        case 4:
            let (name, installation) = anEngine(step >> 4)
            let state = EngineState(
                isOnline: step >> 6 & 1 == 0, engine: name, installation: installation, share: .whole)
            try hear("engines/1/state", state.encoded())
        case 5, 6:
            var hello = FeedHello(site: "a", installation: "l", session: Int(step >> 4), term: Int(input.octet()))
            for button in Self.buttons.prefix(Int(input.octet() & 3) + 1) {
                hello.buttons[button] = .init(
                    serial: "s\(button)", model: .flic2, name: "n\(input.octet() & 3)", firmware: 1,
                    last: Int(input.octet()))
            }
            try hear("\(site)/feed/hello", hello.encoded())
        case 7: try hear("\(site)/feed/hello", [])
        case 8, 9, 10:
            let number = Int(input.octet() & 31) + 1
            let event = ButtonEvent(
                button: button, bootID: 7, counter: UInt32(number), step: number % 2 == 0 ? .up(.click) : .down,
                ticks: UInt64(number) * 3277)
            let message = FeedMessage(number: number, previous: number - 1, content: .steps([.press(event)]))
            try hear("\(site)/feed/\(button)", message.encoded())
        case 11:
            guard !unacknowledged.isEmpty else { return }
            let id = unacknowledged.removeFirst()
            try give(step >> 4 & 7 == 0 ? .publishFailed(id, "refused") : .published(id))
        case 12, 13: try pass(input.pause())
        case 14: try give(.recordFailed(nil, "full", step >> 4 & 1 == 0 ? .nowhere : .disk))
        default: try hear("\(site)/feed/\(step >> 4 & 1 == 0 ? "hello" : "\(button)")", input.chunk())
        }
    }

    mutating func fireTimer() throws(BrokenPromise) { try give(.timerFired) }

    private mutating func hear(_ topicName: String, _ payload: [UInt8]) throws(BrokenPromise) {
        guard isConnected else { return }
        try give(.messageReceived(topicName: topicName, payload: payload, retained: false))
    }

    private mutating func give(_ input: Hub.Input) throws(BrokenPromise) {
        inputs.append(input)
        while !inputs.isEmpty {
            for effect in hub.handleCompletely(inputs.removeFirst(), at: now) {
                switch effect {
                case .publish(let id, let message, _):
                    try promise("nothing is published without a connection", isConnected)
                    if message.qos == 0 { inputs.append(.published(id)) } else { unacknowledged.append(id) }
                    if message.topicName == "engines/1/leader" { claim = message.payload }
                case .sync(let token): inputs.append(.synced(token, true))
                case .setTimer(let deadline): timer = deadline
                case .cancelTimer: timer = nil
                default: break
                }
            }
            #if DEBUG
                let problems = hub.problems(at: now)
                try promise("the hub's invariants hold: \(problems)", problems.isEmpty)
            #endif
        }
    }
}
