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

    let peer: String
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

    init(peer: String) { self.peer = peer }
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
