/// A packet from button to host: opcode and payload, without frame header and signature.
///
/// Multi-octet fields are little endian. Octets after the known fields are ignored: newer firmware may send more.
///
/// - Source: protocol notes, 4.2 to 4.7 and 8.1.
enum ButtonPacket: Hashable, Sendable {
    case fullVerifyResponse1(FullVerifyResponse1)
    case fullVerifyResponse2(FullVerifyResponse2)
    /// The temporary ids of the hosts for which the button has no slot left.
    case noLogicalConnectionSlots(temporaryIDs: [UInt32])
    case fullVerifyFailResponse(reason: UInt8)
    case testIfReallyUnpairedResponse(result: [UInt8])
    case getFirmwareVersionResponse(version: UInt32)
    case quickVerifyNegativeResponse(temporaryID: UInt32)
    case quickVerifyResponse(QuickVerifyResponse)
    /// The reason is 0 ping timeout, 1 invalid signature, 2 new session of the same pairing, or 3 by the user.
    case disconnectedVerifiedLink(reason: UInt8)
    case initButtonEventsResponse(InitButtonEventsResponse)
    case buttonEventNotification(EventNotification)
    case initButtonEventsDuoResponse(InitButtonEventsDuoResponse)
    /// A bit stream that must be decoded by the session's `DuoEventStream`.
    case buttonEventDuoNotification([UInt8])
    case pushTwistNotification(PushTwistNotification)
    case apiTimerNotification(message: UInt32)
    case nameUpdatedNotification(name: [UInt8])
    case pingRequest
    case getNameResponse(StampedName)
    case setNameResponse(StampedName)
    /// The position in the image at which to begin; or -1 invalid parameters, -2 busy, -3 waiting for a reboot.
    /// Positions are in words for a Flic 2, else in octets.
    case startFirmwareUpdateResponse(position: Int32)
    /// The number of words or octets received. If it is the whole image, its signature is valid; 0 means that it is
    /// not.
    case firmwareUpdateNotification(position: Int32)
    /// The raw reading, see `Battery`.
    case getBatteryLevelResponse(raw: UInt16)
    case factoryResetResponse
    /// The time since the button's boot in units of 1/32768 s, 56 bits.
    case getCurrentTimeResponse(ticks: UInt64)
    /// 8 octets.
    case getDeviceIDResponse([UInt8])
    case setAdvertisingParametersResponse
    /// A packet that exists only in the dialect of a Twist.
    case twist(TwistButtonPacket)
    /// A packet with an unknown or unused opcode.
    case other(opcode: UInt8)

    /// Temporary id 4, certificate (signature 64, address 6, address type 1, public key 32), random 8, flags 1.
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
        /// Set only if the host supports Duo.
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

    /// Random 8, temporary id 4, flags 1.
    struct QuickVerifyResponse: Hashable, Sendable {
        var random: [UInt8]
        var temporaryID: UInt32
        /// Set only if the host supports Duo.
        var isDuo = false
    }

    /// 48 bits (bit 0: has queued events; the others: ticks), event count 4 and, only in opcode 10, boot id 4.
    struct InitButtonEventsResponse: Hashable, Sendable {
        var hasQueuedEvents: Bool
        /// The button's clock: ticks of 1/32768 s since its boot, 47 bits.
        var ticks: UInt64
        var eventCount: UInt32
        /// `nil` if it is the boot id in the host's request.
        var bootID: UInt32?
    }

    /// The time at which the name was chosen, in ms UTC, 48 bits, and the name that the button now has.
    struct StampedName: Hashable, Sendable {
        var timestamp: UInt64
        var name: [UInt8]
    }
}
