import BluetoothHost
import ButtonModel
import Flic

// Users' requests for known buttons, graceful disconnects, and firmware updates, which may take several links.
extension ButtonManager {
    /// The maximum number of firmware updates at a time; each keeps an image of up to 1 MiB.
    package static let maximumUpdates = 8
    /// The time limit for a button that was asked to end its link; a packet reaches it within about 2 s.
    static let gracefulDisconnectTimeout = Duration.seconds(3)

    mutating func handle(_ request: ButtonRequest, for button: ButtonID, at now: Instant) {
        guard known[button] != nil else { return }
        switch request {
        case .setNickname(let text, let time):
            let nickname = Nickname(text, chosenAt: UInt64(clamping: time.milliseconds))
            known[button]?.identity.nickname = nickname.text
            known[button]?.settings.nicknameChosenAt = nickname.chosenAt
            sendToSession(of: button, .setNickname(nickname), at: now)
        case .setLatencyMode(let mode):
            known[button]?.settings.latencyMode = mode
            sendToSession(of: button, .setLatencyMode(latencyMode(of: button)), at: now)
        case .setAutoDisconnectTime(let seconds):
            known[button]?.settings.autoDisconnectTime = seconds
            sendToSession(of: button, .setAutoDisconnectTime(autoDisconnectTime(of: button)), at: now)
        case .setDial(let dial, let units):
            guard let identity = known[button]?.identity, Dial.all(of: identity.model).contains(dial) else { break }
            known[button]?.dials[dial] = units
            sendToSession(of: button, .setDial(dial, units: units), at: now)
        case .setLEDMode(let mode):
            known[button]?.settings.ledMode = mode
            sendToSession(of: button, .setLEDMode(mode), at: now)
        case .setConnectionWanted(let isWanted):
            setConnectionWanted(isWanted, button, at: now)
        case .measureSignal:
            guard let handle = link(to: button) else { break }
            perform(.perform(.readRSSI(handle)), at: now)
        case .updateFirmware(let octets):
            startUpdate(of: button, octets, at: now)
        case .cancelFirmwareUpdate:
            guard updates[button] != nil else { break }
            endUpdate(of: button)
            sendToSession(of: button, .cancelFirmwareUpdate, at: now)
            effects.append(.firmwareUpdate(button, .failed(.cancelled)))
        case .factoryReset:
            sendToSession(of: button, .factoryReset, at: now)
        }
    }

    mutating func sendToSession(of button: ButtonID, _ command: ButtonSession.Command, at now: Instant) {
        guard let handle = link(to: button) else { return }
        advanceSession(handle, .perform(command), at: now)
    }

    // MARK: Connecting by hand

    private mutating func setConnectionWanted(_ isWanted: Bool, _ button: ButtonID, at now: Instant) {
        known[button]?.settings.isConnectionWanted = isWanted
        if isWanted {
            // The user's request ends the delay after an earlier failure.
            inRetryDelay.remove(button)
            deadlines.cancel(.retry(button))
        }
        updateAcceptList(at: now)
        if !isWanted, let handle = link(to: button) { disconnectGracefully(handle, at: now) }
    }

