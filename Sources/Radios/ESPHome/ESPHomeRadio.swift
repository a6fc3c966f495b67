package import ButtonModel
package import ESPHome

/// A radio behind an ESPHome Bluetooth proxy, which connects to buttons and passes on the values of their characteristics.
///
/// The connection passes through these states. The first client that subscribes to a proxy gets its Bluetooth
/// exclusively, and the proxy does not answer the subscription of a second client.
///
/// | state       | on                                        | becomes     | and we                                      |
/// |-------------|-------------------------------------------|-------------|---------------------------------------------|
/// | closed      | opened                                    | greeting    | greet, after the handshake of the key       |
/// | greeting    | version 1                                 | asking      | ask what the device can do                  |
/// | asking      | it has an active proxy                    | subscribing | subscribe to advertisements and room        |
/// | asking      | it has none                               | failed      | report `failed`, not a proxy                |
/// | subscribing | state of the scanner                      | ready       | report `ready`                              |
/// | subscribing | 3 s of silence, and 5 s each time after   | subscribing | ask again; report `unusable` once, because another client has it |
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
/// | any         | not named among the links with a slot     | –           | report `disconnected`                       |
///
/// After its end a link keeps its slot for a moment, and the proxy ignores requests for a connection meanwhile, without
/// an answer. An attempt therefore waits until the proxy reports that a slot is free, for 10 s at most. A proxy that still names
/// the slot by then is asked for the end again.
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
        /// No octet was received for `silence`.
        case silence
        /// No advertisement of any device was received for `deafness`, which shows a fault if others were heard before.
        case deaf
        case attempt(UInt64)
        case link(LinkID)
        /// The slot of a link that has ended is considered free.
        case release(UInt64)
    }

    struct ProxyLink: Sendable {
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
        /// The services that the proxy has reported so far.
        var services: [GATTService] = []
        /// How often the proxy has had no room for a packet since the button was heard last.
        var congestionCount = 0
    }

    /// The attributes and the ATT_MTU of a button on an earlier link.
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
    /// A proxy that has heard no device but our own buttons for this long stands in a quiet place, where silence shows nothing.
    static let quietness = Duration.seconds(3600)
    /// A proxy gives up by itself after 20 s.
    static let attemptLimit = Duration.seconds(25)
    static let attachLimit = Duration.seconds(10)
    /// How long the slot of a link that has ended may take to become free.
    static let releaseLimit = Duration.seconds(10)
    /// The number of packets in a row for which the proxy has no room, at which a link is ended.
    static let maximumCongestion = 3
    /// How long an attempt waits for a slot.
    static let waitingLimit = Duration.milliseconds(1500)
    /// As large as possible: a proxy connects to each button for which it gets a request, and has no filter accept list that could
    /// be too short.
    static let acceptListSize = 255
    /// The smallest ATT_MTU, which a link has until another one is known.
    static let leastMTU = 23

    private let key: ESPHomeKey?
    let maximumLinks: Int?
    var state = State.closed
    private var connection: ESPHomeConnection
    var features: BluetoothProxyFeatures = []
    var info: RadioInfo?
    /// The number of free slots in the proxy's last report, and the buttons that had a slot; `nil` before the first
    /// report.
    var slots: (free: Int, allocated: Set<UInt64>)?
    /// The maximum number of links that was reported as `linkLimit`.
    var limit: Int?
    var isFullReported = false
    var links: [ProxyLink] = []
    struct Attempt: Hashable, Sendable {
        var button: ExpectedButton
        /// True if the proxy uses the attributes that it has cached.
        var usesCache: Bool
    }

    /// The buttons to which the proxy is connecting.
    var attempts: [UInt64: Attempt] = [:]
    /// Attempts that wait for a slot, in their order.
    var waiting: [(address: BluetoothAddress, since: Instant)] = []
    /// The buttons whose links have ended and may still have a slot.
    var releasing: Set<UInt64> = []
    var knowledge: [BluetoothAddress: Knowledge] = [:]
    var expected: [ExpectedButton] = []
    /// The buttons that other radios look for. We may still be connecting to one of them, because an attempt cannot be
    /// cancelled; such a link is used.
    var elsewhere: [BluetoothAddress] = []
    var listening = RadioListening.off
    private var isPinging = false
    /// True if it was reported that another client has the proxy.
    var isTaken = false
    /// How many times in a row no advertisement was received for `deafness` while the proxy had a link.
    var silenceCount = 0
    /// True if a connection ended because the scanner was deaf, and none has been ready since.
    var wasDeaf = false
    /// When the last connection that was ready ended.
    var lostAt: Instant?
    /// When a device was heard last that is none of our buttons, such as a telephone. A new connection does not change it.
    var othersHeardAt: Instant?
    var lastLink: LinkID
    var deadlines = Deadlines<TimerKey>()
    var messages: [ESPHomeMessage] = []
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
        deadlines.appendChange(to: &effects)
        defer { effects = [] }
        return effects
    }

    /// Forgets the connection and the state that the proxy reported on it.
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
        isTaken = false
        silenceCount = 0
        messages = []
        deadlines = Deadlines()
    }

    /// Sends the messages that were collected while an input was handled, in one piece.
    mutating func flush(at now: Instant) {
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

    mutating func fail(_ sentence: String, _ fault: AdapterFault, at now: Instant) {
        guard state != .failed else { return }
        if state == .ready { lostAt = now }
        state = .failed
        deadlines = Deadlines()
        messages = []
        report(.failed(sentence, fault))
    }

    mutating func report(_ event: RadioEvent) { effects.append(.event(event)) }

    private mutating func expire(_ key: TimerKey, at now: Instant) {
        switch key {
        case .start: fail("The proxy does not answer: is it an ESPHome device?", .absent, at: now)
        case .subscription: subscriptionTimedOut(at: now)
        case .silence where !isPinging:
            isPinging = true
            messages.append(.pingRequest)
            deadlines.set(.silence, at: now + Self.silence)
        case .silence: fail("The proxy has been silent for 20 s: is it out of reach of the WiFi?", .absent, at: now)
        case .deaf: scannerIsSilent(at: now)
        case .attempt(let address):
            messages.append(.deviceRequest(address: address, .disconnect, addressType: nil))
            attemptEnded(address)
        case .link(let id):
            guard let place = links.firstIndex(where: { $0.id == id }) else { break }
            if links[place].phase == .ending {
                release(links[place].address.rawValue, at: now)
                linkEnded(place, .localHostTerminated)
            } else {
                attachFailed(place, "no answer while \(links[place].phase)", at: now)
            }
        case .release(let address):
            releasing.remove(address)
            freeKeptSlot(of: address, at: now)
            beginAttempts(at: now)
        }
    }

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
        case .discardDiscovery(let address), .forget(let address, _): knowledge[address] = nil
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
            for key in deadlines.keys {
                switch key {
                case .attempt(let address):
                    expect(attempts[address] != nil, "a deadline for an attempt that has ended")
                case .link(let id):
                    expect(
                        links.contains { $0.id == id && $0.phase != .attached },
                        "a deadline for a link that is attached or has ended")
                case .start, .subscription, .silence, .deaf, .release: break
                }
            }
            guard state != .failed else { return problems }
            for address in attempts.keys {
                expect(deadlines.deadline(of: .attempt(address)) != nil, "an attempt has no deadline")
            }
            for link in links where link.phase != .attached {
                expect(
                    deadlines.deadline(of: .link(link.id)) != nil, "\(link.address): nothing ends phase \(link.phase)")
            }
            return problems
        }

        /// The links that were reported as connected and not yet as disconnected.
        package var reportedLinks: Set<LinkID> { Set(links.map(\.id)) }
    #endif
}
