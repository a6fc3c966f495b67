/// What a button sends to a host: opcode and payload, without frame header and signature.
///
/// Multi-octet fields are little endian. Octets after the known fields are ignored: newer firmware may send more.
///
/// - Source: protocol notes, 4.2 to 4.7 and 8.1.
enum ButtonPacket: Hashable, Sendable {
    case fullVerifyResponse1(FullVerifyResponse1)
    case fullVerifyResponse2(FullVerifyResponse2)
    /// The temporary ids of the hosts that were turned away.
    case noLogicalConnectionSlots(temporaryIDs: [UInt32])
    case fullVerifyFailResponse(reason: UInt8)
    case testIfReallyUnpairedResponse(result: [UInt8])
    case getFirmwareVersionResponse(version: UInt32)
    case quickVerifyNegativeResponse(temporaryID: UInt32)
    case quickVerifyResponse(QuickVerifyResponse)
    /// Reason: 0 ping timeout, 1 invalid signature, 2 a new session of the same pairing, 3 by the user.
    case disconnectedVerifiedLink(reason: UInt8)
    case initButtonEventsResponse(InitButtonEventsResponse)
    case buttonEventNotification(EventNotification)
    case initButtonEventsDuoResponse(InitButtonEventsDuoResponse)
    /// Bits that only a `DuoEventStream` can read.
    case buttonEventDuoNotification([UInt8])
    case pushTwistNotification(PushTwistNotification)
    case apiTimerNotification(message: UInt32)
    case nameUpdatedNotification(name: [UInt8])
    case pingRequest
    case getNameResponse(StampedName)
    case setNameResponse(StampedName)
    /// The word of the image to begin with; -1 invalid parameters, -2 busy, -3 waiting for a reboot.
    case startFirmwareUpdateResponse(position: Int32)
    /// Words received. All of them: the image is verified; 0: its signature is wrong.
    case firmwareUpdateNotification(position: Int32)
    /// See `Battery`.
    case getBatteryLevelResponse(raw: UInt16)
    case factoryResetResponse
    /// 1/32768 s since the button's boot, 56 bits.
    case getCurrentTimeResponse(ticks: UInt64)
    /// 8 octets.
    case getDeviceIDResponse([UInt8])
    case setAdvertisingParametersResponse
    /// Only in the dialect of a Twist.
    case twist(TwistButtonPacket)
    /// A packet we have no use for.
    case other(opcode: UInt8)

    /// Temporary id, certificate (signature 64, address 6, its type, public key 32), random 8, flags.
    struct FullVerifyResponse1: Hashable, Sendable {
        var temporaryID: UInt32
        var certificate: Certificate
        var random: [UInt8]
        var isInPublicMode: Bool
    }

    /// ```
    /// octet  1      2      18           19       42        46           48
    ///        flags  uuid   name length  name 23  firmware  battery raw  serial 11
    /// ```
    struct FullVerifyResponse2: Hashable, Sendable {
        var appCredentialsMatch: Bool
        var caresAboutAppCredentials: Bool
        /// Said only to a host that knows of them.
        var isDuo = false
        /// 16 octets.
        var uuid: [UInt8]
        /// At most 23 octets of UTF-8.
        var name: [UInt8]
        var firmwareVersion: UInt32
        var rawBattery: UInt16
        /// At most 11 octets of ASCII.
        var serial: [UInt8]

        static let nameLength = 23
        static let serialLength = 11
    }

    /// Random 8, temporary id, flags.
    struct QuickVerifyResponse: Hashable, Sendable {
        var random: [UInt8]
        var temporaryID: UInt32
        /// Said only to a host that knows of them.
        var isDuo = false
    }

    /// 48 bits (bit 0 has queued events, the rest ticks), event count and, in opcode 10 only, boot id.
    struct InitButtonEventsResponse: Hashable, Sendable {
        var hasQueuedEvents: Bool
        /// The button's clock now: ticks of 1/32768 s since its boot, 47 bits.
        var ticks: UInt64
        var eventCount: UInt32
        /// `nil` when it is the one that the host named.
        var bootID: UInt32?
    }

    /// A time in ms UTC, 48 bits, and the name now stored.
    struct StampedName: Hashable, Sendable {
        var timestamp: UInt64
        var name: [UInt8]
    }
}
