import ButtonModel
import Feed
import TestSupport

/// A site, an engine and a broker, each of which can die between any two of its steps. The engine acts on a press by a
/// message to a lamp, which counts when the broker accepts it, and so does a report.
struct FeedWorld {
    static let lamp = "lamp/"
    static let report = "report/"
    static let lost = "lost/"
    static let marker = "engine/marker"
    static let state = "engines/1/state"

    /// The longest time that a sync takes.
    static let syncLimit = Duration.milliseconds(20)

    let design: FeedDesign
    private(set) var now = Instant(sinceBoot: .seconds(1000))
    var network = SimulatedNetwork()
    var site = WorldSite(installation: life)
    var engine = WorldEngine()
    var account = FeedAccount()
    private var installations = 1
    /// An old copy of the site's disk.
    private var copy: WorldSite.Disk?

    init(_ design: FeedDesign) {
        self.design = design
        site.start(at: now)
        engine.start(design)
    }

    // MARK: What happens to it

    mutating func pass(_ duration: Duration) {
        now = now + duration
        if duration >= Self.syncLimit { site.sync() }
        if let timer = network.timer, timer <= now { network.handle(.timerFired, at: now) }
        if let timer = site.timer, timer <= now {
            site.timer = nil
            site.inputs.append(.timerFired)
        }
        if let timer = engine.timer, timer <= now {
            engine.timer = nil
            engine.inputs.append(.machine(.timerFired))
        }
    }

    mutating func press(_ button: ButtonID) {
        let counter = (site.pressCounts[button] ?? 0) + 1
        site.pressCounts[button] = counter
        site.stored[button, default: []].append(counter)
        account.pressed(FeedAccount.Press(button: button, counter: counter))
    }

    /// - Parameter count: the packets under way that still arrive at the broker.
    mutating func killSite(delivering count: Int) {
        carryToBroker(WorldSite.client, count)
        network.close(WorldSite.client, at: now)
        site.die()
    }

    /// The machine of the site loses its power, and its disk what is not synced.
    mutating func cutPowerOfSite(delivering count: Int) {
        killSite(delivering: count)
        site.disk = site.synced
    }

    /// - Parameter count: the packets under way that still arrive at the broker.
    mutating func killEngine(delivering count: Int, losingDisk: Bool = false) {
        carryToBroker(WorldEngine.client, count)
        network.close(WorldEngine.client, at: now)
        engine.die()
        guard losingDisk else { return }
        engine.disk = [:]
        account.engineLostDisk()
    }

    /// - Parameter isForgetful: the retained messages since the last save are lost.
    mutating func killBroker(isForgetful: Bool) {
        if !isForgetful { network.handle(.save, at: now) }
        network.handle(.killed, at: now)
        noticeClosed()
    }

    mutating func cut(_ client: String, delivering count: Int) {
        guard network.isConnected(client) else { return }
        carryToBroker(client, count)
        network.close(client, at: now)
        lost(client)
    }

    /// Replaces the site's disk by an empty one.
    mutating func installSiteAnew() {
        killSite(delivering: 0)
        for (button, journal) in site.disk.journals where journal.facts.claimed < journal.facts.last {
            for number in (journal.facts.claimed + 1)...journal.facts.last {
                account.wentWithDisk(
                    FeedPlace(
                        site: berlin, button: button, installation: site.disk.feedInstallation, number: number))
            }
        }
        let counters = site.disk.journals.mapValues(\.counter)
        installations += 1
        copy = nil
        site.disk = WorldSite.newDisk("life\(installations)")
        for (button, counter) in counters { site.disk.journals[button]?.counter = counter }
        site.sync()
    }

    /// - Parameter ofOlderVersion: the copy says nothing of sessions, as that of a Tryck that knew no lives.
    mutating func copySite(ofOlderVersion: Bool = false) {
        copy = site.disk
        guard ofOlderVersion else { return }
        copy?.asked = site.disk.session
        for button in site.disk.journals.keys { copy?.journals[button]?.sessions = [:] }
    }

    /// Replaces the site's disk by the copy of it.
    mutating func restoreSite() {
        guard let copy else { return }
        killSite(delivering: 0)
        for (button, journal) in site.disk.journals {
            let kept = copy.journals[button]?.entries ?? []
            // With the disk goes also what is known of entries that were trimmed.
            for number in stride(from: journal.facts.claimed + 1, through: journal.facts.last, by: 1) {
                let entry = journal.entries.first { $0.number == number }
                guard !kept.contains(where: { $0.number == number && $0 == entry ?? $0 }) else { continue }
                account.wentWithDisk(
                    FeedPlace(
                        site: berlin, button: button, installation: site.disk.feedInstallation, number: number))
            }
        }
        site.disk = copy
        site.sync()
    }

    /// The journal of a button keeps only its newest entries.
    mutating func trimJournal(of button: ButtonID, keeping count: Int) {
        guard let journal = site.disk.journals[button] else { return }
        let newFirst = journal.facts.last + 1 - count
        for entry in journal.entries where entry.number < newFirst {
            account.drop(
                FeedPlace(
                    site: berlin, button: button, installation: site.disk.feedInstallation, number: entry.number))
        }
        site.disk.journals[button]?.drop(below: newFirst)
        guard site.uplink != nil, let first = site.disk.journals[button]?.first else { return }
        site.inputs.append(.trimmed(button, first: first))
    }

