import BluetoothHost
import ButtonModel

// Devices and links.
extension BlueZRadio {
    func device(_ address: BluetoothAddress) -> BlueZDevice? { devices.values.first { $0.address == address } }

    private func isExpected(_ address: BluetoothAddress) -> Bool { expected.contains { $0.address == address } }

    /// The expected buttons that BlueZ does not know and that are searched for. A button that another radio looks for as well is not,
    /// because it may be away for days, and a search costs other programs radio time.
    var absent: [BluetoothAddress] {
        expected.map(\.address).filter { !elsewhere.contains($0) && device($0) == nil }
    }

    /// True for a button that is paired, whether or not this radio may have it.
    func isPaired(_ address: BluetoothAddress) -> Bool {
        isExpected(address) || unwanted.contains(address) || elsewhere.contains(address)
    }

    /// Remembers the devices among the objects, then their characteristics.
    mutating func addDevices(_ objects: [String: BusInterfaces]) {
        for (path, interfaces) in objects.sorted(by: { $0.key < $1.key }) { added(path, interfaces, isNew: false) }
    }

    /// - Parameter isNew: whether the object has just appeared, so that a device was heard.
    mutating func added(_ path: String, _ interfaces: BusInterfaces, isNew: Bool) {
        guard let adapter, path.hasPrefix(adapter.path + "/") else { return }
        if let properties = interfaces[BlueZName.device], devices[path] == nil,
            var device = BlueZDevice(path: path, properties), isRelevant(device)
        {
            if isNew, !device.isConnected { device.wasHeard = true }
            devices[path] = device
            if isNew { reportHeard(device, properties) }
        }
        if let properties = interfaces[BlueZName.characteristic],
            let uuid = properties["UUID"]?.string.flatMap({ BluetoothUUID($0) }),
            let device = devices.keys.first(where: { path.hasPrefix($0 + "/") })
        {
            devices[device]?.note(characteristic: path, uuid: uuid)
        }
    }

    /// True if the device is a paired button, is to be removed, or may be another button.
    private func isRelevant(_ device: BlueZDevice) -> Bool {
        isPaired(device.address) || forgotten.contains(device.address)
            || (device.service != nil || device.address.hasFlicPrefix) && devices.count < Self.maximumDevices
    }

    private mutating func reportHeard(_ device: BlueZDevice, _ properties: [String: BusValue]) {
        guard listening != .off, !device.isConnected, device.wasHeard else { return }
        // BlueZ keeps the services of a known button, which therefore do not show that it is in public mode.
        let isKnown = isPaired(device.address) && (device.isTrusted || device.isTrustDue)
        let service = isKnown ? nil : device.service
        func heard(_ kind: HeardAdvertisement.Kind) {
            report(
                .heard(
                    HeardAdvertisement(
                        kind: kind, address: device.address, rssi: device.rssi, service: service, name: device.name,
                        isConnectedElsewhere: device.isConnectedElsewhere ?? false)))
        }
        heard(.connectable)
        // BlueZ joins an advertisement with its scan response.
        if device.isConnectedElsewhere != nil { heard(.scanResponse) }
    }

    mutating func deviceChanged(_ path: String, _ properties: [String: BusValue], at now: Instant) {
        guard let before = devices[path] else { return }
        devices[path]?.update(properties)
        guard let device = devices[path] else { return }
        if properties["RSSI"] != nil || properties["ManufacturerData"] != nil || properties["UUIDs"] != nil {
            reportHeard(device, properties)
        }
        guard before.isConnected, !device.isConnected else { return }
        for held in HeldCharacteristic.allCases { deadlines.cancel(.heldElsewhere(device.address, held)) }
        if let place = links.firstIndex(where: { $0.path == path }) { linkEnded(place) }
    }

    // MARK: What is to be done next

