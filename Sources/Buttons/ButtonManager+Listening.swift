import ButtonModel
import Flic
import Radios

// Listening for buttons to pair has no time limit. It therefore scans with a duty cycle of 10 %, which does not delay
// paired buttons. When a button in public mode is found, scanning is as in a search until it is paired.
extension ButtonManager {
    mutating func listen(_ wanted: ButtonListening, at now: Instant) {
        guard !isShuttingDown else { return }
        listening = wanted
        if search == nil, wanted.isForPairing {
            search = ButtonSearch(isUserRequested: false)
        } else if search?.isUserRequested == false {
            search?.failed = []
            // The end of pairing, or a candidate that is not to be paired any more, ends this search.
            let isUnwanted = search?.candidate.map { !isWanted(ButtonID($0.address)) } ?? false
            if !wanted.isForPairing || isUnwanted { return endSearch(byUser: true, at: now) }
        }
        updateListening(at: now)
    }

    func isWanted(_ button: ButtonID) -> Bool { listening.pairsAny || listening.pairs.contains(button) }

    /// Tells the radio how to listen, as the search and the `ButtonListening` require.
    mutating func updateListening(at now: Instant) {
        guard isControllerReady else { return }
        let needed: RadioListening
        switch search?.candidate {
        case .connecting where !listening.reportsAll, .linked where !listening.reportsAll: needed = .off
        case .found, .connecting, .linked: needed = .active
        case nil where search?.isUserRequested == true || listening.reportsAll: needed = .active
        case nil: needed = search == nil ? .off : .background
        }
        perform(.listen(needed), at: now)
    }

    mutating func reportAdvertisement(_ heard: HeardAdvertisement) {
        guard listening.reportsAll || listening.isForPairing, heard.kind == .connectable else { return }
        let isKnown = known[ButtonID(heard.address)] != nil
        guard heard.service != nil || isKnown || heard.address.hasFlicPrefix, listening.reportsAll || !isKnown else {
            return
        }
        effects.append(
            .advertised(
                ButtonAdvertisement(
                    address: heard.address, name: heard.name, rssi: heard.rssi, isPublic: heard.service != nil,
                    isConnectedElsewhere: heard.isConnectedElsewhere)))
    }

    // MARK: Connection parameters

    mutating func setRequestedParameters(_ button: ButtonID, _ parameters: RequestedLinkParameters?, at now: Instant) {
        let before = (latencyMode(of: button), autoDisconnectTime(of: button))
        requestedParameters[button] = known[button] == nil ? nil : parameters
        let after = (latencyMode(of: button), autoDisconnectTime(of: button))
        if after.0 != before.0 { latencyModeChanged(of: button, at: now) }
        if after.1 != before.1 { sendToSession(of: button, .setAutoDisconnectTime(after.1), at: now) }
    }

    mutating func latencyModeChanged(of button: ButtonID, at now: Instant) {
        sendToSession(of: button, .setLatencyMode(latencyMode(of: button)), at: now)
        if let id = link(to: button), links[id]?.phase == .inSession(isReady: true) {
            updateParameters(of: id, button, at: now)
        }
    }

    /// Gives the radio the connection parameters that the button's latency mode needs. The button also requests them
    /// over the link, but an ESPHome proxy answers that request itself and does not report its answer.
    mutating func updateParameters(of id: LinkID, _ button: ButtonID, at now: Instant) {
        let wanted = latencyMode(of: button).connectionParameters
        perform(
            .update(
                id,
                LinkParameters(
                    minimumInterval: wanted.intervalMinimum, maximumInterval: wanted.intervalMaximum,
                    latency: wanted.latency, supervisionTimeout: wanted.supervisionTimeout)), at: now)
    }

    /// The latency mode of the user's settings, or if that is the default, the mode of the `RequestedLinkParameters`.
    func latencyMode(of button: ButtonID) -> LatencyMode {
        let own = known[button]?.settings.latencyMode ?? .normal
        return own == .normal ? requestedParameters[button]?.latencyMode ?? own : own
    }

    /// The time without a press after which the button ends its link, in seconds; `nil` if it keeps the link.
    ///
    /// If neither the user nor a flicd client has set a time, it is `shortAutoDisconnectTime` on a radio with fewer links
    /// than buttons. It is `nil` for a Twist, which needs the link to report rotation.
    func autoDisconnectTime(of button: ButtonID) -> UInt16? {
        if let time = known[button]?.settings.autoDisconnectTime ?? requestedParameters[button]?.autoDisconnectTime {
            return time
        }
        guard let id = link(to: button), links[id]?.service != .twist, linkShortage.radiosInTurns.contains(id.radio)
        else { return nil }
        return Self.shortAutoDisconnectTime
    }
}
