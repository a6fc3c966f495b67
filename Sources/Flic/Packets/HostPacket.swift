/// A packet from host to button: opcode and payload, without frame header and signature.
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
    case setConnectionParameters(ButtonConnectionParameters)
    /// Makes the button send `message` back after `timeout`, in units of 1/32768 s; 0 cancels the timer.
    case startAPITimer(timeout: UInt32, message: UInt32)
    case pingResponse
    case initButtonEventsRequest(InitButtonEventsRequest)
    /// Acknowledges all events up to this counter: the button may delete them.
    case acknowledgeEvents(eventCount: UInt32)
    case initButtonEventsDuoRequest(InitButtonEventsDuoRequest)
    /// Acknowledges all events up to these counters of a Duo's two buttons.
    case acknowledgeDuoEvents(eventCount: UInt32, smallEventCount: UInt32)
    /// The buttons of a Duo that report rotation while they are pressed.
    case enablePushTwist(ButtonPacket.PushTwistNotification.Parts)
    case startFirmwareUpdateDuoRequest(StartFirmwareUpdateDuoRequest)
    /// The next octets of an image for a Duo, at most `maximumFirmwareOctetCount`.
    case firmwareUpdateDataDuo([UInt8])
    case startFirmwareUpdateRequest(StartFirmwareUpdateRequest)
    /// The next words of an image for a Flic 2, at most `maximumFirmwareWordCount`.
    case firmwareUpdateData([UInt8])
    /// The time until an idle button disconnects, 0…511 s; 511 is never.
    case setAutoDisconnectTime(seconds: UInt16)
    case getBatteryLevelRequest
    case factoryResetRequest
    case getCurrentTimeRequest
    case getDeviceIDRequest
    case setAdvertisingParametersRequest(AdvertisingParameters)
    case executeLEDPattern(LEDPattern)
    case abortLEDPattern
    /// A packet that exists only in the dialect of a Twist.
    case twist(TwistHostPacket)
    /// A packet with an unknown or unused opcode.
    case other(opcode: UInt8)

    /// ```
    /// octet  1                           33           41     42                           58
    ///        X25519 public key, 32 octets  random, 8  flags  encrypted app token, 16 (*)  verifier, 16
    /// ```
    /// (*) only in opcode 1; in opcode 2 the verifier begins at octet 42.
    struct FullVerifyRequest2: Hashable, Sendable {
        var publicKey, random: [UInt8]
        var flags: UInt8
        /// Empty (opcode 2), or 16 octets (opcode 1).
        var encryptedAppToken: [UInt8] = []
        var verifier: [UInt8]

        /// The flag of a host that supports Duo.
        static let supportsDuo: UInt8 = 0x80
    }

    /// X25519 public key 32, random 8, pairing identifier 4, token 16.
    struct TestIfReallyUnpairedRequest: Hashable, Sendable {
        var publicKey, random: [UInt8]
        var pairingIdentifier: UInt32
        var token: [UInt8]
    }

    /// Random 7, flags 1, temporary id 4, pairing identifier 4.
    struct QuickVerifyRequest: Hashable, Sendable {
        var random: [UInt8]
        var flags: UInt8
        var temporaryID, pairingIdentifier: UInt32

        /// The flag of a host that supports Duo.
        static let supportsDuo: UInt8 = 0x40
    }

    /// 48 bits: the time in ms UTC in the low 47, and whether the name is forced on the button; then the name.
    struct SetNameRequest: Hashable, Sendable {
        var timestamp: UInt64
        var isForced: Bool
        /// UTF-8, at most 23 octets.
        var name: [UInt8]
    }

    /// Length in 32-bit words 2, initialisation vector 8, number of words between two progress notifications 2.
    struct StartFirmwareUpdateRequest: Hashable, Sendable {
        var wordCount: UInt16
        var initializationVector: [UInt8]
        var statusInterval: UInt16
    }

    /// The maximum number of 32-bit words of an image in one packet.
    static let maximumFirmwareWordCount = 30

    /// Event count, boot id, then 40 bits:
    ///
    ///     bit  0…8              9…13                    14…33                       34
    ///          auto disconnect  maximum queued packets  their maximum age, seconds  HID on
    struct InitButtonEventsRequest: Hashable, Sendable {
        var eventCount, bootID: UInt32
        /// In seconds, 0…511; 511 is never.
        var autoDisconnectSeconds: UInt16
        /// 0…31; 0 is none, 31 is no limit.
        var maximumQueuedPackets: UInt8
        /// In seconds; 0xFFFFF is no limit.
        var maximumQueuedAge: UInt32
    }
}

/// The connection parameters that the button shall request from the central.
package struct ButtonConnectionParameters: Hashable, Sendable {
    /// In units of 1.25 ms.
    package var intervalMinimum, intervalMaximum: UInt16
    /// The number of connection events that the button may skip.
    package var latency: UInt16
    /// In units of 10 ms.
    package var supervisionTimeout: UInt16
}

/// How a button advertises for a pairing after it lost the link.
struct AdvertisingParameters: Hashable, Sendable {
    var isActive = true
    var removesOtherPairingsSettings = false
    var withShortRange = true
    var withLongRange = false
    /// The interval during the first 5 s, in units of 0.625 ms.
    var firstInterval: UInt16 = 160
    /// The interval afterwards, in units of 0.625 ms.
    var laterInterval: UInt16 = 12_800
    var timeoutSeconds: UInt32 = 86_400

    /// The first firmware version that supports the request.
    static let minimumFirmwareVersion: UInt32 = 6
}
