import ButtonModel
import Bytes
import Cryptography

/// From the first request to the session key: full verify, quick verify, and the proof of a forgotten pairing.
extension ButtonSession {
    mutating func begin(_ entropy: SessionEntropy, at now: Instant, _ effects: inout [Effect]) {
        guard !configuration.isTwist || attMTU >= Self.minimumTwistMTU else {
            return giveUp(.attMTUTooSmall(attMTU), &effects)
        }
        if let pairing {
            state = .awaitingQuickVerifyResponse(entropy, pairing, deadline: now + Self.verifyTimeout)
            send(
                .quickVerifyRequest(
                    .init(
                        random: entropy.quickVerifyRandom, flags: quickVerifyFlags, temporaryID: entropy.temporaryID,
                        pairingIdentifier: pairing.identifier)), &effects)
        } else {
            state = .awaitingFullVerifyResponse1(entropy, doubted: nil, deadline: now + Self.pairingTimeout)
            send(.fullVerifyRequest1(temporaryID: entropy.temporaryID), &effects)
        }
    }

    mutating func receiveVerification(
        _ frame: Frame, _ packet: ButtonPacket, at now: Instant, _ effects: inout [Effect]
    ) {
        switch (state, packet) {
        case (
            .awaitingFullVerifyResponse1(let entropy, let doubted, let deadline), .fullVerifyResponse1(let response)
        )
        where frame.header.isNewlyAssigned && response.temporaryID == entropy.temporaryID:
            connectionID = frame.header.connectionID
            let next = doubted == nil ? deadline : now + Self.verifyTimeout
            answer(response, entropy, doubted: doubted, deadline: next, &effects)

        case (.awaitingFullVerifyResponse2(let master, let deadline), .fullVerifyResponse2(let response))
        where frame.header.connectionID != 0:
            finishPairing(frame.packet, response, master, deadline: deadline, &effects)

        case (.awaitingFullVerifyResponse2, .fullVerifyFailResponse(let reason))
        where frame.header.connectionID != 0:
            switch reason {
            case 0: giveUp(.invalidVerifier, &effects)
            case 1: giveUp(.notInPublicMode, &effects)
            default: giveUp(.fullVerifyFailedUnknown(reason: reason), &effects)
            }

        case (.awaitingQuickVerifyResponse(let entropy, let pairing, _), .quickVerifyResponse(let response))
        where frame.header.isNewlyAssigned && response.temporaryID == entropy.temporaryID:
            connectionID = frame.header.connectionID
            let key = SessionKey(
                quickVerify: pairing.key, hostRandom: entropy.quickVerifyRandom, flags: quickVerifyFlags,
                buttonRandom: response.random)
            guard let key, let channel = SignedChannel(key, as: .host, opening: frame.packet) else {
                return giveUp(.quickVerifySignatureMismatch, &effects)
            }
            isDuo = response.isDuo && offersDuo
            if model != .flic2 { effects.append(.model(model)) }
            askForEvents(channel, afterPairing: false, deadline: now + Self.verifyTimeout, &effects)

        case (
            .awaitingQuickVerifyResponse(let entropy, let pairing, _),
            .quickVerifyNegativeResponse(let temporaryID)
        )
        where temporaryID == entropy.temporaryID:
            state = .awaitingFullVerifyResponse1(
                entropy, doubted: pairing, deadline: now + Self.verifyTimeout)
            send(.fullVerifyRequest1(temporaryID: temporaryID), &effects)

        case (.awaitingUnpairedResponse(let proof, _), .testIfReallyUnpairedResponse(let result))
        where frame.header.connectionID != 0:
            judge(result, by: proof, &effects)

        case (.awaitingFullVerifyResponse1(let entropy, doubted: nil, _), .noLogicalConnectionSlots(let temporaryIDs))
        where temporaryIDs.contains(entropy.temporaryID):
            giveUp(.tooManyApps, &effects)

        case (.awaitingFullVerifyResponse1(let entropy, _, _), .noLogicalConnectionSlots(let temporaryIDs))
        where temporaryIDs.contains(entropy.temporaryID),
            (.awaitingQuickVerifyResponse(let entropy, _, _), .noLogicalConnectionSlots(let temporaryIDs))
        where temporaryIDs.contains(entropy.temporaryID):
            pause(Self.pauseAfterTooManyApps, .tooManyApps, at: now, &effects)

        case (.awaitingFullVerifyResponse1, _), (.awaitingFullVerifyResponse2, _), (.awaitingQuickVerifyResponse, _),
            (.awaitingUnpairedResponse, _):
            // Packets for other programs, and late packets of the previous session, are normal.
            effects.append(.ignored(reason: "packet \(packet.opcode) during verification"))

        case (.idle, _), (.awaitingInitResponse, _), (.ready, _), (.pausing, _), (.awaitingEntropy, _), (.closed, _):
            break
        }
    }

