import BluetoothHost
import ButtonModel

/// One link as the air sees it: two ends, each with the handle its controller gave it.
struct AirLink: Hashable, Sendable {
    struct End: Hashable, Sendable {
        var station: Air.Station
        var handle: ConnectionHandle
    }

    let id: Int
    private(set) var central, peripheral: End
    var parameters: ConnectionParameters
    /// Nothing gets through. The link breaks when the supervision timeout has passed.
    var breaksAt: Instant?
    /// Broken for good: coming back into reach does not mend it.
    var isDoomed = false
    /// Whose host has ended it.
    var terminatedBy: Air.Station?
    /// What was under way when the other end went out of reach; it arrives if that comes back in time.
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

    /// The controller at one end has forgotten the link and may give its handle to another.
    mutating func leave(_ station: Air.Station) {
        isDoomed = true
        let nothing = ConnectionHandle(rawValue: 0xFFFF)
        if central.station == station { central.handle = nothing } else { peripheral.handle = nothing }
    }
}

/// Something on its way from one end of a link to the other.
struct AirFlight: Hashable, Sendable {
    enum Cargo: Hashable, Sendable {
        case data(ACLFragment)
        case termination(reason: HCIStatus)
        case parameters(HCIStatus, ConnectionParameters)
        case parameterRequest(ConnectionParameters)
    }

    var arrival: Instant
    /// `AirLink.id`: the link may be gone when this arrives.
    var link: Int
    var sender: Air.Station
    var cargo: Cargo
}
