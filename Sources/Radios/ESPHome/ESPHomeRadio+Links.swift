import ButtonModel
import ESPHome

// Attempts and links.
extension ESPHomeRadio {
    func place(of address: UInt64) -> Int? { links.firstIndex { $0.address.rawValue == address } }

    /// The number of further links that may begin now.
    private var room: Int {
        let used = Set(attempts.keys).union(links.map(\.address.rawValue))
        // The proxy's last report of its slots does not include the links and attempts that began after it.
        let (free, allocated) = slots ?? (free: 1, allocated: [])
        return min(free - used.subtracting(allocated).count, (maximumLinks ?? .max) - used.count)
    }

    mutating func beginAttempts(at now: Instant) {
        // A button that was heard longer ago may have stopped advertising, and the proxy would hear nothing for 20 s.
        giveUpWaiting { _, since in now - since > Self.waitingLimit }
        while state == .ready, room > 0,
            let place = waiting.firstIndex(where: { !releasing.contains($0.address.rawValue) })
        {
            let address = waiting.remove(at: place).address
            guard let button = expected.first(where: { $0.address == address }) else { continue }
            // A proxy that uses its cache does not report the ATT_MTU, so the cache is used only if an earlier link has
            // reported it.
            let usesCache = knowledge[address] != nil
            attempts[address.rawValue] = Attempt(button: button, usesCache: usesCache)
            deadlines.set(.attempt(address.rawValue), at: now + Self.attemptLimit)
            messages.append(
                .deviceRequest(
                    address: address.rawValue, usesCache ? .connectWithCache : .connectWithoutCache,
                    addressType: UInt32(address.kind.rawValue)))
        }
    }

    /// Reports the attempts that are not made any more.
    mutating func giveUpWaiting(where isGivenUp: (BluetoothAddress, Instant) -> Bool) {
        for entry in waiting where isGivenUp(entry.address, entry.since) { report(.attemptFailed(entry.address)) }
        waiting.removeAll { isGivenUp($0.address, $0.since) }
    }

    mutating func attemptEnded(_ address: UInt64) {
        guard let attempt = attempts.removeValue(forKey: address) else { return }
        deadlines.cancel(.attempt(address))
        report(.attemptFailed(attempt.button.address))
    }

    mutating func connected(_ address: UInt64, mtu: UInt32, at now: Instant) {
        guard let attempt = attempts.removeValue(forKey: address) else {
            // The failure of this attempt was reported before. The link is ended, because no session would receive the presses
            // that the button sends on it.
            if place(of: address) == nil {
                release(address, at: now)
                messages.append(.deviceRequest(address: address, .disconnect, addressType: nil))
            }
            return
        }
        deadlines.cancel(.attempt(address))
        let (button, usesCache) = (attempt.button, attempt.usesCache)
        guard expected.contains(where: { $0.address == button.address }) || elsewhere.contains(button.address) else {
            release(address, at: now)
            report(.attemptFailed(button.address))
            return messages.append(.deviceRequest(address: address, .disconnect, addressType: nil))
        }
        let known = usesCache ? knowledge[button.address] : nil
        lastLink.rawValue += 1
        // For a link with cache, the proxy reports an ATT_MTU before it has negotiated one.
        let attMTU = usesCache ? known?.attMTU ?? Self.leastMTU : max(Self.leastMTU, Int(mtu & 0xFFFF))
        links.append(
            ProxyLink(
                id: lastLink, address: button.address, expected: button.service, phase: .discovering, attMTU: attMTU))
        deadlines.set(.link(lastLink), at: now + Self.attachLimit)
        report(.connected(lastLink, button.address))
        // The proxy has reported its slots when the attempt began, and does not do so again now.
        reportRoom()
        if let known {
            subscribe(links.count - 1, known.attributes)
        } else {
            messages.append(.getServices(address: address))
        }
    }

    mutating func servicesFound(_ address: UInt64, at now: Instant) {
        guard let place = place(of: address), links[place].phase == .discovering else { return }
        let services = links[place].services
        links[place].services = []
        let wanted = [links[place].expected, links[place].expected.other]
        guard let attributes = wanted.lazy.compactMap({ ProxyAttributes($0, among: services) }).first else {
            return attachFailed(place, "no service of Flic was found", at: now)
        }
        subscribe(place, attributes)
    }

    /// Enables notifications. The proxy passes them on after the first message, and the button sends them after the
    /// second.
    private mutating func subscribe(_ place: Int, _ attributes: ProxyAttributes) {
        links[place].phase = .subscribing
        links[place].attributes = attributes
        let address = links[place].address.rawValue
        messages.append(.notify(address: address, handle: attributes.notify, isEnabled: true))
        guard let configuration = attributes.configuration else { return }
        messages.append(.writeDescriptor(address: address, handle: configuration, value: [1, 0]))
    }

    mutating func attached(_ place: Int) {
        guard let attributes = links[place].attributes else { return }
        links[place].phase = .attached
        deadlines.cancel(.link(links[place].id))
        report(.attached(links[place].id, attributes.service, attMTU: links[place].attMTU))
    }

    mutating func attachFailed(_ place: Int, _ reason: String, at now: Instant) {
        let link = links[place]
        report(.anomaly("\(link.address): \(reason)"))
        knowledge[link.address] = nil
        messages.append(.deviceRequest(address: link.address.rawValue, .clearCache, addressType: nil))
        end(place, at: now)
        report(.attachFailed(link.id))
    }

    mutating func end(_ place: Int, at now: Instant) {
        guard links[place].phase != .ending else { return }
        links[place].phase = .ending
        deadlines.set(.link(links[place].id), at: now + Self.attachLimit)
        messages.append(.deviceRequest(address: links[place].address.rawValue, .disconnect, addressType: nil))
    }

