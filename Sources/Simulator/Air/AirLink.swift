import BluetoothHost
import ButtonModel

/// A link in the `Air`: two ends, each with the handle that its controller assigned.
struct AirLink: Hashable, Sendable {
    struct End: Hashable, Sendable {
        var station: Air.Station
        var handle: ConnectionHandle
    }

    let id: Int
    private(set) var central, peripheral: End
    var parameters: ConnectionParameters
    /// If set, nothing is delivered, and the link is lost at this time, the end of the supervision timeout.
    var breaksAt: Instant?
    /// True if the link stays broken even if its ends are in reach again.
    var staysBroken = false
    /// The station whose host has terminated the link.
    var terminatedBy: Air.Station?
    /// Flights that were in progress when an end went out of reach; they arrive if it returns before the timeout.
    var held: [AirFlight] = []

    init(id: Int, central: End, peripheral: End, parameters: ConnectionParameters) {
        self.id = id
        self.central = central
        self.peripheral = peripheral
        self.parameters = parameters
    }

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
}