    /// Checks the certificate and derives the master secret, for a pairing or for the test of the pairing `doubted`.
    private mutating func answer(
        _ response: ButtonPacket.FullVerifyResponse1, _ entropy: SessionEntropy, doubted: Pairing?, deadline: Instant,
        _ effects: inout [Effect]
    ) {
        guard response.certificate.isIssued(to: configuration.address) else {
            return giveUp(.unexpectedAddress, &effects)
        }
        // The test uses flags 0, even if the host supports Duo.
        let flags = doubted == nil ? pairingFlags : 0
        guard let variant = response.certificate.variant(signedBy: configuration.trustRoots),
            let master = MasterSecret(
                privateKey: entropy.privateKey, publicKey: response.certificate.publicKey, variant: variant,
                buttonRandom: response.random, hostRandom: entropy.random, flags: flags),
            let verifier = master.verifier(),
            let publicKey = Curve25519.agreementPublicKey(privateKey: entropy.privateKey)
        else { return giveUp(.invalidCertificate, &effects) }
        if let doubted {
            guard let proof = master.unpairedProof(of: doubted) else {
                return giveUp(.invalidCalculatedSignature, &effects)
            }
            state = .awaitingUnpairedResponse(proof, deadline: deadline)
            return send(
                .testIfReallyUnpairedRequest(
                    .init(
                        publicKey: publicKey, random: entropy.random, pairingIdentifier: doubted.identifier,
                        token: proof.token)), &effects)
        }
        state = .awaitingFullVerifyResponse2(master, deadline: deadline)
        // The host does not check `isInPublicMode`, because the button itself refuses unless it is in public mode.
        send(
            .fullVerifyRequest2(.init(publicKey: publicKey, random: entropy.random, flags: flags, verifier: verifier)),
            &effects)
    }

    private mutating func judge(
        _ result: [UInt8], by proof: MasterSecret.UnpairedProof, _ effects: inout [Effect]
    ) {
        if Digest.isEqualInConstantTime(result, proof.notExists) {
            close(&effects)
            effects.append(contentsOf: [.unpaired, .disconnect])
        } else if Digest.isEqualInConstantTime(result, proof.exists) {
            giveUp(.pairingExists, &effects)
        } else {
            giveUp(.invalidCalculatedSignature, &effects)
        }
    }

    private mutating func finishPairing(
        _ packet: [UInt8], _ response: ButtonPacket.FullVerifyResponse2, _ master: MasterSecret, deadline: Instant,
        _ effects: inout [Effect]
    ) {
        guard let key = master.sessionKey, let newPairing = master.pairing,
            let channel = SignedChannel(key, as: .host, opening: packet)
        else { return giveUp(.invalidCalculatedSignature, &effects) }
        guard response.appCredentialsMatch || !response.caresAboutAppCredentials else {
            return giveUp(.appCredentialsDeniedByButton, &effects)
        }
        pairing = newPairing
        firmwareVersion = response.firmwareVersion
        isDuo = response.isDuo && offersDuo
        effects.append(
            .paired(
                ButtonIdentity(
                    address: configuration.address, uuid: response.uuid.hex,
                    serial: String(decoding: response.serial, as: UTF8.self),
                    nickname: String(decoding: response.name, as: UTF8.self), firmwareVersion: response.firmwareVersion,
                    model: model),
                newPairing, batteryMillivolts: millivolts(response.rawBattery)))
        askForEvents(channel, afterPairing: true, deadline: deadline, &effects)
    }

    private mutating func askForEvents(
        _ channel: SignedChannel, afterPairing: Bool, deadline: Instant, _ effects: inout [Effect]
    ) {
        state = .awaitingInitResponse(channel, afterPairing: afterPairing, deadline: deadline)
        sentAutoDisconnectTime = autoDisconnectTime
        guard !configuration.isTwist else { return askTwistForEvents(&effects) }
        send(
            initRequest(
                .init(
                    eventCount: syncedCursor.eventCount, bootID: syncedCursor.bootID,
                    autoDisconnectSeconds: autoDisconnectTime,
                    // Events that the button stored before the pairing are not requested.
                    maximumQueuedPackets: afterPairing ? 0 : 31, maximumQueuedAge: 0xFFFFF)), &effects)
    }
}

extension SessionEntropy {
    fileprivate var quickVerifyRandom: [UInt8] { random.padded(to: 7) }
}