    mutating func disconnected(_ address: UInt64, _ error: Int32, at now: Instant) {
        if let place = place(of: address) {
            release(address, at: now)
            return linkEnded(place, DisconnectReason(proxyError: error, isAsked: links[place].phase == .ending))
        }
        // The second report of the end of a link means that its slot is free.
        if releasing.remove(address) != nil { return beginAttempts(at: now) }
        attemptEnded(address)
    }

    /// The slot of a link that has ended is not free yet. If the proxy never reports that it is, the button is tried again
    /// after a while.
    mutating func release(_ address: UInt64, at now: Instant) {
        releasing.insert(address)
        deadlines.set(.release(address), at: now + Self.releaseLimit)
    }

    mutating func linkEnded(_ place: Int, _ reason: DisconnectReason) {
        let link = links.remove(at: place)
        deadlines.cancel(.link(link.id))
        isFullReported = false
        report(.disconnected(link.id, reason))
    }

    mutating func limitChanged(_ slots: Int) {
        let limit = min(slots, maximumLinks ?? .max)
        guard limit != self.limit else { return }
        self.limit = limit
        report(.linkLimit(limit))
    }

    mutating func roomChanged(free: Int, limit: Int, allocated: [UInt64], at now: Instant) {
        slots = (free, Set(allocated))
        releasing.formIntersection(allocated)
        guard state == .ready else { return }
        // Old proxies do not name the buttons that have a slot. The report of a link's end may be lost in the proxy.
        if !allocated.isEmpty || free == limit {
            while let place = links.firstIndex(where: { !allocated.contains($0.address.rawValue) }) {
                linkEnded(place, links[place].phase == .ending ? .localHostTerminated : .unknown)
            }
        }
        for address in allocated { freeKeptSlot(of: address, at: now) }
        beginAttempts(at: now)
        reportRoom()
    }

    /// Asks the proxy for the end of a link that it still has and that this client does not know: a link from before this
    /// connection, or one whose end the proxy has not noticed.
    mutating func freeKeptSlot(of address: UInt64, at now: Instant) {
        guard slots?.allocated.contains(address) == true, place(of: address) == nil, attempts[address] == nil,
            !releasing.contains(address)
        else { return }
        release(address, at: now)
        messages.append(.deviceRequest(address: address, .disconnect, addressType: nil))
    }

    /// Reports that there is no room for another link, once, and that there is room again.
    private mutating func reportRoom() {
        if room > 0, isFullReported {
            isFullReported = false
            report(.linkFreed)
        }
        if room <= 0, attempts.isEmpty, !links.isEmpty, !isFullReported {
            isFullReported = true
            report(.linkLimitReached(links.count))
        }
    }

    mutating func gattFailed(_ address: UInt64, _ handle: UInt32, _ code: Int32, at now: Instant) {
        guard let place = place(of: address) else { return }
        let error = ProxyAttributeError(code)
        guard error != .notConnected else {
            release(address, at: now)
            return linkEnded(place, .unknown)
        }
        switch links[place].phase {
        case .discovering, .subscribing:
            switch error {
            case .congested:
                // The error does not mean that the handles are wrong, so the discovered attributes stay known.
                report(.anomaly("\(links[place].address): the proxy has no room for packets"))
                end(place, at: now)
            case .failed:
                // The link may have ended, which is no failure of the button. The next link discovers the attributes, in case that they
                // are the reason.
                knowledge[links[place].address] = nil
                end(place, at: now)
            case .notConnected, .changedAttributes, .other:
                attachFailed(place, "error \(code) of attribute \(handle)", at: now)
            }
        case .attached:
            report(.anomaly("\(links[place].address): error \(code) of attribute \(handle)"))
            switch error {
            case .congested:
                // The session notices by itself that the button has not received a packet.
                links[place].congestionCount += 1
                if links[place].congestionCount >= Self.maximumCongestion { end(place, at: now) }
            case .changedAttributes:
                // The next link discovers them again.
                knowledge[links[place].address] = nil
                messages.append(.deviceRequest(address: address, .clearCache, addressType: nil))
                end(place, at: now)
            case .notConnected, .failed, .other: break
            }
        case .ending: break
        }
    }
}

/// The error of a request about an attribute, as far as it matters what it is.
///
/// - Source: ESP-IDF, esp_gatt_defs.h, `esp_gatt_status_t`; ESPHome adds -1.
enum ProxyAttributeError: Hashable {
    /// There is no link any more.
    case notConnected
    /// The button has other attributes than before: invalid handle, write not permitted, attribute not found.
    case changedAttributes
    /// The proxy's Bluetooth stack has no room for another packet.
    case congested
    /// Bluedroid's `GATT_ERROR`, with which it also answers all requests that wait when a link ends, before it reports the end.
    case failed
    case other

    init(_ code: Int32) {
        self =
            switch code {
            case -1: .notConnected
            case 0x01, 0x03, 0x0A: .changedAttributes
            case 0x8F: .congested
            case 0x85: .failed
            default: .other
            }
    }
}

extension DisconnectReason {
    /// - Parameter isAsked: whether we asked for the end.
    init(proxyError error: Int32, isAsked: Bool) {
        switch error {
        case 0x08: self = .connectionTimeout
        case 0x13: self = .remoteUserTerminated
        case 0x16: self = .localHostTerminated
        case 0x3E: self = .failedToBeEstablished
        case 1...0xFF: self = .other(UInt8(truncatingIfNeeded: error))
        default: self = isAsked ? .localHostTerminated : .unknown
        }
    }
}
