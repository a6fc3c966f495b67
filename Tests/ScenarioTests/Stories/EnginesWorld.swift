import ButtonModel
import Feed
import Hub
import JSON
import MQTTTopics
import TestSupport
import Testing

/// Sites, two engines that are real hubs, and a broker. Each can die between any two of its steps. An engine acts on a press by
/// a message to a lamp, which counts when the broker accepts it.
///
/// | file                        | contents                                                 |
/// |-----------------------------|----------------------------------------------------------|
/// | this one                    | what fails, the packets under way, and the engines       |
/// | `EnginesWorld+Sites`        | the sites, each of which is a `FeedUplink` with a disk   |
/// | `EnginesWorld+Presses`      | what is done with the buttons                            |
/// | `EnginesWorld+Account`      | what has become of each press, and the broken promises   |
struct EnginesWorld {
    /// What a story contains beside downs of the buttons of one site. Each part can be left out.
    struct Features: OptionSet {
        let rawValue: Int

        /// The button `hall` also reports its releases, which a rule acts on.
        static let ups = Features(rawValue: 1)
        /// Clicks, double clicks and holds of `attic`, whose messages stay open until the gesture is decided.
        static let gestures = Features(rawValue: 2)
        /// Clicks, double clicks and swipes of `stair`, a Duo.
        static let swipes = Features(rawValue: 4)
        /// Turns of `dial`, a Twist.
        static let turns = Features(rawValue: 8)
        /// `stair` and `dial` are at a second site.
        static let secondSite = Features(rawValue: 16)
        /// `hall` is carried from one site to the other when nothing of it waits at the former one.
        static let moves = Features(rawValue: 32)
        /// `hall` is also carried while its presses wait at the former site, and repeats the last ones at the other one.
        static let hastyMoves = Features(rawValue: 64)
        /// A site dies together with an engine, and stays away for a while.
        static let absence = Features(rawValue: 128)
        /// A hold that was told has to end, also if another engine leads then and the button says that it is a hold, unless a second one
        /// has led meanwhile, or the message of the release is reported, or lost with a disk.
        static let ends = Features(rawValue: 256)
        /// Nothing of `hall` and `dial` is acted on after it was reported.
        static let order = Features(rawValue: 512)
        /// The batteries of buttons are changed, so that their counters begin anew.
        static let reboots = Features(rawValue: 1024)
        /// No press of `attic` and `stair` is acted on after it was reported.
        static let gestureOrder = Features(rawValue: 2048)

        static let all: Features = [
            .ups, .gestures, .swipes, .turns, .secondSite, .moves, .hastyMoves, .absence, .ends, .order, .reboots,
            .gestureOrder,
        ]
        /// Without `hastyMoves`, because the promise is not kept there: an engine that was not connected when another one handled the steps
        /// that both sites have sent does not know that, and can act on them again when it leads.
        static let standard = all.subtracting(.hastyMoves)
    }