    // MARK: Its steps

    /// Carries one packet, and hands over what arrives.
    mutating func carry(_ lane: SimulatedNetwork.Lane) {
        if lane.isToBroker { return carryToBroker(lane.client, 1) }
        guard let answer = network.carry(lane, at: now) else { return }
        if lane.client == WorldSite.client { siteReceived(answer) } else { engineReceived(answer) }
    }

    private mutating func carryToBroker(_ client: String, _ count: Int) {
        for _ in 0..<min(count, network.sentCount(client)) {
            if let message = network.nextMessage(of: client) {
                if message.topicName.hasPrefix(Self.lamp) { acted(message) }
                if message.topicName.hasPrefix(Self.report) { reported(message, Self.report) }
                if message.topicName.hasPrefix(Self.lost) { reported(message, Self.lost) }
            }
            _ = network.carry(SimulatedNetwork.Lane(client: client, isToBroker: true), at: now)
        }
    }

    private mutating func acted(_ message: SimulatedBroker.Message) {
        guard let button = ButtonID(message.topicName.dropFirst(Self.lamp.count)),
            let steps = try? FeedMessage(parsing: message.payload, of: button), case .steps(let list) = steps.content
        else { return }
        for press in list.presses(of: button) { account.acted(press) }
    }

    /// The report of the messages from `first` to `place`.
    ///
    /// - Parameter topic: `report`, or `lost` if the site's journal has lost them.
    static func reportMessage(_ place: FeedPlace, first: Int, _ topic: String = report) -> SimulatedBroker.Message {
        let payload = FeedDone(number: place.number, term: first, installation: place.installation)
        return .init(topicName: topic + place.button.description, payload: payload.encoded())
    }

    private mutating func reported(_ message: SimulatedBroker.Message, _ topic: String) {
        guard let button = ButtonID(message.topicName.dropFirst(topic.count)),
            let report = try? FeedDone(parsing: message.payload)
        else { return }
        let place = FeedPlace(site: berlin, button: button, installation: report.installation, number: report.number)
        if topic == Self.lost {
            account.lost(first: report.term, to: place)
        } else {
            account.interrupted(first: report.term, to: place)
        }
    }

    private mutating func noticeClosed() {
        for client in network.takeClosed() { lost(client) }
    }

    private mutating func lost(_ client: String) {
        if client == WorldSite.client {
            site.isConnected = false
            if site.uplink != nil { site.inputs.append(.disconnected) }
        } else if engine.machine != nil {
            engine.inputs.append(.machine(.disconnected))
        }
    }

    /// Starts the site if it is dead. If it is idle, it opens a connection; what was under way on the last one is over then.
    mutating func reviveSite() {
        if site.uplink == nil { site.start(at: now) }
        guard !network.isConnected(WorldSite.client), !site.isBusy else { return }
        let hello = FeedTopic(berlin, .hello).description
        let will = SimulatedBroker.Will(.init(topicName: hello, payload: [], isRetained: true))
        network.open(WorldSite.client, .connect(will: will, isCleanStart: true), at: now)
    }

    mutating func reviveEngine() {
        if engine.machine == nil { engine.start(design) }
        guard !network.isConnected(WorldEngine.client), !engine.isBusy else { return }
        let will = SimulatedBroker.Will(.init(topicName: Self.state, payload: Array("offline".utf8), isRetained: true))
        network.open(WorldEngine.client, .connect(will: will, isCleanStart: design != .session), at: now)
    }

    /// Lets everything run for some minutes without faults.
    ///
    /// - Parameter withEngine: false if the engine stays dead.
    mutating func settle(withEngine: Bool = true) {
        let end = now + .seconds(300)
        while now < end {
            reviveSite()
            if withEngine { reviveEngine() }
            repeat {
                for button in WorldSite.buttons { recordPress(1, of: button) }
                for lane in network.busyLanes { carry(lane) }
                stepSite()
                stepEngine()
            } while !isQuiet
            let clients = withEngine ? [WorldSite.client, WorldEngine.client] : [WorldSite.client]
            guard clients.allSatisfy({ network.isConnected($0) }) else { continue }
            guard let timer else { return }
            pass(max(.zero, timer - now))
        }
    }

    /// True if nothing is under way and nobody has anything to do before the next deadline.
    var isQuiet: Bool { !site.isBusy && !engine.isBusy && network.busyLanes.isEmpty && !hasStored }

    private var hasStored: Bool { site.uplink != nil && site.stored.values.contains { !$0.isEmpty } }

    /// The earliest deadline.
    var timer: Instant? { [network.timer, site.timer, engine.timer].compactMap { $0 }.min() }
}

extension SimulatedNetwork {
    /// The message that arrives next at the broker from a client.
    fileprivate func nextMessage(of client: String) -> SimulatedBroker.Message? {
        guard case .publish(let message, _) = nextPacket(of: client) else { return nil }
        return message
    }
}
