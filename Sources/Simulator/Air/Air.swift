import BluetoothHost
public import ButtonModel

/// The radio between virtual controllers: it delivers advertisements to scanners, and carries and loses links.
///
/// An advertiser transmits at every multiple of its interval, counted from when it was enabled. A listener (scanner or
/// initiator) receives the first transmission after it began to listen; this is their meeting. Its time is computed, so
/// there is no timer while there is no listener, or while all listeners filter all advertisers as duplicates.
///
/// | what                        | when                                                           |
/// |-----------------------------|----------------------------------------------------------------|
/// | advertisement, scan response| at the meeting, to each scanner                                |
/// | link                        | at the meeting of an initiator and a matching advertiser       |
/// | phantom link                | at that meeting, for each further initiator that receives the  |
/// |                             | same transmission: it answers at the same moment, and believes |
/// |                             | in a link for six intervals                                    |
/// | ACL data, link control      | `transmissionDelay` after it was sent, in order; or, with      |
/// |                             | `hasConnectionEvents`, at a connection event of the link       |
/// | link loss                   | the supervision timeout after one end went out of reach        |
///
/// If a timer fires late, each pair meets once, however many intervals have passed.
public struct Air: Sendable {
    public struct Configuration: Hashable, Sendable {
        /// The delay from one controller to the other, at least 1 µs.
        public var transmissionDelay: Duration
        /// The probability that an ACL fragment breaks its link permanently, in millionths.
        public var linkLossesPerMillion: UInt32
        public var rssi: Int8
        /// True if links carry packets only at their connection events, as those of real controllers. Otherwise the
        /// interval and the latency of a link have no effect.
        public var hasConnectionEvents: Bool

        public init(
            transmissionDelay: Duration = .milliseconds(1), linkLossesPerMillion: UInt32 = 0, rssi: Int8 = -60,
            hasConnectionEvents: Bool = false
        ) {
            self.transmissionDelay = max(.microseconds(1), transmissionDelay)
            self.linkLossesPerMillion = linkLossesPerMillion
            self.rssi = rssi
            self.hasConnectionEvents = hasConnectionEvents
        }
    }

    /// The index of a controller in the list that was passed to `init`.
    public typealias Station = Int

    public enum Input: Hashable, Sendable {
        /// An HCI packet from the host of this controller.
        case received([UInt8], from: Station)
        case setReachable(Station, Bool)
        /// The strength in dBm with which two stations hear each other; `nil`: they do not. At first it is
        /// `Configuration.rssi`.
        case setSignal(Station, Station, Int8?)
        case fault(Station, ControllerFault)
        /// The controller lost power, which is back.
        case powerCycled(Station)
        case timerFired
    }

    public enum Effect: Hashable, Sendable, TimerEffect {
        /// An HCI packet to the host of this controller.
        case send([UInt8], to: Station)
        case setTimer(Instant)
        case cancelTimer
        /// The host of this controller violated the HCI specification.
        case violation(Station, String)
    }

    public let configuration: Configuration
    private var controllers: [VirtualController]
    /// The stations that scan or initiate, in ascending order: usually few among many advertisers.
    private var listeners: [Station] = []
    private var unreachable: Set<Station> = []
    /// The signals that were set, by the lower and the higher station.
    private var signals: [[Station]: Int8?] = [:]
    private var links: [AirLink] = []
    private var nextLink = 0
    /// For each station, the connection events in which it took part in links that have ended.
    private var endedConnectionEvents: [Station: Int] = [:]
    /// Data and control messages in transit, in the order of their arrival.
    private var flights: [AirFlight] = []
    /// Delayed packets to hosts, in the order in which they were created.
    private var postponed: [Postponed] = []
    /// The time up to which all meetings have taken place.
    private var clock: Instant
    private var timer = LogicalTimer()
    private var randomness: SplitMix64

