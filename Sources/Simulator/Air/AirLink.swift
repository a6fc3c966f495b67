import BluetoothHost
import ButtonModel

/// A link in the `Air`: two ends, each with the handle that its controller assigned. A phantom link has only a central, which
/// believes in it.
struct AirLink: Hashable, Sendable {
    /// Stands for the peripheral that a phantom link does not have.
    private static let nobody = End(station: -1, handle: ConnectionHandle(rawValue: 0xFFFF))

    struct End: Hashable, Sendable {
        var station: Air.Station
        var handle: ConnectionHandle
    }

    let id: Int
    private(set) var central, peripheral: End
    private(set) var parameters: ConnectionParameters
    /// The first connection event with these parameters.
    private var anchor: Instant
    /// The last connection event in which packets were exchanged, or `anchor`.
    private var attended: Instant
    /// The connection events before `attended`, and itself, in which the peripheral took part.
    private var attendedCount = 0
    /// If set, nothing is delivered, and the link is lost at this time, the end of the supervision timeout.
    var breaksAt: Instant?
    /// True if the link stays broken even if its ends are in reach again.
    var staysBroken = false
    /// The station whose host has terminated the link.
    var terminatedBy: Air.Station?
    /// Flights that were in progress when an end went out of reach; they arrive if it returns before the timeout.
    var held: [AirFlight] = []

    /// - Parameter peripheral: `nil` for a phantom link, which ends when the central has received nothing in six intervals (Bluetooth
    ///   Core, Vol 6, Part B, 4.5.2).
    init(id: Int, central: End, peripheral: End?, parameters: ConnectionParameters, at now: Instant) {
        self.id = id
        self.central = central
        self.peripheral = peripheral ?? Self.nobody
        self.parameters = parameters
        anchor = now
        attended = now
        guard isPhantom else { return }
        staysBroken = true
        breaksAt = now + interval * 6
    }

    var isPhantom: Bool { peripheral.station == Self.nobody.station }

    func ends(at station: Air.Station) -> Bool { central.station == station || peripheral.station == station }

    func end(at station: Air.Station) -> End { station == central.station ? central : peripheral }

    func peer(of station: Air.Station) -> End { station == central.station ? peripheral : central }

    /// The controller at one end has discarded the link, and may reuse its handle.
    mutating func leave(_ station: Air.Station) {
        staysBroken = true
        let nothing = ConnectionHandle(rawValue: 0xFFFF)
        if central.station == station { central.handle = nothing } else { peripheral.handle = nothing }
    }
}

// MARK: - Connection events

/// Bluetooth Core, Vol 6, Part B, 4.5.1: the ends of a link meet once in each interval, and a peripheral that has nothing to send
/// may skip as many of these events as its latency says.
extension AirLink {
    var interval: Duration { .microseconds(1250 * Int64(max(1, parameters.intervalMaximum))) }

    /// The time between two events in which a peripheral listens that has nothing to send.
    private var listeningInterval: Duration { interval * (Int(parameters.peripheralLatency) + 1) }

    func nextEvent(after now: Instant) -> Instant { first(of: interval, from: anchor, after: now) }

    /// The next event in which the peripheral listens although it has nothing to send.
    func nextListening(after now: Instant) -> Instant { first(of: listeningInterval, from: attended, after: now) }

    /// The events until now in which the peripheral took part.
    func attendedEvents(until now: Instant) -> Int {
        attendedCount + Int(max(0, now.nanoseconds(since: attended)) / listeningInterval.nanoseconds)
    }

    /// Packets are exchanged in the event at `time`.
    mutating func attend(at time: Instant) {
        guard time > attended else { return }
        // The listening of an event with packets is counted once.
        attendedCount = attendedEvents(until: time - .nanoseconds(1)) + 1
        attended = time
    }

    /// The new parameters take effect in the event that was attended last, with which they have arrived.
    mutating func change(_ parameters: ConnectionParameters) {
        self.parameters = parameters
        anchor = attended
    }

    private func first(of step: Duration, from start: Instant, after now: Instant) -> Instant {
        let elapsed = max(0, now.nanoseconds(since: start))
        return start + .nanoseconds((elapsed / step.nanoseconds + 1) * step.nanoseconds)
    }
}

/// Data or a control message in transit from one end of a link to the other.
struct AirFlight: Hashable, Sendable {
    enum Cargo: Hashable, Sendable {
        case data(ACLFragment)
        case termination(reason: HCIStatus)
        case parameters(HCIStatus, ConnectionParameters)
        case parameterRequest(ConnectionParameters)
    }

    var arrival: Instant
    /// The `AirLink.id`. The link may not exist any more at the arrival.
    var link: Int
    var sender: Air.Station
    var cargo: Cargo

    /// True for what the central sends when the peripheral listens; a change of parameters has its own time.
    var waitsForPeripheral: Bool {
        if case .parameters(.success, _) = cargo { false } else { true }
    }
}
