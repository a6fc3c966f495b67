import BluetoothHost
import ButtonModel
import Flic

/// A link to a button that is known or being paired: its phase, its GATT attributes and its session.
struct ButtonLink: Sendable {
    enum Phase: Hashable, Sendable {
        case exchangingMTU
        case discovering
        case subscribing
        case inSession(isReady: Bool)
        /// A graceful disconnect is in progress: the button was asked to end the link, or the host ends it.
        case disconnecting
        case closing
    }

    let connection: LEConnection
    var phase = Phase.exchangingMTU
    var attMTU = 23
    var attributes: FlicAttributes?
    /// The service to discover if the expected service is missing; `nil` after that attempt.
    var otherService: FlicService?
    var session: ButtonSession?
    /// True if the link serves a pairing that is not complete yet.
    var isPairing: Bool
    /// True if a session on this link has been ready.
    var wasReady = false
    /// When the button last sent events or movements, or its session or link began.
    var lastActivity: Instant
}

/// The links of a `ButtonManager`, by their connection handles, in the order in which they began. A controller has room for few
/// links, so a search reads the handles in turn, and a link can be read in its place.
struct LinkTable: RandomAccessCollection, Sendable {
    /// The handle of each link, and the links.
    private(set) var keys: [ConnectionHandle] = []
    private(set) var values: [ButtonLink] = []

    var startIndex: Int { 0 }
    var endIndex: Int { keys.count }
    subscript(position: Int) -> (key: ConnectionHandle, value: ButtonLink) { (keys[position], values[position]) }

    /// The place of the link with a handle.
    func place(of handle: ConnectionHandle) -> Int? { keys.firstIndex(of: handle) }

    /// The link with a handle; `nil` if there is none, and to remove it.
    subscript(handle: ConnectionHandle) -> ButtonLink? {
        get { place(of: handle).map { values[$0] } }
        // The link is taken out while it changes, so that its arrays are not copied.
        _modify {
            let place = place(of: handle)
            var link = place.map { values.remove(at: $0) }
            if let place { keys.remove(at: place) }
            defer {
                if let link {
                    keys.insert(handle, at: place ?? keys.endIndex)
                    values.insert(link, at: place ?? values.endIndex)
                }
            }
            yield &link
        }
    }
}
