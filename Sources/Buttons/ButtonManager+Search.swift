import BluetoothHost
import ButtonModel
import Flic

// The search for new buttons, and the pairing of the candidate.
extension ButtonManager {
    mutating func startSearch(until end: Instant, at now: Instant) {
        guard end > now else { return endSearch(byUser: true, at: now) }
        deadlines.set(.searchEnds, at: end)
        let isNew = !isSearching
        if search == nil { search = ButtonSearch() }
        search?.isUserRequested = true
        search?.failed = []
        search?.reported = []
        search?.measured = []
        guard isNew else { return }
        effects.append(.pairing(.searching))
        updateScanning(at: now)
    }

    /// - Parameter byUser: whether the user ended the search; then finding no button is not reported as a failure.
    mutating func endSearch(byUser: Bool, at now: Instant) {
        guard let ended = search else { return }
        let goesOn = ended.isUserRequested && (ended.candidate.map { isWanted(ButtonID($0.address)) } ?? false)
        if !goesOn, case .linked(let address) = ended.candidate {
            // At the end of the time a button that is being verified may finish: the search is extended by 5 s at a
            // time.
            guard byUser else { return deadlines.set(.searchEnds, at: now + .seconds(5)) }
            abandonPairing(with: address, at: now)
        }
        deadlines.cancel(.searchEnds)
        if let address = ended.candidate?.address, !goesOn {
            deadlines.cancel(.candidate)
            effects.append(.abandoned(address))
        }
        if ended.isUserRequested, !byUser, !ended.hasPairedOne, ended.failed.isEmpty {
            effects.append(.pairing(.failed(.noNewButtonsFound, nil)))
        }
        let candidate = goesOn ? ended.candidate : nil
        search = listening.isForPairing ? ButtonSearch(candidate: candidate, isUserRequested: false) : nil
        updateScanning(at: now)
        updateAcceptList(at: now)
        if ended.isUserRequested { effects.append(.pairing(.ended)) }
    }

    private mutating func abandonPairing(with address: BluetoothAddress, at now: Instant) {
        guard let handle = link(to: ButtonID(address)), links[handle]?.isPairing == true else { return }
        links[handle]?.isPairing = false
        links[handle]?.session = nil
        deadlines.cancel(.session(handle))
        close(handle, at: now)
    }

    /// Handles an advertisement: reports its signal to listeners, and makes an unknown button in public mode the
    /// candidate.
    mutating func noticed(_ report: AdvertisingReport, at now: Instant) {
        let button = ButtonID(report.address)
        if let rssi = report.rssi, known[button] != nil, search?.measured.insert(button).inserted == true {
            effects.append(.signal(button, rssi: rssi))
        }
        reportAdvertisement(report)
        guard let search else { return }
        if case .found(let address) = search.candidate, address == report.address, report.kind == .scanResponse {
            return tryCandidate(
                address, isConnectedElsewhere: ADStructure.parse(report.data).saysConnectedElsewhere, at: now)
        }
        guard search.candidate == nil, report.kind == .connectable, !search.failed.contains(report.address) else {
            return
        }
        let advertised = ADStructure.parse(report.data).serviceUUIDs
        let service = FlicService.allCases.first { advertised.contains($0.uuid) }
        let isPublic = service != nil
        let isFlic = isPublic || report.address.hasFlicPrefix
        guard isFlic, search.reported.count < ButtonManager.maximumReported else { return }
        guard search.isUserRequested || isPublic && known[button] == nil && isWanted(button) else { return }
        if known[button] != nil {
            if isPublic { reportOnce(.alreadyPaired(report.address), about: report.address) }
        } else if let service {
            self.search?.candidate = .found(report.address)
            self.search?.candidateService = service
            effects.append(.pairing(.foundPublic(report.address)))
            // The scan response says whether the button is connected to another device.
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

    private mutating func tryCandidate(_ address: BluetoothAddress, isConnectedElsewhere: Bool, at now: Instant) {
        guard !isConnectedElsewhere else { return candidateFailed(.alreadyConnectedToOtherDevice, at: now) }
        search?.candidate = .connecting(address)
        updateScanning(at: now)
        updateAcceptList(at: now)
        deadlines.set(.candidate, at: now + ButtonManager.connectLimit)
        effects.append(.pairing(.connecting(address)))
    }

    mutating func candidateTimedOut(at now: Instant) {
        switch search?.candidate {
        case .found(let address): tryCandidate(address, isConnectedElsewhere: false, at: now)
        case .connecting: candidateFailed(.connectionTimeout, at: now)
        case .linked, nil: break
        }
    }

    mutating func candidateConnected(_ connection: LEConnection, at now: Instant) {
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
        if search?.isUserRequested == false { deadlines.set(.retryCandidates, at: now + ButtonManager.retryDelay) }
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
    /// True if the address has a prefix that Flic buttons are known to have: a hint, which is not sufficient for
    /// decisions.
    var hasFlicPrefix: Bool {
        let prefix = rawValue >> 24
        return kind == .public && (prefix == 0x80E4DA || prefix == 0x9088A9)
    }
}

extension [ADStructure] {
    /// True if the manufacturer data say that the button is connected to another device: bit 1 of the octet after the
    /// product type and three octets of the address.
    var saysConnectedElsewhere: Bool {
        guard let content = manufacturerData, content.company == 0x030F, let flags = content.data.dropFirst(4).first
        else { return false }
        return flags & 0b10 != 0
    }
}