    static let topics = ["tryck/berlin7", "tryck/oslo2"]
    static let hall = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0001))
    static let attic = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0002))
    static let stair = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0003))
    static let dial = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0004))
    static let names = [hall: "hall", attic: "attic", stair: "stair", dial: "dial"]
    private static let rules: HouseRules = """
        version: 1
        defaults: {queued: accept}
        buttons:
          hall: {address: "80:E4:DA:00:00:01"}
          attic: {address: "80:E4:DA:00:00:02"}
          stair: {address: "80:E4:DA:00:00:03", model: duo}
          dial: {address: "80:E4:DA:00:00:04", model: twist}
        rules:
          - id: hall
            mode: parallel
            max: 100
            triggers: {button: hall, event: [down, up]}
            actions: {publish: {topic: lamp/hall, payload: x, qos: 1}}
          - id: attic
            mode: parallel
            max: 100
            triggers: {button: attic, event: [down, click, double_click, hold, hold_release]}
            actions: {publish: {topic: lamp/attic, payload: "{{ trigger.event }}", qos: 1}}
          - id: stair
            mode: parallel
            max: 100
            triggers: {button: stair, event: [down, click, double_click, swipe_right]}
            actions: {publish: {topic: lamp/stair, payload: "{{ trigger.event }} {{ trigger.part }}", qos: 1}}
          - id: dial
            mode: parallel
            max: 100
            triggers: {button: dial, event: [rotate_clockwise, rotate_counter_clockwise], part: dial}
            actions: {publish: {topic: lamp/dial, payload: "{{ trigger.steps }}", qos: 1}}
        """
    /// One and a half times the keep-alive of 5 s.
    private static let keepAliveLimit = Duration.milliseconds(7500)

    /// How long a message can be under way if each publisher has a lane of its own: less time than an engine that claims waits for other
    /// claims.
    private static let longestDelay = EngineLeadership.claimWait * 9 / 10

    struct Engine {
        let name: String
        /// The state on its disk.
        var stored: StoredState
        /// `nil`: the process is dead.
        var hub: Hub?
        var inputs: [Hub.Input] = []
        var effects: [Hub.Effect] = []
        var timer: Instant?
        /// The last claim of each button, with its site, which is that of the press on which an action follows.
        var claims: [ButtonID: Place] = [:]
        /// The installation in the last hello of each site.
        var installations: [String: String] = [:]
        /// The press in each message that it has received. The same place can mean another press after a restore.
        var presses: [Place: Press] = [:]
        /// The press that began last, for each part of a button.
        var begun: [String: Press] = [:]
        /// The messages that it has claimed since something has failed, or an engine has claimed to lead. It has no reason to report
        /// them.
        var taken: Set<Place> = []
        /// What was published and is not acknowledged, in order; what it does if it is an action.
        var unacknowledged: [(id: MessageID, deed: Deed?)] = []
        /// The process is stopped, and cannot answer the broker.
        var isStopped = false
        var stoppedAt: Instant?
        var isEnding = false

        var isBusy: Bool { hub != nil && !isStopped && (!inputs.isEmpty || !effects.isEmpty) }
    }

    let features: Features
    /// The claims of engines do not arrive, and engines are told that they do. The promises cannot be kept then.
    let losesClaims: Bool
    private(set) var now = Instant(sinceBoot: .seconds(1000))
    var network: SimulatedNetwork
    /// Each publisher has a lane of its own to each client, as a cluster of brokers may have.
    private let separatesPublishers: Bool
    /// How much time has passed since nothing was under way, if publishers have lanes of their own.
    private var underWay = Duration.zero
    var engines: [Engine]
    var sites: [Site]
    var account = Account()
    var pad = Pad()
    var lives = 0
    private var inputCount = 0

    init(features: Features = .standard, losesClaims: Bool = false, separatesPublishers: Bool = false) {
        self.separatesPublishers = separatesPublishers
        network = SimulatedNetwork(separatesPublishers: separatesPublishers)
        self.features = features
        self.losesClaims = losesClaims
        engines = ["a1", "a2"].map {
            Engine(name: $0, stored: StoredState(installationID: $0 == "a1" ? "00a1" : "00a2"))
        }
        sites = [Site(Self.topics[0], installation: "9f3c", buttons: [Self.hall, Self.attic])]
        if features.contains(.secondSite) {
            let isShared = !features.isDisjoint(with: [.moves, .hastyMoves])
            sites.append(
                Site(
                    Self.topics[1], installation: "07d1",
                    buttons: (isShared ? [Self.hall] : []) + [Self.stair, Self.dial]))
        } else {
            sites[0].addButtons([Self.stair, Self.dial])
        }
    }

    /// The clients of the broker.
    var clients: [String] { sites.map(\.client) + engines.map(\.name) }

    // MARK: What happens

    mutating func killEngine(_ index: Int, delivering count: Int) {
        carryToBroker(engines[index].name, count)
        network.close(engines[index].name, at: now)
        engines[index].hub = nil
        forget(index)
    }

    /// The process is told to end.
    mutating func stopInOrder(_ index: Int) {
        guard engines[index].hub != nil, !engines[index].isEnding else { return }
        engines[index].isEnding = true
        engines[index].inputs.append(.stop)
    }

    mutating func suspend(_ index: Int) {
        guard engines[index].hub != nil, !engines[index].isStopped else { return }
        engines[index].isStopped = true
        engines[index].stoppedAt = now
    }

    mutating func resume(_ index: Int) {
        engines[index].isStopped = false
        engines[index].stoppedAt = nil
    }

    mutating func killBroker(isForgetful: Bool) {
        if !isForgetful || !areClaimsKnown { network.handle(.save, at: now) }
        network.handle(.killed, at: now)
        for client in network.takeClosed() { lost(client) }
    }

    mutating func cut(_ client: String, delivering count: Int) {
        guard network.isConnected(client) else { return }
        carryToBroker(client, count)
        network.close(client, at: now)
        lost(client)
    }

    mutating func pass(_ duration: Duration) {
        if separatesPublishers {
            underWay += duration
            if underWay > Self.longestDelay { carryAll() }
        }
        now = now + duration
        if let timer = network.timer, timer <= now { network.handle(.timerFired, at: now) }
        for index in sites.indices { sites[index].timePassed(at: now) }
        for index in engines.indices {
            if let timer = engines[index].timer, timer <= now {
                engines[index].timer = nil
                engines[index].inputs.append(.timerFired)
            }
            let name = engines[index].name
            if let stoppedAt = engines[index].stoppedAt, now >= stoppedAt + Self.keepAliveLimit {
                engines[index].stoppedAt = nil
                cut(name, delivering: network.sentCount(name))
            }
        }
    }

    /// Lets everything arrive that is under way.
    private mutating func carryAll() {
        underWay = .zero
        while let lane = network.busyLanes.first { carry(lane) }
    }

    /// The earliest deadline.
    var timer: Instant? { ([network.timer] + sites.map(\.timer) + engines.map(\.timer)).compactMap { $0 }.min() }

    var isQuiet: Bool {
        !sites.contains(where: \.isBusy) && !engines.contains(where: \.isBusy) && network.busyLanes.isEmpty
    }

    /// The engines that lead.
    var leaders: [String] {
        engines.filter { engine in
            var hub = engine.hub
            let line = Array(#"{"request":"status"}"#.utf8)
            for case .respond(_, let answer) in hub?.handleCompletely(.controlLine(.init(rawValue: 1), line), at: now)
                ?? []
            { return (answer["data"] ?? answer)["engine"]?["state"] == "leading" }
            return false
        }.map(\.name)
    }

    // MARK: Steps

    mutating func carry(_ lane: SimulatedNetwork.Lane) {
        if lane.isToBroker { return carryToBroker(lane.client, 1) }
        guard let answer = network.carry(lane, at: now) else { return }
        if let site = sites.firstIndex(where: { $0.client == lane.client }) {
            siteReceived(answer, site)
        } else if let engine = engines.firstIndex(where: { $0.name == lane.client }) {
            engineReceived(answer, engine)
        }
    }

    mutating func carryToBroker(_ client: String, _ count: Int) {
        for _ in 0..<min(count, network.sentCount(client)) {
            if case .publish(let message, _) = network.nextPacket(of: client) {
                if message.topicName == "engines/1/leader", let claim = try? EngineTerm(parsing: message.payload) {
                    account.led(in: claim.term)
                }
                arrived(message)
            }
            _ = network.carry(SimulatedNetwork.Lane(client: client, isToBroker: true), at: now)
        }
    }

    private mutating func lost(_ client: String) {
        if let site = sites.firstIndex(where: { $0.client == client }) { return sites[site].lostConnection() }
        guard let index = engines.firstIndex(where: { $0.name == client }), engines[index].hub != nil else { return }
        engines[index].inputs.append(.brokerDisconnected("the broker is gone"))
        failUnacknowledged(index)
        hasFailed(index)
    }

    /// Something has happened after which an engine may report what it has taken.
    mutating func hasFailed(_ index: Int) { engines[index].taken = [] }

    /// Messages that the broker has not acknowledged when the connection ends are reported as failed, and not sent again.
    private mutating func failUnacknowledged(_ index: Int) {
        let failed = engines[index].unacknowledged
        engines[index].unacknowledged = []
        for (id, deed) in failed {
            engines[index].inputs.append(.publishFailed(id, "the broker is gone"))
            if let deed { account.failed(deed) }
        }
    }

    private mutating func forget(_ index: Int) {
        (engines[index].inputs, engines[index].effects, engines[index].timer) = ([], [], nil)
        (engines[index].unacknowledged, engines[index].claims, engines[index].begun) = ([], [:], [:])
        hasFailed(index)
        (engines[index].isStopped, engines[index].stoppedAt, engines[index].isEnding) = (false, nil, false)
    }

    // MARK: The engines

    /// Starts an engine that is dead. If it is idle and has no connection, it opens one.
    mutating func reviveEngine(_ index: Int) {
        if engines[index].hub == nil {
            let name = engines[index].name
            engines[index].hub = Hub(
                HubConfiguration(
                    version: "0", baseTopic: name, radios: [],
                    engine: EngineConfiguration(name: name, sites: ["tryck/+"])),
                stored: engines[index].stored, rules: Self.rules.set)
            engines[index].inputs = [.wallClock(UTCTime(milliseconds: 1_795_000_000_000)), .start]
        }
        guard !network.isConnected(engines[index].name), !engines[index].isBusy, !engines[index].isStopped,
            !engines[index].isEnding, let will = engines[index].hub?.offlineMessage
        else { return }
        let packet = SimulatedBroker.Message(topicName: will.topicName, payload: will.payload, isRetained: true)
        network.open(engines[index].name, .connect(will: .init(packet), isCleanStart: true), at: now)
    }

    /// Carries out one effect, or hands over one input.
    mutating func stepEngine(_ index: Int) {
        guard engines[index].isBusy else { return }
        if !engines[index].effects.isEmpty { return carryOut(engines[index].effects.removeFirst(), index) }
        let isIncomplete = engines[index].hub?.isIncomplete == true
        let input = isIncomplete ? .goOn : engines[index].inputs.removeFirst()
        engines[index].effects = engines[index].hub?.handle(input, at: now) ?? []
        if engines[index].hub?.isIncomplete == true, engines[index].inputs.isEmpty {
            engines[index].inputs.append(.goOn)
        }
        #if DEBUG
            // Each check costs more than an input. A process that gets no time handles its timers late.
            inputCount += 1
            if inputCount.isMultiple(of: 5),
                let problem = engines[index].hub?.problems(at: Instant(nanoseconds: 0)).first
            {
                account.note("\(engines[index].name) after \(input): \(problem)")
            }
        #endif
    }

    private mutating func carryOut(_ effect: Hub.Effect, _ index: Int) {
        let name = engines[index].name
        switch effect {
        case .record(_, let changes): engines[index].stored.apply(changes)
        case .sync(let token): engines[index].inputs.append(.synced(token, true))
        case .subscribe(let subscriptions): network.send(name, .subscribe(subscriptions.map(\.topicFilter)))
        case .publish(let id, let message, let expiry): publish(message, id, expiry, index)
        case .setTimer(let deadline): engines[index].timer = deadline
        case .cancelTimer: engines[index].timer = nil
        case .finish:
            // What was published is still under way, and a goodbye follows it.
            carryToBroker(name, network.sentCount(name))
            network.send(name, .disconnect)
            carryToBroker(name, 1)
            network.close(name, at: now)
            engines[index].hub = nil
            forget(index)
        default: break
        }
    }

    private mutating func publish(_ message: MQTTMessage, _ id: MessageID, _ expiry: Duration?, _ index: Int) {
        let name = engines[index].name
        if message.topicName == "\(name)/bridge/event" { reported(message.payload, by: index) }
        if message.topicName == "engines/1/leader" { hasFailed(index) }
        if let topic = FeedTopic(message.topicName), case .cursor(let button) = topic.kind,
            let claim = try? FeedCursor(parsing: message.payload)
        {
            let place = Place(
                site: topic.site, installation: claim.installation, button: button, number: claim.number)
            engines[index].claims[button] = place
            if network.isConnected(name) { engines[index].taken.insert(place) }
        }
        let deed = deed(message, index)
        let payload = deed?.payload ?? message.payload
        guard network.isConnected(name) else {
            if let deed { account.failed(deed) }
            return engines[index].inputs.append(.publishFailed(id, "the broker is gone"))
        }
        if let deed { account.sent(deed, by: name, features) }
        if losesClaims, message.topicName.hasSuffix("/cursor") || message.topicName.hasSuffix("/done") {
            return engines[index].inputs.append(.published(id))
        }
        let packet = SimulatedBroker.Message(
            topicName: message.topicName, payload: payload, isRetained: message.retain, qos: message.qos, expiry: expiry
        )
        network.send(name, .publish(packet, id: Int(id.number)))
        if message.qos == 0 {
            engines[index].inputs.append(.published(id))
        } else {
            engines[index].unacknowledged.append((id, deed))
        }
    }

    private mutating func engineReceived(_ answer: SimulatedBroker.Answer, _ index: Int) {
        guard engines[index].hub != nil else { return }
        switch answer {
        case .connected: engines[index].inputs.append(.brokerConnected)
        case .message(let message, let id, _):
            if message.qos > 0 { network.send(engines[index].name, .acknowledge(id: id)) }
            note(message, index)
            if let expiry = message.expiry {
                engines[index].inputs.append(
                    .expiringMessageReceived(
                        topicName: message.topicName, payload: message.payload, retained: false, remaining: expiry))
            } else {
                engines[index].inputs.append(
                    .messageReceived(topicName: message.topicName, payload: message.payload, retained: false))
            }
        case .acknowledged(let id):
            let messageID = MessageID(number: UInt64(id))
            engines[index].unacknowledged.removeAll { $0.id == messageID }
            engines[index].inputs.append(.published(messageID))
        case .subscribed: break
        }
    }

    /// Notes which press is in a message that an engine receives.
    private mutating func note(_ message: SimulatedBroker.Message, _ index: Int) {
        if message.topicName == "engines/1/leader" {
            hasFailed(index)
            // The other engine handles the next presses. If this one leads again, it begins anew with each button.
            let leader = try? EngineTerm(parsing: message.payload)
            if leader?.engine != engines[index].name { engines[index].begun = [:] }
        }
        guard let topic = FeedTopic(message.topicName) else { return }
        switch topic.kind {
        case .hello:
            guard let hello = try? FeedHello(parsing: message.payload) else { break }
            engines[index].installations[topic.site] = hello.installation
        case .messages(let button):
            guard let feed = try? FeedMessage(parsing: message.payload, of: button),
                case .steps(let steps) = feed.content, case .press(let event) = steps[0],
                let press = pad.press(of: event)
            else { break }
            let place = Place(
                site: topic.site, installation: engines[index].installations[topic.site] ?? "", button: button,
                number: feed.number)
            engines[index].presses[place] = press
        case .cursor, .done, .want: break
        }
    }
}
