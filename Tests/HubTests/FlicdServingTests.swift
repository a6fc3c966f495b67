import ButtonModel
import Buttons
import Flic
import FlicdProtocol
import JSON
import Radios
import Rules
import Testing

@testable import Hub

/// A hub that serves flicd's clients, with one of them connected.
private struct ServingHouse {
    static let client = FlicdServer.ClientID(rawValue: 1)
    static let hall = BluetoothAddress(rawValue: 0x80E4_DA12_3456)
    static let attic = BluetoothAddress(rawValue: 0x9088_A9AB_CDEF)

    var hub: Hub
    var now = Instant(sinceBoot: .seconds(5))

    init(stored: [StoredButton] = [], maximumConnections: Int? = nil, isServing: Bool = true) {
        let configuration = HubConfiguration(
            version: "0", radios: [ConfiguredRadio("hci:0", kind: .local(maximumLinks: maximumConnections))],
            sources: ["flicd://attic:5551"],
            flicdListen: isServing ? "127.0.0.1:5551" : nil)
        hub = Hub(configuration, stored: StoredState(installationID: "00ff", buttons: stored), rules: RuleSet())
        _ = hub.handleChecked(.wallClock(UTCTime(milliseconds: 1_795_000_000_000)), at: now)
        _ = hub.handleChecked(.start, at: now)
        _ = hub.handleChecked(.flicd(.connected(Self.client, peer: "127.0.0.1:1")), at: now)
    }

    mutating func ask(_ commands: FlicdCommand...) -> [FlicdEvent] {
        heard(hub.handleChecked(.flicd(.received(Self.client, commands.flatMap { $0.encoded() })), at: now))
    }

    mutating func tell(_ input: Hub.Input) -> [FlicdEvent] { heard(hub.handleChecked(input, at: now)) }

    /// The events for clients after a change in a part of the hub.
    mutating func hear(_ body: (inout Hub, Instant) -> Void) -> [FlicdEvent] {
        hub.effects = []
        body(&hub, now)
        defer { hub.effects = [] }
        return heard(hub.effects)
    }

    private func heard(_ effects: [Hub.Effect]) -> [FlicdEvent] {
        var framer = FlicdFramer(maximumLength: FlicdFramer.maximumEventLength)
        for case .flicd(.send(Self.client, let octets)) in effects { framer.append(octets) }
        var events: [FlicdEvent] = []
        while let packet = try? framer.next() {
            if let event = try? FlicdEvent(decoding: packet) { events.append(event) }
        }
        return events
    }

    mutating func info() -> FlicdInfo? {
        if case .getInfoResponse(let info)? = ask(.getInfo).first { info } else { nil }
    }

    static func stored(_ address: BluetoothAddress, source: String? = nil) -> StoredButton {
        StoredButton(
            identity: ButtonIdentity(
                address: address, uuid: String(repeating: "0f", count: 16), serial: "BA00-H00002", nickname: "",
                firmwareVersion: 11),
            pairing: source == nil
                ? PairingKey([UInt8](repeating: 1, count: 16)).map { Pairing(identifier: 1, key: $0) } : nil,
            source: source, pairedAt: UTCTime(milliseconds: 0), batteryMillivolts: 3000,
            batteryMeasuredAt: UTCTime(milliseconds: 1_700_000_000_000))
    }
}

@Suite("What flicd's clients receive")
struct FlicdServingTests {
    @Test("the maximum number of connections is reported as configured, and as unknown if it is not")
    func maximum() {
        var configured = ServingHouse(maximumConnections: 5)
        #expect(configured.info()?.maxConcurrentlyConnectedButtons == 5)
        var open = ServingHouse()
        #expect(open.info().map { $0.maxConcurrentlyConnectedButtons == nil } == true)
    }

