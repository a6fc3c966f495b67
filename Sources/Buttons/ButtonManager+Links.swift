import ButtonModel
import Flic
import Radios

// Links to buttons, from the connection to its end.
extension ButtonManager {
    mutating func linkUp(_ id: LinkID, to peer: BluetoothAddress, at now: Instant) {
        let button = ButtonID(peer)
        let isCandidate = search?.candidate?.address == peer
        guard isCandidate || isToBeConnected(button) else { return perform(.disconnect(id), at: now) }
        links[id] = ButtonLink(peer: peer, isPairing: isCandidate, lastActivity: now)
        if isCandidate {
            candidateConnected(peer, at: now)
        } else {
            updateState(of: button)
        }
        linkCountChanged(on: id.radio, at: now)
    }

    mutating func attached(_ id: LinkID, to service: FlicService, attMTU: Int, at now: Instant) {
        guard let link = links[id], link.phase == .attaching else { return }
        links[id]?.service = service
        guard let entropy = takeEntropy() else {
            effects.append(.anomaly("no random octets left for a session with \(link.peer)"))
            return close(id, at: now)
        }
        let button = ButtonID(link.peer)
        let purpose: ButtonSession.Purpose
        if link.isPairing {
            purpose = .pair
            candidateVerifying(link.peer)
        } else if let known = known[button] {
            purpose = .reconnect(
                known.pairing, known.cursor, delivered: delivered[button],
                advertisingConfigured: known.advertisingConfigured)
        } else {
            return close(id, at: now)
        }
        let isTwist = service == .twist
        let (latencyMode, autoDisconnectTime) = (latencyMode(of: button), autoDisconnectTime(of: button))
        let session = ButtonSession(
            .init(
                address: link.peer, purpose: purpose, trustRoots: trustRoots(ofTwist: isTwist),
                latencyMode: latencyMode,
                firmwareVersion: link.isPairing ? nil : known[button]?.identity.firmwareVersion,
                pendingNickname: known[button]?.pendingNickname,
                autoDisconnectTime: autoDisconnectTime, isTwist: isTwist,
                dials: known[button]?.dials ?? [:], ledMode: known[button]?.settings.ledMode ?? .fill,
                mayLoseNotifications: radios.mayLoseNotifications(id.radio)))
        links[id]?.session = session
        links[id]?.phase = .inSession(isReady: false)
        advanceSession(id, .linkReady(attMTU: attMTU, entropy), at: now)
    }

    mutating func becameReady(_ id: LinkID, _ button: ButtonID, at now: Instant) {
        links[id]?.phase = .inSession(isReady: true)
        links[id]?.wasReady = true
        links[id]?.lastActivity = now
        failedVerifications[button] = nil
        perform(.keepDiscovery(id), at: now)
        updateParameters(of: id, button, at: now)
        updateState(of: button)
    }

    mutating func attachFailed(_ id: LinkID, at now: Instant) {
        guard let link = links[id] else { return }
        if link.isPairing { candidateFailed(.couldNotDiscoverServices, at: now) }
        close(id, at: now)
    }

    /// Disconnects a link. A known button then is not expected for `retryDelay`, but not after the first
    /// failed verifications (`maximumFailedVerifications`): one corrupt packet must not delay the next press.
    mutating func close(_ id: LinkID, at now: Instant) {
        guard let link = links[id], link.phase != .closing else { return }
        links[id]?.phase = .closing
        let button = ButtonID(link.peer)
        perform(.discardDiscovery(link.peer), at: now)
        if known[button] != nil {
            if case .inSession = link.phase, !link.wasReady {
                failedVerifications[button, default: 0] += 1
            } else {
                failedVerifications[button] = Self.maximumFailedVerifications
            }
            if failedVerifications[button, default: 0] >= Self.maximumFailedVerifications {
                failedVerifications[button] = nil
                inRetryDelay.insert(button)
                deadlines.set(.retry(button), at: now + ButtonManager.retryDelay)
            }
            updateExpected(at: now)
        }
        perform(.disconnect(id), at: now)
    }

    /// Deletes a known button and all state about it. The caller must close its link afterwards.
    private mutating func remove(_ button: ButtonID, at now: Instant) {
        guard let removed = known.removeValue(forKey: button) else { return }
        delivered[button] = nil
        failedVerifications[button] = nil
        states[button] = nil
        requestedParameters[button] = nil
        inRetryDelay.remove(button)
        deadlines.cancel(.retry(button))
        endUpdate(of: button)
        perform(.forget(removed.identity.address, wasKnown: true), at: now)
        // A search in progress may report the button and pair it again.
        search?.reported.remove(removed.identity.address)
        search?.failed.remove(removed.identity.address)
        updateExpected(at: now)
    }

    mutating func forget(_ button: ButtonID, at now: Instant) {
        guard known[button] != nil else { return }
        effects.append(.forgotten(button))
        remove(button, at: now)
        guard let id = link(to: button) else { return }
        // Effects of the session are no longer wanted, because its button is not known any more.
        links[id]?.session = nil
        deadlines.cancel(.session(id))
        close(id, at: now)
    }

    mutating func linkDown(_ id: LinkID, reason: DisconnectReason, at now: Instant) {
        guard let link = links[id] else { return }
        advanceSession(id, .linkLost, at: now)
        links[id] = nil
        deadlines.cancel(.session(id))
        deadlines.cancel(.gracefulDisconnect(id))
        // A link that is superseded is followed by another one to the same button at once.
        if link.isPairing, reason != .superseded { candidateFailed(.connectFailed, at: now) }
        let button = ButtonID(link.peer)
        if known[button] != nil { effects.append(.disconnected(button, reason)) }
        updateState(of: button)
        linkFreed(on: id.radio, at: now)
        linkEndedAtShutDown()
    }