    /// Disconnects all buttons gracefully, so that they advertise at once. Otherwise the next reset of the adapter
    /// would end the links without notice, and presses would be late by up to the supervision timeout.
    mutating func shutDown(at now: Instant) {
        guard !isShuttingDown else { return }
        isShuttingDown = true
        listening = ButtonListening()
        endSearch(byUser: true, at: now)
        updateScanning(at: now)
        updateAcceptList(at: now)
        guard !links.isEmpty else { return effects.append(.allDisconnected) }
        deadlines.set(.shutDown, at: now + Self.gracefulDisconnectTimeout)
        for handle in links.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            disconnectGracefully(handle, advertiseAgain: true, at: now)
        }
    }

    mutating func linkEndedAtShutDown() {
        guard isShuttingDown, links.isEmpty, deadlines.deadline(of: .shutDown) != nil else { return }
        deadlines.cancel(.shutDown)
        effects.append(.allDisconnected)
    }

    /// Disconnects gracefully: asks a button in a session to end the link, so that it does not treat the link as lost.
    mutating func disconnectGracefully(_ handle: ConnectionHandle, advertiseAgain: Bool = false, at now: Instant) {
        guard let link = links[handle] else { return }
        switch link.phase {
        case .inSession(isReady: true):
            links[handle]?.phase = .disconnecting
            advanceSession(handle, .perform(.disconnect(advertiseAgain: advertiseAgain)), at: now)
            deadlines.set(.gracefulDisconnect(handle), at: now + Self.gracefulDisconnectTimeout)
        case .exchangingMTU, .discovering, .subscribing, .inSession(isReady: false):
            links[handle]?.phase = .disconnecting
            perform(.perform(.disconnect(handle, reason: .remoteUserTerminated)), at: now)
        case .disconnecting, .closing: return
        }
        updateState(of: ButtonID(link.connection.peer))
    }

    // MARK: Firmware

    private mutating func startUpdate(of button: ButtonID, _ octets: [UInt8], at now: Instant) {
        let image: FirmwareImage
        do {
            image = try FirmwareImage(octets, for: known[button]?.identity.model ?? .flic2)
        } catch {
            return effects.append(.firmwareUpdate(button, .failed(error)))
        }
        guard updates[button] == nil, updates.count < Self.maximumUpdates else {
            return effects.append(.firmwareUpdate(button, .failed(.busy)))
        }
        updates[button] = image
        if let handle = link(to: button), links[handle]?.phase == .inSession(isReady: true) {
            advanceSession(handle, .perform(.updateFirmware(image)), at: now)
        } else {
            effects.append(.firmwareUpdate(button, .waiting))
        }
    }

    mutating func becameReady(_ handle: ConnectionHandle, _ button: ButtonID, at now: Instant) {
        links[handle]?.phase = .inSession(isReady: true)
        links[handle]?.wasReady = true
        links[handle]?.lastActivity = now
        failedVerifications[button] = nil
        attributes[button] = links[handle]?.attributes
        updateState(of: button)
    }

    /// Resumes an interrupted firmware update when the session is ready.
    mutating func resumeUpdate(_ handle: ConnectionHandle, at now: Instant) {
        guard let link = links[handle], let image = updates[ButtonID(link.connection.peer)] else { return }
        advanceSession(handle, .perform(.updateFirmware(image)), at: now)
    }

    mutating func updateProgressed(_ progress: FirmwareUpdateProgress, of button: ButtonID) {
        guard updates[button] != nil else { return }
        switch progress {
        case .started(let units, let all), .received(let units, let all):
            effects.append(.firmwareUpdate(button, .transferring(percentage: all > 0 ? units * 100 / all : 0)))
        case .finished:
            endUpdate(of: button)
            attributes[button] = nil
            effects.append(.firmwareUpdate(button, .finished))
        case .failed(.interrupted):
            effects.append(.firmwareUpdate(button, .waiting))
        case .failed(let failure):
            endUpdate(of: button)
            effects.append(.firmwareUpdate(button, .failed(failure)))
        }
    }

    mutating func endUpdate(of button: ButtonID) { updates[button] = nil }
}

extension KnownButton {
    /// The nickname that the button has not accepted yet; `nil` if there is none.
    var pendingNickname: Nickname? { settings.nicknameChosenAt.map { Nickname(identity.nickname, chosenAt: $0) } }
}

extension FirmwareProgress {
    fileprivate static func failed(_ failure: FirmwareUpdateFailure) -> FirmwareProgress {
        .failed(name: failure.name, advice: failure.advice)
    }

    fileprivate static func failed(_ fault: FirmwareImage.InvalidImage) -> FirmwareProgress {
        let advice =
            switch fault {
            case .tooShort, .notWords:
                "The file is not a complete firmware image for this button. Download it again."
            case .tooLong: "The file is too large: images for a Flic 2 are at most 256 KiB, others 1 MiB."
            }
        return .failed(name: "invalid_image", advice: advice)
    }
}
