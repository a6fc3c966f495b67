import BluetoothHost
import ButtonModel
import ESPHome

// The connection to the proxy, and the advertisements that the proxy receives.
extension ESPHomeRadio {
    mutating func received(_ message: ESPHomeMessage, at now: Instant) {
        // Messages that arrived together with the one that made the connection fail are ignored.
        guard state != .failed else { return }
        switch message {
        case .helloResponse(let hello) where state == .greeting:
            guard hello.major == 1 else {
                return fail(
                    "The proxy speaks version \(hello.major) of ESPHome's protocol, and Tryck knows version 1.",
                    .unsupported, at: now)
            }
            state = .asking
            messages.append(.deviceInfoRequest)
        case .deviceInfo(let device) where state == .asking: introduced(device, at: now)
        case .scannerState(let scanner, _, _): scannerReported(scanner, at: now)
        case .pingRequest: messages.append(.pingResponse)
        case .disconnectRequest:
            messages.append(.disconnectResponse)
            flush(at: now)
            fail("The proxy has ended the connection, as it does before it restarts.", .restarting, at: now)
        case .connectionsFree(let free, let limit, let allocated):
            limitChanged(Int(clamping: limit))
            roomChanged(free: Int(clamping: free), limit: Int(clamping: limit), allocated: allocated, at: now)
        case .rawAdvertisements(let advertisements):
            deadlines.set(.deaf, at: now + Self.deafness)
            silenceCount = 0
            if state == .ready { for advertisement in advertisements { heard(advertisement, at: now) } }
        case .deviceConnection(let address, let isConnected, let mtu, let error):
            if isConnected { connected(address, mtu: mtu, at: now) } else { disconnected(address, error, at: now) }
        case .services(let address, let services):
            guard let place = place(of: address), links[place].phase == .discovering else { break }
            links[place].services += services
            if links[place].services.count > ESPHomeLimits.services {
                attachFailed(place, "the button has too many services", at: now)
            }
        case .servicesDone(let address): servicesFound(address, at: now)
        case .writeResponse(let address, let handle), .notifyResponse(let address, let handle):
            guard let place = place(of: address), links[place].phase == .subscribing,
                handle == links[place].attributes?.lastOfSubscription
            else { break }
            attached(place)
        case .notified(let address, let handle, let value):
            guard let place = place(of: address), links[place].phase == .attached,
                links[place].attributes?.notify == handle
            else { break }
            links[place].congestionCount = 0
            report(.notified(links[place].id, value))
        case .gattError(let address, let handle, let error): gattFailed(address, handle, error, at: now)
        case .connectionParametersSet(let address, let error):
            guard error != 0, let place = place(of: address) else { break }
            report(
                .anomaly("\(links[place].address): the proxy could not set the connection parameters: error \(error)"))
        case .hello, .helloResponse, .disconnectResponse, .pingResponse, .deviceInfoRequest, .deviceInfo,
            .subscribeAdvertisements, .unsubscribeAdvertisements, .setScannerMode, .deviceRequest,
            .subscribeConnectionsFree, .clearCacheResponse, .setConnectionParameters,
            .getServices, .write, .writeDescriptor, .notify, .other:
            break
        }
    }

    private mutating func introduced(_ device: DeviceInfo, at now: Instant) {
        guard device.features.isSuperset(of: .needed) else {
            return fail(
                """
                The device has no Bluetooth proxy that connects. Its ESPHome configuration needs \
                `bluetooth_proxy: {active: true}`.
                """, .notAProxy, at: now)
        }
        features = device.features
        let address = [device.bluetoothMACAddress, device.macAddress].lazy.compactMap { BluetoothAddress($0) }.first
        // The text comes from the device, so only a short part of it is shown.
        let version = device.version.filter { $0.isASCII && !$0.isWhitespace && !$0.isNewline }.prefix(24)
        info = RadioInfo(
            address: address ?? BluetoothAddress(rawValue: 0), acceptListSize: Self.acceptListSize,
            connectsByItself: false, description: "ESPHome \(version)")
        deadlines.cancel(.start)
        state = .subscribing
        subscribe(at: now)
    }

    private mutating func subscribe(at now: Instant) {
        messages += [.subscribeAdvertisements(flags: 1), .subscribeConnectionsFree]
        deadlines.set(.subscription, at: now + Self.subscriptionLimit)
    }

