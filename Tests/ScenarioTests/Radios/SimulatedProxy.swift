import BluetoothHost
import ButtonModel
import ESPHome
import Radios

/// A simulated ESPHome Bluetooth proxy, the far end of an `ESPHomeRadio`.
///
/// It makes one attempt at a time and hears nothing meanwhile. An attempt cannot be cancelled and ends after 20 s. A link
/// that has ended keeps its slot for a moment, in which requests for a connection are ignored. Without a subscriber all links
/// end.
///
/// - Source: the firmware of ESPHome 2026.6, `bluetooth_proxy` and `esp32_ble_client`.
struct SimulatedProxy: Sendable {
    enum Trouble: Hashable, Sendable {
        /// The proxy restarts without a goodbye.
        case restart(after: Duration)
        /// The network between the hub and the proxy is cut. What is sent meanwhile arrives later, if the connection lasts.
        case cut(for: Duration)
        /// The scanner hears nothing.
        case deafness(for: Duration)
        /// The scanner hears nothing until its mode is changed.
        case stuckScanner
        /// The proxy restarts, and another client subscribes before the hub does.
        case occupied(for: Duration)
        /// The next ends of links are not reported. `freesSlots`: the reports of free connections tell them.
        case hideEnds(Int, freesSlots: Bool)
        /// The next notifications are lost in the proxy, because its buffers are full.
        case loseNotifications(Int)
        /// The next attempts fail at once.
        case failAttempts(Int)
    }

    enum Key: Hashable, Sendable {
        case host
        case batch
        /// A neighbour's device advertises, so that the scanner is never silent for long.
        case neighbour
        case attempt
        case slotFree(UInt64)
        case noSubscriber
        case restarted, networkBack, hearsAgain, formerGone
    }

    private struct Link: Sendable {
        /// `nil` before the link is there, and after it has ended.
        var handle: ConnectionHandle?
        var usesCache: Bool
        var mtu: UInt16 = 23
        var service: RemoteService?
        /// The value handles whose notifications are passed on.
        var notifying: Set<UInt32> = []
        /// Descriptors whose writes are under way.
        var writing: [UInt32] = []
        var isConnected = false
        /// The end of an attempt was asked for, or that of a link whose end was hidden.
        var isDisconnectAsked = false
        /// The link has ended, and its slot is not free yet.
        var isReleasing = false
        /// The link has ended, and the hub was not told.
        var isHidden = false
    }

    private static let attemptLimit = Duration.seconds(20)
    private static let batchDelay = Duration.milliseconds(100)
    private static let releaseDelay = Duration.milliseconds(60)
    private static let neighbourInterval = Duration.seconds(20)
    private static let formerLimit = Duration.seconds(10)
    private static let services = FlicService.uuidTexts.compactMap { BluetoothUUID($0) }

    let slots: Int
    let ownAddress: BluetoothAddress
    private(set) var deadlines = Deadlines<Key>()
    private var host = LEHost(
        .init(
            connectionParameters: .init(
                intervalMinimum: 7, intervalMaximum: 9, peripheralLatency: 0, supervisionTimeout: 800)))
    private var connection = ESPHomeConnection(role: .proxy(name: "proxy", mac: "00005e005399"), key: nil)
    private var isRunning = true
    private var isCut = false
    private var isDeaf = false
    private var isStuck = false
    /// True if the hub's end of the connection is open, and if the proxy's end is.
    private var isHubConnected = false
    private var isConnected = false
    private var isSubscribed = false
    /// The proxy still takes a former connection, which was lost, for its subscriber.
    private var hasFormer = false
    private var wantsFree = false
    private var isScannerActive = false
    private var isScanning = false
    private var links: [UInt64: Link] = [:]
    /// The buttons that are to be connected, the first one now.
    private var queue: [UInt64] = []
    /// The button to which the host is to connect.
    private var target: UInt64?
    /// The buttons whose links have ended without a report, and have no slot any more.
    private var concealed: Set<UInt64> = []
    private var batch: [RawAdvertisement] = []
    private var hiddenEnds = 0
    private var hiddenEndsFreeSlots = true
    private var lostNotifications = 0
    private var failedAttempts = 0
    /// What is sent while the network is cut.
    private var inFlight: (received: [[UInt8]], sent: [[UInt8]]) = ([], [])
    private var effects: [FarEnd.Effect] = []

