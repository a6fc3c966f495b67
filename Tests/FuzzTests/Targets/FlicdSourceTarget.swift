import ButtonModel

@testable import FlicdProtocol

extension FuzzTarget {
    /// A source and arbitrary data from its flicd, cut anywhere: every deadline is in the future; nothing is sent
    /// without a connection or for an unknown channel; no press is reported twice; its limits hold.
    static let flicdSource = FuzzTarget(name: "flicd-source") { octets throws(BrokenPromise) in
        var input = FuzzInput(octets)
        var bench = SourceBench()
        try bench.give(.start([SourceBench.addresses[0]: FlicdButtonRequest()]))
        while let step = input.step() { try bench.take(step, &input) }
    }
}

/// A source, and a flicd that the script controls.
private struct SourceBench: TimedBench {
    static let addresses = (1...16).map { BluetoothAddress(rawValue: 0x80E4_DA00_0000 + $0) }

    private var source = FlicdSource()
    var now = Instant(sinceBoot: .seconds(100))
    var timer: Instant?
    private var isConnecting = false
    private var isConnected = false
    /// The channels that the flicd has, and that no earlier input has ended.
    private var channels: Set<UInt32> = []
    private var listeners: Set<UInt32> = []
    private var wizard: UInt32?
    private var framer = FlicdFramer(maximumLength: FlicdFramer.maximumEventLength)
    private var ping: UInt32 = 0
    private var bootID: UInt32 = 0
    private var downs = 0
    private var counters: [ButtonID: UInt32] = [:]

    mutating func take(_ step: UInt8, _ input: inout FuzzInput) throws(BrokenPromise) {
        let variant = Int(step >> 4)
        let address = Self.addresses[variant]
        switch step & 0xF {
        case 0: try say(input.chunk())
        case 1: try say(frame(input.octet(), input.chunk()))
        case 2:
            let whole = frame(input.octet(), input.chunk())
            let cut = Int(input.octet()) % whole.count
            try say(Array(whole.prefix(cut)))
            try pass(input.pause())
            try say(Array(whole.dropFirst(cut)))
        case 3:
            guard isConnecting else { return }
            (isConnecting, isConnected) = (false, true)
            (channels, listeners, wizard, counters) = ([], [], nil, [:])
            framer = FlicdFramer(maximumLength: FlicdFramer.maximumEventLength)
            bootID += 1
            try give(.connected(bootID: bootID))
        case 4:
            (isConnecting, isConnected) = (false, false)
            try give(.closed("reset"))
        case 5:
            let mode = FlicdChannelMode(latencyMode: .low, autoDisconnectTime: UInt16(input.octet()))
            try give(.request(address, FlicdButtonRequest(mode: mode, isConnectionWanted: input.octet() & 1 == 0)))
        case 6: try give(variant == 0 ? .search : variant == 1 ? .stopSearch : .forget(address))
        case 7, 8: try pass(input.pause())
        case 9:
            let info = FlicdInfo(
                controllerState: .attached, address: address, maxPendingConnections: 8,
                maxConcurrentlyConnectedButtons: nil, currentPendingConnections: 0, hasNoSpace: false,
                verifiedButtons: Array(Self.addresses.prefix(variant)))
            try say(.getInfoResponse(info))
        case 10:
            try say(.getButtonInfoResponse(FlicdButtonInfo(address: source.awaited.first ?? address, flicVersion: 1)))
        case 11:
            let (id, word) = (UInt32(input.octet()), input.octet())
            guard let family = FlicdFamily(rawValue: 4 + word & 3), let type = FlicdClickType(rawValue: word >> 2 & 7)
            else { return }
            try say(
                .button(id: id, family, type, wasQueued: variant & 1 == 0, timeDifference: UInt32(variant)))
        case 12: try say(.pingResponse(id: ping))
        case 13:
            let status = FlicdConnectionStatus(rawValue: UInt8(variant % 3)) ?? .ready
            try say(.connectionStatusChanged(id: UInt32(input.octet()), status, reason: .unspecified))
        case 14:
            let reason = FlicdRemovedReason(rawValue: UInt8(variant)) ?? .removedByThisClient
            try say(.connectionChannelRemoved(id: UInt32(input.octet()), reason))
        default:
            let deleted = FlicdEvent.buttonDeleted(address, byThisClient: false)
            try say(input.octet() & 1 == 0 ? .newVerifiedButton(address) : deleted)
        }
    }

