import ButtonModel
import Buttons
import FlicdProtocol
import JSON
import Rules

/// The server for flicd's clients, where one is configured.
struct FlicdState: Sendable {
    var server: FlicdServer
    /// Where it listens, as it says itself.
    var address: String?
    /// Why it does not.
    var fault: String?
    var backOff = BackOff(Hub.flicdRetry)
    /// What it is told while it is being told something.
    var inputs: [FlicdServer.Input] = []
}

// What flicd's clients hear of the house, and what they wish of it.
extension Hub {
    /// Waits between attempts to listen: doubling from the first to the last.
    static let flicdRetry = Duration.seconds(1)...Duration.seconds(60)

    mutating func flicdReported(_ report: FlicdReport, at now: Instant) {
        metrics.isOutdated = true
        switch report {
        case .listening(let address, let warning): flicdListens(address, warning)
        case .notListening(let reason): flicdFailed(reason, at: now)
        case .connected(let client, let peer): tellFlicd(.clientConnected(client, peer: peer), at: now)
        case .received(let client, let octets): tellFlicd(.received(client, octets), at: now)
        case .finished(let client): tellFlicd(.clientFinished(client), at: now)
        case .blocked(let client): tellFlicd(.clientBlocked(client), at: now)
        case .drained(let client): tellFlicd(.clientDrained(client), at: now)
        case .gone(let client): tellFlicd(.clientGone(client), at: now)
        }
    }

    mutating func startFlicd(at now: Instant) {
        guard flicd != nil else { return }
        let own = buttons.values.filter { $0.source == nil }
        for record in own.sorted(by: { $0.identity.id < $1.identity.id }) {
            tellFlicd(.button(record.identity), at: now)
            if let millivolts = record.batteryMillivolts, let time = record.batteryMeasuredAt {
                tellFlicd(.battery(record.identity.id, millivolts: millivolts, at: time), at: now)
            }
        }
        effects.append(.flicd(.listen))
    }

    private mutating func flicdListens(_ address: String, _ warning: String?) {
        flicd?.address = address
        flicd?.fault = nil
        flicd?.backOff.reset()
        log(.info, "flicd clients are served at \(address)")
        if let warning { log(.warning, warning) }
    }

    private mutating func flicdFailed(_ reason: String, at now: Instant) {
        guard !isFinished, let wait = flicd?.backOff.next() else { return }
        if flicd?.fault != reason { log(.error, "\(reason) Trying again in \(wait.milliseconds / 1000) s.") }
        flicd?.address = nil
        flicd?.fault = reason
        deadlines.set(.flicdListener, at: now + wait)
    }

    /// Tells the server something, and carries out what it answers. What that leads to waits its turn.
    mutating func tellFlicd(_ input: FlicdServer.Input, at now: Instant) {
        guard flicd != nil else { return }
        flicd?.inputs.append(input)
        guard flicd?.inputs.count == 1 else { return }
        var next = 0
        while let input = flicd?.inputs.dropFirst(next).first {
            for effect in flicd?.server.handle(input, at: now) ?? [] { carryOut(effect, at: now) }
            next += 1
        }
        flicd?.inputs.removeAll(keepingCapacity: true)
    }

    private mutating func carryOut(_ effect: FlicdServer.Effect, at now: Instant) {
        switch effect {
        case .send(let client, let octets): effects.append(.flicd(.send(client, octets)))
        case .pause(let client): effects.append(.flicd(.pause(client)))
        case .resume(let client): effects.append(.flicd(.resume(client)))
        case .close(let client, let isWritten): effects.append(.flicd(.close(client, isWritten: isWritten)))
        case .want(let button, let mode):
            let wish = mode.map {
                LinkWish(latencyMode: $0.latencyMode, autoDisconnectTime: $0.autoDisconnectTime)
            }
            advanceButtons(.want(button, wish), at: now)
        case .listen(let listening):
            advanceButtons(
                .listen(
                    ButtonListening(
                        reportsAll: listening.reportsAll, pairsAny: listening.pairsAny, pairs: listening.pairs)),
                at: now)
        case .delete(let button):
            log(.info, "\(label(of: button)) was deleted by a flicd client")
            advanceButtons(.forget(button), at: now)
        case .setTimer(let deadline): deadlines.set(.flicd, at: deadline)
        case .cancelTimer: deadlines.cancel(.flicd)
        case .log(let level, let text): log(level, text, from: .flicdClient)
        }
    }

