import ButtonModel
import Buttons
import FlicdProtocol
import JSON
import MQTTTopics
import Radios
import Rules

// The search for new buttons, and their pairing.
extension Hub {
    /// The longest search for new buttons, in seconds.
    static let maximumJoinTime: Int64 = 3600

    static let pairingRequests = [
        RequestKind(name: BridgeRequestName.permitJoin.rawValue, privilege: .settings) { hub, data, context in
            hub.permitJoin(data, at: context.now)
        }
    ]

    private mutating func permitJoin(_ data: JSONValue, at now: Instant) -> RequestAnswer {
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
        guard lifecycle.isRunning else { return .error("tryckd is stopping; try again when it runs") }
        let isAdapterReady = radios.isReady
        guard isAdapterReady || flicd.isAnyConnected else {
            let problem = (configuration.hasRadio ? adapterProblem : nil) ?? flicd.upstreamFaults.first
            // The radios are closed while nothing can be stored, because a new pairing would be lost with this process.
            return .error(
                problem ?? adapterProblem ?? (journal.isRecordLost ? journal.fault : nil)
                    ?? "the Bluetooth adapter is not ready yet; try again in a moment")
        }
        var radio: RadioID?
        if let name = data["radio"], name != .null {
            radio = radios.ids.first { radios[$0].radio.name == name.stringValue }
            guard let radio, radios[radio].isReady else {
                let names = radios.slots.map(\.radio.name).joined(separator: ", ")
                return .error(
                    radio == nil ? "there is no radio \(name); the radios are \(names)" : "this radio is not ready")
            }
        }
        search.requested(until: now + .seconds(seconds))
        if isAdapterReady { advanceButtons(.permitJoin(.seconds(seconds), radio), at: now) }
        searchUpstreams(withAdapter: isAdapterReady, at: now)
        return .ok(["time": .integer(seconds)])
    }

    // MARK: Pairing with the own adapter

    mutating func pairingProgressed(_ progress: PairingProgress, at now: Instant) {
        reportPairingToFlicd(progress, at: now)
        var data: [JSONValue.Member] = [.init("step", .string(progress.name))]
        if let address = progress.address { data.append(.init("address", .string(address.description))) }
        switch progress {
        case .paired(let identity):
            let record = buttons[identity.id]
            data.append(.init("id", .string(identity.id.description)))
            data.append(.init("button", .string(label(of: identity.id))))
            data.append(.init("serial", .string(identity.serial)))
            data.append(.init("firmware", .integer(Int64(identity.firmwareVersion))))
            data.append(.init("battery_mv", record?.batteryMillivolts.map { .integer(Int64($0)) } ?? .null))
            search.buttonPaired()
        case .failed(let failure, _):
            data.append(.init("reason", .string(failure.name)))
            data.append(.init("advice", .string(failure.advice)))
            log(.warning, "pairing failed: \(failure.advice)", from: .outside(.failedPairing))
        case .searching:
            log(.searchBegan, .info, "looking for new buttons", at: now)
            invalidate(.bridgeInfo)
        case .ended:
            log(.searchEnded, .info, "no longer looking for new buttons", at: now)
            search.ended()
            stopUpstreamSearch(at: now)
            invalidate(.bridgeInfo)
        case .foundPrivate, .foundPublic, .alreadyPaired, .connecting, .connected, .verifying: break
        }
        publishPairing(data)
    }

    mutating func paired(_ button: KnownButton, _ batteryMillivolts: Int, at now: Instant) {
        let identity = button.identity
        leaveToAdapter(button.id, at: now)
        let stored = StoredButton(
            identity: identity, pairing: button.pairing, pairedAt: wallClock(at: now), dials: button.dials)
        missedPresses.forget(button.id)
        add(stored, at: now)
        batteryMeasured(button.id, batteryMillivolts, at: now)
        announce(buttons.introduced(button.id), at: now)
        log(.info, "paired \(identity.serial) (\(identity.address)), firmware \(identity.firmwareVersion)")
    }

    // MARK: The search of flicds

    mutating func searchUpstreams(withAdapter: Bool, at now: Instant) {
        guard !flicd.upstreams.isEmpty else { return }
        let isNew = !flicd.isSearching
        if isNew { search.began() }
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
        var data: [JSONValue.Member] = [.init("step", .string(step.name))]
        if let address = step.address { data.append(.init("address", .string(address.description))) }
        data.append(.init("source", .string(name)))
        switch step {
        case .paired(let identity):
            search.buttonPaired()
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
        publishPairing(data)
    }

    /// Tells clients that watch, and clients of the broker if it is connected.
    mutating func publishPairing(_ data: [JSONValue.Member]) {
        search.advanced(data)
        invalidate(.bridgePairing)
        broadcast(.pairing(data))
        publishIfConnected(broker.topics.bridgeMessage("pairing", .object(data)))
    }
}
