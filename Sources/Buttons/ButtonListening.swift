import BluetoothHost
package import ButtonModel
import Flic

/// What is to be heard of the radio, besides a search that somebody waits for.
package struct ButtonListening: Hashable, Sendable {
    /// Every advertisement of a Flic button is told, not only those of buttons that are not known.
    package var reportsAll: Bool
    /// Any button that offers itself is paired.
    package var pairsAny: Bool
    /// These are paired when they offer themselves.
    package var pairs: Set<ButtonID>

    package init(reportsAll: Bool = false, pairsAny: Bool = false, pairs: Set<ButtonID> = []) {
        self.reportsAll = reportsAll
        self.pairsAny = pairsAny
        self.pairs = pairs
    }

    var isForPairing: Bool { pairsAny || !pairs.isEmpty }
}

/// What others than the people of the house wish of a link.
package struct LinkWish: Hashable, Sendable {
    package var latencyMode: LatencyMode
    /// Seconds without a press, as in `ButtonSettings`.
    package var autoDisconnectTime: UInt16?

    package init(latencyMode: LatencyMode, autoDisconnectTime: UInt16?) {
        self.latencyMode = latencyMode
        self.autoDisconnectTime = autoDisconnectTime
    }
}

/// An advertisement of a Flic button.
package struct HeardAdvertisement: Hashable, Sendable {
    package var address: BluetoothAddress
    /// Empty where it says none: private ones do.
    package var name: String
    /// dBm.
    package var rssi: Int8?
    /// It offers itself to be paired.
    package var isPublic: Bool
    /// It says that it is connected to somebody else already.
    package var isTaken: Bool

    package init(address: BluetoothAddress, name: String, rssi: Int8?, isPublic: Bool, isTaken: Bool) {
        self.address = address
        self.name = name
        self.rssi = rssi
        self.isPublic = isPublic
        self.isTaken = isTaken
    }
}

/// What the adapter has room for.
struct Capacity: Hashable, Sendable {
    var acceptListSize = 0
    var linkLimit: Int?
}

// Those who listen for as long as they like get a tenth of the radio's time: paired buttons are to connect as fast as
// ever. From the moment a button offers itself it is as in a search.
extension ButtonManager {
    mutating func listen(_ wish: ButtonListening, at now: Instant) {
        guard !isShuttingDown else { return }
        listening = wish
        if search == nil, wish.isForPairing {
            search = ButtonSearch(isAsked: false)
        } else if search?.isAsked == false {
            search?.failed = []
            // Nobody wants it any more, or nobody wants this button.
            let isUnwanted = search?.candidate.map { !isWanted(ButtonID($0.address)) } ?? false
            if !wish.isForPairing || isUnwanted { return endSearch(isAsked: true, at: now) }
        }
        updateScanning(at: now)
    }

    func isWanted(_ button: ButtonID) -> Bool { listening.pairsAny || listening.pairs.contains(button) }

    /// Works out afresh whether and how the radio listens.
    mutating func updateScanning(at now: Instant) {
        guard isControllerReady else { return }
        let command: Host.Command
        switch search?.candidate {
        case .connecting where !listening.reportsAll, .linked where !listening.reportsAll: command = .stopScanning
        case .found, .connecting, .linked: command = .startScanning(active: true)
        case nil where search?.isAsked == true || listening.reportsAll: command = .startScanning(active: true)
        case nil: command = search == nil ? .stopScanning : .startBackgroundScanning
        }
        perform(.perform(command), at: now)
    }

    mutating func tellListeners(of report: AdvertisingReport) {
        guard listening.reportsAll || listening.isForPairing, report.kind == .connectable else { return }
        let structures = ADStructure.parse(report.data)
        let isPublic = FlicService.allCases.contains { structures.serviceUUIDs.contains($0.uuid) }
        let isKnown = known[ButtonID(report.address)] != nil
        guard isPublic || isKnown || report.address.hasFlicPrefix, listening.reportsAll || !isKnown else { return }
        effects.append(
            .advertised(
                HeardAdvertisement(
                    address: report.address, name: structures.localName ?? "", rssi: report.rssi, isPublic: isPublic,
                    isTaken: structures.saysTaken)))
    }

    // MARK: Wishes

    mutating func want(_ button: ButtonID, _ wish: LinkWish?, at now: Instant) {
        let before = (latencyMode(of: button), autoDisconnectTime(of: button))
        linkWishes[button] = known[button] == nil ? nil : wish
        let after = (latencyMode(of: button), autoDisconnectTime(of: button))
        if after.0 != before.0 { tellSession(of: button, .setLatencyMode(after.0), at: now) }
        if after.1 != before.1 { tellSession(of: button, .setAutoDisconnectTime(after.1), at: now) }
    }

    /// What people have set counts; a setting is theirs when it is another than at the beginning.
    func latencyMode(of button: ButtonID) -> LatencyMode {
        let own = known[button]?.settings.latencyMode ?? .normal
        return own == .normal ? linkWishes[button]?.latencyMode ?? own : own
    }

    func autoDisconnectTime(of button: ButtonID) -> UInt16? {
        known[button]?.settings.autoDisconnectTime ?? linkWishes[button]?.autoDisconnectTime
    }

    // MARK: Capacity

    mutating func capacityChanged(_ change: (inout Capacity) -> Void) {
        let before = capacity
        change(&capacity)
        guard capacity != before else { return }
        effects.append(.capacity(acceptListSize: capacity.acceptListSize, linkLimit: capacity.linkLimit))
    }
}