    /// Makes bluetoothd do what is still missing for the expected buttons and for listening.
    mutating func update(at now: Instant) {
        guard state == .ready else { return }
        forgotten = forgotten.filter { device($0) != nil }
        for device in forgotten.compactMap(device)
        where deadlines.deadline(of: .removeAgain(device.address)) == nil { remove(device) }
        for address in elsewhere where !isExpected(address) {
            guard let device = device(address), device.isLinkNew, !isCalling(.disconnect(device: device.path)),
                !isHeldElsewhere(address)
            else { continue }
            begin(device, device.service ?? .flic2, at: now)
        }
        for address in unwanted + elsewhere where !isExpected(address) {
            // Parking ends a link, so the button is asked to leave first.
            guard let device = device(address), !device.isParked, !links.contains(where: { $0.address == address }),
                !device.isLinkNew || unwanted.contains(address), deadlines.deadline(of: .connectAgain(address)) == nil
            else { continue }
            if device.isBlocked { call(.setBlocked(device: device.path, false)) }
            park(device)
        }
        var toConnect: BlueZDevice?
        for button in expected {
            guard let device = device(button.address) else { continue }
            if device.isBlocked {
                callOnce(.setBlocked(device: device.path, false), about: button.address)
            } else if device.isConnected {
                if !device.isTrusted { trust(device) }
                if !links.contains(where: { $0.address == button.address }), !isHeldElsewhere(device.address) {
                    begin(device, button.service, at: now)
                }
            } else if deadlines.deadline(of: .connectAgain(button.address)) == nil {
                // An untrusted device that is not connected soon would be forgotten.
                if !device.isTrusted, !device.wasHeard || device.wantsLink || device.isTrustDue { trust(device) }
                // The device is being parked, and is not trusted until bluetoothd has answered.
                if device.isTrustDue, isCalling(.setTrusted(device: device.path)) { continue }
                if !device.connectsByItself, device.path != connecting,
                    toConnect.map({ device.isConnectedBefore($0) }) ?? true
                {
                    toConnect = device
                }
            }
        }
        for place in links.indices where links[place].phase == .resolving {
            if let device = devices[links[place].path], device.isResolved { acquire(place, device, at: now) }
        }
        if let device = toConnect, isSearching, !device.wasHeard, !device.canBeArmed { toConnect = nil }
        updateConnecting(toConnect)
        updateDiscovery(isConnecting: toConnect != nil || connecting != nil)
        reportRoom()
    }

    /// The device that bluetoothd is told to connect to.
    private var connecting: String? {
        for case .connect(let path) in calls.values { return path }
        return nil
    }

    /// Connects to one device at a time, and not during a discovery. A device that was not heard gives way to a search and
    /// to one that was heard or that was parked, because bluetoothd gives up only after 40 s.
    ///
    /// For a parked device, `Connect` need not succeed: it makes bluetoothd connect by itself again, so that it is cancelled at
    /// once, and the next device has its turn. The answer to `Connect` tells whether it did.
    ///
    /// - Parameter device: the device that is connected next, which is not the one that bluetoothd is connecting to.
    private mutating func updateConnecting(_ device: BlueZDevice?) {
        if let path = connecting {
            let isWanted =
                devices[path].map {
                    isExpected($0.address)
                        && ($0.isConnected || $0.wasHeard
                            || !isSearching && device?.wasHeard != true && device?.canBeArmed != true)
                } ?? true
            if !isWanted, !isCalling(.disconnect(device: path)) { call(.disconnect(device: path)) }
        } else if let device, discovery == nil, nextDiscovery == nil {
            call(.connect(device: device.path))
            devices[device.path]?.isParked = false
            if device.canBeArmed { call(.disconnect(device: device.path)) }
        }
    }

