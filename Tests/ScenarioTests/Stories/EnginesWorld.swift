import ButtonModel
import Feed
import Hub
import JSON
import MQTTTopics
import TestSupport
import Testing

/// A site, two engines that are real hubs, and a broker. Each can die between any two of its steps. An engine acts on a press by
/// a message to a lamp, which counts when the broker accepts it.
struct EnginesWorld {
    static let topic = "tryck/berlin7"
    static let buttons = [
        ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0001)), ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0002)),
    ]
    private static let names = ["hall", "attic"]
    private static let rules: HouseRules = """
        version: 1
        defaults: {queued: accept}
        buttons: {hall: {address: "80:E4:DA:00:00:01"}, attic: {address: "80:E4:DA:00:00:02"}}
        rules:
          - id: hall
            mode: parallel
            max: 100
            triggers: {button: hall, event: down}
            actions: {publish: {topic: lamp/hall, payload: x, qos: 1}}
          - id: attic
            mode: parallel
            max: 100
            triggers: {button: attic, event: down}
            actions: {publish: {topic: lamp/attic, payload: x, qos: 1}}
        """
    /// One and a half times the keep-alive of 5 s.
    private static let keepAliveLimit = Duration.milliseconds(7500)

    struct Fate: Hashable {
        var actions = 0
        var isReported = false
        /// The site's disk was replaced by a copy that does not have the press.
        var wentWithDisk = false
    }

    struct Press: Hashable {
        var button: ButtonID
        /// The button's counter, from 1.
        var number: Int
    }

    /// A number of a button's journal.
    struct Place: Hashable {
        var installation: String
        var button: ButtonID
        var number: Int
    }

    /// What is on the site's disk.
    struct Disk {
        var life = 1
        var session = 0
        /// The latest session in which messages were sent.
        var asked = 0
        var term = 0
        var facts: [ButtonID: FeedHello.Button] = [:]
        var entries: [ButtonID: [FeedEntry]] = [:]
        /// The first session in which each entry can have been sent.
        var sessions: [ButtonID: [Int: Int]] = [:]

        var installation: String { FeedLife(root: "9f3c", number: life).installation }
    }

    struct Engine {
        let name: String
        /// The state on its disk.
        var stored: StoredState
        /// `nil`: the process is dead.
        var hub: Hub?
        var inputs: [Hub.Input] = []
        var effects: [Hub.Effect] = []
        var timer: Instant?
        /// The last claim of each button, which is that of the press on which an action follows.
        var claims: [ButtonID: FeedCursor] = [:]
        /// The installation in the last hello of the site.
        var installation = ""
        /// The press in each message that it has received. The same place can mean another press after a restore.
        var presses: [Place: Press] = [:]
        /// What was published and is not acknowledged, in order; the press if it is an action.
        var unacknowledged: [(id: MessageID, press: Press?)] = []
        /// The process is stopped, and cannot answer the broker.
        var isStopped = false
        var stoppedAt: Instant?
        var isEnding = false

        var isBusy: Bool { hub != nil && !isStopped && (!inputs.isEmpty || !effects.isEmpty) }
    }

    struct Site {
        var uplink: FeedUplink?
        var inputs: [FeedUplink.Input] = []
        var effects: [FeedUplink.Effect] = []
        var timer: Instant?
        var nextID = 1
        var isConnected = false
        var disk = Disk()

        var isBusy: Bool { uplink != nil && (!inputs.isEmpty || !effects.isEmpty) }
    }

    /// The claims of engines do not arrive, and engines are told that they do. The promises cannot be kept then.
    let losesClaims: Bool
    private(set) var now = Instant(sinceBoot: .seconds(1000))
    var network = SimulatedNetwork()
    private(set) var engines: [Engine]
    private(set) var site = Site()
    private(set) var fates: [Press: Fate] = [:]
    private(set) var problems: [String] = []
    private(set) var takeovers = 0
    private(set) var lives = 0
    private var inputCount = 0
    /// The order of actions of each button.
    private var latest: [ButtonID: Int] = [:]
    private var counters: [ButtonID: Int] = [:]
    /// The press in each message.
    private var presses: [Place: Press] = [:]
    /// An old copy of the site's disk.
    private var copy: Disk?

    init(losesClaims: Bool = false) {
        self.losesClaims = losesClaims
        engines = ["a1", "a2"].map {
            Engine(name: $0, stored: StoredState(installationID: $0 == "a1" ? "00a1" : "00a2"))
        }
        for (index, button) in Self.buttons.enumerated() {
            site.disk.facts[button] = FeedHello.Button(
                serial: "BA00-A0000\(index)", model: .flic2, name: Self.names[index], firmware: 11)
        }
    }

    // MARK: What happens

    mutating func press(_ button: ButtonID) {
        guard site.uplink != nil, let last = site.disk.facts[button]?.last else { return }
        let (number, counter) = (last + 1, counters[button, default: 0] + 1)
        counters[button] = counter
        site.disk.facts[button]?.last = number
        let event = ButtonEvent(
            button: button, bootID: 7, counter: UInt32(counter), step: .down, ticks: UInt64(counter) * 3277)
        let entry = FeedEntry(number: number, receivedAt: now, steps: [.press(event)])
        site.disk.entries[button, default: []].append(entry)
        site.disk.sessions[button, default: [:]][number] = site.disk.session + (site.isConnected ? 0 : 1)
        let press = Press(button: button, number: counter)
        fates[press] = Fate()
        presses[Place(installation: site.disk.installation, button: button, number: number)] = press
        site.inputs.append(.recorded(button, entry))
    }

    /// - Parameter count: the packets under way that still arrive at the broker.
    mutating func killSite(delivering count: Int) {
        carryToBroker("site", count)
        network.close("site", at: now)
        (site.uplink, site.inputs, site.effects, site.timer) = (nil, [], [], nil)
        site.isConnected = false
    }

    mutating func copySite() { copy = site.disk }

    /// Replaces the site's disk by the copy of it.
    mutating func restoreSite() {
        guard let copy else { return }
        killSite(delivering: 0)
        let kept = Self.presses(in: copy)
        for press in waiting.subtracting(kept) { fates[press]?.wentWithDisk = true }
        site.disk = copy
    }

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

    /// True if the site knows of all claims that the broker retains. Only then may the broker forget them: otherwise they may be on
    /// the disk of one engine only, and another one would act again.
    private var areClaimsKnown: Bool {
        Self.buttons.allSatisfy { button in
            let payload = network.broker.retainedPayload(of: "\(Self.topic)/feed/\(button)/cursor") ?? []
            let claim = try? FeedCursor(parsing: payload)
            return claim?.installation != site.disk.installation
                ? claim == nil : claim?.number ?? 0 <= site.disk.facts[button]?.claimed ?? 0
        }
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
        now = now + duration
        if let timer = network.timer, timer <= now { network.handle(.timerFired, at: now) }
        if let timer = site.timer, timer <= now {
            site.timer = nil
            site.inputs.append(.timerFired)
        }
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

    /// The earliest deadline.
    var timer: Instant? { ([network.timer, site.timer] + engines.map(\.timer)).compactMap { $0 }.min() }

    var isQuiet: Bool { !site.isBusy && !engines.contains(where: \.isBusy) && network.busyLanes.isEmpty }

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
        if lane.client == "site" { siteReceived(answer) } else { engineReceived(answer, lane.client == "a1" ? 0 : 1) }
    }

    private mutating func carryToBroker(_ client: String, _ count: Int) {
        for _ in 0..<min(count, network.sentCount(client)) {
            if case .publish(let message, _) = network.nextPacket(of: client) { arrived(message) }
            _ = network.carry(SimulatedNetwork.Lane(client: client, isToBroker: true), at: now)
        }
    }

    private mutating func arrived(_ message: SimulatedBroker.Message) {
        if message.topicName == "engines/1/leader" { takeovers += 1 }
        guard let name = Self.names.firstIndex(where: { message.topicName == "lamp/\($0)" }),
            let number = Int(String(decoding: message.payload, as: UTF8.self))
        else { return }
        let press = Press(button: Self.buttons[name], number: number)
        if fates[press] == nil { problems.append("an action for a press that was not: \(press)") }
        fates[press, default: Fate()].actions += 1
        if number < latest[press.button] ?? 0 { problems.append("\(press) was acted on after a later one") }
        latest[press.button] = number
    }

    private mutating func lost(_ client: String) {
        if client == "site" {
            site.isConnected = false
            if site.uplink != nil { site.inputs.append(.disconnected) }
            return
        }
        let index = client == "a1" ? 0 : 1
        guard engines[index].hub != nil else { return }
        engines[index].inputs.append(.brokerDisconnected("the broker is gone"))
        failUnacknowledged(index)
    }

    /// Messages that the broker has not acknowledged when the connection ends are reported as failed, and not sent again.
    private mutating func failUnacknowledged(_ index: Int) {
        let failed = engines[index].unacknowledged
        engines[index].unacknowledged = []
        for (id, press) in failed {
            engines[index].inputs.append(.publishFailed(id, "the broker is gone"))
            if let press { fates[press]?.isReported = true }
        }
    }

    private mutating func forget(_ index: Int) {
        (engines[index].inputs, engines[index].effects, engines[index].timer) = ([], [], nil)
        (engines[index].unacknowledged, engines[index].claims) = ([], [:])
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
                    engine: EngineConfiguration(name: name, sites: [Self.topic])),
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
                problems.append("\(engines[index].name) after \(input): \(problem)")
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
        if message.topicName == "\(name)/bridge/event" { reported(message.payload) }
        var payload = message.payload
        var press: Press?
        if case .cursor(let button) = FeedTopic(message.topicName)?.kind,
            let claim = try? FeedCursor(parsing: message.payload)
        {
            engines[index].claims[button] = claim
        }
        if let place = Self.names.firstIndex(where: { message.topicName == "lamp/\($0)" }) {
            let button = Self.buttons[place]
            press = engines[index].claims[button].flatMap {
                engines[index].presses[Place(installation: $0.installation, button: button, number: $0.number)]
            }
            payload = Array(String(press?.number ?? 0).utf8)
        }
        guard network.isConnected(name) else {
            if let press { fates[press]?.isReported = true }
            return engines[index].inputs.append(.publishFailed(id, "the broker is gone"))
        }
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
            engines[index].unacknowledged.append((id, press))
        }
    }

    /// An event of an engine may report messages that are not repeated.
    private mutating func reported(_ payload: [UInt8]) {
        guard let event = try? JSONValue(parsing: payload), event["type"] == "interrupted", let data = event["data"],
            let installation = data["installation"]?.stringValue, let first = data["first_n"]?.integerValue,
            let last = data["last_n"]?.integerValue
        else { return }
        for button in Self.buttons where data["button"]?.stringValue == button.description {
            for number in Int(first)...Int(last) {
                let place = Place(installation: installation, button: button, number: number)
                if let press = presses[place] { fates[press]?.isReported = true }
            }
        }
    }

    private mutating func engineReceived(_ answer: SimulatedBroker.Answer, _ index: Int) {
        guard engines[index].hub != nil else { return }
        switch answer {
        case .connected: engines[index].inputs.append(.brokerConnected)
        case .message(let message, let id, _):
            if message.qos > 0 { network.send(engines[index].name, .acknowledge(id: id)) }
            if FeedTopic(message.topicName)?.kind == .hello, let hello = try? FeedHello(parsing: message.payload) {
                engines[index].installation = hello.installation
            }
            if case .messages(let button) = FeedTopic(message.topicName)?.kind,
                let feed = try? FeedMessage(parsing: message.payload, of: button),
                case .steps(let steps) = feed.content,
                case .press(let event) = steps[0]
            {
                let place = Place(
                    installation: engines[index].installation, button: button, number: feed.number)
                engines[index].presses[place] = Press(button: button, number: Int(event.counter))
            }
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

    // MARK: The site

    mutating func reviveSite() {
        if site.uplink == nil {
            let disk = site.disk
            site.uplink = FeedUplink(topic: Self.topic, site: "berlin7", installation: "9f3c", life: disk.life)
            let journals = disk.facts.map { button, facts in
                let entries = disk.entries[button] ?? []
                let sessions = disk.sessions[button] ?? [:]
                let unsent = entries.first { sessions[$0.number] ?? 0 > disk.asked }
                return (
                    button,
                    FeedJournal(
                        facts, first: entries.first?.number ?? facts.last + 1, sent: unsent.map { $0.number - 1 },
                        unsentSession: unsent.flatMap { sessions[$0.number] } ?? 0)
                )
            }
            site.inputs = [.start(Dictionary(uniqueKeysWithValues: journals), term: disk.term)]
        }
        guard !network.isConnected("site"), !site.isBusy else { return }
        let will = SimulatedBroker.Message(topicName: "\(Self.topic)/feed/hello", payload: [], isRetained: true)
        network.open("site", .connect(will: .init(will), isCleanStart: true), at: now)
    }

    mutating func stepSite() {
        guard site.isBusy else { return }
        if !site.effects.isEmpty { return carryOut(site.effects.removeFirst()) }
        site.effects = site.uplink?.handle(site.inputs.removeFirst(), at: now) ?? []
        #if DEBUG
            if let problem = site.uplink?.problems().first { problems.append("site: \(problem)") }
        #endif
    }

    private mutating func carryOut(_ effect: FeedUplink.Effect) {
        switch effect {
        case .publish(let message, let expiry):
            let packet = SimulatedBroker.Message(
                topicName: message.topicName, payload: message.payload, isRetained: message.retain, expiry: expiry)
            network.send("site", .publish(packet, id: site.nextID))
            site.nextID += 1
        case .read(let button, let after, let count):
            let entries = site.disk.entries[button]?.filter { $0.number > after }.prefix(count) ?? []
            site.inputs.append(.read(button, Array(entries)))
        case .claimed(let button, let number):
            site.disk.facts[button]?.claimed = number
            site.disk.entries[button]?.removeAll { $0.number <= number }
        case .done(let button, let number): site.disk.facts[button]?.done = number
        case .term(let term): site.disk.term = term
        case .asked(let session): site.disk.asked = session
        case .beganLife(let number, let formers, _): beginLife(number, formers)
        case .setTimer(let deadline): site.timer = deadline
        case .cancelTimer: site.timer = nil
        case .anomaly: break
        }
    }

    private mutating func beginLife(_ number: Int, _ formers: [ButtonID: FeedFormer]) {
        site.disk.life = number
        lives += 1
        for button in Self.buttons {
            site.disk.facts[button]?.former = formers[button]
            for entry in site.disk.entries[button] ?? [] {
                guard case .press(let event) = entry.steps[0] else { continue }
                presses[Place(installation: site.disk.installation, button: button, number: entry.number)] = Press(
                    button: button, number: Int(event.counter))
            }
        }
    }

    private mutating func siteReceived(_ answer: SimulatedBroker.Answer) {
        guard site.uplink != nil else { return }
        switch answer {
        case .connected:
            network.send("site", .subscribe(FeedTopic.filters(ofSite: Self.topic) + ["engines/+/state"]))
            site.disk.session += 1
            site.isConnected = true
            site.inputs.append(.connected(session: site.disk.session))
        case .message(let message, let id, _):
            network.send("site", .acknowledge(id: id))
            if message.topicName == "engines/1/state" {
                let state = try? EngineState(parsing: message.payload)
                site.inputs.append(.engine(isOnline: state?.isOnline == true))
            } else {
                site.inputs.append(.received(topicName: message.topicName, payload: message.payload))
            }
        case .subscribed, .acknowledged: break
        }
    }

    /// The presses in the journals that no engine has claimed.
    var waiting: Set<Press> { Self.presses(in: site.disk) }

    private static func presses(in disk: Disk) -> Set<Press> {
        Set(
            disk.entries.flatMap { button, entries in
                entries.compactMap { entry in
                    if case .press(let event) = entry.steps[0] {
                        Press(button: button, number: Int(event.counter))
                    } else {
                        nil
                    }
                }
            })
    }
}