    // MARK: What it is told

    mutating func tellFlicdController(at now: Instant) {
        switch radio.state {
        case .ready(let address): tellFlicd(.controller(.attached, address: address), at: now)
        case .starting, .down(.failed, _): tellFlicd(.controller(.resetting, address: nil), at: now)
        case .closed, .down: tellFlicd(.controller(.detached, address: nil), at: now)
        }
    }

    mutating func tellFlicdState(of button: ButtonID, _ state: ButtonState, at now: Instant) {
        // What comes from a flicd its clients get there.
        guard buttons[button]?.source == nil else { return }
        switch state {
        case .disconnected, .connecting: tellFlicd(.status(button, .disconnected), at: now)
        case .connected: tellFlicd(.status(button, .connected), at: now)
        case .ready: tellFlicd(.status(button, .ready), at: now)
        // Until it is gone nothing has changed.
        case .disconnecting: break
        }
    }

    mutating func tellFlicdProgress(_ progress: PairingProgress, at now: Instant) {
        switch progress {
        case .foundPublic(let address): tellFlicd(.pairing(.found(address)), at: now)
        case .connected(let address): tellFlicd(.pairing(.connected(address)), at: now)
        case .failed(let failure, let address?):
            let isControllerLost = !radio.isReady
            tellFlicd(
                .pairing(
                    .failed(
                        address, failure.wizardResult(isControllerLost: isControllerLost), failure.removedReason)),
                at: now)
        case .searching, .foundPrivate, .alreadyPaired, .connecting, .verifying, .paired, .failed(_, nil), .ended:
            break
        }
    }
}

extension FlicdAdvertisement {
    /// What is not known of the strength is -127 on the wire.
    init(_ heard: HeardAdvertisement) {
        self.init(
            address: heard.address, name: heard.name, rssi: heard.rssi ?? -127, isPrivate: !heard.isPublic,
            isAlreadyVerified: false, isConnectedToOtherDevice: heard.isTaken)
    }
}

extension FlicdServer.Input {
    static func battery(_ button: ButtonID, millivolts: Int, at time: UTCTime) -> FlicdServer.Input {
        .battery(button, percentage: Int8(clamping: Battery.percentage(millivolts: millivolts)), at: time)
    }

    /// Why a link ended, as `ButtonManager` has it: by the controller's word, or by the name of the session's failure.
    static func linkFailed(_ button: ButtonID, word: String) -> FlicdServer.Input {
        let reason: FlicdDisconnectReason =
            switch word {
            case "connection_timeout": .timedOut
            case "failed_to_be_established", "verify_timed_out", "too_many_apps", "could_not_discover_services":
                .connectionEstablishmentFailed
            case "genuine_check_failed", "quick_verify_signature_mismatch": .bondingKeysMismatch
            default: .unspecified
            }
        return .linkFailed(button, reason)
    }
}

/// - Source: flicd notes, 10.
extension PairingFailure {
    fileprivate func wizardResult(isControllerLost: Bool) -> FlicdScanWizardResult {
        switch word {
        case "already_connected_to_other_device": .buttonAlreadyConnectedToOtherDevice
        case "connect_failed" where isControllerLost: .bluetoothUnavailable
        case "app_credentials_denied_by_button": .buttonBelongsToOtherPartner
        case "genuine_check_failed", "quick_verify_signature_mismatch", "full_verify_failed_unknown": .invalidData
        case "not_in_public_mode": .buttonIsPrivate
        default: .failedTimeout
        }
    }

    /// Why a channel of the button ends that it was to be paired for; `nil`: it waits on.
    fileprivate var removedReason: FlicdRemovedReason? {
        switch word {
        case "no_new_buttons_found", "already_connected_to_other_device", "connection_timeout": nil
        case "app_credentials_denied_by_button": .buttonBelongsToOtherPartner
        case "genuine_check_failed", "quick_verify_signature_mismatch", "full_verify_failed_unknown": .invalidData
        case "not_in_public_mode": .buttonIsPrivate
        default: .verifyTimeout
        }
    }
}
