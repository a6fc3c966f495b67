import ButtonModel
import Buttons
import FlicdProtocol
import JSON
import Rules

/// A search for new buttons, by the own adapter and by all flicds together.
struct PairingSearch: Hashable, Sendable {
    /// When the search ends; `nil` if there is none.
    var end: Instant?
    /// True if a button was paired since the search began.
    var hasPaired = false
}

// The search for new buttons.
extension Hub {
    /// The longest search for new buttons, in seconds.
    static let maximumJoinTime: Int64 = 3600

    // MARK: The search of flicds

    mutating func searchUpstreams(withAdapter: Bool, at now: Instant) {
        guard !flicd.upstreams.isEmpty else { return }
        let isNew = !flicd.isSearching
        if isNew { search.hasPaired = false }
        if !withAdapter {
            if isNew { pairingProgressed(.searching, at: now) }
            if let end = search.end { setTimer(.join, at: end) }
        }
        for index in flicd.upstreams.indices { advanceUpstream(index, .search, at: now) }
    }

    mutating func stopUpstreamSearch(at now: Instant) {
        cancelTimer(.join)
        for index in flicd.upstreams.indices where flicd.upstreams[index].isSearching {
            advanceUpstream(index, .stopSearch, at: now)
        }
    }

    /// Ends a search in which the own adapter does not take part.
    mutating func endUpstreamSearch(isAsked: Bool, at now: Instant) {
        guard search.end != nil else { return }
        if !isAsked, !search.hasPaired { pairingProgressed(.failed(.noNewButtonsFound, nil), at: now) }
        pairingProgressed(.ended, at: now)
    }

    mutating func pairingProgressed(_ step: FlicdWizardStep, _ index: Int, at now: Instant) {
        let name = flicd.upstreams[index].name
        var data: [JSONValue.Member] = [.init("step", .string(step.word))]
        if let address = step.address { data.append(.init("address", .string(address.description))) }
        data.append(.init("source", .string(name)))
        switch step {
        case .paired(let identity):
            search.hasPaired = true
            data.append(.init("id", .string(identity.id.description)))
            data.append(.init("button", .string(label(of: identity.id))))
            data.append(.init("serial", .string(identity.serial)))
            data.append(.init("firmware", .integer(Int64(identity.firmwareVersion))))
        case .failed(let result, _):
            data.append(.init("reason", .string(result.reason)))
            data.append(.init("advice", .string(result.advice)))
            log(.warning, "\(name): pairing failed: \(result.advice)")
        case .foundPrivate, .foundPublic, .connected: break
        }
        tellPairing(data)
    }

    mutating func tellPairing(_ data: [JSONValue.Member]) {
        broadcast(.pairing(data))
        publishEvent("pairing", .object(data))
    }

    mutating func permitJoin(_ data: JSONValue, at now: Instant) -> RequestAnswer {
        guard let seconds = data.integerValue ?? data["time"]?.integerValue,
            (0...Hub.maximumJoinTime).contains(seconds)
        else { return .error(#"permit_join takes {"time": seconds}, 0 to \#(Hub.maximumJoinTime)"#) }
        // A switch in Home Assistant shows the state again after a refusal.
        invalidate(.bridgeInfo)
        guard seconds > 0 else {
            advanceButtons(.stopJoin, at: now)
            endUpstreamSearch(isAsked: true, at: now)
            return .ok(["time": 0])
        }
        let isAdapterReady = radio.isReady
        guard isAdapterReady || flicd.isAnyConnected else {
            let problem = (configuration.hasTransport ? adapterProblem : nil) ?? flicd.upstreamFaults.first
            return .error(
                problem ?? adapterProblem ?? "the Bluetooth adapter is not ready yet; try again in a moment")
        }
        search.end = now + .seconds(seconds)
        if isAdapterReady { advanceButtons(.permitJoin(.seconds(seconds)), at: now) }
        searchUpstreams(withAdapter: isAdapterReady, at: now)
        return .ok(["time": .integer(seconds)])
    }
}