    public init(
        _ controllers: [VirtualController.Configuration], _ configuration: Configuration = .init(), seed: UInt64,
        at now: Instant
    ) {
        self.controllers = controllers.map(VirtualController.init)
        self.configuration = configuration
        clock = now
        randomness = SplitMix64(seed: seed)
    }

    public mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        var effects: [Effect] = []
        if case .timerFired = input { timer.fired() }
        advance(to: now, &effects)
        switch input {
        case .received(let packet, let station):
            pass(.received(packet), to: station, at: now, &effects)
        case .setReachable(let station, let isReachable):
            setReachable(station, isReachable, at: now, &effects)
        case .setSignal(let one, let other, let rssi):
            setSignal(one, other, rssi, at: now, &effects)
        case .fault(let station, let fault):
            pass(.fault(fault), to: station, at: now, &effects)
        case .powerCycled(let station):
            postponed.removeAll { $0.station == station }
            pass(.powerCycled, to: station, at: now, &effects)
        case .timerFired:
            break
        }
        timer.appendChange(for: deadline, to: &effects)
        return effects
    }

    private func isReachable(_ station: Station) -> Bool { !unreachable.contains(station) }

    /// The strength in dBm with which two stations hear each other; `nil` if they do not.
    private func signal(_ one: Station, _ other: Station) -> Int8? {
        guard isReachable(one), isReachable(other) else { return nil }
        return signals[[min(one, other), max(one, other)], default: configuration.rssi]
    }
}

// MARK: - Links

extension Air {
    private func indexOfLink(_ station: Station, _ handle: ConnectionHandle) -> Int? {
        let end = AirLink.End(station: station, handle: handle)
        return links.firstIndex { $0.central == end || $0.peripheral == end }
    }

    /// Passes an input to a controller and performs its effects.
    private mutating func pass(
        _ input: VirtualController.Input, to station: Station, at now: Instant, _ effects: inout [Effect]
    ) {
        guard controllers.indices.contains(station) else { return }
        let controllerEffects = controllers[station].handle(input, at: now)
        updateListeners(station)
        for effect in controllerEffects {
            switch effect {
            case .send(let packet):
                effects.append(.send(packet, to: station))
            case .sendLater(let packet, let delay):
                postponed.append(Postponed(due: now + delay, station: station, packet: packet))
            case .discardLate: postponed.removeAll { $0.station == station }
            case .violation(let text):
                effects.append(.violation(station, text))
            case .transmit(let handle, let fragment):
                transmit(.data(fragment), from: station, handle, at: now)
            case .terminate(let handle, let reason):
                if let index = indexOfLink(station, handle) { links[index].terminatedBy = station }
                transmit(.termination(reason: reason), from: station, handle, at: now)
            case .measure(let handle):
                let peer = indexOfLink(station, handle).map { links[$0].peer(of: station).station }
                pass(
                    .measured(handle, rssi: peer.flatMap { signal(station, $0) } ?? configuration.rssi), to: station,
                    at: now, &effects)
            case .updateParameters(let handle, let parameters):
                transmit(.parameters(.success, parameters), from: station, handle, at: now)
            case .requestParameters(let handle, let parameters):
                transmit(.parameterRequest(parameters), from: station, handle, at: now)
            case .refuseParameters(let handle, let reason):
                guard let index = indexOfLink(station, handle) else { continue }
                transmit(.parameters(reason, links[index].parameters), from: station, handle, at: now)
            case .abandon(let handle):
                guard let index = indexOfLink(station, handle) else { continue }
                links[index].leave(station)
                startSupervisionTimeout(index, at: now)
            }
        }
    }

    private mutating func updateListeners(_ station: Station) {
        let isListening = controllers[station].isListening
        guard isListening != listeners.contains(station) else { return }
        listeners.removeAll { $0 == station }
        if isListening {
            listeners.insert(station, at: listeners.firstIndex { $0 > station } ?? listeners.endIndex)
        }
    }