    mutating func subscriptionTimedOut(at now: Instant) {
        // A proxy without this feature reports no state of its scanner. Its report of slots then shows that it answers
        // us.
        if !features.contains(.scannerState), slots != nil { return becameReady(at: now) }
        // The proxy does not answer a second subscriber, and does not tell it when the first one has gone.
        messages += [.subscribeAdvertisements(flags: 1), .subscribeConnectionsFree]
        deadlines.set(.subscription, at: now + Self.subscriptionInterval)
        if let lostAt, now - lostAt < Self.staleTime { return }
        guard !isTaken else { return }
        isTaken = true
        report(
            .unusable(
                """
                Another program, such as Home Assistant, uses the proxy's Bluetooth: disable the device there, or take it \
                out of `radios:`. After a crash of this machine, the proxy needs up to 3 minutes until it is free.
                """, .taken))
    }

    private mutating func scannerReported(_ scanner: ScannerState, at now: Instant) {
        if scanner == .failed {
            return fail("The proxy's Bluetooth has failed. Restart the proxy.", .deaf, at: now)
        }
        if scanner == .running { deadlines.set(.deaf, at: now + Self.deafness) }
        if state == .subscribing { becameReady(at: now) }
    }

    private mutating func becameReady(at now: Instant) {
        guard let info else { return }
        state = .ready
        lostAt = nil
        isTaken = false
        deadlines.cancel(.subscription)
        deadlines.set(.deaf, at: now + Self.deafness)
        // A new connection alone does not repair a scanner that got stuck.
        setScannerMode(restartsScanner: wasDeaf)
        wasDeaf = false
        report(.ready(info))
    }

    /// - Parameter restartsScanner: whether the scanner is restarted, which a change of its mode does.
    mutating func setScannerMode(restartsScanner: Bool = false) {
        guard state == .ready, features.contains(.scannerState) else { return }
        if restartsScanner { messages.append(.setScannerMode(isActive: listening != .active)) }
        messages.append(.setScannerMode(isActive: listening == .active))
    }

    /// No advertisement of any device was received for `deafness`.
    mutating func scannerIsSilent(at now: Instant) {
        deadlines.set(.deaf, at: now + Self.deafness)
        // Where only our buttons are near, no device advertises until a button is pressed.
        guard let othersHeardAt, now - othersHeardAt <= Self.quietness else { return }
        guard !links.isEmpty else { return failDeaf(at: now) }
        // The links work without the scanner, and would end with the connection, which repairs no more than a restart of the
        // scanner does.
        let canRestart = features.contains(.scannerState)
        // After the first time, only a button without a link needs the scanner.
        guard silenceCount == 0 || expected.contains(where: { place(of: $0.address.rawValue) == nil }) else { return }
        silenceCount += 1
        setScannerMode(restartsScanner: true)
        switch silenceCount {
        case 1:
            report(
                .anomaly(
                    "the proxy has heard no Bluetooth device for 90 s"
                        + (canRestart ? ", so its scanner is restarted" : "")))
        case 2:
            report(
                .anomaly(
                    """
                    the proxy still hears no Bluetooth device. Its links stay, and it connects no other button. Restart \
                    the proxy, unless no other device is near it
                    """))
        default: break
        }
    }

    private mutating func failDeaf(at now: Instant) {
        wasDeaf = true
        fail("The proxy has heard no Bluetooth device for 90 s. It may have to be restarted.", .deaf, at: now)
    }

    private mutating func heard(_ raw: RawAdvertisement, at now: Instant) {
        let address = BluetoothAddress(rawValue: raw.address, kind: raw.addressType == 0 ? .public : .random)
        // An expected button is recognised by its address: a paired button advertises no service, and the list of the
        // address prefixes of buttons may be incomplete.
        let isExpected = expected.contains { $0.address == address } || elsewhere.contains(address)
        let structures = ADStructure.parse(raw.data)
        let services = structures.serviceUUIDs
        let service = FlicService.allCases.first { services.contains($0.uuid) }
        let isFlic = service != nil || address.hasFlicPrefix
        if !isExpected, !isFlic { othersHeardAt = now }
        guard isExpected || listening != .off && isFlic else { return }
        let flic = structures.manufacturerData.flatMap { $0.company == 0x030F ? $0.data : nil }
        func advertisement(_ kind: HeardAdvertisement.Kind) -> RadioEvent {
            .heard(
                HeardAdvertisement(
                    kind: kind, address: address, rssi: Int8(clamping: raw.rssi), service: service,
                    name: structures.localName ?? "",
                    isConnectedElsewhere: flic.map(HeardAdvertisement.saysConnectedElsewhere) ?? false))
        }
        report(advertisement(.connectable))
        // The proxy joins an advertisement with its scan response.
        if flic != nil { report(advertisement(.scanResponse)) }
    }
}