    init(slots: Int, ownAddress: BluetoothAddress) {
        self.slots = slots
        self.ownAddress = ownAddress
    }

    var isReachable: Bool { isRunning && !isCut }

    mutating func handle(_ input: FarEnd.Input, at now: Instant) -> [FarEnd.Effect] {
        switch input {
        case .begun:
            run(.transportOpened, at: now)
            deadlines.set(.neighbour, at: now + Self.neighbourInterval)
        case .received(let packet): run(.received(packet), at: now)
        case .timerFired:
            for key in deadlines.takeDue(at: now) { expire(key, at: now) }
        case .opened: opened(at: now)
        case .closed: closed(at: now)
        case .octets(let octets):
            if isCut { inFlight.received.append(octets) } else { receive(octets, at: now) }
        case .trouble(.proxy(let trouble)): strike(trouble, at: now)
        case .bus, .trouble(.bluetoothd): break
        }
        updateRadio(at: now)
        defer { effects = [] }
        return effects
    }

    // MARK: The connection to the hub

    private mutating func opened(at now: Instant) {
        connection = ESPHomeConnection(role: .proxy(name: "proxy", mac: "00005e005399"), key: nil)
        isHubConnected = true
        isConnected = true
        _ = connection.handle(.opened(entropy: Array(repeating: 7, count: 32)))
    }

    private mutating func closed(at now: Instant) {
        isHubConnected = false
        guard isConnected else { return }
        isConnected = false
        inFlight = ([], [])
        batch = []
        wantsFree = false
        guard isSubscribed else { return }
        isSubscribed = false
        if isCut { hasFormer = true } else { deadlines.set(.noSubscriber, at: now + .milliseconds(100)) }
    }

    private mutating func receive(_ octets: [UInt8], at now: Instant) {
        guard isRunning, isConnected else { return }
        for effect in connection.handle(.received(octets)) {
            switch effect {
            case .send(let octets): transmit(octets)
            case .message(let message): received(message, at: now)
            case .established, .failed: break
            }
        }
    }

    private mutating func transmit(_ octets: [UInt8]) {
        if isCut { inFlight.sent.append(octets) } else { effects.append(.octets(octets)) }
    }

    private mutating func say(_ messages: ESPHomeMessage...) {
        guard isConnected, isRunning else { return }
        for case .send(let octets) in connection.handle(.send(messages)) { transmit(octets) }
    }

    private mutating func sayFree() {
        guard wantsFree, isSubscribed else { return }
        say(
            .connectionsFree(
                free: UInt32(slots - links.count), limit: UInt32(slots), allocated: links.keys.sorted()))
    }