    private mutating func transmit(
        _ cargo: AirFlight.Cargo, from station: Station, _ handle: ConnectionHandle, at now: Instant
    ) {
        guard let index = indexOfLink(station, handle) else { return }
        if case .data = cargo, configuration.linkLossesPerMillion > 0,
            randomness.next() % 1_000_000 < UInt64(configuration.linkLossesPerMillion)
        {
            links[index].staysBroken = true
            startSupervisionTimeout(index, at: now)
        }
        let arrival =
            configuration.hasConnectionEvents
            ? eventOfArrival(of: cargo, from: station, index, at: now) : now + configuration.transmissionDelay
        let position = flights.lastIndex { $0.arrival <= arrival }.map { $0 + 1 } ?? 0
        flights.insert(
            AirFlight(arrival: arrival, link: links[index].id, sender: station, cargo: cargo), at: position)
    }

    /// The connection event in which a packet arrives.
    ///
    /// The peripheral transmits in the next event, in which it also receives what the central has for it. The central
    /// transmits in the next event in which the peripheral listens. A change of parameters takes effect six events
    /// later, the least that the specification recommends (Bluetooth Core, Vol 6, Part B, 5.1.1).
    private mutating func eventOfArrival(
        of cargo: AirFlight.Cargo, from station: Station, _ index: Int, at now: Instant
    ) -> Instant {
        let link = links[index]
        let underWay = flights.indices.filter { flights[$0].link == link.id && flights[$0].arrival > now }
        var arrival = link.nextEvent(after: now)
        if station == link.peripheral.station {
            for flight in underWay where flights[flight].sender != station && flights[flight].waitsForPeripheral {
                flights[flight].arrival = min(flights[flight].arrival, arrival)
            }
            flights.sort { $0.arrival < $1.arrival }
        } else {
            let transmission = underWay.first { flights[$0].sender != station }.map { flights[$0].arrival }
            arrival = [transmission, link.nextListening(after: now)].compactMap(\.self).min() ?? arrival
        }
        if case .parameters(.success, _) = cargo { arrival = arrival + link.interval * 6 }
        return arrival
    }

    /// The number of connection events in which a station took part, which is what a link costs the battery of a
    /// peripheral; 0 without `hasConnectionEvents`.
    public func connectionEvents(of station: Station, at now: Instant) -> Int {
        guard configuration.hasConnectionEvents else { return 0 }
        return links.filter { $0.ends(at: station) }.reduce(endedConnectionEvents[station, default: 0]) {
            $0 + $1.attendedEvents(until: now)
        }
    }

    private mutating func arrive(_ flight: AirFlight, at now: Instant, _ effects: inout [Effect]) {
        guard let index = links.firstIndex(where: { $0.id == flight.link }) else { return }
        guard links[index].breaksAt == nil else {
            links[index].held.append(flight)
            return
        }
        if configuration.hasConnectionEvents { links[index].attend(at: flight.arrival) }
        let sender = links[index].end(at: flight.sender)
        let receiver = links[index].peer(of: flight.sender)
        switch flight.cargo {
        case .data(let fragment):
            pass(.arrived(receiver.handle, fragment), to: receiver.station, at: now, &effects)
            pass(.delivered(sender.handle), to: sender.station, at: now, &effects)
        case .termination(let reason):
            removeLink(index, at: now)
            pass(.unlinked(receiver.handle, reason: reason), to: receiver.station, at: now, &effects)
            pass(.unlinked(sender.handle, reason: .localHostTerminated), to: sender.station, at: now, &effects)
        case .parameters(let status, let parameters):
            links[index].change(parameters)
            let update = { (end: AirLink.End) in
                VirtualController.Input.parametersUpdated(end.handle, status, parameters)
            }
            // A central that rejects a request gets no Connection Update Complete; only the peripheral does.
            if status == .success { pass(update(sender), to: sender.station, at: now, &effects) }
            pass(update(receiver), to: receiver.station, at: now, &effects)
        case .parameterRequest(let parameters):
            pass(.parametersRequested(receiver.handle, parameters), to: receiver.station, at: now, &effects)
        }
    }

