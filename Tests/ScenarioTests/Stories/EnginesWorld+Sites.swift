import ButtonModel
import Feed
import MQTTTopics
import TestSupport

// The sites, which journal presses and send them to the engines.
extension EnginesWorld {
    /// A message in the journal of a button, and what it is about.
    struct Entry {
        var feed: FeedEntry
        var press: Press
        /// The first session in which it can have been sent.
        var session: Int

        /// True if it is the end of a hold.
        var isRelease: Bool {
            feed.steps.contains { if case .press(let event) = $0 { event.step == .up(.afterHold) } else { false } }
        }
    }

    /// What is on a site's disk.
    struct Disk {
        var root: String
        var life = 1
        var session = 0
        /// The latest session in which messages were sent.
        var asked = 0
        var term = 0
        var facts: [ButtonID: FeedHello.Button] = [:]
        var entries: [ButtonID: [Entry]] = [:]

        var installation: String { FeedLife(root: root, number: life).installation }
        /// The presses in the journals that no engine has claimed.
        var presses: Set<Press> { Set(entries.values.joined().map(\.press)) }
        /// The holds whose releases are among them.
        var releases: Set<Press> { Set(entries.values.joined().filter(\.isRelease).map(\.press)) }
    }

    struct Site {
        let topic: String
        var uplink: FeedUplink?
        var inputs: [FeedUplink.Input] = []
        var effects: [FeedUplink.Effect] = []
        var timer: Instant?
        var nextID = 1
        var isConnected = false
        var disk: Disk
        /// An old copy of the disk.
        var copy: Disk?
        /// Until when the machine stays off.
        var awayUntil: Instant?

        init(_ topic: String, installation: String, buttons: [ButtonID]) {
            self.topic = topic
            disk = Disk(root: installation)
            addButtons(buttons)
        }

        mutating func addButtons(_ buttons: [ButtonID]) {
            for button in buttons {
                let model: FlicModel =
                    button == EnginesWorld.stair ? .duo : button == EnginesWorld.dial ? .twist : .flic2
                disk.facts[button] = FeedHello.Button(
                    serial: "s-\(button)", model: model, name: EnginesWorld.names[button] ?? "", firmware: 11)
            }
        }

        /// The site's name, also as a client of the broker.
        var client: String { topic.split(separator: "/").last.map(String.init) ?? topic }

        var isBusy: Bool { uplink != nil && (!inputs.isEmpty || !effects.isEmpty) }

        mutating func timePassed(at now: Instant) {
            guard let timer, timer <= now else { return }
            self.timer = nil
            inputs.append(.timerFired)
        }

        mutating func lostConnection() {
            isConnected = false
            if uplink != nil { inputs.append(.disconnected) }
        }

        mutating func die() {
            (uplink, inputs, effects, timer) = (nil, [], [], nil)
            isConnected = false
        }

        /// The journals as a new process reads them.
        var journals: [ButtonID: FeedJournal] {
            var journals: [ButtonID: FeedJournal] = [:]
            for (button, facts) in disk.facts {
                let entries = disk.entries[button] ?? []
                let unsent = entries.first { $0.session > disk.asked }
                journals[button] = FeedJournal(
                    facts, first: entries.first?.feed.number ?? facts.last + 1,
                    sent: unsent.map { $0.feed.number - 1 }, unsentSession: unsent?.session ?? 0)
            }
            return journals
        }
    }

    // MARK: What fails

    /// - Parameter count: the packets under way that still arrive at the broker.
    mutating func killSite(_ index: Int, delivering count: Int) {
        carryToBroker(sites[index].client, count)
        network.close(sites[index].client, at: now)
        sites[index].die()
    }

    mutating func copySite(_ index: Int) { sites[index].copy = sites[index].disk }

    /// Replaces a site's disk by the copy of it.
    mutating func restoreSite(_ index: Int) {
        guard let copy = sites[index].copy else { return }
        killSite(index, delivering: 0)
        for (button, entries) in sites[index].disk.entries {
            let copied = Set((copy.entries[button] ?? []).map(\.feed))
            for entry in entries where !copied.contains(entry.feed) { account.wentWithDisk(entry.press) }
        }
        for engine in engines.indices { hasFailed(engine) }
        for hold in sites[index].disk.releases.subtracting(copy.releases) { account.releaseWentWithDisk(of: hold) }
        sites[index].disk = copy
    }

    /// True if the sites know of all claims that the broker retains. Only then may the broker forget them: otherwise they may be
    /// on the disk of one engine only, and another one would act again.
    var areClaimsKnown: Bool {
        sites.allSatisfy { site in
            site.disk.facts.allSatisfy { button, facts in
                let payload = network.broker.retainedPayload(of: "\(site.topic)/feed/\(button)/cursor") ?? []
                let claim = try? FeedCursor(parsing: payload)
                return claim?.installation != site.disk.installation
                    ? claim == nil : claim?.number ?? 0 <= facts.claimed
            }
        }
    }