    /// `Connect` has succeeded: with a new link, or because there was one already. The latter does not make bluetoothd connect to a
    /// parked device by itself again, so that this is tried again when the link has ended.
    ///
    /// - Source: BlueZ 5.66, src/device.c, `dev_connect`; 5.87 does the same.
    mutating func connectSucceeded(_ path: String, at now: Instant) {
        guard let device = devices[path], device.isDisarmed, !device.isParked else { return }
        if !isCalling(.disconnect(device: path)) {
            devices[path]?.isDisarmed = false
            // The services may have been resolved already.
            devices[path]?.update([:])
        } else if !device.isConnected {
            deadlines.set(.connectAgain(device.address), at: now + Self.retryDelay)
        }
    }

    /// `Connect` was refused or cancelled, after it has made bluetoothd connect to a parked device by itself again.
    ///
    /// - Returns: false if the device is still to be connected.
    mutating func arm(_ path: String) -> Bool {
        guard let device = devices[path], device.isDisarmed, !device.isParked else { return false }
        devices[path]?.isDisarmed = false
        guard device.canBeArmed else { return false }
        devices[path]?.connectsByItself = true
        return true
    }

    /// Keeps bluetoothd from connecting to a device by itself, and ends its link.
    ///
    /// `Disconnect` does so with a device that is not trusted. The device is trusted again before its link has ended, because
    /// bluetoothd would forget it otherwise. A block would not do: Linux 6.1 connects to a blocked device that it waits for,
    /// and then keeps a link that no program can use or end.
    ///
    /// - Source: BlueZ 5.66, src/device.c, `dev_disconnect` and `dev_connect`; 5.87 does the same.
    private mutating func park(_ device: BlueZDevice) {
        let keepsTrust = device.isTrusted || device.isTrustDue || isCalling(.setTrusted(device: device.path))
        if keepsTrust { call(.setTrusted(device: device.path, false)) }
        call(.disconnect(device: device.path))
        if keepsTrust { call(.setTrusted(device: device.path)) }
        devices[device.path]?.isTrustDue = keepsTrust
        devices[device.path]?.isParked = true
        devices[device.path]?.isDisarmed = true
        if device.connectsByItself { devices[device.path]?.wasArmed = true }
        devices[device.path]?.connectsByItself = false
    }

    /// Trusts a device, so that bluetoothd connects to it whenever it advertises. A device that BlueZ has only heard is
    /// trusted when `Connect` has been answered, because BlueZ would forget it otherwise.
    private mutating func trust(_ device: BlueZDevice) {
        guard connecting != device.path else { return }
        callOnce(.setTrusted(device: device.path), about: device.address)
    }

    /// Removes a device, of which bluetoothd then forgets everything.
    mutating func remove(_ device: BlueZDevice) {
        guard let adapter else { return }
        let removal = BlueZCall.removeDevice(adapter: adapter.path, device: device.path)
        if !isCalling(removal) { call(removal) }
    }

    private mutating func callOnce(_ call: BlueZCall, about address: BluetoothAddress) {
        guard !isCalling(call), deadlines.deadline(of: .connectAgain(address)) == nil else { return }
        self.call(call)
    }

    private mutating func updateDiscovery(isConnecting: Bool) {
        guard let adapter, nextDiscovery == nil, !isCalling(.stopDiscovery(adapter: adapter.path)) else { return }
        let wanted = isConnecting ? nil : wantedDiscovery
        guard wanted != discovery else { return }
        if discovery != nil {
            call(.stopDiscovery(adapter: adapter.path))
        } else if let wanted, deadlines.deadline(of: .discoverAgain) == nil {
            nextDiscovery = wanted
            call(.setDiscoveryFilter(adapter: adapter.path, wanted))
        }
    }

    /// True if a discovery is wanted that finds devices which are to be connected.
    private var isSearching: Bool {
        switch wantedDiscovery {
        case .all, .addressPrefix: true
        case .flicServices, nil: false
        }
    }

