import ButtonModel
import Cryptography

/// Full verify, quick verify and the test for a pairing: how logical connections begin.
extension FlicPeripheral {
    mutating func receive(_ frame: Frame, random: [UInt8], at now: Instant, _ effects: inout [Effect]) {
        guard let opcode = frame.packet.first else { return }
        let id = frame.header.connectionID
        guard HostPacket.isUnsigned(opcode: opcode) else { return receiveSigned(frame, at: now, &effects) }
        guard let packet = try? HostPacket(decoding: frame.packet, in: dialect) else { return }
        switch packet {
        case .fullVerifyRequest1(let temporaryID):
            close(id)
            offer(temporaryID, random: random, &effects)
        case .quickVerifyRequest(let request):
            close(id)
            quickVerify(request, random: random, &effects)
        case .fullVerifyRequest2(let request):
            guard let offered = connections.offeredRandom(id) else { break }
            pair(request, connectionID: id, random: offered, &effects)
        case .testIfReallyUnpairedRequest(let request):
            guard let offered = connections.offeredRandom(id) else { break }
            testIfReallyUnpaired(request, connectionID: id, random: offered, &effects)
        case .fullVerifyAbort:
            if connections.offeredRandom(id) != nil { connections.close(id) }
        case .forceDisconnect, .getFirmwareVersionRequest, .disconnectVerifiedLink, .setNameRequest, .getNameRequest,
            .setConnectionParameters, .startAPITimer, .pingResponse, .initButtonEventsRequest, .acknowledgeEvents,
            .startFirmwareUpdateRequest, .firmwareUpdateData, .setAutoDisconnectTime, .getBatteryLevelRequest,
            .factoryResetRequest, .getCurrentTimeRequest, .getDeviceIDRequest, .setAdvertisingParametersRequest,
            .executeLEDPattern, .abortLEDPattern, .initButtonEventsDuoRequest, .acknowledgeDuoEvents, .enablePushTwist,
            .startFirmwareUpdateDuoRequest, .firmwareUpdateDataDuo, .twist, .other:
            break
        }
    }

    private mutating func offer(_ temporaryID: UInt32, random: [UInt8], _ effects: inout [Effect]) {
        guard let certificate else { return }
        connections.closeOffers(to: temporaryID)
        let id = connections.open(.offered(temporaryID: temporaryID, random: random))
        guard let id else { return refuse(temporaryID, &effects) }
        let response = ButtonPacket.fullVerifyResponse1(
            .init(
                temporaryID: temporaryID, certificate: certificate, random: random, isInPublicMode: isInPublicMode))
        send(response, FrameHeader(connectionID: id, isNewlyAssigned: true), &effects)
    }

    private mutating func pair(
        _ request: HostPacket.FullVerifyRequest2, connectionID id: UInt8, random: [UInt8], _ effects: inout [Effect]
    ) {
        connections.close(id)
        let header = FrameHeader(connectionID: id)
        let master = MasterSecret(
            privateKey: configuration.privateKey, publicKey: request.publicKey, variant: variant, buttonRandom: random,
            hostRandom: request.random, flags: request.flags)
        guard let master, let verifier = master.verifier(encryptedAppToken: request.encryptedAppToken),
            Digest.isEqualInConstantTime(verifier, request.verifier), let key = master.sessionKey,
            let pairing = master.pairing
        else { return send(ButtonPacket.fullVerifyFailResponse(reason: 0), header, &effects) }
        guard isInPublicMode else {
            return send(ButtonPacket.fullVerifyFailResponse(reason: 1), header, &effects)
        }
        pairingTable.store(pairing)
        connections[id] = .init(SignedChannel(key, as: .button), pairingIdentifier: pairing.identifier)
        let isDuo = knowsDuo(request.flags & HostPacket.FullVerifyRequest2.supportsDuo)
        if isDuo { connections[id]?.duo = DuoSessionState() }
        sendSigned(
            .fullVerifyResponse2(
                .init(
                    appCredentialsMatch: true, caresAboutAppCredentials: false, isDuo: isDuo, uuid: configuration.uuid,
                    name: name, firmwareVersion: firmwareVersion, rawBattery: rawBattery,
                    serial: Array(configuration.serial.utf8))), on: id, &effects)
        effects.append(.paired)
    }

    private mutating func quickVerify(
        _ request: HostPacket.QuickVerifyRequest, random: [UInt8], _ effects: inout [Effect]
    ) {
        guard let pairing = pairingTable.find(request.pairingIdentifier),
            let key = SessionKey(
                quickVerify: pairing.key, hostRandom: request.random, flags: request.flags, buttonRandom: random)
        else {
            let response = ButtonPacket.quickVerifyNegativeResponse(temporaryID: request.temporaryID)
            return send(response, FrameHeader(connectionID: 0), &effects)
        }
        if let former = connections.session(of: pairing.identifier) {
            endSession(former, reason: .newSession, &effects)
        }
        var session = LogicalConnections.Session(
            SignedChannel(key, as: .button), pairingIdentifier: pairing.identifier)
        let isDuo = knowsDuo(request.flags & HostPacket.QuickVerifyRequest.supportsDuo)
        if isDuo { session.duo = DuoSessionState() }
        let response = ButtonPacket.quickVerifyResponse(
            .init(random: random, temporaryID: request.temporaryID, isDuo: isDuo))
        guard let sealed = response.octets(in: dialect).map({ session.channel.seal($0) }),
            let id = connections.open(.session(session))
        else {
            return refuse(request.temporaryID, &effects)
        }
        // Storing the pairing again makes it the most recently used.
        pairingTable.store(pairing)
        send(sealed, FrameHeader(connectionID: id, isNewlyAssigned: true), &effects)
    }

    /// True if the session uses the packets of a Duo.
    ///
    /// - Parameter flag: the flag of a host that supports Duo, masked.
    private func knowsDuo(_ flag: UInt8) -> Bool { configuration.model == .duo && flag != 0 }

    private mutating func testIfReallyUnpaired(
        _ request: HostPacket.TestIfReallyUnpairedRequest, connectionID: UInt8, random: [UInt8],
        _ effects: inout [Effect]
    ) {
        let master = MasterSecret(
            privateKey: configuration.privateKey, publicKey: request.publicKey, variant: variant, buttonRandom: random,
            hostRandom: request.random, flags: 0)
        guard let master else { return }
        let proof = pairingTable.find(request.pairingIdentifier).flatMap(master.unpairedProof)
        let result: [UInt8]? =
            if let proof, Digest.isEqualInConstantTime(proof.token, request.token) {
                proof.exists
            } else {
                master.denial(of: request.token)
            }
        guard let result else { return }
        let response = ButtonPacket.testIfReallyUnpairedResponse(result: result)
        send(response, FrameHeader(connectionID: connectionID), &effects)
    }

    private func refuse(_ temporaryID: UInt32, _ effects: inout [Effect]) {
        let response = ButtonPacket.noLogicalConnectionSlots(temporaryIDs: [temporaryID])
        send(response, FrameHeader(connectionID: 0), &effects)
    }
}
