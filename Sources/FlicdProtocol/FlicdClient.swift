import ButtonModel

/// The TCP connection of a client of `FlicdServer`, with the objects that the client has created. Ids are valid on this
/// connection only.
struct FlicdClient: Sendable {
    struct Channel: Hashable, Sendable {
        var button: ButtonID
        var mode: FlicdChannelMode
    }

    /// Identifies a pending advertisement: a newer advertisement of the same button to the same scanner replaces it.
    struct AdvertisementKey: Hashable, Sendable {
        var scanner: UInt32
        var address: BluetoothAddress
    }

    /// The maximum number of advertisements that wait for a blocked socket.
    static let maximumAdvertisements = 256

    /// The client's address and port.
    let peer: String
    /// The address or IPv6 network to which the client belongs, for the limits of `FlicdServer`.
    let owner: String
    var framer = FlicdFramer(maximumLength: FlicdFramer.maximumCommandLength)
    var channels: [UInt32: Channel] = [:]
    var scanners: Set<UInt32> = []
    var wizards: [UInt32: FlicdWizard] = [:]
    var listeners: [UInt32: BluetoothAddress] = [:]
    /// Encoded packets that the socket has not received yet.
    var outgoing: [UInt8] = []
    /// The newest advertisement of each button and scanner while the socket is blocked.
    var advertisements: [AdvertisementKey: FlicdAdvertisement] = [:]
    /// True if the socket has not accepted all octets sent so far.
    var isBlocked = false
    /// True if complete commands wait for the next turn.
    var hasPendingCommands = false
    /// True if at least one complete packet has been received.
    var hasSentPacket = false
    var hasFinished = false
    /// True if the client has closed its sending side and all its commands are executed. The connection is closed when
    /// `outgoing` is sent.
    var isEnding = false
    /// Opcodes whose misuse has been logged, so that each is logged once.
    var loggedOpcodes: Set<UInt8> = []
    /// The number of consecutive wizards that failed.
    var failedWizards = 0

    init(peer: String) {
        self.peer = peer
        owner = FlicdServer.owner(of: peer)
    }
}

extension FlicdServer {
    /// The part of a client's address and port that identifies the machine: the IPv4 address, or the first 64 bits of
    /// the IPv6 address, because one machine can have any number of addresses in such a network.
    package static func owner(of peer: String) -> String {
        let host = peer[..<(peer.lastIndex(of: ":") ?? peer.endIndex)]
        guard host.hasPrefix("[") else { return String(host) }
        let address = host.dropFirst().dropLast()
        // An IPv4-mapped address: ::ffff:10.0.0.9
        if address.contains("."), let last = address.split(separator: ":").last { return String(last) }
        guard let gap = address.firstRange(of: "::") else {
            return address.split(separator: ":").prefix(4).joined(separator: ":")
        }
        let head = address[..<gap.lowerBound].split(separator: ":")
        let tail = address[gap.upperBound...].split(separator: ":")
        let zeros = [Substring](repeating: "0", count: max(0, 8 - head.count - tail.count))
        return (head + zeros + tail).prefix(4).joined(separator: ":")
    }
}

/// A paired button, in the state that was last reported to clients.
struct FlicdButton: Sendable {
    var identity: ButtonIdentity
    /// The connection status that was last reported to clients.
    var status = FlicdConnectionStatus.disconnected
    /// True if the session has ended but the link is up. Clients were told `disconnected`, because flicd's protocol
    /// cannot express this state.
    var hasLostSession = false
    var disconnectReason: FlicdDisconnectReason?
    /// True if the pairing has not been reported to clients yet.
    var isNew = false
    var battery: (percentage: Int8, at: UTCTime)?

    init(_ identity: ButtonIdentity) { self.identity = identity }
}

/// The button that is being paired.
struct PairingAttempt: Hashable, Sendable {
    var address: BluetoothAddress
    var isConnected = false
}
