import BluetoothHost
import ButtonModel
import Flic

/// A search for new buttons: what was reported already, and the one button being paired.
struct ButtonSearch: Hashable, Sendable {
    enum Candidate: Hashable, Sendable {
        /// Advertising in public mode; waiting a moment for its scan response.
        case found(BluetoothAddress)
        case connecting(BluetoothAddress)
        case linked(BluetoothAddress)

        var address: BluetoothAddress {
            switch self {
            case .found(let address), .connecting(let address), .linked(let address): address
            }
        }
    }

    var candidate: Candidate?
    /// What the candidate advertised; it may still be of the other kind.
    var candidateService = FlicService.flic2
    /// Somebody waits for it, and it has an end. Else it goes on for as long as `ButtonListening` says so.
    var isAsked = true
    /// Buttons something was said of that is said only once.
    var reported: Set<BluetoothAddress> = []
    /// Known buttons whose signal was told of: one that is let be may go on advertising for as long as we listen.
    var measured: Set<ButtonID> = []
    /// Buttons that failed in this search: not tried again by themselves.
    var failed: Set<BluetoothAddress> = []
    var hasPairedOne = false
}

extension ButtonManager {
    mutating func startSearch(until end: Instant, at now: Instant) {
        guard end > now else { return endSearch(isAsked: true, at: now) }
        deadlines.set(.searchEnds, at: end)
        let isNew = !isSearching
        if search == nil { search = ButtonSearch() }
        search?.isAsked = true
        search?.failed = []
        search?.reported = []
        search?.measured = []
        guard isNew else { return }
        effects.append(.pairing(.searching))
        updateScanning(at: now)
    }

    /// - Parameter isAsked: somebody has seen enough; that nothing was found is no news then.
    mutating func endSearch(isAsked: Bool, at now: Instant) {
        guard let ended = search else { return }
        let goesOn = ended.isAsked && (ended.candidate.map { isWanted(ButtonID($0.address)) } ?? false)
        if !goesOn, case .linked(let address) = ended.candidate {
            // Time that is over lets a button finish that is being verified.
            guard isAsked else { return deadlines.set(.searchEnds, at: now + .seconds(5)) }
            abandonPairing(with: address, at: now)
        }
        deadlines.cancel(.searchEnds)
        if let address = ended.candidate?.address, !goesOn {
            deadlines.cancel(.candidate)
            effects.append(.abandoned(address))
        }
        if ended.isAsked, !isAsked, !ended.hasPairedOne, ended.failed.isEmpty {
            effects.append(.pairing(.failed(.noNewButtonsFound, nil)))
        }
        let candidate = goesOn ? ended.candidate : nil
        search = listening.isForPairing ? ButtonSearch(candidate: candidate, isAsked: false) : nil
        updateScanning(at: now)
        updateAcceptList(at: now)
        if ended.isAsked { effects.append(.pairing(.ended)) }
    }

    private mutating func abandonPairing(with address: BluetoothAddress, at now: Instant) {
        guard let handle = link(to: ButtonID(address)), links[handle]?.isPairing == true else { return }
        links[handle]?.isPairing = false
        links[handle]?.session = nil
        deadlines.cancel(.session(handle))
        close(handle, at: now)
    }

    /// An advertisement while searching.
    mutating func noticed(_ report: AdvertisingReport, at now: Instant) {
        let button = ButtonID(report.address)
        if let rssi = report.rssi, known[button] != nil, search?.measured.insert(button).inserted == true {
            effects.append(.signal(button, rssi: rssi))
        }
        tellListeners(of: report)
        guard let search else { return }
        if case .found(let address) = search.candidate, address == report.address, report.kind == .scanResponse {
            return tryCandidate(address, isTaken: ADStructure.parse(report.data).saysTaken, at: now)
        }
        guard search.candidate == nil, report.kind == .connectable, !search.failed.contains(report.address) else {
            return
        }
        let advertised = ADStructure.parse(report.data).serviceUUIDs
        let service = FlicService.allCases.first { advertised.contains($0.uuid) }
        let isPublic = service != nil
        let isFlic = isPublic || report.address.hasFlicPrefix
        guard isFlic, search.reported.count < ButtonManager.maximumReported else { return }
        guard search.isAsked || isPublic && known[button] == nil && isWanted(button) else { return }
        if known[button] != nil {
            if isPublic { reportOnce(.alreadyPaired(report.address), about: report.address) }
        } else if let service {
            self.search?.candidate = .found(report.address)
            self.search?.candidateService = service
            effects.append(.pairing(.foundPublic(report.address)))
            // Whether it is taken is in its scan response.
            updateScanning(at: now)
            deadlines.set(.candidate, at: now + ButtonManager.scanResponseLimit)
        } else {
            reportOnce(.foundPrivate(report.address), about: report.address)
        }
    }

    private mutating func reportOnce(_ progress: PairingProgress, about address: BluetoothAddress) {
        guard search?.reported.insert(address).inserted == true else { return }
        effects.append(.pairing(progress))
    }

    private mutating func tryCandidate(_ address: BluetoothAddress, isTaken: Bool, at now: Instant) {
        guard !isTaken else { return candidateFailed(.alreadyConnectedToOtherDevice, at: now) }
        search?.candidate = .connecting(address)
        updateScanning(at: now)
        updateAcceptList(at: now)
        deadlines.set(.candidate, at: now + ButtonManager.connectLimit)
        effects.append(.pairing(.connecting(address)))
    }

    mutating func candidateTimedOut(at now: Instant) {
        switch search?.candidate {
        case .found(let address): tryCandidate(address, isTaken: false, at: now)
        case .connecting: candidateFailed(.connectionTimeout, at: now)
        case .linked, nil: break
        }
    }

    mutating func candidateConnected(_ connection: Connection, at now: Instant) {
        search?.candidate = .linked(connection.peer)
        deadlines.cancel(.candidate)
        effects.append(.pairing(.connected(connection.peer)))
    }

    mutating func candidateVerifying(_ address: BluetoothAddress) {
        effects.append(.pairing(.verifying(address)))
    }

    mutating func candidatePaired(_ identity: ButtonIdentity, at now: Instant) {
        search?.hasPairedOne = true
        effects.append(.pairing(.paired(identity)))
        lookForNext(at: now)
    }

    mutating func candidateFailed(_ failure: PairingFailure, at now: Instant) {
        guard let address = search?.candidate?.address else { return }
        search?.failed.insert(address)
        if search?.isAsked == false { deadlines.set(.retryCandidates, at: now + ButtonManager.retryDelay) }
        effects.append(.pairing(.failed(failure, address)))
        if let handle = link(to: ButtonID(address)) {
            links[handle]?.isPairing = false
            close(handle, at: now)
        }
        lookForNext(at: now)
    }

    private mutating func lookForNext(at now: Instant) {
        guard search != nil else { return }
        search?.candidate = nil
        deadlines.cancel(.candidate)
        updateAcceptList(at: now)
        updateScanning(at: now)
    }
}

extension BluetoothAddress {
    /// The prefixes Flic buttons are known to come with. Good for a hint, not for a decision.
    var hasFlicPrefix: Bool {
        let prefix = rawValue >> 24
        return kind == .public && (prefix == 0x80E4DA || prefix == 0x9088A9)
    }
}

extension [ADStructure] {
    /// Whether the manufacturer data say that the button is connected to somebody already: bit 1 of the octet
    /// after the product type and three octets of the address.
    var saysTaken: Bool {
        guard let content = manufacturerData, content.company == 0x030F, let flags = content.data.dropFirst(4).first
        else { return false }
        return flags & 0b10 != 0
    }
}
