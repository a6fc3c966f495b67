/// A channel's number at one end of a link.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 2.1.
public struct L2CAPChannelID: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }
    public static func < (left: L2CAPChannelID, right: L2CAPChannelID) -> Bool { left.rawValue < right.rawValue }

    static let attributeProtocol = L2CAPChannelID(rawValue: 0x0004)
    static let leSignalling = L2CAPChannelID(rawValue: 0x0005)
    /// Those that are given to channels as they are opened.
    static let dynamic = L2CAPChannelID(rawValue: 0x0040)...L2CAPChannelID(rawValue: 0x007F)
}

/// What a credit-based channel leads to: 0x0001…0x007F is assigned by the Bluetooth SIG, 0x0080…0x00FF is the
/// server's own choice, which a GATT characteristic usually tells.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 4.22.
public struct SPSM: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }
}

/// What this host takes on each credit-based channel.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 4.22.
public struct ChannelConfiguration: Hashable, Sendable {
    /// The longest SDU, 23…65535 octets. So much is kept of each channel's.
    public var mtu: UInt16
    /// The longest piece of one, 23…517 octets.
    public var mps: UInt16
    /// Pieces the peer may send before it hears from us, 1…65535.
    public var credits: UInt16

    public init(mtu: UInt16 = 2048, mps: UInt16 = 247, credits: UInt16 = 16) {
        self.mtu = mtu
        self.mps = mps
        self.credits = credits
    }

    static let shortestMTU: UInt16 = 23
    static let shortestMPS: UInt16 = 23
    /// What `L2CAPReassembler` takes. What we send is no longer either, so that the attribute protocol never waits
    /// for more of a channel than it may itself send at once.
    static let longestMPS = ATTPDU.maximumMTU

    var limited: ChannelConfiguration {
        ChannelConfiguration(
            mtu: max(mtu, Self.shortestMTU), mps: min(max(mps, Self.shortestMPS), Self.longestMPS),
            credits: max(credits, 1))
    }
}

/// A credit-based channel that has come up.
public struct Channel: Hashable, Sendable {
    /// Ours, which no other channel of the link has until this one is closed.
    public var id: L2CAPChannelID
    public var spsm: SPSM
    /// The longest SDU the peer takes.
    public var peerMTU: UInt16
    /// Whether the peer opened it.
    public var isIncoming: Bool

    public init(id: L2CAPChannelID, spsm: SPSM, peerMTU: UInt16, isIncoming: Bool) {
        self.id = id
        self.spsm = spsm
        self.peerMTU = peerMTU
        self.isIncoming = isIncoming
    }
}

/// Why a channel was not opened, or is open no more.
public enum ChannelFailure: Error, Hashable, Sendable {
    case closedByHost
    case closedByPeer
    /// The link ended, or there is none with that handle.
    case linkLost
    /// The peer's result code: 0x0002 SPSM not supported, 0x0004 no resources, 0x0005…0x0008 security, 0x0009 and
    /// 0x000A channel numbers, 0x000B parameters.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 3, Part A, 4.23.
    case refused(result: UInt16)
    /// The peer does not know credit-based channels: its reason to reject the command.
    case rejected(reason: UInt16)
    /// Thirty seconds.
    case noAnswer
    case malformedResponse
    /// This end keeps no more on a link: `Host.maximumChannels`.
    case tooManyChannels
    case violation(ChannelViolation)
}

/// What a peer may not do on a channel, and loses it by.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 3.4.3 and 10.1.
public enum ChannelViolation: Hashable, Sendable {
    /// A frame it had no credit for.
    case noCredit
    /// A frame longer than our MPS.
    case frameTooLong
    /// An SDU longer than our MTU.
    case sduTooLong
    /// More than the SDU's length says.
    case sduOverrun
    /// A first frame too short for the SDU's length.
    case noLength
    /// Credits that make more than 65535.
    case tooManyCredits
}

/// Why an SDU was not taken. The channel is as before.
public enum SDURefusal: Error, Hashable, Sendable {
    case notOpen
    /// Longer than the peer's MTU.
    case tooLong
    /// `channelWritable` comes when there is room again.
    case queueFull
}