    private mutating func received(_ message: ESPHomeMessage, at now: Instant) {
        switch message {
        case .hello: say(.helloResponse(HelloResponse(major: 1, minor: 14, serverInfo: "2026.6.5", name: "proxy")))
        case .deviceInfoRequest:
            say(
                .deviceInfo(
                    DeviceInfo(
                        name: "proxy", version: "2026.6.5",
                        features: [.needed, .scannerState, .connectionParameters],
                        bluetoothMACAddress: ownAddress.description)))
        case .pingRequest: say(.pingResponse)
        case .subscribeAdvertisements:
            // A second subscriber is not answered.
            guard !hasFormer else { break }
            isSubscribed = true
            deadlines.cancel(.noSubscriber)
            sayScanner(.running)
            sayFree()
        case .subscribeConnectionsFree:
            wantsFree = true
            sayFree()
        case .unsubscribeAdvertisements:
            isSubscribed = false
            deadlines.set(.noSubscriber, at: now + .milliseconds(100))
        case .setScannerMode(let isActive):
            if isActive != isScannerActive, isStuck { (isStuck, isDeaf) = (false, false) }
            isScannerActive = isActive
        case .disconnectRequest:
            say(.disconnectResponse)
            hangUp("The proxy has closed the connection.")
            closed(at: now)
        case .deviceRequest(let address, let kind, _): requested(address, kind, at: now)
        case .getServices(let address):
            if let service = links[address]?.service { say(.services(address: address, [Self.service(service)])) }
            links[address]?.service = nil
            say(.servicesDone(address: address))
        case .notify(let address, let handle, let isEnabled):
            guard links[address]?.handle != nil else {
                say(.gattError(address: address, handle: handle, error: -1))
                break
            }
            if isEnabled { links[address]?.notifying.insert(handle) } else { links[address]?.notifying.remove(handle) }
            say(.notifyResponse(address: address, handle: handle))
        case .writeDescriptor(let address, let handle, let value): write(address, handle, value, at: now)
        case .write(let address, let handle, _, let value):
            guard let link = links[address]?.handle else {
                // A proxy that conceals the end of a link does not answer requests about that link, either.
                if links[address]?.isHidden != true, !concealed.contains(address) {
                    say(.gattError(address: address, handle: handle, error: -1))
                }
                break
            }
            run(.perform(.write(link, AttributeHandle(rawValue: UInt16(handle)), value)), at: now)
        case .setConnectionParameters(let address, let minimum, let maximum, let latency, let timeout):
            guard let link = links[address]?.handle else { break }
            let parameters = ConnectionParameters(
                intervalMinimum: UInt16(minimum), intervalMaximum: UInt16(maximum),
                peripheralLatency: UInt16(latency), supervisionTimeout: UInt16(timeout))
            run(.perform(.updateConnection(link, parameters)), at: now)
            say(.connectionParametersSet(address: address, error: 0))
        case .helloResponse, .disconnectResponse, .pingResponse, .deviceInfo, .rawAdvertisements, .scannerState,
            .deviceConnection, .connectionsFree, .clearCacheResponse, .connectionParametersSet, .services,
            .servicesDone, .notified, .writeResponse, .notifyResponse, .gattError, .other:
            break
        }
    }

    private mutating func write(_ address: UInt64, _ handle: UInt32, _ value: [UInt8], at now: Instant) {
        guard let link = links[address]?.handle else {
            return say(.gattError(address: address, handle: handle, error: -1))
        }
        links[address]?.writing.append(handle)
        let configuration = AttributeHandle(rawValue: UInt16(handle))
        run(
            .perform(.setNotifications(link, configuration: configuration, enabled: value.first == 1)), at: now)
    }

    private mutating func requested(_ address: UInt64, _ kind: DeviceRequestKind, at now: Instant) {
        switch kind {
        case .connectWithCache, .connectWithoutCache:
            guard links[address] == nil else { break }
            guard links.count < slots else {
                say(.deviceConnection(address: address, isConnected: false, mtu: 0, error: 0))
                break
            }
            links[address] = Link(usesCache: kind == .connectWithCache)
            concealed.remove(address)
            queue.append(address)
            sayFree()
        case .disconnect:
            guard let link = links[address] else {
                if !concealed.contains(address) {
                    say(.deviceConnection(address: address, isConnected: false, mtu: 0, error: 0))
                }
                break
            }
            if let handle = link.handle {
                run(.perform(.disconnect(handle, reason: .remoteUserTerminated)), at: now)
            } else if link.isHidden {
                links[address]?.isHidden = false
                release(address, error: 0, at: now)
            } else {
                links[address]?.isDisconnectAsked = true
            }
        case .clearCache: say(.clearCacheResponse(address: address, isSuccess: true, error: 0))
        case .connect: say(.deviceConnection(address: address, isConnected: false, mtu: 0, error: 0))
        default: break
        }
    }

    // MARK: The radio

    private mutating func run(_ input: LEHost.Input, at now: Instant) {
        for effect in host.handle(input, at: now) {
            switch effect {
            case .send(let packet): effects.append(.send(packet))
            case .setTimer(let deadline): deadlines.set(.host, at: deadline)
            case .cancelTimer: deadlines.cancel(.host)
            case .event(let event): happened(event, at: now)
            }
        }
    }

