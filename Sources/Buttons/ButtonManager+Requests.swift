import ButtonModel
import Flic
import Radios

// Users' requests for known buttons, and graceful disconnects.
extension ButtonManager {
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
            latencyModeChanged(of: button, at: now)
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
            guard let id = link(to: button) else { break }
            perform(.measureSignal(id), at: now)
        case .updateFirmware(let octets):
            startUpdate(of: button, octets, at: now)
        case .cancelFirmwareUpdate: cancelUpdate(of: button, at: now)
        case .factoryReset:
            sendToSession(of: button, .factoryReset, at: now)
        }
    }

    mutating func sendToSession(of button: ButtonID, _ command: ButtonSession.Command, at now: Instant) {
        guard let id = link(to: button) else { return }
        advanceSession(id, .perform(command), at: now)
    }

    // MARK: Connecting by hand

    private mutating func setConnectionWanted(_ isWanted: Bool, _ button: ButtonID, at now: Instant) {
        known[button]?.settings.isConnectionWanted = isWanted
        if isWanted {
            // The user's request ends the delay after an earlier failure.
            inRetryDelay.remove(button)
            deadlines.cancel(.retry(button))
        }
        updateExpected(at: now)
        if !isWanted, let id = link(to: button) { disconnectGracefully(id, at: now) }
    }

    /// Disconnects all buttons gracefully, so that they advertise at once. Otherwise the next reset of the adapter
    /// would end the links without notice, and presses would be late by up to the supervision timeout.
    mutating func shutDown(at now: Instant) {
        guard !isShuttingDown else { return }
        isShuttingDown = true
        listening = ButtonListening()
        endSearch(byUser: true, at: now)
        updateListening(at: now)
        updateExpected(at: now)
        guard !links.isEmpty else { return hasParted = true }
        deadlines.set(.shutDown, at: now + Self.gracefulDisconnectTimeout)
        for id in links.keys.sorted() {
            disconnectGracefully(id, advertiseAgain: true, at: now)
        }
    }

    mutating func linkEndedAtShutDown() {
        guard isShuttingDown, links.isEmpty, deadlines.deadline(of: .shutDown) != nil else { return }
        deadlines.cancel(.shutDown)
        hasParted = true
    }

    /// Disconnects gracefully: asks a button in a session to end the link, so that it does not treat the link as lost.
    mutating func disconnectGracefully(_ id: LinkID, advertiseAgain: Bool = false, at now: Instant) {
        guard let link = links[id] else { return }
        switch link.phase {
        case .inSession(isReady: true):
            links[id]?.phase = .disconnecting
            advanceSession(id, .perform(.disconnect(advertiseAgain: advertiseAgain)), at: now)
            deadlines.set(.gracefulDisconnect(id), at: now + Self.gracefulDisconnectTimeout)
        case .attaching, .inSession(isReady: false):
            links[id]?.phase = .disconnecting
            perform(.disconnect(id), at: now)
        case .disconnecting, .closing: return
        }
        updateState(of: ButtonID(link.peer))
    }
}

extension KnownButton {
    /// The nickname that the button has not accepted yet; `nil` if there is none.
    var pendingNickname: Nickname? { settings.nicknameChosenAt.map { Nickname(identity.nickname, chosenAt: $0) } }
}
