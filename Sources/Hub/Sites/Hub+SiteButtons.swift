import ButtonModel
import Buttons
import Feed
import Rules

// The buttons of sites: which of them an engine knows, and which site has them.
extension Hub {
    mutating func siteIsHere(_ site: String, _ hello: FeedHello, at now: Instant) {
        if feed?.sites[site] == nil {
            let count = hello.buttons.count
            log(.info, "\(site) is connected, with \(count) button\(count == 1 ? "" : "s")")
        }
        sitesHave(hello.buttons.sorted { $0.key < $1.key }.map { ($0.key, $0.value, site) }, at: now)
        feed?.arrived(site, saying: hello)
    }

    /// Takes over the buttons of a site. The parts that know all buttons are told once, because each may have work in
    /// proportion to the number of all buttons.
    private mutating func sitesHave(
        _ known: [(id: ButtonID, facts: FeedHello.Button, site: String)], at now: Instant
    ) {
        collectedIdentityChanges = IdentityChanges()
        var new: [ButtonID] = []
        for (id, facts, site) in known where siteHas(id, facts, site, at: now) { new.append(id) }
        if let changes = collectedIdentityChanges.take() { tell(changes, at: now) }
        for id in new { announce(buttons.introduced(id), at: now) }
        for (id, facts, site) in known where buttons[id]?.source == EngineFeed.source(of: site) {
            // A hello is repeated whenever something else in it changes.
            guard let battery = facts.battery, battery != buttons[id]?.batteryPercentage else { continue }
            batteryReported(id, battery, wallClock(at: now), at: now)
        }
        for (id, _, site) in known where buttons[id]?.source == EngineFeed.source(of: site) {
            if buttons[id]?.state != .ready { stateChanged(id, .ready, at: now) }
        }
    }

    /// - Returns: true if the button was not known before.
    private mutating func siteHas(
        _ id: ButtonID, _ facts: FeedHello.Button, _ site: String, at now: Instant
    ) -> Bool {
        let source = EngineFeed.source(of: site)
        if let record = buttons[id] {
            if record.source != source {
                guard let former = record.source, EngineFeed.isSite(source: former),
                    feed?.isHere(source: former) != true
                else {
                    log(.debug, "\(site) also has \(label(of: id)), which another source has already")
                    return false
                }
                announce(buttons.adopted(id, by: source), at: now)
            }
            announce(buttons.firmwareReported(id, facts.firmware), at: now)
            announce(buttons.nicknameReported(id, nickname(facts, of: id)), at: now)
            return false
        } else {
            // Rules may name a button by its serial number, so a site must not claim that of another button.
            guard !buttons.isSerialTaken(facts.serial) else {
                log(
                    .foreignButton, .warning,
                    "\(site): the button \(id) is not used, because another one has its serial number, \(facts.serial)",
                    at: now)
                return false
            }
            let identity = ButtonIdentity(
                address: BluetoothAddress(rawValue: id.rawValue), uuid: "", serial: facts.serial,
                nickname: nickname(facts, of: id),
                firmwareVersion: facts.firmware, model: facts.model)
            add(StoredButton(identity: identity, pairing: nil, source: source, pairedAt: wallClock(at: now)), at: now)
            return true
        }
    }

    /// The nickname of a button of a site; empty if another button has it, because rules may name a button by its nickname.
    private func nickname(_ facts: FeedHello.Button, of id: ButtonID) -> String {
        buttons.isNicknameTaken(facts.name, byOtherThan: id) ? "" : facts.name
    }

    /// The button of a site is gone. Another connected site may have it, too.
    mutating func otherSiteHas(_ button: ButtonID, than site: String, at now: Instant) {
        if let (other, facts) = feed?.other(than: site, having: button) {
            sitesHave([(button, facts, other)], at: now)
        }
    }

    mutating func siteIsGone(_ site: String, at now: Instant) {
        log(.info, "\(site) is not connected")
        for id in feed?.left(site) ?? [] where buttons[id]?.source == EngineFeed.source(of: site) {
            stateChanged(id, .disconnected, at: now)
            otherSiteHas(id, than: site, at: now)
        }
    }

    /// A site has heard a button that another site had until now. A button has one link, so it is where it was heard last.
    mutating func buttonChangedSite(_ button: ButtonID, to site: String, at now: Instant) {
        guard let facts = feed?.sites[site]?.buttons[button] else { return }
        completePress(at: now)
        let label = label(of: button)
        log(.foreignButton, .info, "\(site) hears \(label) now", at: now)
        announce(buttons.adopted(button, by: EngineFeed.source(of: site)), at: now)
        sitesHave([(button, facts, site)], at: now)
    }
}