    /// The presses in the journals that no engine has claimed.
    var waiting: Set<Press> { sites.reduce(into: []) { $0.formUnion($1.disk.presses) } }

    // MARK: Steps

    /// Starts a site that is dead, unless it stays away. If it is idle and has no connection, it opens one.
    mutating func reviveSite(_ index: Int, anyway: Bool = false) {
        if let until = sites[index].awayUntil, now < until, !anyway { return }
        sites[index].awayUntil = nil
        let site = sites[index]
        if site.uplink == nil {
            sites[index].uplink = FeedUplink(
                topic: site.topic, site: site.client, installation: site.disk.root, life: site.disk.life)
            sites[index].inputs = [.start(site.journals, term: site.disk.term)]
        }
        guard !network.isConnected(site.client), !sites[index].isBusy else { return }
        let will = SimulatedBroker.Message(topicName: "\(site.topic)/feed/hello", payload: [], isRetained: true)
        network.open(site.client, .connect(will: .init(will), isCleanStart: true), at: now)
    }

    mutating func stepSite(_ index: Int) {
        guard sites[index].isBusy else { return }
        if !sites[index].effects.isEmpty { return carryOut(sites[index].effects.removeFirst(), index) }
        let input = sites[index].inputs.removeFirst()
        sites[index].effects = sites[index].uplink?.handle(input, at: now) ?? []
        #if DEBUG
            if let problem = sites[index].uplink?.problems().first {
                account.note("\(sites[index].client): \(problem)")
            }
        #endif
    }

    private mutating func carryOut(_ effect: FeedUplink.Effect, _ index: Int) {
        switch effect {
        case .publish(let message, let expiry):
            noteSent(message, index)
            let packet = SimulatedBroker.Message(
                topicName: message.topicName, payload: message.payload, isRetained: message.retain, expiry: expiry)
            network.send(sites[index].client, .publish(packet, id: sites[index].nextID))
            sites[index].nextID += 1
        case .read(let button, let after, let count):
            let entries = sites[index].disk.entries[button]?.map(\.feed).filter { $0.number > after } ?? []
            sites[index].inputs.append(.read(button, Array(entries.prefix(count))))
        case .claimed(let button, let number):
            sites[index].disk.facts[button]?.claimed = number
            sites[index].disk.entries[button]?.removeAll { $0.feed.number <= number }
        case .done(let button, let number): sites[index].disk.facts[button]?.done = number
        case .term(let term): sites[index].disk.term = term
        case .asked(let session): sites[index].disk.asked = session
        case .beganLife(let number, let formers, _): beginLife(number, formers, index)
        case .setTimer(let deadline): sites[index].timer = deadline
        case .cancelTimer: sites[index].timer = nil
        case .anomaly: break
        }
    }

    /// Notes which press a site sends with a number. An old copy of the disk gives numbers out again that were sent, until the site
    /// knows that it is one; what engines report of these numbers is what they have received.
    private mutating func noteSent(_ message: MQTTMessage, _ index: Int) {
        guard case .messages(let button) = FeedTopic(message.topicName)?.kind,
            let sent = try? FeedMessage(parsing: message.payload, of: button),
            let entry = sites[index].disk.entries[button]?.first(where: { $0.feed.number == sent.number })
        else { return }
        account.put(entry, at: place(sent.number, of: button, index))
    }

    private mutating func beginLife(_ number: Int, _ formers: [ButtonID: FeedFormer], _ index: Int) {
        sites[index].disk.life = number
        lives += 1
        for button in sites[index].disk.facts.keys {
            sites[index].disk.facts[button]?.former = formers[button]
            for entry in sites[index].disk.entries[button] ?? [] {
                account.put(entry, at: place(entry.feed.number, of: button, index))
            }
        }
    }

    func place(_ number: Int, of button: ButtonID, _ index: Int) -> Place {
        Place(
            site: sites[index].topic, installation: sites[index].disk.installation, button: button, number: number)
    }

    mutating func siteReceived(_ answer: SimulatedBroker.Answer, _ index: Int) {
        guard sites[index].uplink != nil else { return }
        let topic = sites[index].topic
        switch answer {
        case .connected:
            network.send(
                sites[index].client, .subscribe(FeedTopic.filters(ofSite: topic) + ["engines/+/state"]))
            sites[index].disk.session += 1
            sites[index].isConnected = true
            sites[index].inputs.append(.connected(session: sites[index].disk.session))
        case .message(let message, let id, _):
            network.send(sites[index].client, .acknowledge(id: id))
            if message.topicName == "engines/1/state" {
                let state = try? EngineState(parsing: message.payload)
                sites[index].inputs.append(.engine(isOnline: state?.isOnline == true))
            } else {
                sites[index].inputs.append(.received(topicName: message.topicName, payload: message.payload))
            }
        case .subscribed, .acknowledged: break
        }
    }
}
