import ButtonModel
import Flic
import Radios

// The search for new buttons, and the pairing of the candidate.
extension ButtonManager {
    mutating func startSearch(until end: Instant, through radio: RadioID?, at now: Instant) {
        guard !isShuttingDown else { return }
        guard end > now else { return endSearch(byUser: true, at: now) }
        deadlines.set(.searchEnds, at: end)
        let isNew = !isSearching
        if search == nil { search = ButtonSearch() }
        search?.isUserRequested = true
        search?.radio = radio
        search?.failed = []
        search?.reported = []
        search?.measured = []
        guard isNew else { return }
        effects.append(.pairing(.searching))
        updateListening(at: now)
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
        updateListening(at: now)
        updateExpected(at: now)
        if let address = ended.candidate?.address, !goesOn { dropCandidate(address, at: now) }
        if ended.isUserRequested { effects.append(.pairing(.ended)) }
    }

    private mutating func abandonPairing(with address: BluetoothAddress, at now: Instant) {
        guard let id = link(to: ButtonID(address)), links[id]?.isPairing == true else { return }
        links[id]?.isPairing = false
        links[id]?.session = nil
        deadlines.cancel(.session(id))
        close(id, at: now)
    }

    /// Handles an advertisement: reports its signal to listeners, and makes an unknown button in public mode the
    /// candidate.
    mutating func noticed(_ heard: HeardAdvertisement, by radio: RadioID, at now: Instant) {
        let button = ButtonID(heard.address)
        if let rssi = heard.rssi, known[button] != nil, search?.measured.insert(button).inserted == true {
            effects.append(.signal(button, rssi: rssi))
        }
        reportAdvertisement(heard)
        guard let search, search.radio.map({ $0 == radio }) ?? true else { return }
        if case .found(let address) = search.candidate, address == heard.address, heard.kind == .scanResponse {
            // Other radios may hear it better, and say so until the time limit for scan responses.
            guard radios.isAlone || heard.isConnectedElsewhere else { return }
            return tryCandidate(address, isConnectedElsewhere: heard.isConnectedElsewhere, at: now)
        }
        guard search.candidate == nil, heard.kind == .connectable, !search.failed.contains(heard.address) else {
            return
        }
        let service = heard.service
        let isPublic = service != nil
        let isFlic = isPublic || heard.address.hasFlicPrefix
        guard isFlic, search.reported.count < ButtonManager.maximumReported else { return }
        guard search.isUserRequested || isPublic && known[button] == nil && isWanted(button) else { return }
        if known[button] != nil {
            if isPublic { reportOnce(.alreadyPaired(heard.address), about: heard.address) }
        } else if let service {
            self.search?.candidate = .found(heard.address)
            self.search?.candidateService = service
            effects.append(.pairing(.foundPublic(heard.address)))
            // The scan response says whether the button is connected to another device.
            updateListening(at: now)
            deadlines.set(.candidate, at: now + ButtonManager.scanResponseLimit)
        } else {
            reportOnce(.foundPrivate(heard.address), about: heard.address)
        }
    }

    private mutating func reportOnce(_ progress: PairingProgress, about address: BluetoothAddress) {
        guard search?.reported.insert(address).inserted == true else { return }
        effects.append(.pairing(progress))
    }

    private mutating func tryCandidate(_ address: BluetoothAddress, isConnectedElsewhere: Bool, at now: Instant) {
        guard !isConnectedElsewhere else { return candidateFailed(.alreadyConnectedToOtherDevice, at: now) }
        search?.candidate = .connecting(address)
        if let radio = search?.radio { perform(.pin(address, radio), at: now) }
        updateListening(at: now)
        updateExpected(at: now)
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

    mutating func candidateConnected(_ address: BluetoothAddress, at now: Instant) {
        search?.candidate = .linked(address)
        deadlines.cancel(.candidate)
        effects.append(.pairing(.connected(address)))
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
        if let id = link(to: ButtonID(address)) {
            links[id]?.isPairing = false
            close(id, at: now)
        }
        lookForNext(at: now)
        dropCandidate(address, at: now)
    }

    /// Lets the radio forget a button that was not paired. BlueZ may have been told to connect to it for ever.
    private mutating func dropCandidate(_ address: BluetoothAddress, at now: Instant) {
        if known[ButtonID(address)] == nil { perform(.forget(address, wasKnown: false), at: now) }
    }

    private mutating func lookForNext(at now: Instant) {
        guard search != nil else { return }
        search?.candidate = nil
        deadlines.cancel(.candidate)
        updateExpected(at: now)
        updateListening(at: now)
    }
}