    private mutating func startSupervisionTimeout(_ index: Int, at now: Instant) {
        guard links[index].breaksAt == nil else { return }
        links[index].breaksAt = now + .milliseconds(10 * Int64(links[index].parameters.supervisionTimeout))
    }

    private mutating func breakLink(_ index: Int, at now: Instant, _ effects: inout [Effect]) {
        let link = removeLink(index, at: now)
        for end in [link.central, link.peripheral] {
            let reason: HCIStatus =
                if link.terminatedBy == end.station { .localHostTerminated } else {
                    link.isPhantom ? .failedToBeEstablished : .connectionTimeout
                }
            pass(.unlinked(end.handle, reason: reason), to: end.station, at: now, &effects)
        }
    }

    @discardableResult
    private mutating func removeLink(_ index: Int, at now: Instant) -> AirLink {
        let link = links.remove(at: index)
        guard configuration.hasConnectionEvents else { return link }
        for end in [link.central, link.peripheral] {
            endedConnectionEvents[end.station, default: 0] += link.attendedEvents(until: now)
        }
        return link
    }

    private mutating func setReachable(
        _ station: Station, _ isReachable: Bool, at now: Instant, _ effects: inout [Effect]
    ) {
        guard isReachable else {
            unreachable.insert(station)
            for index in links.indices where links[index].ends(at: station) { startSupervisionTimeout(index, at: now) }
            return
        }
        unreachable.remove(station)
        restoreLinks(of: station, at: now, &effects)
    }

    private mutating func setSignal(
        _ one: Station, _ other: Station, _ rssi: Int8?, at now: Instant, _ effects: inout [Effect]
    ) {
        signals[[min(one, other), max(one, other)]] = .some(rssi)
        guard rssi == nil else { return restoreLinks(of: one, at: now, &effects) }
        for index in links.indices where links[index].ends(at: one) && links[index].ends(at: other) {
            startSupervisionTimeout(index, at: now)
        }
    }

    /// The links of a station whose ends hear each other again go on.
    private mutating func restoreLinks(of station: Station, at now: Instant, _ effects: inout [Effect]) {
        var returned: [AirFlight] = []
        for index in links.indices where links[index].ends(at: station) {
            let link = links[index]
            guard !link.staysBroken, signal(station, link.peer(of: station).station) != nil else { continue }
            links[index].breaksAt = nil
            links[index].held.removeAll()
            returned += link.held
        }
        for flight in returned { arrive(flight, at: now, &effects) }
    }
}

// MARK: - Time

extension Air {
    private struct Reception {
        var time: Instant
        var listener, advertiser: Station
    }

    private struct Postponed: Sendable {
        var due: Instant
        var station: Station
        var packet: [UInt8]
    }

    private mutating func advance(to now: Instant, _ effects: inout [Effect]) {
        while let index = postponed.firstIndex(where: { $0.due <= now }) {
            let late = postponed.remove(at: index)
            effects.append(.send(late.packet, to: late.station))
        }
        while let flight = flights.first, flight.arrival <= now {
            flights.removeFirst()
            arrive(flight, at: now, &effects)
        }
        while let index = links.firstIndex(where: { $0.breaksAt.map { $0 <= now } ?? false }) {
            breakLink(index, at: now, &effects)
        }
        // A meeting may stop the listener or the advertiser of a later one, so `handleReception` checks both again.
        let meetings = meetings(until: now)
        for meeting in meetings { handleReception(meeting, of: meetings, at: now, &effects) }
        clock = max(clock, now)
    }

    private var deadline: Instant? {
        var deadline = flights.first?.arrival
        for link in links { deadline = earliest(deadline, link.breaksAt) }
        for late in postponed { deadline = earliest(deadline, late.due) }
        forEachMeeting { deadline = earliest(deadline, $0.time) }
        return deadline
    }

