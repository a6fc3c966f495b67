import BluetoothHost
import ButtonModel
import Flic

// Links to buttons, from the connection to its end.
extension ButtonManager {
    mutating func linkUp(_ connection: LEConnection, at now: Instant) {
        let button = ButtonID(connection.peer)
        let isCandidate = search?.candidate?.address == connection.peer
        guard isCandidate || isToBeConnected(button) else {
            perform(.perform(.disconnect(connection.handle, reason: .remoteUserTerminated)), at: now)
            return
        }
        links[connection.handle] = ButtonLink(connection: connection, isPairing: isCandidate, lastActivity: now)
        if isCandidate {
            candidateConnected(connection, at: now)
        } else {
            updateState(of: button)
        }
        linkCountChanged(at: now)
        perform(.perform(.exchangeMTU(connection.handle)), at: now)
    }

    mutating func mtuExchanged(_ handle: ConnectionHandle, attMTU: Int, at now: Instant) {
        guard links[handle]?.phase == .exchangingMTU else { return }
        links[handle]?.attMTU = attMTU
        if let link = links[handle], let attributes = attributes[ButtonID(link.connection.peer)] {
            subscribe(handle, to: attributes, at: now)
        } else {
            discover(handle, at: now)
        }
    }

    private mutating func discover(_ handle: ConnectionHandle, at now: Instant) {
        guard let link = links[handle] else { return }
        let known = known[ButtonID(link.connection.peer)].map { FlicService($0.identity.model) }
        let expected = (link.isPairing ? search?.candidateService : known) ?? .flic2
        links[handle]?.otherService = expected.other
        discover(handle, expected, at: now)
    }

    private mutating func discover(_ handle: ConnectionHandle, _ service: FlicService, at now: Instant) {
        links[handle]?.phase = .discovering
        perform(.perform(.discoverService(handle, service.uuid)), at: now)
    }

    mutating func serviceDiscovered(_ handle: ConnectionHandle, _ service: RemoteService, at now: Instant) {
        guard links[handle]?.phase == .discovering else { return }
        guard let attributes = FlicAttributes(service) else {
            return procedureFailed(handle, .serviceNotFound, at: now)
        }
        subscribe(handle, to: attributes, at: now)
    }

    private mutating func subscribe(_ handle: ConnectionHandle, to attributes: FlicAttributes, at now: Instant) {
        links[handle]?.attributes = attributes
        links[handle]?.phase = .subscribing
        guard let configuration = attributes.configuration else { return notificationsSet(handle, at: now) }
        perform(.perform(.setNotifications(handle, configuration: configuration, enabled: true)), at: now)
    }

    mutating func notificationsSet(_ handle: ConnectionHandle, at now: Instant) {
        guard let link = links[handle], link.phase == .subscribing else { return }
        guard let entropy = takeEntropy() else {
            effects.append(.anomaly("no random octets left for a session with \(link.connection.peer)"))
            return close(handle, at: now)
        }
        let button = ButtonID(link.connection.peer)
        let purpose: ButtonSession.Purpose
        if link.isPairing {
            purpose = .pair
            candidateVerifying(link.connection.peer)
        } else if let known = known[button] {
            purpose = .reconnect(
                known.pairing, known.cursor, delivered: delivered[button],
                advertisingConfigured: known.advertisingConfigured)
        } else {
            return close(handle, at: now)
        }
        let isTwist = link.attributes?.service == .twist
        let (latencyMode, autoDisconnectTime) = (latencyMode(of: button), autoDisconnectTime(of: button))
        let session = ButtonSession(
            .init(
                address: link.connection.peer, purpose: purpose, trustRoots: trustRoots(ofTwist: isTwist),
                latencyMode: latencyMode,
                firmwareVersion: link.isPairing ? nil : known[button]?.identity.firmwareVersion,
                pendingNickname: known[button]?.pendingNickname,
                autoDisconnectTime: autoDisconnectTime, isTwist: isTwist,
                dials: known[button]?.dials ?? [:], ledMode: known[button]?.settings.ledMode ?? .fill))
        links[handle]?.session = session
        links[handle]?.phase = .inSession(isReady: false)
        advanceSession(handle, .linkReady(attMTU: link.attMTU, entropy), at: now)
    }

    mutating func becameReady(_ handle: ConnectionHandle, _ button: ButtonID, at now: Instant) {
        links[handle]?.phase = .inSession(isReady: true)
        links[handle]?.wasReady = true
        links[handle]?.lastActivity = now
        failedVerifications[button] = nil
        attributes[button] = links[handle]?.attributes
        updateState(of: button)
    }

    mutating func procedureFailed(_ handle: ConnectionHandle, _ failure: ATTFailure, at now: Instant) {
        guard let link = links[handle], link.phase != .closing, failure != .linkLost else { return }
        effects.append(.anomaly("\(link.connection.peer): \(failure) while \(link.phase)"))
        if link.phase == .subscribing, attributes.removeValue(forKey: ButtonID(link.connection.peer)) != nil,
            failure != .transactionTimedOut
        {
            // The attributes from an earlier link are outdated.
            return discover(handle, at: now)
        }
        if link.phase == .discovering, failure == .serviceNotFound, let other = link.otherService {
            links[handle]?.otherService = nil
            return discover(handle, other, at: now)
        }
        if link.isPairing { candidateFailed(.couldNotDiscoverServices, at: now) }
        close(handle, at: now)
    }