    private var wantedDiscovery: DiscoveryFilter? {
        if listening == .active { return .all }
        if deadlines.deadline(of: .searchForAbsent) != nil {
            // A button that is not in public mode can only be recognized by its address.
            let absent = absent.map(\.description)
            if var prefix = absent.first {
                for address in absent { prefix = prefix.commonPrefix(with: address) }
                return .addressPrefix(prefix)
            }
        }
        return listening == .background ? .flicServices : nil
    }

    // MARK: Links

    /// - Parameter service: the service that the button probably has.
    private mutating func begin(_ device: BlueZDevice, _ service: FlicService, at now: Instant) {
        devices[device.path]?.isLinkNew = false
        lastLink.rawValue += 1
        links.append(BlueZLink(id: lastLink, address: device.address, path: device.path, service: service))
        deadlines.set(.link(lastLink), at: now + Self.resolveLimit)
        report(.connected(lastLink, device.address))
    }

    private mutating func acquire(_ place: Int, _ device: BlueZDevice, at now: Instant) {
        let id = links[place].id
        let found = [links[place].service, links[place].service.other].first {
            device.write[$0] != nil && device.notify[$0] != nil
        }
        guard let found, let write = device.write[found], let notify = device.notify[found] else {
            report(.anomaly("\(device.address): no Flic service was found"))
            return attachFailed(place, at: now)
        }
        links[place].service = found
        links[place].phase = .acquiring
        deadlines.set(.link(id), at: now + Self.resolveLimit)
        call(.acquireNotify(characteristic: notify, id))
        call(.acquireWrite(characteristic: write, id))
    }

    mutating func acquired(_ call: BlueZCall, attMTU: Int, at now: Instant) {
        guard let id = call.link else { return }
        guard let place = links.firstIndex(where: { $0.id == id && $0.phase == .acquiring }) else {
            return effects.append(.bus(.closeChannels(id)))
        }
        if case .acquireNotify = call { links[place].notifyMTU = attMTU } else { links[place].writeMTU = attMTU }
        guard let notifyMTU = links[place].notifyMTU, let writeMTU = links[place].writeMTU else { return }
        // A button does not answer packets that it receives before the subscription is in force, so the link is
        // attached only now.
        links[place].phase = .open
        deadlines.cancel(.link(id))
        report(.attached(id, links[place].service, attMTU: min(notifyMTU, writeMTU)))
    }

    private func isHeldElsewhere(_ address: BluetoothAddress) -> Bool {
        HeldCharacteristic.allCases.contains { deadlines.deadline(of: .heldElsewhere(address, $0)) != nil }
    }

    mutating func acquiringFailed(
        _ held: HeldCharacteristic, _ id: LinkID, _ error: BusError, at now: Instant
    ) {
        guard let place = links.firstIndex(where: { $0.id == id && $0.phase == .acquiring }) else { return }
        let address = links[place].address
        guard error.name == "org.bluez.Error.NotPermitted" || error.name == "org.bluez.Error.InProgress" else {
            report(.anomaly("\(address): BlueZ refused its characteristics: \(error)"))
            return attachFailed(place, at: now)
        }
        report(.anomaly("\(address): another program on this machine uses the button (\(error))"))
        deadlines.set(.heldElsewhere(address, held), at: now + Self.heldElsewhereDelay)
        linkEnded(place)
    }

    private mutating func attachFailed(_ place: Int, at now: Instant) {
        links[place].phase = .ending
        effects.append(.bus(.closeChannels(links[place].id)))
        deadlines.set(.link(links[place].id), at: now + Self.endLimit)
        report(.attachFailed(links[place].id))
    }

    mutating func disconnect(_ place: Int, at now: Instant) {
        guard !links[place].isDisconnecting else { return }
        links[place].isDisconnecting = true
        close(place, for: Self.endLimit, at: now)
        call(.disconnect(device: links[place].path))
    }

    /// Closes the descriptors of a link, and waits for its end.
    mutating func close(_ place: Int, for limit: Duration, at now: Instant) {
        links[place].phase = .ending
        effects.append(.bus(.closeChannels(links[place].id)))
        deadlines.set(.link(links[place].id), at: now + limit)
    }