    private func meetings(until now: Instant) -> [Reception] {
        var due: [Reception] = []
        forEachMeeting { if $0.time <= now { due.append($0) } }
        return due.sorted { ($0.time, $0.listener, $0.advertiser) < ($1.time, $1.listener, $1.advertiser) }
    }

    /// Calls `body` with the next meeting of each listener with each advertiser that it does not ignore.
    private func forEachMeeting(_ body: (Reception) -> Void) {
        for listener in listeners where isReachable(listener) {
            for station in controllers.indices where station != listener && isReachable(station) {
                guard let advertiser = controllers[station].advertiser, let rssi = signal(listener, station),
                    isWanted(advertiser, by: listener, rssi)
                else { continue }
                let time = advertiser.firstTransmission(after: clock)
                body(Reception(time: time, listener: listener, advertiser: station))
            }
        }
    }

    private func isWanted(
        _ advertiser: VirtualController.Advertiser, by listener: Station, _ rssi: Int8
    ) -> Bool {
        controllers[listener].initiates(to: advertiser)
            || !controllers[listener].reports(of: advertiser, rssi: rssi).isEmpty
    }

    /// - Parameter meetings: those that are handled together. Initiators that have received the same transmission send their requests
    ///   at the same moment, and the advertiser takes one of them.
    private mutating func handleReception(
        _ meeting: Reception, of meetings: [Reception], at now: Instant, _ effects: inout [Effect]
    ) {
        guard let advertiser = controllers[meeting.advertiser].advertiser,
            let rssi = signal(meeting.listener, meeting.advertiser)
        else { return }
        for report in controllers[meeting.listener].reports(of: advertiser, rssi: rssi) {
            pass(.advertisementReceived(report), to: meeting.listener, at: now, &effects)
        }
        guard mayLink(meeting.listener, advertiser, meeting.advertiser) else { return }
        let initiators = meetings.filter { other in
            other.time == meeting.time && other.advertiser == meeting.advertiser
                && mayLink(other.listener, advertiser, meeting.advertiser)
        }
        let place = initiators.count > 1 ? Int(randomness.next() % UInt64(initiators.count)) : 0
        for (index, initiator) in initiators.enumerated() {
            link(initiator.listener, advertiser, index == place ? meeting.advertiser : nil, at: now, &effects)
        }
    }

    private func mayLink(
        _ initiator: Station, _ advertiser: VirtualController.Advertiser, _ station: Station
    ) -> Bool {
        guard controllers[initiator].initiates(to: advertiser), let (central, _) = controllers[initiator].initiator
        else { return false }
        return controllers[station].accepts(central)
    }

    /// - Parameter peripheral: the station of the advertiser; `nil` for a phantom link.
    private mutating func link(
        _ station: Station, _ advertiser: VirtualController.Advertiser, _ peripheral: Station?, at now: Instant,
        _ effects: inout [Effect]
    ) {
        guard let (central, parameters) = controllers[station].initiator else { return }
        let end = AirLink.End(station: station, handle: controllers[station].freeHandle)
        let otherEnd = peripheral.map { AirLink.End(station: $0, handle: controllers[$0].freeHandle) }
        links.append(AirLink(id: nextLink, central: end, peripheral: otherEnd, parameters: parameters, at: now))
        nextLink += 1
        pass(.linked(end.handle, peer: advertiser.address, role: .central, parameters), to: station, at: now, &effects)
        guard let otherEnd else { return }
        pass(
            .linked(otherEnd.handle, peer: central, role: .peripheral, parameters), to: otherEnd.station, at: now,
            &effects)
    }
}

extension VirtualController.Advertiser {
    /// The first multiple of the interval after `instant`; not the instant at which advertising was enabled.
    func firstTransmission(after instant: Instant) -> Instant {
        let elapsed = max(0, (instant - since).nanoseconds)
        let step = max(1, interval.nanoseconds)
        return since + .nanoseconds((elapsed / step) * step) + interval
    }
}
