import ButtonModel
import Flic
import Radios

/// A link to a button that is known or being paired: its phase and its session.
struct ButtonLink: Sendable {
    enum Phase: Hashable, Sendable {
        /// The radio looks for the button's service.
        case attaching
        case inSession(isReady: Bool)
        /// A graceful disconnect is in progress: the button was asked to end the link, or the radio ends it.
        case disconnecting
        case closing
    }

    let peer: BluetoothAddress
    var phase = Phase.attaching
    /// The service that the radio found.
    var service: FlicService?
    var session: ButtonSession?
    /// True if the link serves a pairing that is not complete yet.
    var isPairing: Bool
    /// True if a session on this link has been ready.
    var wasReady = false
    /// True if the time limit of the verification was extended because the radio held back our request.
    var wasHeldBack = false
    /// When the button last sent events or movements, or its session or link began.
    var lastActivity: Instant
}

/// The links of a `ButtonManager`, by their numbers, in the order in which they began. A radio has room for few
/// links, so a search reads the numbers in turn, and a link can be read in its place.
struct LinkTable: RandomAccessCollection, Sendable {
    /// The number of each link, and the links.
    private(set) var keys: [LinkID] = []
    private(set) var values: [ButtonLink] = []

    var startIndex: Int { 0 }
    var endIndex: Int { keys.count }
    subscript(position: Int) -> (key: LinkID, value: ButtonLink) { (keys[position], values[position]) }

    /// The place of the link with a number.
    func place(of id: LinkID) -> Int? { keys.firstIndex(of: id) }

    /// The session of the link at a place, which is not copied for a call of a mutating function.
    subscript(sessionAt place: Int) -> ButtonSession? {
        get { values[place].session }
        _modify { yield &values[place].session }
    }

    /// The button of a link has sent events or movements.
    mutating func wasActive(_ id: LinkID, at now: Instant) {
        if let place = place(of: id) { values[place].lastActivity = now }
    }

    /// The link with a number; `nil` if there is none, and to remove it.
    subscript(id: LinkID) -> ButtonLink? {
        get { place(of: id).map { values[$0] } }
        // The link is taken out while it changes, so that its arrays are not copied.
        _modify {
            let place = place(of: id)
            var link = place.map { values.remove(at: $0) }
            if let place { keys.remove(at: place) }
            defer {
                if let link {
                    keys.insert(id, at: place ?? keys.endIndex)
                    values.insert(link, at: place ?? values.endIndex)
                }
            }
            yield &link
        }
    }
}
