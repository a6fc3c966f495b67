import BluetoothHost
import ButtonModel
import Flic

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
        updateScanning(at: now)
    }

    func isWanted(_ button: ButtonID) -> Bool { listening.pairsAny || listening.pairs.contains(button) }

    /// Starts or stops scanning, as the search and the listening require.
    mutating func updateScanning(at now: Instant) {
        guard isControllerReady else { return }
        let command: LEHost.Command
        switch search?.candidate {
        case .connecting where !listening.reportsAll, .linked where !listening.reportsAll: command = .stopScanning
        case .found, .connecting, .linked: command = .startScanning(active: true)
        case nil where search?.isUserRequested == true || listening.reportsAll: command = .startScanning(active: true)
        case nil: command = search == nil ? .stopScanning : .startBackgroundScanning
        }
        perform(.perform(command), at: now)
    }

    mutating func reportAdvertisement(_ report: AdvertisingReport) {
        guard listening.reportsAll || listening.isForPairing, report.kind == .connectable else { return }
        let structures = ADStructure.parse(report.data)
        let isPublic = FlicService.allCases.contains { structures.serviceUUIDs.contains($0.uuid) }
        let isKnown = known[ButtonID(report.address)] != nil
        guard isPublic || isKnown || report.address.hasFlicPrefix, listening.reportsAll || !isKnown else { return }
        effects.append(
            .advertised(
                ButtonAdvertisement(
                    address: report.address, name: structures.localName ?? "", rssi: report.rssi, isPublic: isPublic,
                    isConnectedElsewhere: structures.saysConnectedElsewhere)))
    }

    // MARK: Requested connection parameters

    mutating func setRequestedParameters(_ button: ButtonID, _ parameters: RequestedLinkParameters?, at now: Instant) {
        let before = (latencyMode(of: button), autoDisconnectTime(of: button))
        requestedParameters[button] = known[button] == nil ? nil : parameters
        let after = (latencyMode(of: button), autoDisconnectTime(of: button))
        if after.0 != before.0 { sendToSession(of: button, .setLatencyMode(after.0), at: now) }
        if after.1 != before.1 { sendToSession(of: button, .setAutoDisconnectTime(after.1), at: now) }
    }

    /// The latency mode of the user's settings, or if that is the default, the mode of the `RequestedLinkParameters`.
    func latencyMode(of button: ButtonID) -> LatencyMode {
        let own = known[button]?.settings.latencyMode ?? .normal
        return own == .normal ? requestedParameters[button]?.latencyMode ?? own : own
    }

    func autoDisconnectTime(of button: ButtonID) -> UInt16? {
        known[button]?.settings.autoDisconnectTime ?? requestedParameters[button]?.autoDisconnectTime
    }
}