    @Test("from the start its own buttons are there with their batteries; those of another flicd are that one's")
    func stored() {
        var house = ServingHouse(
            stored: [
                ServingHouse.stored(ServingHouse.hall),
                ServingHouse.stored(ServingHouse.attic, source: "flicd://attic:5551"),
            ])
        #expect(house.info()?.verifiedButtons == [ServingHouse.hall])
        #expect(
            house.ask(.createBatteryStatusListener(id: 1, ServingHouse.hall)) == [
                .batteryStatus(id: 1, percentage: 100, timestamp: 1_700_000_000)
            ])
        #expect(house.ask(.createConnectionChannel(id: 1, ServingHouse.hall, FlicdChannelMode())).count == 1)
        #expect(house.ask(.createConnectionChannel(id: 2, ServingHouse.attic, FlicdChannelMode())).count == 1)
        let heard = house.hear { hub, now in
            hub.reportStateToFlicd(of: ButtonID(ServingHouse.hall), .ready, at: now)
            hub.reportStateToFlicd(of: ButtonID(ServingHouse.attic), .ready, at: now)
        }
        #expect(
            heard == [
                .connectionStatusChanged(id: 1, .connected, reason: .unspecified),
                .connectionStatusChanged(id: 1, .ready, reason: .unspecified),
            ])
    }

    @Test("a button is disconnected when it is gone, not when it is asked to go")
    func states() {
        var house = ServingHouse(stored: [ServingHouse.stored(ServingHouse.hall)])
        _ = house.ask(.createConnectionChannel(id: 1, ServingHouse.hall, FlicdChannelMode()))
        let told: [(ButtonState, FlicdConnectionStatus?)] = [
            (.connecting, nil), (.connected, .connected), (.ready, .ready), (.disconnecting, nil),
            (.disconnected, .disconnected),
        ]
        for (state, status) in told {
            let heard = house.hear { hub, now in hub.reportStateToFlicd(of: ButtonID(ServingHouse.hall), state, at: now)
            }
            #expect(
                heard == (status.map { [.connectionStatusChanged(id: 1, $0, reason: .unspecified)] } ?? []), "\(state)")
        }
    }

    @Test("an adapter that is tried or reset is resetting; one that is not there, or not for us, is detached")
    func adapter() {
        var house = ServingHouse()
        #expect(house.info()?.controllerState == .detached)
        #expect(house.tell(.transportOpened()) == [.bluetoothControllerStateChange(.resetting)])
        #expect(house.tell(.transportClosed("x", .absent)) == [.bluetoothControllerStateChange(.detached)])
        #expect(house.tell(.transportClosed("x", .failed)) == [.bluetoothControllerStateChange(.resetting)])
        #expect(house.tell(.transportClosed("x", .unauthorized)) == [.bluetoothControllerStateChange(.detached)])
        #expect(house.tell(.transportClosed("x", .unsupported)).isEmpty)
        let address = BluetoothAddress(rawValue: 0x001A_7DDA_7113)
        let heard = house.hear { hub, now in
            hub.radios.becameReady(.first, address, at: now)
            hub.reportControllerToFlicd(at: now)
        }
        #expect(heard == [.bluetoothControllerStateChange(.attached)])
        #expect(house.info()?.address == address)
    }

    private static let failures: [(PairingFailure, FlicdScanWizardResult, FlicdRemovedReason?)] = [
        (.alreadyConnectedToOtherDevice, .buttonAlreadyConnectedToOtherDevice, nil),
        (.connectionTimeout, .failedTimeout, nil),
        (.couldNotDiscoverServices, .failedTimeout, .verifyTimeout),
        (.connectFailed, .failedTimeout, .verifyTimeout),
        (.session(.verifyTimedOut), .failedTimeout, .verifyTimeout),
        (.session(.appCredentialsDeniedByButton), .buttonBelongsToOtherPartner, .buttonBelongsToOtherPartner),
        (.session(.invalidCertificate), .invalidData, .invalidData),
        (.session(.quickVerifySignatureMismatch), .invalidData, .invalidData),
        (.session(.packetSignatureMismatch), .failedTimeout, .verifyTimeout),
        (.session(.tooManyApps), .failedTimeout, .verifyTimeout),
        (.session(.notInPublicMode), .buttonIsPrivate, .buttonIsPrivate),
        (.session(.fullVerifyFailedUnknown(reason: 9)), .invalidData, .invalidData),
        (.session(.sessionEnded(reason: 0)), .failedTimeout, .verifyTimeout),
    ]

    @Test(
        "every way in which a pairing fails has its word for wizards, and for channels that waited", arguments: failures
    )
    func failure(failure: PairingFailure, result: FlicdScanWizardResult, reason: FlicdRemovedReason?) {
        var house = ServingHouse()
        let attic = ServingHouse.attic
        _ = house.hear { hub, now in
            hub.radios.becameReady(.first, ServingHouse.hall, at: now)
            hub.reportControllerToFlicd(at: now)
        }
        _ = house.ask(.createScanWizard(id: 3), .createConnectionChannel(id: 4, attic, FlicdChannelMode()))
        let heard = house.hear { hub, now in
            hub.reportPairingToFlicd(.foundPublic(attic), at: now)
            hub.reportPairingToFlicd(.connecting(attic), at: now)
            hub.reportPairingToFlicd(.connected(attic), at: now)
            hub.reportPairingToFlicd(.failed(failure, attic), at: now)
        }
        let end: [FlicdEvent] = reason.map { [.connectionChannelRemoved(id: 4, $0)] } ?? []
        #expect(
            heard == [
                .scanWizardFoundPublicButton(id: 3, attic, name: ""),
                .connectionStatusChanged(id: 4, .connected, reason: .unspecified), .scanWizardButtonConnected(id: 3),
                .connectionStatusChanged(id: 4, .disconnected, reason: .unspecified),
            ] + end)
        house.now = house.now + .seconds(2)
        #expect(house.tell(.timerFired) == [.scanWizardCompleted(id: 3, result)])
    }

    @Test("a link that the controller took along was not the button's fault")
    func lostController() {
        var house = ServingHouse()
        let attic = ServingHouse.attic
        _ = house.hear { hub, now in
            hub.radios.becameReady(.first, ServingHouse.hall, at: now)
            hub.reportControllerToFlicd(at: now)
        }
        _ = house.ask(.createScanWizard(id: 3))
        house.now = house.now + .seconds(3)
        let heard = house.hear { hub, now in
            hub.reportPairingToFlicd(.foundPublic(attic), at: now)
            _ = hub.radios.closed(.first, "x", .absent, time: UTCTime(milliseconds: 0), at: now)
            hub.reportPairingToFlicd(.failed(.connectFailed, attic), at: now)
        }
        #expect(heard.last == .scanWizardCompleted(id: 3, .bluetoothUnavailable))
    }

    private static let ends: [(DisconnectReason, FlicdDisconnectReason)] = [
        (.connectionTimeout, .timedOut), (.radioLost, .timedOut), (.remoteUserTerminated, .unspecified),
        (.failedToBeEstablished, .connectionEstablishmentFailed), (.other(0x3D), .unspecified),
    ]

    @Test("every end of a link has its reason", arguments: ends)
    func end(of link: DisconnectReason, reason: FlicdDisconnectReason) {
        #expect(FlicdDisconnectReason(link) == reason)
        #expect(DisconnectReason(name: link.name) == link)
    }

    @Test("a link that ends with a timeout, or through BlueZ, which does not say why, may be one of a silent button")
    func timeouts() {
        let reasons: [DisconnectReason] = [
            .connectionTimeout, .remoteUserTerminated, .localHostTerminated, .failedToBeEstablished, .superseded,
            .radioLost, .unknown, .other(0x3D),
        ]
        #expect(reasons.filter(\.mayBeTimeout) == [.connectionTimeout, .unknown])
    }

    private static let sessionFailures: [(SessionFailure, FlicdDisconnectReason)] = [
        (.verifyTimedOut, .connectionEstablishmentFailed), (.tooManyApps, .connectionEstablishmentFailed),
        (.invalidVerifier, .bondingKeysMismatch), (.quickVerifySignatureMismatch, .bondingKeysMismatch),
        (.packetSignatureMismatch, .unspecified), (.sessionEnded(reason: 3), .unspecified),
    ]

    @Test("every failure of a session has its reason", arguments: sessionFailures)
    func failure(of session: SessionFailure, reason: FlicdDisconnectReason) {
        #expect(FlicdDisconnectReason(session) == reason)
        #expect(SessionFailure(notation: session.notation) == session)
        #expect(SessionFailure(notation: session.name)?.name == session.name)
    }

    @Test("an address that cannot be listened on is logged once, and tried again after 1 s, 2 s, and at most 60 s")
    func notListening() {
        var house = ServingHouse()
        var waits: [Int64] = []
        var lines = 0
        for _ in 0..<8 {
            let effects = house.hub.handleChecked(.flicd(.notListening("it is taken.")), at: house.now)
            lines += effects.count { if case .log(.error, _) = $0 { true } else { false } }
            guard let deadline = house.hub.deadlines.deadline(of: .flicdListener) else { break }
            waits.append((deadline - house.now).milliseconds / 1000)
            house.now = deadline
            #expect(house.hub.handleChecked(.timerFired, at: house.now).contains(.flicd(.listen)))
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60])
        #expect(lines == 1)
        _ = house.hub.handleChecked(.flicd(.listening("127.0.0.1:5551", warning: nil)), at: house.now)
        _ = house.hub.handleChecked(.flicd(.notListening("it is taken.")), at: house.now)
        #expect(house.hub.deadlines.deadline(of: .flicdListener) == house.now + .seconds(1))
    }

    @Test("without `flicd.listen`, no client is served")
    func off() {
        var house = ServingHouse(isServing: false)
        #expect(house.ask(.ping(id: 1)).isEmpty)
        #expect(
            house.hub.handleChecked(.flicd(.notListening("x")), at: house.now).allSatisfy { $0 != .flicd(.listen) })
    }
}
