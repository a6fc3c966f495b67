import ButtonModel
import Buttons
import FlicdProtocol
import Rules

// Carries out what the server for flicd's clients decides, and tells it what happens in the house.
extension Hub {
    mutating func flicdReported(_ report: FlicdReport, at now: Instant) {
        flicd.wasReported()
        switch report {
        case .listening(let address, let warning): flicdListens(address, warning)
        case .notListening(let reason): flicdFailed(reason, at: now)
        case .connected(let client, let peer): advanceFlicdServer(.clientConnected(client, peer: peer), at: now)
        case .received(let client, let octets): advanceFlicdServer(.received(client, octets), at: now)
        case .finished(let client): advanceFlicdServer(.clientFinished(client), at: now)
        case .blocked(let client): advanceFlicdServer(.clientBlocked(client), at: now)
        case .drained(let client): advanceFlicdServer(.clientDrained(client), at: now)
        case .gone(let client): advanceFlicdServer(.clientGone(client), at: now)
        }
    }

    mutating func startFlicd(with own: [ButtonRecord], at now: Instant) {
        guard flicd.isServing else { return }
        for record in own {
            advanceFlicdServer(.button(record.identity), at: now)
            advanceFlicdServer(.battery(record), at: now)
        }
        emit(.flicd(.listen))
    }

    private mutating func flicdListens(_ address: String, _ warning: String?) {
        flicd.listens(at: address)
        log(.info, "flicd clients are served at \(address)")
        if let warning { log(.warning, warning) }
    }

    private mutating func flicdFailed(_ reason: String, at now: Instant) {
        guard !isFinished, let (delay, isNew) = flicd.listeningFailed(reason) else { return }
        if isNew { log(.error, "\(reason) Trying again in \(delay.milliseconds / 1000) s.") }
        setTimer(.flicdListener, at: now + delay)
    }

    /// Tells the server something, and carries out what it answers.
    mutating func advanceFlicdServer(_ input: FlicdServer.Input?, at now: Instant) {
        guard let input, flicd.add(input) else { return }
        while let serverEffects = flicd.takeTurn(at: now) {
            for effect in serverEffects { carryOut(effect, at: now) }
        }
    }

    private mutating func carryOut(_ effect: FlicdServer.Effect, at now: Instant) {
        switch effect {
        case .send(let client, let octets): emit(.flicd(.send(client, octets)))
        case .pause(let client): emit(.flicd(.pause(client)))
        case .resume(let client): emit(.flicd(.resume(client)))
        case .close(let client, let isWritten): emit(.flicd(.close(client, isWritten: isWritten)))
        case .requestMode(let button, let mode):
            let wish = mode.map {
                RequestedLinkParameters(latencyMode: $0.latencyMode, autoDisconnectTime: $0.autoDisconnectTime)
            }
            advanceButtons(.setRequestedParameters(button, wish), at: now)
        case .listen(let listening):
            advanceButtons(
                .listen(
                    ButtonListening(
                        reportsAll: listening.reportsAll, pairsAny: listening.pairsAny, pairs: listening.pairs)),
                at: now)
        case .delete(let button):
            log(.info, "\(label(of: button)) was deleted by a flicd client")
            advanceButtons(.forget(button), at: now)
        case .setTimer(let deadline): setTimer(.flicd, at: deadline)
        case .cancelTimer: cancelTimer(.flicd)
        case .log(let level, let text): log(level, text, from: .outside(.flicdClient))
        }
    }

    // MARK: What the server is told

    mutating func reportControllerToFlicd(at now: Instant) {
        advanceFlicdServer(.controller(radios.best.state), at: now)
    }

    mutating func reportPairingToFlicd(_ progress: PairingProgress, at now: Instant) {
        advanceFlicdServer(.pairing(progress, isControllerLost: !radios.isReady), at: now)
    }

    /// Tells flicd's clients, unless the button comes from a flicd, where they can connect to see it.
    mutating func reportStateToFlicd(of button: ButtonID, _ state: ButtonState, at now: Instant) {
        guard buttons[button]?.source == nil else { return }
        advanceFlicdServer(.linkState(state, of: button), at: now)
    }
}
