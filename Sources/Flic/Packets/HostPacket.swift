/// What a host sends to a button: opcode and payload, without frame header and signature.
///
/// Multi-octet fields are little endian. Octets after the known fields are ignored: newer software may send more.
///
/// - Source: protocol notes, 4.1 and 8.1.
enum HostPacket: Hashable, Sendable {
    case fullVerifyRequest1(temporaryID: UInt32)
    case fullVerifyRequest2(FullVerifyRequest2)
    case fullVerifyAbort
    case testIfReallyUnpairedRequest(TestIfReallyUnpairedRequest)
    case quickVerifyRequest(QuickVerifyRequest)
    case forceDisconnect(advertiseAgain: Bool)
    case getFirmwareVersionRequest
    case disconnectVerifiedLink
    case setNameRequest(SetNameRequest)
    case getNameRequest
    case setConnectionParameters(ConnectionParameters)
    /// After `timeout`, in 1/32768 s, the button sends `message` back; 0 stops what runs.
    case startAPITimer(timeout: UInt32, message: UInt32)
    case pingResponse
    case initButtonEventsRequest(InitButtonEventsRequest)
    /// Everything up to this counter is safe.
    case acknowledgeEvents(eventCount: UInt32)
    case initButtonEventsDuoRequest(InitButtonEventsDuoRequest)
    /// Everything up to these counters of its two buttons is safe.
    case acknowledgeDuoEvents(eventCount: UInt32, smallEventCount: UInt32)
    /// Which buttons shall tell how the Duo is turned while they are down.
    case enablePushTwist(ButtonPacket.PushTwistNotification.Parts)
    case startFirmwareUpdateDuoRequest(StartFirmwareUpdateDuoRequest)
    /// The next octets of an image, at most `maximumFirmwareOctetCount`.
    case firmwareUpdateDataDuo([UInt8])
    case startFirmwareUpdateRequest(StartFirmwareUpdateRequest)
    /// The next words of an image, at most `maximumFirmwareWordCount`.
    case firmwareUpdateData([UInt8])
    /// Seconds, 0…511; 511 is never.
    case setAutoDisconnectTime(seconds: UInt16)
    case getBatteryLevelRequest
    case factoryResetRequest
    case getCurrentTimeRequest
    case getDeviceIDRequest
    case setAdvertisingParametersRequest(AdvertisingParameters)
    case executeLEDPattern(LEDPattern)
    case abortLEDPattern
    /// Only in the dialect of a Twist.
    case twist(TwistHostPacket)
    /// A packet we have no use for.
    case other(opcode: UInt8)

    /// ```
    /// octet  1                           33           41     42                           58
    ///        X25519 public key, 32 octets  random, 8  flags  encrypted app token, 16 (*)  verifier, 16
    /// ```
    /// (*) in opcode 1 only; the verifier begins at 42 without it.
    struct FullVerifyRequest2: Hashable, Sendable {
        var publicKey, random: [UInt8]
        var flags: UInt8
        /// Empty, or 16 octets.
        var encryptedAppToken: [UInt8] = []
        var verifier: [UInt8]

        /// The host knows what a Duo is.
        static let supportsDuo: UInt8 = 0x80
    }

    /// Public key 32, random 8, pairing identifier, token 16.
    struct TestIfReallyUnpairedRequest: Hashable, Sendable {
        var publicKey, random: [UInt8]
        var pairingIdentifier: UInt32
        var token: [UInt8]
    }

    /// Random 7, flags, temporary id, pairing identifier.
    struct QuickVerifyRequest: Hashable, Sendable {
        var random: [UInt8]
        var flags: UInt8
        var temporaryID, pairingIdentifier: UInt32

        /// The host knows what a Duo is.
        static let supportsDuo: UInt8 = 0x40
    }

    /// The low 47 bits are a time in ms UTC, the 48th forces the name on the button; then the name.
    struct SetNameRequest: Hashable, Sendable {
        var timestamp: UInt64
        var isForced: Bool
        /// UTF-8, at most 23 octets.
        var name: [UInt8]
    }

    /// Length in 32-bit words, initialisation vector 8, words between two notifications of progress.
    struct StartFirmwareUpdateRequest: Hashable, Sendable {
        var wordCount: UInt16
        var initializationVector: [UInt8]
        var statusInterval: UInt16
    }

    /// 32-bit words that fit into one packet of an image.
    static let maximumFirmwareWordCount = 30

    /// Event count, boot id, then 40 bits:
    ///
    ///     bit  0…8              9…13                    14…33                       34
    ///          auto disconnect  maximum queued packets  their maximum age, seconds  HID on
    struct InitButtonEventsRequest: Hashable, Sendable {
        var eventCount, bootID: UInt32
        /// 511: never.
        var autoDisconnectSeconds: UInt16
        /// 0 none, 31 no limit.
        var maximumQueuedPackets: UInt8
        /// 0xFFFFF: no limit.
        var maximumQueuedAge: UInt32
    }
}

/// What the button shall ask the central for, in the units of the radio.
struct ConnectionParameters: Hashable, Sendable {
    /// 1.25 ms.
    var intervalMinimum, intervalMaximum: UInt16
    /// Connection events the button may skip.
    var latency: UInt16
    /// 10 ms.
    var supervisionTimeout: UInt16
}

/// How a button advertises for this pairing after a lost link.
struct AdvertisingParameters: Hashable, Sendable {
    var isActive = true
    var removesOtherPairingsSettings = false
    var withShortRange = true
    var withLongRange = false
    /// For the first 5 s; 0.625 ms.
    var firstInterval: UInt16 = 160
    /// After that; 0.625 ms.
    var laterInterval: UInt16 = 12_800
    var timeoutSeconds: UInt32 = 86_400

    /// Older firmware does not know the request.
    static let minimumFirmwareVersion: UInt32 = 6
}
