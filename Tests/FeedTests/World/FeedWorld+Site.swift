import ButtonModel
import Feed
import MQTTTopics
import TestSupport
import Testing

// The steps of the site's process.
extension FeedWorld {
    /// The site takes up to `count` presses that a button has stored: into the journal on the disk, then from the button.
    /// It may die between the two.
    mutating func recordPress(_ count: Int, of button: ButtonID, diesBeforeAcknowledgement: Bool = false) {
        guard site.uplink != nil, var journal = site.disk.journals[button], let stored = site.stored[button],
            !stored.isEmpty
        else { return }
        let taken = stored.prefix(count)
        let new = taken.filter { $0 > journal.counter }
        if let last = new.last {
            let number = journal.facts.last + 1
            let entry = FeedEntry(
                number: number, receivedAt: now, steps: new.map { down(Int($0), of: button) })
            let isConnected = network.isConnected(WorldSite.client) && site.isConnected
            journal.sessions[number] = isConnected ? site.disk.session : site.disk.session + 1
            journal.facts.last = number
            journal.entries.append(entry)
            journal.counter = last
            site.disk.journals[button] = journal
            site.sync()
            account.recorded(entry.presses(of: button), as: place(number, of: button))
            site.inputs.append(.recorded(button, entry))
        }
        if diesBeforeAcknowledgement { return killSite(delivering: 0) }
        site.stored[button]?.removeFirst(taken.count)
    }

    /// Carries out one effect, or hands over one input.
    mutating func stepSite() {
        guard site.uplink != nil else { return }
        if !site.effects.isEmpty {
            carryOut(site.effects.removeFirst())
        } else if !site.inputs.isEmpty {
            let input = site.inputs.removeFirst()
            if design == .session { return publishOnly(input) }
            site.effects = site.uplink?.checked(input, at: now) ?? []
        }
    }

    private mutating func carryOut(_ effect: FeedUplink.Effect) {
        switch effect {
        case .publish(let message, let expiry): publish(message, expiry: expiry)
        case .read(let button, let after, let count):
            let entries = site.disk.journals[button]?.entries.filter { $0.number > after }.prefix(count) ?? []
            site.inputs.append(.read(button, Array(entries)))
        case .claimed(let button, let number):
            site.disk.journals[button]?.facts.claimed = number
            site.disk.journals[button]?.drop(below: number + 1)
        case .done(let button, let number): site.disk.journals[button]?.facts.done = number
        case .term(let term): site.disk.term = term
        case .asked(let session): site.disk.asked = session
        case .beganLife(let number, let formers, _): beginLife(number, formers)
        case .setTimer(let deadline): site.timer = deadline
        case .cancelTimer: site.timer = nil
        case .anomaly: break
        }
    }

    private mutating func beginLife(_ number: Int, _ formers: [ButtonID: FeedFormer]) {
        for (button, journal) in site.disk.journals {
            site.disk.journals[button]?.facts.former = formers[button]
            for entry in stride(from: journal.facts.claimed + 1, through: journal.facts.last, by: 1) {
                var newPlace = place(entry, of: button)
                newPlace.installation = FeedLife(root: site.disk.installation, number: number).installation
                account.moved(place(entry, of: button), to: newPlace, isDropped: entry < journal.first)
            }
        }
        site.disk.life = number
    }

    private func place(_ number: Int, of button: ButtonID) -> FeedPlace {
        FeedPlace(site: berlin, button: button, installation: site.disk.feedInstallation, number: number)
    }

    private mutating func publish(_ message: MQTTMessage, expiry: Duration? = nil) {
        let packet = SimulatedBroker.Message(
            topicName: message.topicName, payload: message.payload, isRetained: message.retain, expiry: expiry)
        network.send(WorldSite.client, .publish(packet, id: site.nextID))
        site.nextID += 1
    }

    /// The site of the design without a feed: it publishes each press, and repeats nothing.
    private mutating func publishOnly(_ input: FeedUplink.Input) {
        guard case .recorded(let button, let entry) = input else { return }
        let message = FeedMessage(number: entry.number, previous: entry.number - 1, content: .steps(entry.steps))
        let name = FeedTopic(berlin, .messages(button)).description
        publish(MQTTMessage(topicName: name, payload: message.encoded(), qos: 1))
    }

    mutating func siteReceived(_ answer: SimulatedBroker.Answer) {
        guard site.uplink != nil else { return }
        switch answer {
        case .connected:
            network.send(WorldSite.client, .subscribe(FeedTopic.filters(ofSite: berlin) + [Self.state]))
            site.disk.session += 1
            site.isConnected = true
            site.inputs.append(.connected(session: site.disk.session))
        case .message(let message, let id, _):
            network.send(WorldSite.client, .acknowledge(id: id))
            if message.topicName == Self.state {
                site.inputs.append(.engine(isOnline: message.payload == Array("online".utf8)))
            } else {
                site.inputs.append(.received(topicName: message.topicName, payload: message.payload))
            }
        case .subscribed, .acknowledged: break
        }
    }
}
