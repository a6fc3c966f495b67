package import ButtonModel
import Radios

/// Gives a `Hub` its inputs one at a time. The daemon, the tests' houses and the benchmarks use it, so all of them keep the
/// same order.
///
/// The owner adds inputs with `add`, calls `next` until it returns `nil`, and carries out the effects of each `Turn` in
/// order before it calls `next` again. An input that is added meanwhile is handled in a later turn.
///
/// After the actions of a press the runner can pause before `goOn`. A message of a rule is then with the broker, and the broker
/// and the subscriber need a processor to pass it on. `goOn` takes longer than they do, and on a machine with few processors
/// they would wait for it.
///
/// The owner's edges limit the work of one turn of the event loop, but do not count inputs that only wait. So a pause also ends
/// when more waits than `maximumWaiting` or `maximumWaitingOctets`. A packet of a radio ends it, too, and is handled before what
/// other programs have sent.
package struct HubRunner: Sendable {
    /// An input, the effects that the hub answered with, and what a history needs to know of the hub. An owner that asked the hub
    /// for these facts would copy it, because Swift copies a large value that is a property of a class when a method reads it.
    package struct Turn: Sendable {
        package var input: Hub.Input
        package var at: Instant
        package var effects: [Hub.Effect]
        /// True for a message that a state of the rules reads.
        package var isState = false
        /// True if no run, program or web request is in progress after it.
        package var isBetweenRuns = true
    }

    /// The number of inputs that may wait for the end of a pause.
    package static let maximumWaiting = 8
    /// The octets that other programs may have sent in these inputs.
    package static let maximumWaitingOctets = 16 * 1024

    package var hub: Hub
    /// The inputs of the present run of turns. Those before `position` have been handled.
    private var inputs: [Hub.Input] = []
    private var position = 0
    /// True if `goOn` is the next input, before those that wait.
    private var hasToGoOn = false
    /// The time of the present input, including its `goOn`.
    private var time = Instant(nanoseconds: 0)
    /// The length of a pause; `nil`: there are no pauses.
    private let pause: Duration?
    /// True if a pause begins when the effects of the present turn have been carried out.
    private var isPauseNext = false
    /// The end of the present pause, when the owner has to call `next`; `nil` when there is no pause.
    package private(set) var pausesUntil: Instant?
    /// The octets of other programs in the inputs that wait.
    private var waitingOctets = 0
    /// The number of packets of radios that wait.
    private var waitingPackets = 0

    package init(_ hub: Hub, pausing pause: Duration? = nil) {
        self.hub = hub
        self.pause = pause
    }

    /// Adds an input, to be handled after those that wait. A packet of a radio, which can be the next press, is handled before
    /// what other programs have sent immediately before it.
    package mutating func add(_ input: Hub.Input) {
        guard input.isPacket else {
            waitingOctets += input.octetsFromOutside ?? 0
            return inputs.append(input)
        }
        waitingPackets += 1
        var index = inputs.count
        while index > position, inputs[index - 1].octetsFromOutside != nil { index -= 1 }
        // On the path of a press nothing else waits, and `insert` costs more than `append`.
        if index == inputs.count { inputs.append(input) } else { inputs.insert(input, at: index) }
    }

    /// Handles the next input; `nil` when no input waits, and during a pause.
    package mutating func next(at now: Instant) -> Turn? {
        if isPauseNext, let pause {
            isPauseNext = false
            pausesUntil = now + pause
        }
        if let end = pausesUntil {
            let mayWait =
                inputs.count - position <= Self.maximumWaiting && waitingOctets <= Self.maximumWaitingOctets
            if now < end, mayWait, waitingPackets == 0 { return nil }
            pausesUntil = nil
        }
        if hasToGoOn {
            // `goOn` is the rest of the input before, and its time is that input's time, also in a replay.
            return turn(.goOn)
        }
        guard position < inputs.count else {
            inputs.removeAll(keepingCapacity: true)
            position = 0
            return nil
        }
        let input = inputs[position]
        position += 1
        if input.isPacket { waitingPackets -= 1 } else { waitingOctets -= input.octetsFromOutside ?? 0 }
        time = now
        return turn(input)
    }

    private mutating func turn(_ input: Hub.Input) -> Turn {
        let effects = hub.handle(input, at: time)
        hasToGoOn = hub.isIncomplete
        isPauseNext = pause != nil && hasToGoOn && effects.contains(where: \.isAction)
        let isState = if case .messageReceived(let topicName, _, _) = input { hub.isState(topicName) } else { false }
        return Turn(input: input, at: time, effects: effects, isState: isState, isBetweenRuns: hub.isBetweenRuns)
    }
}

extension Hub.Input {
    /// The same as `radioPacket != nil`, which would copy the packet on the path of a press.
    fileprivate var isPacket: Bool {
        if case .received = self { return true }
        if case .bus(.received, _) = self { return true }
        return false
    }

    /// The length of what another program has sent: a client, a broker, or a flicd; `nil` for other inputs.
    fileprivate var octetsFromOutside: Int? {
        switch self {
        case .controlLine(_, let octets), .messageReceived(_, let octets, _), .flicd(.received(_, let octets)),
            .expiringMessageReceived(_, let octets, _, _), .source(_, .received(let octets)),
            .uplink(.received(_, let octets)):
            octets.count
        case .start, .wallClock, .entropy, .transportOpened, .received, .busOpened, .bus, .transportClosed, .source,
            .brokerAddress, .brokerConnected, .brokerDisconnected, .brokerSentMalformedPacket, .published,
            .publishFailed, .messageDropped, .subscriptionRefused, .subscriptionGranted, .jobEnded, .rulesLoaded,
            .reloadRules, .logLevel, .firmwareFiles, .firmwareRead, .recordFailed, .reserveFault, .ringFault,
            .historyFault, .synced,
            .clientGone, .flicd, .timerFired, .goOn, .stop, .uplink:
            nil
        }
    }
}

extension Hub.Effect {
    /// True for what another process carries out, and a person waits for.
    fileprivate var isAction: Bool {
        switch self {
        case .publish, .startJob: true
        case .setTimer, .cancelTimer, .needsEntropy, .goOn, .openTransport, .closeTransport, .send, .bus, .source,
            .record,
            .sync,
            .subscribe, .unsubscribe, .uplink, .cancelJob, .loadRules, .discard, .readFirmware,
            .respond,
            .broadcast, .flicd, .pressSimulated, .log, .setLogLevel, .status, .writeMetrics, .finish:
            false
        }
    }
}