    private func address(_ handle: ConnectionHandle) -> UInt64? { links.first { $0.value.handle == handle }?.key }

    private mutating func happened(_ event: LEHost.Event, at now: Instant) {
        switch event {
        case .failed:
            sayScanner(.failed)
            strike(.restart(after: .seconds(3)), at: now)
        case .advertised(let report): heard(report, at: now)
        case .connected(let connection):
            let address = connection.peer.rawValue
            guard queue.first == address, links[address]?.handle == nil else {
                return run(.perform(.disconnect(connection.handle, reason: .remoteUserTerminated)), at: now)
            }
            links[address]?.handle = connection.handle
            run(.perform(.exchangeMTU(connection.handle)), at: now)
            if links[address]?.usesCache == true { established(address, at: now) }
        case .mtuExchanged(let handle, let mtu):
            guard let address = address(handle) else { break }
            links[address]?.mtu = mtu
            if queue.first == address { discover(handle, 0, at: now) }
        case .serviceDiscovered(let handle, let service):
            guard let address = address(handle) else { break }
            links[address]?.service = service
            established(address, at: now)
        case .procedureFailed(let handle, .discoverService(let uuid), _):
            discover(handle, (Self.services.firstIndex(of: uuid) ?? 0) + 1, at: now)
        case .procedureFailed(let handle, .setNotifications, let failure):
            guard failure != .linkLost, let address = address(handle), let link = links[address], !link.writing.isEmpty
            else { break }
            say(.gattError(address: address, handle: links[address]?.writing.removeFirst() ?? 0, error: 1))
        case .notificationsSet(let handle, _, _):
            guard let address = address(handle), links[address]?.writing.isEmpty == false,
                let descriptor = links[address]?.writing.removeFirst()
            else { break }
            say(.writeResponse(address: address, handle: descriptor))
        case .notified(let handle, let attribute, let value):
            guard let address = address(handle), links[address]?.notifying.contains(UInt32(attribute.rawValue)) == true
            else { break }
            if lostNotifications > 0 {
                lostNotifications -= 1
            } else {
                say(.notified(address: address, handle: UInt32(attribute.rawValue), value: value))
            }
        case .disconnected(let connection, let reason):
            let address = connection.peer.rawValue
            guard links[address]?.handle == connection.handle else { break }
            linkEnded(address, Int32(reason.rawValue), at: now)
        case .ready, .connectionFailed, .acceptListShared, .linkLimitReached, .connectionUpdateFailed,
            .scanningFailed, .parametersUpdated, .rssiRead, .procedureFailed, .servicesDiscovered,
            .descriptorsDiscovered, .read, .writeCompleted, .indicationsSet, .indicated, .servicesChanged,
            .advertisingStarted, .advertisingFailed, .written, .subscribed, .subscribedToIndications,
            .indicationConfirmed, .indicationFailed, .channelOpened, .channelOpenFailed, .channelClosed, .sduReceived,
            .sduRefused, .channelWritable, .anomaly:
            break
        }
    }

    private mutating func discover(_ handle: ConnectionHandle, _ place: Int, at now: Instant) {
        guard let address = address(handle) else { return }
        guard place < Self.services.count else { return established(address, at: now) }
        run(.perform(.discoverService(handle, Self.services[place])), at: now)
    }

    /// The attempt has succeeded.
    private mutating func established(_ address: UInt64, at now: Instant) {
        guard let link = links[address], !link.isConnected, let handle = link.handle else { return }
        queue.removeAll { $0 == address }
        deadlines.cancel(.attempt)
        if link.isDisconnectAsked {
            return run(.perform(.disconnect(handle, reason: .remoteUserTerminated)), at: now)
        }
        links[address]?.isConnected = true
        // With its cache, the proxy tells an ATT_MTU that it does not know yet.
        let mtu = UInt32(link.usesCache ? 23 : link.mtu)
        say(.deviceConnection(address: address, isConnected: true, mtu: mtu, error: 0))
    }

