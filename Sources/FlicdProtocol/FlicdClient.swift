import ButtonModel

/// One TCP connection, and what it has asked for. Its ids mean nothing to others.
struct FlicdClient: Sendable {
    struct Channel: Hashable, Sendable {
        var button: ButtonID
        var mode: FlicdChannelMode
    }

    /// An advertisement that waits for the socket.
    struct AdvertisementKey: Hashable, Sendable {
        var scanner: UInt32
        var address: BluetoothAddress
    }

    /// Advertisements that wait, the newest of each.
    static let maximumAdvertisements = 256

    /// Address and port.
    let peer: String
    /// Whose share of the places it takes.
    let owner: String
    var framer = FlicdFramer(maximumLength: FlicdFramer.maximumCommandLength)
    var channels: [UInt32: Channel] = [:]
    var scanners: Set<UInt32> = []
    var wizards: [UInt32: FlicdWizard] = [:]
    var listeners: [UInt32: BluetoothAddress] = [:]
    /// Whole packets that are not sent yet.
    var outgoing: [UInt8] = []
    var advertisements: [AdvertisementKey: FlicdAdvertisement] = [:]
    /// The socket has not taken all of what was sent.
    var isBlocked = false
    /// Complete commands are left over for the next turn.
    var isWorking = false
    /// A whole packet of it has come.
    var hasSpoken = false
    var hasFinished = false
    /// It has no wishes any more; when `outgoing` is sent it is closed.
    var isEnding = false
    /// Opcodes that were complained about.
    var complaints: Set<UInt8> = []
    /// Wizards in a row that came to nothing.
    var failedWizards = 0

    init(peer: String) {
        self.peer = peer
        owner = FlicdServer.owner(of: peer)
    }
}

extension FlicdServer {
    /// The part of a client's address and port that says whose client it is: the address, and of an IPv6 address the first
    /// 64 bits, for one machine can have as many addresses below them as it likes.
    package static func owner(of peer: String) -> String {
        let host = peer[..<(peer.lastIndex(of: ":") ?? peer.endIndex)]
        guard host.hasPrefix("[") else { return String(host) }
        let address = host.dropFirst().dropLast()
        // ::ffff:10.0.0.9
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

/// A paired button, as clients see it.
struct FlicdButton: Sendable {
    var identity: ButtonIdentity
    /// As it was told last.
    var status = FlicdConnectionStatus.disconnected
    /// The session has ended, and the link stays: that is told as the end of both.
    var hasLostSession = false
    var disconnectReason: FlicdDisconnectReason?
    /// Clients do not know yet that it was paired.
    var isNew = false
    var battery: (percentage: Int8, at: UTCTime)?

    init(_ identity: ButtonIdentity) { self.identity = identity }
}

struct PairingAttempt: Hashable, Sendable {
    var address: BluetoothAddress
    var isConnected = false
}
