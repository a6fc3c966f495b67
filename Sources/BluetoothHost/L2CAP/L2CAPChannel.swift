/// The identifier of an L2CAP channel at one end of a link (CID).
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 2.1.
public struct L2CAPChannelID: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }
    public static func < (left: L2CAPChannelID, right: L2CAPChannelID) -> Bool { left.rawValue < right.rawValue }

    static let attributeProtocol = L2CAPChannelID(rawValue: 0x0004)
    static let leSignalling = L2CAPChannelID(rawValue: 0x0005)
    /// The identifiers that are assigned dynamically when channels are opened.
    static let dynamic = L2CAPChannelID(rawValue: 0x0040)...L2CAPChannelID(rawValue: 0x007F)
}

/// The Simplified Protocol/Service Multiplexer of a credit-based channel: 0x0001…0x007F are assigned by the Bluetooth
/// SIG, 0x0080…0x00FF are chosen by the server, which usually publishes its choice in a GATT characteristic.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 4.22.
public struct SPSM: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }
}

/// The limits that this host offers on credit-based channels.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 4.22.
public struct ChannelConfiguration: Hashable, Sendable {
    /// The longest SDU that is received, and so the size of each channel's receive buffer: 23…65535 octets.
    public var mtu: UInt16
    /// The longest K-frame payload that is received, 23…517 octets.
    public var mps: UInt16
    /// The number of K-frames that the peer may send before it receives new credits, 1…65535.
    public var credits: UInt16

    public init(mtu: UInt16 = 2048, mps: UInt16 = 247, credits: UInt16 = 16) {
        self.mtu = mtu
        self.mps = mps
        self.credits = credits
    }

    static let shortestMTU: UInt16 = 23
    static let shortestMPS: UInt16 = 23
    /// The longest K-frame payload that `L2CAPReassembler` accepts. Sent K-frames are not longer, either, so that an
    /// attribute PDU never waits for a frame longer than the longest attribute PDU.
    static let longestMPS = ATTPDU.maximumMTU

    var limited: ChannelConfiguration {
        ChannelConfiguration(
            mtu: max(mtu, Self.shortestMTU), mps: min(max(mps, Self.shortestMPS), Self.longestMPS),
            credits: max(credits, 1))
    }
}

/// An open credit-based channel.
public struct L2CAPChannel: Hashable, Sendable {
    /// Our identifier of the channel, unique on its link until the channel is closed.
    public var id: L2CAPChannelID
    public var spsm: SPSM
    /// The longest SDU that the peer accepts.
    public var peerMTU: UInt16
    /// True if the peer opened the channel.
    public var isIncoming: Bool

    public init(id: L2CAPChannelID, spsm: SPSM, peerMTU: UInt16, isIncoming: Bool) {
        self.id = id
        self.spsm = spsm
        self.peerMTU = peerMTU
        self.isIncoming = isIncoming
    }
}

/// Why a channel could not be opened, or was closed.
public enum ChannelFailure: Error, Hashable, Sendable {
    case closedByHost
    case closedByPeer
    /// The link ended, or there is no link with this handle.
    case linkLost
    /// The peer refused, with this result code: 0x0002 SPSM not supported, 0x0004 no resources, 0x0005…0x0008 security,
    /// 0x0009 and 0x000A channel identifiers, 0x000B parameters.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 3, Part A, 4.23.
    case refused(result: UInt16)
    /// The peer does not support credit-based channels: it answered with a Command Reject, with this reason.
    case rejected(reason: UInt16)
    /// The peer did not answer for 30 seconds.
    case noAnswer
    case malformedResponse
    /// The link has `LEHost.maximumChannels` channels.
    case tooManyChannels
    case violation(ChannelViolation)
}

/// A violation of the protocol by the peer, after which the channel is closed.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 3.4.3 and 10.1.
public enum ChannelViolation: Hashable, Sendable {
    /// A K-frame without a credit.
    case noCredit
    /// A K-frame longer than our MPS.
    case frameTooLong
    /// An SDU longer than our MTU.
    case sduTooLong
    /// More octets than the SDU's length.
    case sduOverrun
    /// A first K-frame too short for the SDU's length.
    case noLength
    /// Credits that add up to more than 65535.
    case tooManyCredits
}

/// Why an SDU was not accepted. The channel is unchanged.
public enum SDURefusal: Error, Hashable, Sendable {
    case notOpen
    /// The SDU is longer than the peer's MTU.
    case tooLong
    /// The queue is full; `channelWritable` reports when there is room again.
    case queueFull
}