    private func frame(_ opcode: UInt8, _ fields: [UInt8]) -> [UInt8] { [UInt8(fields.count + 1), 0, opcode] + fields }

    private mutating func say(_ event: FlicdEvent) throws(BrokenPromise) { try say(event.encoded()) }

    private mutating func say(_ octets: [UInt8]) throws(BrokenPromise) {
        guard isConnected else { return }
        framer.append(octets)
        var ended: Set<UInt32> = []
        while let packet = try? framer.next() {
            switch try? FlicdEvent(decoding: packet) {
            case .button(_, .upOrDown, .buttonDown, _, _): downs += 1
            case .connectionChannelRemoved(let id, _): ended.insert(id)
            case .createConnectionChannelResponse(let id, .maxPendingConnectionsReached, _): ended.insert(id)
            default: break
            }
        }
        try give(.received(octets))
        channels.subtract(ended)
    }

    mutating func fireTimer() throws(BrokenPromise) { try give(.timerFired) }

    mutating func give(_ input: FlicdSource.Input) throws(BrokenPromise) {
        for effect in source.handle(input, at: now) {
            switch effect {
            case .connect:
                try promise("a source has one connection", !isConnecting && !isConnected)
                isConnecting = true
            case .send(let octets): try sent(octets)
            case .close: isConnected = false
            case .lost: try promise("a connection that is lost is closed", !isConnected && !isConnecting)
            case .setTimer(let deadline):
                try promise("a deadline lies ahead", deadline > now)
                timer = deadline
            case .cancelTimer: timer = nil
            case .pressed(let events): for event in events { try pressed(event) }
            case .battery(_, let percentage, _): try promise("a percentage is 0 to 100", (0...100).contains(percentage))
            case .controller, .known, .gone, .state, .pairing, .anomaly: break
            }
        }
        let bounds = [source.buttons.count, source.channels.count, source.newlyPaired.count, source.endedClicks.count]
        try promise("buttons are bounded", bounds.allSatisfy { $0 <= FlicdSource.maximumButtons })
        try promise("questions are bounded", source.awaited.count <= FlicdSource.maximumAwaited)
        try promise("a source without a timer is connecting", isConnecting || timer != nil)
    }

    private mutating func sent(_ octets: [UInt8]) throws(BrokenPromise) {
        try promise("nothing is sent without a connection", isConnected)
        guard octets.count > 2, let command = try? FlicdCommand(decoding: Array(octets.dropFirst(2))) else {
            throw BrokenPromise(promise: "a command is one")
        }
        switch command {
        case .createConnectionChannel(let id, _, _):
            try promise("a channel has an id of its own", channels.insert(id).inserted)
        case .removeConnectionChannel(let id):
            try promise("only an existing channel is removed", channels.remove(id) != nil)
        case .changeModeParameters(let id, _): try promise("only an existing channel is changed", channels.contains(id))
        case .createBatteryStatusListener(let id, _):
            try promise("a listener has an id of its own", listeners.insert(id).inserted)
        case .removeBatteryStatusListener(let id):
            try promise("only an existing listener is removed", listeners.remove(id) != nil)
        case .createScanWizard(let id): wizard = id
        case .cancelScanWizard(let id): try promise("only an existing wizard is cancelled", wizard == id)
        case .ping(let id): ping = id
        case .getInfo, .getButtonInfo, .deleteButton: break
        case .createScanner, .removeScanner, .forceDisconnect, .other:
            throw BrokenPromise(promise: "no other commands are sent")
        }
    }

    private mutating func pressed(_ event: ButtonEvent) throws(BrokenPromise) {
        let last = counters[event.button] ?? 0
        try promise(
            "steps are counted, and begin again after a deletion", event.counter == last + 1 || event.counter == 1)
        try promise("a step is of this connection", event.bootID == bootID)
        counters[event.button] = event.counter
        if event.step == .down { downs -= 1 }
        try promise("a press is reported once", downs >= 0)
    }
}