    private mutating func linkEnded(_ address: UInt64, _ error: Int32, at now: Instant) {
        let wasConnected = links[address]?.isConnected ?? false
        if queue.first == address { deadlines.cancel(.attempt) }
        queue.removeAll { $0 == address }
        links[address]?.handle = nil
        // Bluedroid fails what waits for an answer with GATT_ERROR before it reports the end of the link.
        if wasConnected {
            for handle in links[address]?.writing ?? [] {
                say(.gattError(address: address, handle: handle, error: 0x85))
            }
        }
        links[address]?.writing = []
        guard wasConnected, hiddenEnds > 0 else { return release(address, error: error, at: now) }
        hiddenEnds -= 1
        guard hiddenEndsFreeSlots else {
            links[address]?.isHidden = true
            return
        }
        links[address] = nil
        concealed.insert(address)
        sayFree()
    }

    /// The end of a link, or of an attempt, is told, and told again when the slot is free.
    private mutating func release(_ address: UInt64, error: Int32, at now: Instant) {
        links[address]?.isReleasing = true
        say(.deviceConnection(address: address, isConnected: false, mtu: 0, error: error))
        deadlines.set(.slotFree(address), at: now + Self.releaseDelay)
    }

    /// Starts the next attempt, and listens while there is none.
    private mutating func updateRadio(at now: Instant) {
        guard isRunning else { return }
        if let address = queue.first, deadlines.deadline(of: .attempt) == nil, links[address]?.handle == nil {
            if failedAttempts > 0 {
                failedAttempts -= 1
                queue.removeFirst()
                release(address, error: 0x85, at: now)
            } else {
                deadlines.set(.attempt, at: now + Self.attemptLimit)
            }
        }
        let next = queue.first.flatMap { links[$0]?.handle == nil ? $0 : nil }
        if next != target {
            target = next
            run(.perform(.setAcceptList(next.map { [BluetoothAddress(rawValue: $0)] } ?? [])), at: now)
        }
        let wanted = isSubscribed && queue.isEmpty && !isDeaf
        guard wanted != isScanning else { return }
        isScanning = wanted
        run(.perform(wanted ? .startScanning(active: isScannerActive) : .stopScanning), at: now)
        if isSubscribed, !isDeaf { sayScanner(wanted ? .running : .stopped) }
    }

    private mutating func sayScanner(_ state: ScannerState) {
        let mode: ScannerMode = isScannerActive ? .active : .passive
        say(.scannerState(state, mode: mode, configuredMode: mode))
    }

    private mutating func heard(_ report: AdvertisingReport, at now: Instant) {
        guard isScanning, isSubscribed else { return }
        if report.kind == .scanResponse {
            // It is joined with its advertisement.
            guard let place = batch.lastIndex(where: { $0.address == report.address.rawValue }) else { return }
            batch[place].data += report.data
            return
        }
        batch.append(
            RawAdvertisement(
                address: report.address.rawValue, rssi: Int32(report.rssi ?? -80),
                addressType: UInt32(report.address.kind.rawValue), data: report.data))
        if batch.count >= 16 { return sendBatch() }
        if deadlines.deadline(of: .batch) == nil { deadlines.set(.batch, at: now + Self.batchDelay) }
    }

    private mutating func sendBatch() {
        deadlines.cancel(.batch)
        guard !batch.isEmpty else { return }
        say(.rawAdvertisements(batch))
        batch = []
    }

    private static func service(_ service: RemoteService) -> GATTService {
        GATTService(
            uuid: uuid(service.uuid), handle: 1,
            characteristics: service.characteristics.map { characteristic in
                GATTCharacteristic(
                    uuid: uuid(characteristic.uuid), handle: UInt32(characteristic.valueHandle.rawValue),
                    properties: UInt32(characteristic.properties),
                    descriptors: [characteristic.configurationHandle].compactMap(\.self).map {
                        GATTDescriptor(uuid: .short(0x2902), handle: UInt32($0.rawValue))
                    })
            })
    }

    private static func uuid(_ uuid: BluetoothUUID) -> GATTUUID {
        switch uuid {
        case .short(let value): .short(UInt32(value))
        case .long(let octets): .long(octets)
        }
    }