    /// Passes the timer to the session. A verification does not time out while the radio holds back our request, nor before
    /// the button has had the time to respond to it: ending the link would leave the button silent, with a stored press,
    /// until it is pressed again.
    mutating func sessionTimerFired(_ id: LinkID, at now: Instant) {
        if let link = links[id], case .inSession(isReady: false) = link.phase {
            let isHeldBack = radios.holdsBackData(for: id)
            links[id]?.wasHeldBack = isHeldBack
            if isHeldBack { return deadlines.set(.session(id), at: now + Self.heldBackCheck) }
            if link.wasHeldBack { return deadlines.set(.session(id), at: now + ButtonSession.verifyTimeout) }
        }
        advanceSession(id, .timerFired, at: now)
    }

    /// The extension of a verification's time limit while the radio holds back our request.
    private static let heldBackCheck = Duration.seconds(1)

    private mutating func restartSession(_ id: LinkID, at now: Instant) {
        guard links[id] != nil else { return }
        guard let entropy = takeEntropy() else { return close(id, at: now) }
        advanceSession(id, .restart(entropy), at: now)
    }

    /// Passes an input to a link's session and carries out its effects.
    mutating func advanceSession(_ id: LinkID, _ input: ButtonSession.Input, at now: Instant) {
        guard let place = links.place(of: id), let answers = links[sessionAt: place]?.handle(input, at: now) else {
            return
        }
        // An effect that leads to another input of the same session is handled after all other effects.
        var isToRestart = false
        var isToResumeUpdate = false
        for answer in answers {
            guard let place = links.place(of: id) else { return }
            let peer = links.values[place].peer
            let button = ButtonID(peer)
            switch answer {
            case .send(let value):
                if input != .linkLost { perform(.write(id, value), at: now) }
            case .setTimer(let deadline): deadlines.set(.session(id), at: deadline)
            case .cancelTimer: deadlines.cancel(.session(id))
            case .paired(let identity, let pairing, let batteryMillivolts):
                links[id]?.isPairing = false
                let new = KnownButton(identity: identity, pairing: pairing)
                known[new.id] = new
                effects.append(.paired(new, batteryMillivolts: batteryMillivolts))
                // The radios reported the home of the button while it was not known yet, so it is reported again.
                if !radios.isAlone { effects.append(.homeChanged(button, id.radio)) }
                candidatePaired(identity, at: now)
            case .ready(let cursor, let rebooted, _, _):
                delivered[button] = cursor
                if rebooted {
                    known[button]?.advertisingConfigured = false
                    effects.append(.rebooted(button, cursor))
                }
                becameReady(id, button, at: now)
                perform(.measureSignal(id), at: now)
                isToResumeUpdate = true
            case .events(let events, let cursor, let needsAcknowledgement):
                links.wasActive(id, at: now)
                delivered[button] = cursor
                for event in events where event.step == .down {
                    linkShortage.crowding[id.radio, default: Crowding()].pressed(button, age: event.age, at: now)
                }
                effects.append(.events(button, events, cursor, needsAcknowledgement: needsAcknowledgement))
            case .moved(let movements):
                links.wasActive(id, at: now)
                for movement in movements {
                    if let dial = movement.dial { known[button]?.dials[dial] = movement.units }
                }
                effects.append(.moved(button, movements))
            case .advertisingConfigured:
                known[button]?.advertisingConfigured = true
                effects.append(.advertisingConfigured(button))
            case .battery(let millivolts):
                effects.append(.battery(button, millivolts: millivolts))
                perform(.measureSignal(id), at: now)
            case .firmware(let version):
                known[button]?.identity.firmwareVersion = version
                effects.append(.firmware(button, version: version))
            case .model(let model):
                guard known[button]?.identity.model != model else { break }
                known[button]?.identity.model = model
                effects.append(.model(button, model))
            case .nickname(let name):
                known[button]?.identity.nickname = name
                known[button]?.settings.nicknameChosenAt = nil
                effects.append(.nickname(button, name))
            case .firmwareUpdate(let progress): updateProgressed(progress, of: button, at: now)
            case .unanswered(let request):
                effects.append(.anomaly("\(peer) does not answer \(request)"))
            case .unpaired, .factoryReset:
                effects.append(.unpaired(button))
                remove(button, at: now)
            case .failed(let failure):
                if failure == .packetSignatureMismatch { effects.append(.notificationLost(id.radio)) }
                if case .inSession = links.values[place].phase { links[id]?.phase = .inSession(isReady: false) }
                if links.values[place].isPairing {
                    candidateFailed(.session(failure), at: now)
                } else {
                    effects.append(.sessionFailed(button, failure))
                    updateState(of: button)
                }
            case .needsEntropy: isToRestart = true
            case .disconnect:
                close(id, at: now)
            case .ignored(let reason):
                effects.append(.anomaly("\(peer): \(reason)"))
            }
        }
        if isToRestart { restartSession(id, at: now) }
        if isToResumeUpdate { resumeUpdate(id, at: now) }
        // The session may have come to rest, so that its link can be ended for another button.
        freeLink(on: id.radio, at: now)
    }
}