    /// Disconnects a link. A known button then stays out of the accept list for `retryDelay`, but not after the first
    /// failed verifications (`maximumFailedVerifications`): one corrupt packet must not delay the next press.
    mutating func close(_ handle: ConnectionHandle, at now: Instant) {
        guard let link = links[handle], link.phase != .closing else { return }
        links[handle]?.phase = .closing
        let button = ButtonID(link.connection.peer)
        attributes[button] = nil
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
            updateAcceptList(at: now)
        }
        perform(.perform(.disconnect(handle, reason: .remoteUserTerminated)), at: now)
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
        attributes[button] = nil
        // A search in progress may report the button and pair it again.
        search?.reported.remove(removed.identity.address)
        search?.failed.remove(removed.identity.address)
        updateAcceptList(at: now)
    }

    mutating func forget(_ button: ButtonID, at now: Instant) {
        guard known[button] != nil else { return }
        effects.append(.forgotten(button))
        remove(button, at: now)
        guard let handle = link(to: button) else { return }
        // Effects of the session are no longer wanted, because its button is not known any more.
        links[handle]?.session = nil
        deadlines.cancel(.session(handle))
        close(handle, at: now)
    }

    mutating func linkDown(_ handle: ConnectionHandle, reason: HCIStatus, at now: Instant) {
        guard let link = links[handle] else { return }
        advanceSession(handle, .linkLost, at: now)
        links[handle] = nil
        deadlines.cancel(.session(handle))
        deadlines.cancel(.gracefulDisconnect(handle))
        if link.isPairing { candidateFailed(.connectFailed, at: now) }
        let button = ButtonID(link.connection.peer)
        if known[button] != nil { effects.append(.disconnected(button, reason: reason.disconnectReasonName)) }
        updateState(of: button)
        linkFreed(at: now)
        linkEndedAtShutDown()
    }

    /// Passes the timer to the session. A verification does not time out while the controller holds back our request:
    /// ending the link would leave the button silent, with a stored press, until it is pressed again.
    mutating func sessionTimerFired(_ handle: ConnectionHandle, at now: Instant) {
        if let link = links[handle], case .inSession(isReady: false) = link.phase, host.holdsBackData(for: handle) {
            return deadlines.set(.session(handle), at: now + Self.heldBackCheck)
        }
        advanceSession(handle, .timerFired, at: now)
    }

    /// The extension of a verification's time limit while the controller holds back our request.
    private static let heldBackCheck = Duration.seconds(1)

    private mutating func restartSession(_ handle: ConnectionHandle, at now: Instant) {
        guard links[handle] != nil else { return }
        guard let entropy = takeEntropy() else { return close(handle, at: now) }
        advanceSession(handle, .restart(entropy), at: now)
    }

    /// Passes an input to a link's session and carries out its effects.
    mutating func advanceSession(_ handle: ConnectionHandle, _ input: ButtonSession.Input, at now: Instant) {
        guard let answers = links[handle]?.session?.handle(input, at: now) else { return }
        // An effect that leads to another input of the same session is handled after all other effects.
        var isToRestart = false
        var isToResumeUpdate = false
        for answer in answers {
            guard let link = links[handle] else { return }
            let button = ButtonID(link.connection.peer)
            switch answer {
            case .send(let value):
                guard let attribute = link.attributes?.write, input != .linkLost else { break }
                perform(.perform(.write(handle, attribute, value)), at: now)
            case .setTimer(let deadline): deadlines.set(.session(handle), at: deadline)
            case .cancelTimer: deadlines.cancel(.session(handle))
            case .paired(let identity, let pairing, let batteryMillivolts):
                links[handle]?.isPairing = false
                let new = KnownButton(identity: identity, pairing: pairing)
                known[new.id] = new
                effects.append(.paired(new, batteryMillivolts: batteryMillivolts))
                candidatePaired(identity, at: now)
            case .ready(let cursor, let rebooted, _, _):
                delivered[button] = cursor
                if rebooted {
                    known[button]?.advertisingConfigured = false
                    effects.append(.rebooted(button, cursor))
                }
                becameReady(handle, button, at: now)
                perform(.perform(.readRSSI(handle)), at: now)
                isToResumeUpdate = true
            case .events(let events, let cursor, let needsAcknowledgement):
                links[handle]?.lastActivity = now
                delivered[button] = cursor
                effects.append(.events(button, events, cursor, needsAcknowledgement: needsAcknowledgement))
            case .moved(let movements):
                links[handle]?.lastActivity = now
                for movement in movements {
                    if let dial = movement.dial { known[button]?.dials[dial] = movement.units }
                }
                effects.append(.moved(button, movements))
            case .queueDrained: break
            case .advertisingConfigured:
                known[button]?.advertisingConfigured = true
                effects.append(.advertisingConfigured(button))
            case .battery(let millivolts):
                effects.append(.battery(button, millivolts: millivolts))
                perform(.perform(.readRSSI(handle)), at: now)
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
            case .firmwareUpdate(let progress): updateProgressed(progress, of: button)
            case .unanswered(let request):
                effects.append(.anomaly("\(link.connection.peer) does not answer \(request)"))
            case .unpaired, .factoryReset:
                effects.append(.unpaired(button))
                remove(button, at: now)
            case .failed(let failure):
                if case .inSession = link.phase { links[handle]?.phase = .inSession(isReady: false) }
                if link.isPairing {
                    candidateFailed(.session(failure), at: now)
                } else {
                    effects.append(
                        .sessionFailed(button, name: failure.name, advice: PairingFailure.session(failure).advice))
                    updateState(of: button)
                }
            case .needsEntropy: isToRestart = true
            case .disconnect:
                close(handle, at: now)
            case .ignored(let reason):
                effects.append(.anomaly("\(link.connection.peer): \(reason)"))
            }
        }
        if isToRestart { restartSession(handle, at: now) }
        if isToResumeUpdate { resumeUpdate(handle, at: now) }
        // The session may have come to rest, so that its link can be ended for another button.
        freeLink(at: now)
    }
}