    /// A link is over: the device has told so, or has been silent about it for too long.
    mutating func linkEnded(_ place: Int) {
        let link = links.remove(at: place)
        for device in devices.values where device.wantsLink { deadlines.cancel(.connectAgain(device.address)) }
        deadlines.cancel(.link(link.id))
        effects.append(.bus(.closeChannels(link.id)))
        report(.disconnected(link.id, link.isDisconnecting ? .localHostTerminated : .unknown))
    }

    mutating func linkTimedOut(_ id: LinkID, at now: Instant) {
        guard let place = links.firstIndex(where: { $0.id == id }) else { return }
        switch links[place].phase {
        case .resolving, .acquiring:
            report(.anomaly("\(links[place].address): BlueZ did not find its services in time"))
            disconnect(place, at: now)
        case .open: break
        case .ending: linkEnded(place)
        }
    }
}

extension BlueZDevice {
    /// True if this device is connected first: devices that only have to be armed come first because that takes no time, then
    /// devices that were heard; the others take turns.
    fileprivate func isConnectedBefore(_ other: BlueZDevice) -> Bool {
        if canBeArmed != other.canBeArmed { return canBeArmed }
        return wasHeard == other.wasHeard ? failureCount < other.failureCount : wasHeard
    }
}

extension BlueZCall {
    /// The link whose characteristic is acquired; `nil` for other calls.
    fileprivate var link: LinkID? {
        switch self {
        case .acquireNotify(_, let id), .acquireWrite(_, let id): id
        case .getManagedObjects, .registerApplication, .setDiscoveryFilter, .startDiscovery, .stopDiscovery, .connect,
            .disconnect, .setTrusted, .setBlocked, .removeDevice:
            nil
        }
    }
}

extension String {
    fileprivate func commonPrefix(with other: String) -> String {
        String(zip(self, other).prefix { $0 == $1 }.map(\.0))
    }
}

#if DEBUG
    extension BlueZRadio {
        /// The invariants that the state violates between two inputs; empty unless this type has a bug.
        package func problems() -> [String] {
            var problems = deadlines.problems()
            func expect(_ holds: Bool, _ problem: @autoclosure () -> String) {
                if !holds { problems.append("bluez: " + problem()) }
            }
            expect(effects.isEmpty, "an effect was not returned")
            expect(state == .ready || links.isEmpty, "there are links in state \(state)")
            expect(Set(links.map(\.address)).count == links.count, "two links to one button")
            expect(
                devices.count <= Self.maximumDevices + expected.count + unwanted.count + elsewhere.count
                    + forgotten.count, "\(devices.count) devices are remembered")
            expect(forgotten.count <= Self.maximumForgotten, "\(forgotten.count) forgotten buttons wait")
            expect(calls.values.count { if case .connect = $0 { true } else { false } } <= 1, "two connections at once")
            for device in devices.values {
                expect(!device.isParked || device.isDisarmed, "\(device.address) is parked and not disarmed")
                expect(
                    !device.isDisarmed || !device.connectsByItself,
                    "\(device.address) is disarmed, yet connects by itself")
            }
            for link in links {
                expect(devices[link.path] != nil, "\(link.address): a link without a device")
                expect(
                    link.phase == .open || deadlines.deadline(of: .link(link.id)) != nil,
                    "\(link.address): nothing ends phase \(link.phase)")
                expect(
                    link.phase != .open || link.notifyMTU != nil && link.writeMTU != nil,
                    "\(link.address): open without descriptors")
            }
            for case .link(let id) in deadlines.keys {
                expect(links.contains { $0.id == id }, "a deadline for a link that has ended")
            }
            return problems
        }

        /// The links that were reported as connected and not yet as disconnected.
        package var reportedLinks: Set<LinkID> { Set(links.map(\.id)) }
    }
#endif