    // MARK: Time and trouble

    private mutating func expire(_ key: Key, at now: Instant) {
        switch key {
        case .host: run(.timerFired, at: now)
        case .batch: sendBatch()
        case .neighbour:
            deadlines.set(.neighbour, at: now + Self.neighbourInterval)
            if isScanning { say(.rawAdvertisements([RawAdvertisement(address: 0x1122, rssi: -90, data: [2, 1, 6])])) }
        case .attempt:
            guard let address = queue.first else { break }
            if let handle = links[address]?.handle {
                run(.perform(.disconnect(handle, reason: .remoteUserTerminated)), at: now)
            } else {
                queue.removeFirst()
                release(address, error: 0x85, at: now)
            }
        case .slotFree(let address):
            guard links[address]?.isReleasing == true else { break }
            links[address] = nil
            say(.deviceConnection(address: address, isConnected: false, mtu: 0, error: 0))
            sayFree()
        case .noSubscriber: if !isSubscribed, !hasFormer { dropLinks(at: now) }
        case .restarted:
            isRunning = true
            run(.transportOpened, at: now)
        case .networkBack: networkCameBack(at: now)
        case .hearsAgain: isDeaf = false
        case .formerGone:
            hasFormer = false
            if !isSubscribed { deadlines.set(.noSubscriber, at: now + .milliseconds(100)) }
        }
    }

    private mutating func dropLinks(at now: Instant) {
        for (address, link) in links.sorted(by: { $0.key < $1.key }) {
            if let handle = link.handle {
                run(.perform(.disconnect(handle, reason: .remoteUserTerminated)), at: now)
            } else if link.isHidden {
                links[address] = nil
            }
        }
    }

    private mutating func networkCameBack(at now: Instant) {
        isCut = false
        if hasFormer { deadlines.set(.formerGone, at: now + Self.formerLimit) }
        let arrived = inFlight
        inFlight = ([], [])
        for octets in arrived.sent { effects.append(.octets(octets)) }
        for octets in arrived.received { receive(octets, at: now) }
        if isHubConnected, !isConnected { hangUp("The proxy has reset the connection.") }
    }

    private mutating func hangUp(_ reason: String) {
        isHubConnected = false
        effects.append(.close(reason))
    }

    private mutating func strike(_ trouble: Trouble, at now: Instant) {
        switch trouble {
        case .restart(let delay):
            guard isRunning else { break }
            if isConnected, !isCut { hangUp("The proxy has reset the connection.") }
            isRunning = false
            isConnected = false
            isSubscribed = false
            hasFormer = false
            wantsFree = false
            isScanning = false
            links = [:]
            queue = []
            target = nil
            concealed = []
            batch = []
            inFlight = ([], [])
            (hiddenEnds, lostNotifications, failedAttempts) = (0, 0, 0)
            run(.perform(.setAcceptList([])), at: now)
            run(.perform(.stopScanning), at: now)
            run(.transportClosed, at: now)
            effects.append(.powerCycle)
            for key in deadlines.keys {
                switch key {
                case .host, .batch, .attempt, .slotFree, .noSubscriber, .formerGone: deadlines.cancel(key)
                case .restarted, .networkBack, .hearsAgain, .neighbour: break
                }
            }
            deadlines.set(.restarted, at: now + delay)
        case .cut(let duration):
            guard isRunning, !isCut else { break }
            isCut = true
            deadlines.set(.networkBack, at: now + duration)
        case .deafness(let duration):
            isDeaf = true
            deadlines.set(.hearsAgain, at: now + duration)
        case .stuckScanner: (isStuck, isDeaf) = (true, true)
        case .occupied(let duration):
            strike(.restart(after: .seconds(1)), at: now)
            hasFormer = true
            deadlines.set(.formerGone, at: now + duration)
        case .hideEnds(let count, let freesSlots):
            hiddenEnds = count
            hiddenEndsFreeSlots = freesSlots
        case .loseNotifications(let count): lostNotifications = count
        case .failAttempts(let count): failedAttempts = count
        }
    }
}
