import BluetoothHost
package import ButtonModel
import Flic

/// The advertisements to report and the buttons to pair, besides those of a search that a user started.
package struct ButtonListening: Hashable, Sendable {
    /// Whether advertisements of all Flic buttons are reported. Otherwise only those of unknown buttons are, while any
    /// are to be paired.
    package var reportsAll: Bool
    /// Whether every unknown button in public mode is paired.
    package var pairsAny: Bool
    /// The buttons that are paired when they advertise in public mode.
    package var pairs: Set<ButtonID>

    package init(reportsAll: Bool = false, pairsAny: Bool = false, pairs: Set<ButtonID> = []) {
        self.reportsAll = reportsAll
        self.pairsAny = pairsAny
        self.pairs = pairs
    }

    var isForPairing: Bool { pairsAny || !pairs.isEmpty }
}

/// The connection parameters that clients of the flicd server request for a button. The user's settings take precedence.
package struct RequestedLinkParameters: Hashable, Sendable {
    package var latencyMode: LatencyMode
    /// Seconds without a press after which the button ends the link, as in `ButtonSettings`.
    package var autoDisconnectTime: UInt16?

    package init(latencyMode: LatencyMode, autoDisconnectTime: UInt16?) {
        self.latencyMode = latencyMode
        self.autoDisconnectTime = autoDisconnectTime
    }
}

/// An advertisement that a Flic button may have sent.
package struct ButtonAdvertisement: Hashable, Sendable {
    package var address: BluetoothAddress
    /// Empty if the advertisement has no name, as in private mode.
    package var name: String
    /// In dBm.
    package var rssi: Int8?
    /// Whether the button is in public mode, in which it can be paired.
    package var isPublic: Bool
    /// Whether the button advertises that it is connected to another device.
    package var isConnectedElsewhere: Bool

    package init(address: BluetoothAddress, name: String, rssi: Int8?, isPublic: Bool, isConnectedElsewhere: Bool) {
        self.address = address
        self.name = name
        self.rssi = rssi
        self.isPublic = isPublic
        self.isConnectedElsewhere = isConnectedElsewhere
    }
}

/// The capacity of the adapter: the entries of its accept list, and the number of links, which is `nil` until the
/// adapter has refused another link.
struct AdapterCapacity: Hashable, Sendable {
    var acceptListSize = 0
    var linkLimit: Int?
}

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

    // MARK: Capacity

    mutating func capacityChanged(_ change: (inout AdapterCapacity) -> Void) {
        let before = capacity
        change(&capacity)
        guard capacity != before else { return }
        effects.append(.capacity(acceptListSize: capacity.acceptListSize, linkLimit: capacity.linkLimit))
    }
}
