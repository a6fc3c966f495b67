import BluetoothHost
package import ButtonModel
package import ESPHome

/// A radio behind an ESPHome Bluetooth proxy, which connects to buttons and passes on the values of their characteristics.
///
/// The connection passes through these states. Whoever subscribes first has the proxy's Bluetooth alone, and a second
/// subscription is answered with silence.
///
/// | state       | on                                        | becomes     | and we                                      |
/// |-------------|-------------------------------------------|-------------|---------------------------------------------|
/// | closed      | opened                                    | greeting    | greet, after the handshake of the key       |
/// | greeting    | version 1                                 | asking      | ask what the device can do                  |
/// | asking      | it has an active proxy                    | subscribing | subscribe to advertisements and room        |
/// | asking      | it has none                               | failed      | report `failed`, not a proxy                |
/// | subscribing | state of the scanner                      | ready       | report `ready`                              |
/// | subscribing | 3 s of silence                            | failed      | report `failed`: somebody else has it       |
/// | subscribing | the same, soon after a lost connection    | subscribing | ask again, as the proxy may not know of it  |
/// | any         | 20 s of silence                           | failed      | report `failed`                             |
///
/// Each link passes through these phases:
///
/// | link        | on                                        | becomes     | and we                                      |
/// |-------------|-------------------------------------------|-------------|---------------------------------------------|
/// | –           | `attempt`                                 | attempting  | ask for a connection                        |
/// | attempting  | not connected, or 25 s                    | –           | report `attemptFailed`                      |
/// | attempting  | connected                                 | discovering | report `connected`, ask for the services    |
/// | attempting  | connected, handles known                  | subscribing | report `connected`, enable notifications    |
/// | discovering | a service of Flic                         | subscribing | enable notifications                        |
/// | subscribing | the descriptor is written                 | attached    | report `attached`                           |
/// | not attached| an error, or 10 s                         | ending      | report `attachFailed`                       |
/// | any         | `disconnect`                              | ending      | ask for the end                             |
/// | any         | not connected                             | –           | report `disconnected`                       |
///
/// After its end a link keeps its slot for a moment, and a connection that is asked for meanwhile is ignored without a word.
/// An attempt therefore waits until the proxy says that there is room.
package struct ESPHomeRadio: Sendable {
    enum State: Hashable, Sendable {
        case closed
        case greeting
        case asking
        case subscribing
        case ready
        case failed
    }

    enum TimerKey: Hashable, Sendable {
        /// The proxy must have answered everything up to its features.
        case start
        case subscription
        /// Nothing was received for a while.
        case silence
        /// No advertisement of anybody was received.
        case deaf
        case attempt(UInt64)
        case link(LinkID)
    }

    struct Link: Sendable {
        enum Phase: Hashable, Sendable {
            case discovering
            case subscribing
            case attached
            case ending
        }

        let id: LinkID
        let address: BluetoothAddress
        /// The service that the button is believed to have.
        let expected: FlicService
        var phase: Phase
        var attMTU: Int
        var attributes: ProxyAttributes?
        /// What the proxy has said of the services so far.
        var services: [GATTService] = []
    }

    /// What was found out about a button on an earlier link.
    struct Knowledge: Sendable {
        var attributes: ProxyAttributes
        var attMTU: Int
    }

    static let startLimit = Duration.seconds(10)
    static let subscriptionLimit = Duration.seconds(3)
    static let subscriptionInterval = Duration.seconds(5)
    /// How long a proxy may believe in a connection of ours that is lost.
    static let staleTime = Duration.seconds(160)
    /// After this long without an octet we ping, and after the same time again the connection is dead.
    static let silence = Duration.seconds(10)
    static let deafness = Duration.seconds(90)
    /// A proxy gives up by itself after 20 s.
    static let attemptLimit = Duration.seconds(25)
    static let attachLimit = Duration.seconds(10)
    /// How long an attempt waits for a slot.
    static let waitingLimit = Duration.milliseconds(1500)
    /// The proxy connects to each button that it is told to, so there is no list that could be too short.
    static let acceptListSize = 255
    /// The smallest ATT_MTU, which a link has until another one is known.
    static let leastMTU = 23

    private let key: ESPHomeKey?
    private let maximumLinks: Int?
    private(set) var state = State.closed
    private var connection: ESPHomeConnection
    private var features: BluetoothProxyFeatures = []
    private var info: RadioInfo?
    /// The slots that are free, as the proxy said last, and the buttons that had one then; `nil` before that.
    private var slots: (free: Int, allocated: Set<UInt64>)?
    /// The number of links that was reported.
    private var limit: Int?
    private var isFullReported = false
    var links: [Link] = []
    struct Attempt: Hashable, Sendable {
        var button: ExpectedButton
        /// True if the proxy uses what it knows of the button.
        var usesCache: Bool
    }

    /// The buttons to which the proxy is connecting.
    private var attempts: [UInt64: Attempt] = [:]
    /// Attempts that wait for a slot, in their order.
    private var waiting: [(address: BluetoothAddress, since: Instant)] = []
    /// The buttons whose links have ended and may still have a slot.
    private var releasing: Set<UInt64> = []
    private var knowledge: [BluetoothAddress: Knowledge] = [:]
    private var expected: [ExpectedButton] = []
    /// The buttons that other radios look for. We may still be connecting to one of them, because an attempt cannot be cancelled;
    /// such a link is used.
    private var elsewhere: [BluetoothAddress] = []
    private var listening = RadioListening.off
    private var isPinging = false
    /// When the last connection that was ready ended.
    private var lostAt: Instant?
    private var subscribedAt: Instant?
    private var lastLink: LinkID
    var deadlines = Deadlines<TimerKey>()
    private var messages: [ESPHomeMessage] = []
    private var effects: [RadioEffect] = []

    /// - Parameters:
    ///   - key: `nil` for a proxy without encryption.
    ///   - maximumLinks: `nil`: as many as the proxy has.
    package init(_ id: RadioID = .first, key: ESPHomeKey?, maximumLinks: Int? = nil) {
        lastLink = LinkID(id, 0)
        self.key = key
        self.maximumLinks = maximumLinks
        connection = ESPHomeConnection(role: .client, key: key)
    }

    package mutating func handle(_ input: RadioInput, at now: Instant) -> [RadioEffect] {
        switch input {
        case .transportOpened(let entropy):
            reset(at: now)
            state = .greeting
            deadlines.set(.start, at: now + Self.startLimit)
            advance(.opened(entropy: entropy), at: now)
            messages = [.hello(HelloRequest(clientInfo: "Tryck"))]
        case .received(let octets) where state != .closed && state != .failed:
            isPinging = false
            deadlines.set(.silence, at: now + Self.silence)
            advance(.received(octets), at: now)
        case .closed: reset(at: now)
        case .timerFired: for key in deadlines.takeDue(at: now) { expire(key, at: now) }
        case .perform(let command): perform(command, at: now)
        case .received, .busOpened, .bus: break
        }
        flush(at: now)
        switch deadlines.rearm() {
        case .set(let deadline): effects.append(.setTimer(deadline))
        case .cancel: effects.append(.cancelTimer)
        case nil: break
        }
        defer { effects = [] }
        return effects
    }

    /// Forgets the connection and what the proxy said on it.
    private mutating func reset(at now: Instant) {
        if state == .ready { lostAt = now }
        state = .closed
        connection = ESPHomeConnection(role: .client, key: key)
        features = []
        slots = nil
        limit = nil
        isFullReported = false
        links = []
        attempts = [:]
        waiting = []
        releasing = []
        isPinging = false
        subscribedAt = nil
        messages = []
        deadlines = Deadlines()
    }

    /// Sends the messages that were collected while an input was handled, in one piece.
    private mutating func flush(at now: Instant) {
        guard !messages.isEmpty else { return }
        let sent = messages
        messages = []
        advance(.send(sent), at: now)
    }

    private mutating func advance(_ input: ESPHomeConnection.Input, at now: Instant) {
        for effect in connection.handle(input) {
            switch effect {
            case .send(let octets): effects.append(.send(octets))
            case .established: break
            case .message(let message): received(message, at: now)
            case .failed(let fault): fail(fault.advice, fault.adapterFault, at: now)
            }
        }
    }

    private mutating func fail(_ sentence: String, _ fault: AdapterFault, at now: Instant) {
        guard state != .failed else { return }
        if state == .ready { lostAt = now }
        state = .failed
        deadlines = Deadlines()
        messages = []
        report(.failed(sentence, fault))
    }

    private mutating func report(_ event: RadioEvent) { effects.append(.event(event)) }

    private mutating func expire(_ key: TimerKey, at now: Instant) {
        switch key {
        case .start: fail("The proxy does not answer: is it an ESPHome device?", .absent, at: now)
        case .subscription: subscriptionTimedOut(at: now)
        case .silence where !isPinging:
            isPinging = true
            messages.append(.pingRequest)
            deadlines.set(.silence, at: now + Self.silence)
        case .silence: fail("The proxy has been silent for 20 s: is it out of reach of the WiFi?", .absent, at: now)
        // A proxy with a link is not stuck, though it may be the only Bluetooth device far and wide.
        case .deaf where !links.isEmpty: deadlines.set(.deaf, at: now + Self.deafness)
        case .deaf:
            fail("The proxy has heard no Bluetooth device for 90 s. It may have to be restarted.", .deaf, at: now)
        case .attempt(let address):
            messages.append(.deviceRequest(address: address, .disconnect, addressType: nil))
            attemptEnded(address)
        case .link(let id):
            guard let place = links.firstIndex(where: { $0.id == id }) else { break }
            if links[place].phase == .ending {
                releasing.insert(links[place].address.rawValue)
                linkEnded(place, .localHostTerminated)
            } else {
                attachFailed(place, "no answer while \(links[place].phase)", at: now)
            }
        }
    }

    // MARK: The connection to the proxy

    private mutating func received(_ message: ESPHomeMessage, at now: Instant) {
        // The rest of what came with the message that ended the connection.
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
            roomChanged(free: Int(clamping: free), allocated: allocated, at: now)
        case .rawAdvertisements(let advertisements):
            deadlines.set(.deaf, at: now + Self.deafness)
            if state == .ready { for advertisement in advertisements { heard(advertisement) } }
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
        // Nobody has checked what the device says of itself.
        let version = device.version.filter { $0.isASCII && !$0.isWhitespace && !$0.isNewline }.prefix(24)
        info = RadioInfo(
            address: address ?? BluetoothAddress(rawValue: 0), acceptListSize: Self.acceptListSize,
            connectsByItself: false, description: "ESPHome \(version)")
        deadlines.cancel(.start)
        state = .subscribing
        subscribedAt = now
        subscribe(at: now)
    }

    private mutating func subscribe(at now: Instant) {
        messages += [.subscribeAdvertisements(flags: 1), .subscribeConnectionsFree]
        deadlines.set(.subscription, at: now + Self.subscriptionLimit)
    }

    private mutating func subscriptionTimedOut(at now: Instant) {
        // Without the feature no state is reported, and the answer about room has to do.
        if !features.contains(.scannerState), slots != nil { return becameReady(at: now) }
        if let lostAt, now - lostAt < Self.staleTime {
            messages += [.subscribeAdvertisements(flags: 1), .subscribeConnectionsFree]
            return deadlines.set(.subscription, at: now + Self.subscriptionInterval)
        }
        fail(
            """
            Somebody else uses the proxy's Bluetooth, such as Home Assistant: disable the device there, or take it out of \
            `radios:`.
            """, .taken, at: now)
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
        deadlines.cancel(.subscription)
        deadlines.set(.deaf, at: now + Self.deafness)
        setScannerMode()
        report(.ready(info))
    }

    private mutating func setScannerMode() {
        guard state == .ready, features.contains(.scannerState) else { return }
        messages.append(.setScannerMode(isActive: listening == .active))
    }

    // MARK: Commands

    private mutating func perform(_ command: RadioCommand, at now: Instant) {
        switch command {
        case .listen(let listening):
            let wasActive = self.listening == .active
            self.listening = listening
            if wasActive != (listening == .active) { setScannerMode() }
        case .expect(let buttons, _, let elsewhere):
            expected = buttons
            self.elsewhere = elsewhere
            giveUpWaiting { address, _ in !buttons.contains { $0.address == address } }
        case .attempt(let address):
            guard attempts[address.rawValue] == nil else { break }
            guard state == .ready, place(of: address.rawValue) == nil,
                expected.contains(where: { $0.address == address })
            else { return report(.attemptFailed(address)) }
            waiting.removeAll { $0.address == address }
            waiting.append((address, now))
            beginAttempts(at: now)
        case .write(let id, let value):
            guard let link = links.first(where: { $0.id == id && $0.phase == .attached }),
                let attributes = link.attributes
            else { break }
            messages.append(
                .write(
                    address: link.address.rawValue, handle: attributes.write, withResponse: false, value: value))
        case .disconnect(let id):
            if let place = links.firstIndex(where: { $0.id == id }) { end(place, at: now) }
        case .keepDiscovery(let id):
            guard let link = links.first(where: { $0.id == id }), let attributes = link.attributes else { break }
            knowledge[link.address] = Knowledge(attributes: attributes, attMTU: link.attMTU)
        case .discardDiscovery(let address), .forget(let address): knowledge[address] = nil
        case .update(let id, let parameters):
            guard features.contains(.connectionParameters),
                let link = links.first(where: { $0.id == id && $0.phase == .attached })
            else { break }
            messages.append(
                .setConnectionParameters(
                    address: link.address.rawValue, minimumInterval: UInt32(parameters.minimumInterval),
                    maximumInterval: UInt32(parameters.maximumInterval), latency: UInt32(parameters.latency),
                    timeout: UInt32(parameters.supervisionTimeout)))
        // A proxy does not measure the signal of a link.
        case .measureSignal, .pin, .restoreHome: break
        case .goodbye:
            guard state == .ready || state == .subscribing else { break }
            messages += [.unsubscribeAdvertisements, .disconnectRequest]
        }
    }

    // MARK: Links

    private func place(of address: UInt64) -> Int? { links.firstIndex { $0.address.rawValue == address } }

    /// The number of further links that may begin now.
    private var room: Int {
        let used = Set(attempts.keys).union(links.map(\.address.rawValue))
        // What began since the proxy spoke of its slots is not yet subtracted from them.
        let (free, allocated) = slots ?? (free: 1, allocated: [])
        return min(free - used.subtracting(allocated).count, (maximumLinks ?? .max) - used.count)
    }

    private mutating func beginAttempts(at now: Instant) {
        // A button that was heard longer ago may have stopped advertising, and the proxy would hear nothing for 20 s.
        giveUpWaiting { _, since in now - since > Self.waitingLimit }
        while state == .ready, room > 0,
            let place = waiting.firstIndex(where: { !releasing.contains($0.address.rawValue) })
        {
            let address = waiting.remove(at: place).address
            guard let button = expected.first(where: { $0.address == address }) else { continue }
            // With cache the proxy does not tell the ATT_MTU, so it is used only if an earlier link has told it.
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
    private mutating func giveUpWaiting(where isGivenUp: (BluetoothAddress, Instant) -> Bool) {
        for entry in waiting where isGivenUp(entry.address, entry.since) { report(.attemptFailed(entry.address)) }
        waiting.removeAll { isGivenUp($0.address, $0.since) }
    }

    private mutating func attemptEnded(_ address: UInt64) {
        guard let attempt = attempts.removeValue(forKey: address) else { return }
        deadlines.cancel(.attempt(address))
        report(.attemptFailed(attempt.button.address))
    }

    private mutating func connected(_ address: UInt64, mtu: UInt32, at now: Instant) {
        guard let attempt = attempts.removeValue(forKey: address) else { return }
        deadlines.cancel(.attempt(address))
        let (button, usesCache) = (attempt.button, attempt.usesCache)
        guard expected.contains(where: { $0.address == button.address }) || elsewhere.contains(button.address) else {
            releasing.insert(address)
            report(.attemptFailed(button.address))
            return messages.append(.deviceRequest(address: address, .disconnect, addressType: nil))
        }
        let known = usesCache ? knowledge[button.address] : nil
        lastLink.rawValue += 1
        // The ATT_MTU of a link with cache is said before it is known.
        let attMTU = usesCache ? known?.attMTU ?? Self.leastMTU : max(Self.leastMTU, Int(mtu & 0xFFFF))
        links.append(
            Link(
                id: lastLink, address: button.address, expected: button.service, phase: .discovering, attMTU: attMTU))
        deadlines.set(.link(lastLink), at: now + Self.attachLimit)
        report(.connected(lastLink, button.address))
        if let known {
            subscribe(links.count - 1, known.attributes)
        } else {
            messages.append(.getServices(address: address))
        }
    }

    private mutating func servicesFound(_ address: UInt64, at now: Instant) {
        guard let place = place(of: address), links[place].phase == .discovering else { return }
        let services = links[place].services
        links[place].services = []
        let wanted = [links[place].expected, links[place].expected.other]
        guard let attributes = wanted.lazy.compactMap({ ProxyAttributes($0, among: services) }).first else {
            return attachFailed(place, "no service of Flic was found", at: now)
        }
        subscribe(place, attributes)
    }

    /// Enables notifications. The proxy passes them on after the first message, and the button sends them after the second.
    private mutating func subscribe(_ place: Int, _ attributes: ProxyAttributes) {
        links[place].phase = .subscribing
        links[place].attributes = attributes
        let address = links[place].address.rawValue
        messages.append(.notify(address: address, handle: attributes.notify, isEnabled: true))
        guard let configuration = attributes.configuration else { return }
        messages.append(.writeDescriptor(address: address, handle: configuration, value: [1, 0]))
    }

    private mutating func attached(_ place: Int) {
        guard let attributes = links[place].attributes else { return }
        links[place].phase = .attached
        deadlines.cancel(.link(links[place].id))
        report(.attached(links[place].id, attributes.service, attMTU: links[place].attMTU))
    }

    private mutating func attachFailed(_ place: Int, _ reason: String, at now: Instant) {
        let link = links[place]
        report(.anomaly("\(link.address): \(reason)"))
        knowledge[link.address] = nil
        messages.append(.deviceRequest(address: link.address.rawValue, .clearCache, addressType: nil))
        end(place, at: now)
        report(.attachFailed(link.id))
    }

    private mutating func end(_ place: Int, at now: Instant) {
        guard links[place].phase != .ending else { return }
        links[place].phase = .ending
        deadlines.set(.link(links[place].id), at: now + Self.attachLimit)
        messages.append(.deviceRequest(address: links[place].address.rawValue, .disconnect, addressType: nil))
    }

    private mutating func disconnected(_ address: UInt64, _ error: Int32, at now: Instant) {
        if let place = place(of: address) {
            releasing.insert(address)
            return linkEnded(place, DisconnectReason(proxyError: error, isAsked: links[place].phase == .ending))
        }
        // The second message of a link that has ended says that its slot is free.
        if releasing.remove(address) != nil { return beginAttempts(at: now) }
        attemptEnded(address)
    }

    private mutating func linkEnded(_ place: Int, _ reason: DisconnectReason) {
        let link = links.remove(at: place)
        deadlines.cancel(.link(link.id))
        isFullReported = false
        report(.disconnected(link.id, reason))
    }

    private mutating func limitChanged(_ slots: Int) {
        let limit = min(slots, maximumLinks ?? .max)
        guard limit != self.limit else { return }
        self.limit = limit
        report(.linkLimit(limit))
    }

    private mutating func roomChanged(free: Int, allocated: [UInt64], at now: Instant) {
        slots = (free, Set(allocated))
        releasing.formIntersection(allocated)
        guard state == .ready else { return }
        for address in allocated where place(of: address) == nil && attempts[address] == nil {
            // A link that was not ended, such as one of the time before this connection.
            if releasing.insert(address).inserted {
                messages.append(.deviceRequest(address: address, .disconnect, addressType: nil))
            }
        }
        beginAttempts(at: now)
        if room > 0, isFullReported {
            isFullReported = false
            report(.linkFreed)
        }
        if room <= 0, attempts.isEmpty, !links.isEmpty, !isFullReported {
            isFullReported = true
            report(.linkLimitReached(links.count))
        }
    }

    private mutating func gattFailed(_ address: UInt64, _ handle: UInt32, _ error: Int32, at now: Instant) {
        guard let place = place(of: address) else { return }
        if error == -1 {
            releasing.insert(address)
            return linkEnded(place, .unknown)
        }
        switch links[place].phase {
        case .discovering, .subscribing:
            attachFailed(place, "error \(error) of attribute \(handle)", at: now)
        // The session notices by itself that the button has not received a packet.
        case .attached: report(.anomaly("\(links[place].address): error \(error) of attribute \(handle)"))
        case .ending: break
        }
    }

    // MARK: Advertisements

    private mutating func heard(_ raw: RawAdvertisement) {
        let address = BluetoothAddress(rawValue: raw.address, kind: raw.addressType == 0 ? .public : .random)
        // Nobody knows all prefixes of the buttons' addresses, and a paired button advertises no service.
        let isExpected = expected.contains { $0.address == address } || elsewhere.contains(address)
        let structures = ADStructure.parse(raw.data)
        let services = structures.serviceUUIDs
        let service = FlicService.allCases.first { services.contains($0.uuid) }
        guard isExpected || listening != .off && (service != nil || address.hasFlicPrefix) else { return }
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

    #if DEBUG
        /// The invariants that the state violates between two inputs; empty unless this type has a bug.
        package func problems() -> [String] {
            var problems = deadlines.problems()
            func expect(_ holds: Bool, _ problem: @autoclosure () -> String) {
                if !holds { problems.append("proxy: " + problem()) }
            }
            expect(effects.isEmpty && messages.isEmpty, "an effect was not returned")
            expect(Set(links.map(\.id)).count == links.count, "two links have the same number")
            expect(Set(links.map(\.address)).count == links.count, "a button has two links")
            expect(state != .closed || links.isEmpty, "there are links, and no connection")
            expect(attempts.isEmpty || state == .ready || state == .failed, "an attempt without a proxy")
            for link in links {
                switch link.phase {
                case .subscribing, .attached:
                    expect(link.attributes != nil, "\(link.address): no attributes in phase \(link.phase)")
                case .discovering, .ending: break
                }
            }
            return problems
        }

        /// The links that were reported as connected and not yet as disconnected.
        package var reportedLinks: Set<LinkID> { Set(links.map(\.id)) }
    #endif
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
