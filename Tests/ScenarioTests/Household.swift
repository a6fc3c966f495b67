import ButtonModel
import Feed
import Flic
import Hub
import JSON
import MQTTTopics
import Radios
import Rules
import Simulator
import TestSupport
import Testing

/// A whole house in one process: the hub, the simulated radio with its buttons, and a store, a broker and a process
/// runner that answer immediately or when a test requests it. No sockets, and no clock except `now`.
struct Household {
    private(set) var now = Instant(sinceBoot: .seconds(1000))
    private var runner: HubRunner
    /// The pause after the actions of a press.
    private let pause: Duration?
    /// For looking at; a change of the copy has no effect.
    var hub: Hub { runner.hub }

    /// Changes the hub between two inputs, as a fault of the program might.
    mutating func changeHub(_ change: (inout Hub) -> Void) { change(&runner.hub) }
    private(set) var world: SimulatedWorld
    private var disk = HouseDisk()
    var store: Store { disk.store }
    /// The part of `store` that survives a power cut.
    var synced: Store { disk.synced.store }
    /// Everything published, in the order in which the broker received it.
    private(set) var published: [MQTTMessage] = []
    private(set) var started: [ProcessRequest] = []
    private(set) var told: [JSONValue] = []
    private(set) var responses: [JSONValue] = []
    private(set) var logged: [String] = []
    /// The retained messages of the broker.
    private(set) var retained: [String: String] = [:]
    private(set) var subscriptions: Set<String> = []
    /// All subscriptions of this connection, in their order.
    private(set) var subscribed: [Subscription] = []
    /// The kind of every effect of the hub, in order.
    private(set) var journal: [String] = []
    /// The firmware files in the state directory.
    var firmware: [FirmwareFile: [UInt8]] = [:]
    private(set) var logLevel: LogLevel?
    /// The files for Prometheus that were written.
    private(set) var metrics: [(at: Instant, text: String)] = []
    /// The effects for clients of flicd.
    private(set) var flicdOrders: [FlicdOrder] = []
    private(set) var isFinished = false
    private(set) var isRestarting = false
    /// All sights, if `isWitnessed`.
    private(set) var sights: [(at: Instant, sight: Sight)] = []
    /// The number of presses whose first effects were returned before the hub handled them.
    private(set) var earlyPressCount = 0
    /// How often connections to proxies and buses were opened.
    private(set) var farOpenings = 0
    /// The lines of a recording, if one is made, and the effects of the hub during it.
    private(set) var recording: [JSONValue] = []
    private(set) var recordedEffects: [Hub.Effect] = []
    private var recordingStart = Instant(nanoseconds: 0)
    /// The history of the house, if one is kept.
    private(set) var history: HouseHistory?
    /// The digest of all effects of the hub, if requested.
    private(set) var digest: EffectDigest?

    var brokerIsUp = true
    /// The broker receives messages and acknowledges none.
    var brokerIsSilent = false
    /// True if the connection to the broker of `uplink:` can be made.
    var uplinkIsUp = true
    /// True if an engine asks the site once for the messages of each button in each session and life.
    var engineAsks = true
    private var asked: Set<String> = []
    /// The messages that were published on the connection to the broker of `uplink:`.
    var uplinkMessages: [MQTTMessage] = []
    /// Messages stay in the client's queue, so none is known to be sent, not even with QoS 0.
    var writesAreSlow = false
    var diskIsFull: Bool {
        get { disk.isFull }
        set { disk.isFull = newValue }
    }
    /// Where records are kept while the disk is full.
    var refuge: RecordRefuge {
        get { disk.refuge }
        set { disk.refuge = newValue }
    }
    /// Programs end immediately after they were started.
    var programsEnd = true
    /// Every attempt to open an adapter fails.
    var keepsAdapterAway = false
    /// Every attempt to open one of these radios fails.
    var radiosAway: Set<Int> = []
    /// A reload finds errors.
    var rulesAreBad = false
    /// The warnings of a reload that finds no errors.
    var reloadWarnings: [JSONValue] = []
    /// A reload finds rules that do not pass their own tests.
    var testsFail = false
    /// How late each timer of the hub fires, as on a busy machine.
    var timerLateness = Duration.zero
    /// Reloads are answered by `finishLoads` instead of at once.
    var loadsAreSlow = false
    /// Syncs are answered by `finishSyncs` instead of at once.
    var syncsAreSlow = false
    /// `sights` are collected, and a client watches the live stream from the first moment.
    var isWitnessed = false
    /// The number of effects that are still carried out before the process dies, and whether the power fails with it.
    var end: (effects: Int, isPowerCut: Bool)?
    /// A process that has ended in order is followed by the next one at once.
    var risesAfterStop = false
    /// The time by which the wall clock was set forward; it survives the process.
    private var clockShift = Duration.zero

    private let descriptions: [SimulatedButtonDescription]
    private let rules: HouseRules
    /// The rules that a reload finds.
    var rulesOnDisk: HouseRules?
    private let seam: RecordingSeam?
    private let configuration: HubConfiguration
    private let controller: VirtualController.Configuration
    static let radioNames = ["cellar", "attic", "shed", "garage"]
    /// The addresses of controllers are from the range for documentation.
    private static let firstController = VirtualController.Configuration(
        address: BluetoothAddress(rawValue: 0x0000_5E00_5301))

    /// Further controllers that are like the first.
    private static func others(
        than first: VirtualController.Configuration, _ radioCount: Int
    ) -> [VirtualController.Configuration] {
        (1..<max(1, radioCount)).map {
            var other = first
            other.address = BluetoothAddress(rawValue: 0x0000_5E00_5301 + UInt64($0))
            return other
        }
    }
    private var random: SeededGenerator
    private var hubTimer: Instant?
    /// When the hub's timer fired, if the hub has not handled that yet because of a pause.
    private var firedAt: Instant?
    private var worldTimer: Instant?
    /// The radios whose transports are open.
    private var openRadios: Set<Int> = []
    let kinds: [HouseRadio]
    var radioCount: Int { kinds.count }
    /// True while the bluetoothd of a radio searches for the hub.
    var isAnyDiscovering: Bool { farEnds.values.contains(where: \.isDiscovering) }
    /// The programs between the hub and the controllers of radios, by the radios' numbers.
    private var farEnds: [Int: FarEnd] = [:]
    private var farInputs: [(radio: Int, input: FarEnd.Input)] = []
    private var worldInputs: [SimulatedWorld.Input] = []
    private var slowSyncs: [HouseDisk.Sync] = []
    private var slowLoads: [JobID] = []
    private(set) var unacknowledged: [MessageID] = []
    private var running: [JobID] = []
    private var memories: [String: EventSnapshot] = [:]
    private var isDead = false

    static let kitchen = SimulatedButtonDescription(
        name: "kitchen", address: BluetoothAddress("80:E4:DA:00:00:01"), serial: "BA00-K00001", isPublic: true)
    static let hall = SimulatedButtonDescription(
        name: "hall", address: BluetoothAddress("80:E4:DA:00:00:02"), serial: "BA00-H00002", isPublic: true)
    static let kitchenID = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0001))
    static let hallID = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0002))

    init(
        _ buttons: [SimulatedButtonDescription] = [kitchen, hall], rules: HouseRules = .none, seed: UInt64 = 1,
        control: MQTTControl = .settings, discoveryPrefix: String? = nil,
        hasBroker: Bool = true, hasMetrics: Bool = false, lostState: String? = nil, ringWarning: String? = nil,
        servesFlicd: Bool = false, controller: VirtualController.Configuration? = nil,
        radios radioCount: Int = 1, kinds: [HouseRadio]? = nil, uplink: UplinkConfiguration? = nil,
        recordedAt seam: RecordingSeam? = nil,
        history: HouseHistory? = nil,
        isWitnessed: Bool = false,
        pausing pause: Duration? = nil
    ) {
        let kinds = kinds ?? Array(repeating: .adapter, count: radioCount)
        self.kinds = kinds
        self.pause = pause
        self.isWitnessed = isWitnessed
        if isWitnessed, EffectDigestFile.isWanted { digest = EffectDigest(keepsLines: EffectDigestFile.keepsLines) }
        self.seam = seam
        self.history = history
        random = SeededGenerator(seed: seed)
        self.rules = rules
        descriptions = buttons
        let limit = controller.flatMap { $0.maximumLinks < buttons.count ? $0.maximumLinks : nil }
        configuration = HubConfiguration(
            version: "test", discoveryPrefix: discoveryPrefix, extraTrustRoots: [SimulatorRoot.publicKey],
            radios: kinds.enumerated().map {
                ConfiguredRadio("simulated:test", name: Self.radioNames[$0], kind: $1.kind(maximumLinks: limit))
            },
            broker: "mqtt://test", hasBroker: hasBroker, control: control, lostState: lostState,
            ringWarning: ringWarning, hasMetrics: hasMetrics,
            simulatedButtons: buttons.map(\.name),
            simulatedIdentities: Dictionary(buttons.map { ($0.name, $0.identity) }) { first, _ in first },
            flicdListen: servesFlicd ? "127.0.0.1:5551" : nil, uplink: uplink)
        runner = HubRunner(Hub(configuration, stored: disk.store.state, rules: rules.set), pausing: pause)
        self.controller = controller ?? Self.firstController
        world = SimulatedWorld(
            buttons, seed: seed, at: now, controller: self.controller,
            others: Self.others(than: self.controller, kinds.count))
        for (radio, kind) in kinds.enumerated() {
            guard
                let farEnd = kind.farEnd(
                    maximumLinks: self.controller.maximumLinks,
                    ownAddress: BluetoothAddress(rawValue: self.controller.address.rawValue + UInt64(radio)))
            else { continue }
            farEnds[radio] = farEnd
            farInputs.append((radio, .begun))
        }
        begin(store.state)
    }

    private mutating func begin(_ stored: StoredState) {
        see(.began(stored))
        if let seam {
            recordingStart = now
            let header = RecordingHeader(
                startedAt: clock, configuration: configuration, rules: rules.recorded, stored: stored)
            recording.append(seam.header(runner.hub.beginRecording(header, at: now), header))
        }
        if history != nil {
            let header = RecordingHeader(
                startedAt: clock, configuration: configuration, rules: (rulesOnDisk ?? rules).recorded, stored: stored)
            let (start, time) = (now, clock)
            history?.begin(header, &runner.hub, at: start, time)
        }
        if isWitnessed { give(.controlLine(.init(rawValue: 9), Array(#"{"request":"watch"}"#.utf8))) }
        give(.wallClock(clock))
        give(.entropy(random.bytes(2048)))
        if diskIsFull { give(.recordFailed(nil, "no space left", refuge)) }
        give(.start)
        if brokerIsUp, configuration.hasBroker { give(.brokerConnected) }
        settle()
    }

    /// The wall clock.
    var clock: UTCTime {
        UTCTime(milliseconds: 1_795_000_000_000) + (now - Instant(sinceBoot: .seconds(1000))) + clockShift
    }

    /// The state in the store.
    var onDisk: StoredState { store.state }

    /// Violations of the Bluetooth specification by the host.
    var violations: [String] { world.violations }

    // MARK: What happens to the house

    /// The process dies at this instant and starts again; the store keeps what was recorded.
    mutating func crash(for downtime: Duration = .zero) {
        die(isPowerCut: false)
        if !farInputs.isEmpty { settle() }
        if downtime > .zero { wait(downtime) }
        rise()
    }

    /// The power fails at this instant, and records after the last sync are lost.
    mutating func cutPower(for downtime: Duration = .zero) {
        die(isPowerCut: true)
        if !farInputs.isEmpty { settle() }
        if downtime > .zero { wait(downtime) }
        rise()
    }

    var copyOfDisk: HouseDisk { disk }

    /// The process dies, its disk is replaced by an old copy, and the process starts again.
    mutating func restore(_ copy: HouseDisk) {
        die(isPowerCut: false)
        disk = copy
        disk.die(isPowerCut: false)
        rise()
    }

    private mutating func die(isPowerCut: Bool) {
        see(.died(isPowerCut: isPowerCut))
        disk.die(isPowerCut: isPowerCut)
        isDead = true
        end = nil
        // Drops the inputs that wait.
        runner = HubRunner(hub, pausing: pause)
        hubTimer = nil
        firedAt = nil
        slowSyncs = []
        slowLoads = []
        unacknowledged = []
        running = []
        subscriptions = []
        subscribed = []
        openRadios = []
        for radio in farEnds.keys.sorted() { farInputs.append((radio, .closed)) }
    }

    private mutating func rise() {
        isDead = false
        let stored = disk.rise()
        runner.hub = Hub(configuration, stored: stored, rules: (rulesOnDisk ?? rules).set)
        begin(stored)
    }

    /// Sets the wall clock.
    mutating func setClock(forwardBy duration: Duration) {
        clockShift = clockShift + duration
        tell(.wallClock(clock))
    }

    mutating func setClock(to time: UTCTime) { setClock(forwardBy: time.duration(since: clock)) }

    /// Resets every button: it has no pairing and other keys. The adapter disappears and returns with them.
    mutating func resetButtons(seed: UInt64) {
        world = SimulatedWorld(
            descriptions, seed: seed, at: now, controller: controller, others: Self.others(than: controller, radioCount)
        )
        worldTimer = nil
        worldInputs = []
        openRadios = []
        for radio in 0..<radioCount { give(.transportClosed("it is gone.", .absent, RadioID(rawValue: UInt8(radio)))) }
        settle()
    }

    /// Causes a fault of an adapter.
    mutating func breakAdapter(_ fault: ControllerFault, _ radio: Int = 0) {
        worldInputs.append(.controllerFault(fault, host: radio))
        settle()
    }

    /// Causes a fault of a button.
    mutating func breakButton(_ button: String, _ fault: SimulatedFault) {
        worldInputs.append(.fault(button: button, fault))
        settle()
    }

    mutating func drain(_ button: String, millivolts: Int) {
        worldInputs.append(.setBattery(button: button, millivolts: millivolts))
        settle()
    }

    /// Causes trouble at the far end of a radio; without effect if the radio is of another kind.
    mutating func trouble(_ radio: Int, _ trouble: FarEndTrouble) {
        guard farEnds[radio] != nil else { return }
        farInputs.append((radio, .trouble(trouble)))
        settle()
    }

    /// Unplugs an adapter; the next attempt to open it succeeds. A proxy restarts.
    mutating func unplugAdapter(_ radio: Int = 0) {
        switch kinds[radio] {
        case .adapter: break
        case .bluez: return trouble(radio, .bluetoothd(.pull(for: .seconds(2))))
        case .proxy: return trouble(radio, .proxy(.restart(after: .seconds(2))))
        }
        worldInputs.append(.powerCycled(host: radio))
        openRadios.remove(radio)
        give(.transportClosed("hci0 disappeared.", .absent, RadioID(rawValue: UInt8(radio))))
        settle()
    }

    /// The strength with which a button and a radio hear each other; `nil`: they do not.
    mutating func signal(_ button: String, _ radio: Int, _ rssi: Int8?) {
        worldInputs.append(.setSignal(button: button, host: radio, rssi))
        settle()
    }

    mutating func press(_ button: String, _ press: SimulatedPress) {
        worldInputs.append(.press(button: button, press))
        settle()
    }

    /// Swipes and turns.
    mutating func move(_ input: SimulatedWorld.Input) {
        see(.hand(input))
        worldInputs.append(input)
        settle()
    }

    mutating func reach(_ button: String, _ isReachable: Bool) {
        worldInputs.append(.setReachable(button: button, isReachable))
        settle()
    }

    mutating func ask(_ request: String) {
        give(.controlLine(.init(rawValue: 1), Array(request.utf8)))
        settle()
    }

    mutating func tell(_ input: Hub.Input) {
        give(input)
        settle()
    }

    /// Publishes a message of another client to all subscribers.
    mutating func say(_ payload: String, on topicName: String) {
        guard brokerIsUp, subscriptions.contains(where: { Self.matches(topicName, $0) }) else { return }
        tell(.messageReceived(topicName: topicName, payload: Array(payload.utf8), retained: false))
    }

    /// Cuts off the end of the history, as a kill in the middle of a write does.
    mutating func cutHistory(_ count: Int) { history?.cut(count) }

    /// Replaces a text in a segment of the history, or in all.
    mutating func editHistory(_ text: String, with other: String, in place: Int? = nil) {
        history?.replace(text, with: other, in: place)
    }

    /// Removes a segment of the history.
    mutating func loseHistory(_ place: Int) { history?.lose(place) }

    /// Deletes all retained messages of the broker.
    mutating func clearRetained() { retained = [:] }

    /// Adds a retained message of an earlier time.
    mutating func retain(_ payload: String, on topicName: String) { retained[topicName] = payload }

    /// Asks for the messages of each button of a site that says hello.
    private mutating func askAfter(hello message: MQTTMessage) {
        guard let topic = FeedTopic(message.topicName), topic.kind == .hello,
            let hello = try? FeedHello(parsing: message.payload)
        else { return }
        for (button, facts) in hello.buttons.sorted(by: { $0.key < $1.key })
        where asked.insert("\(hello.installation) \(hello.session) \(button)").inserted {
            let want = FeedWant(after: facts.claimed, session: hello.session, installation: hello.installation)
            let topicName = FeedTopic(topic.site, .want(button)).description
            give(.uplink(.received(topicName: topicName, payload: want.encoded())))
        }
    }

    /// True if the topic filter matches the topic name.
    ///
    /// - Source: MQTT 5.0, 4.7.1.
    private static func matches(_ topicName: String, _ topicFilter: String) -> Bool {
        let (levels, wanted) = (topicName.split(separator: "/"), topicFilter.split(separator: "/"))
        for (place, level) in wanted.enumerated() {
            if level == "#" { return true }
            guard place < levels.count, level == "+" || level == levels[place] else { return false }
        }
        return levels.count == wanted.count
    }

    private mutating func give(_ input: Hub.Input) { runner.add(input) }

    mutating func loseBroker() {
        brokerIsUp = false
        // Every connection is a clean start.
        subscriptions = []
        subscribed = []
        give(.brokerDisconnected("the broker is gone"))
        for id in unacknowledged { give(.publishFailed(id, "the broker is gone")) }
        unacknowledged = []
        settle()
    }

    mutating func bringBrokerBack() {
        brokerIsUp = true
        give(.brokerConnected)
        settle()
    }

    /// Acknowledges the messages that the broker has left unacknowledged.
    mutating func acknowledge() {
        let ids = unacknowledged
        unacknowledged = []
        for id in ids { give(.published(id)) }
        settle()
    }

    mutating func finishSyncs(success: Bool = true) {
        for sync in slowSyncs {
            if success { disk.finish(sync) }
            give(.synced(sync.token, success && sync.isAllOnDisk))
        }
        slowSyncs = []
        settle()
    }

    /// Ends the programs that were started, with this output.
    mutating func endPrograms(_ status: ProcessResult.Status = .exited(0), saying output: String = "") {
        for id in running { give(.jobEnded(id, .process(Self.result(status, output)))) }
        running = []
        settle()
    }

    private static func result(_ status: ProcessResult.Status, _ output: String = "") -> ProcessResult {
        ProcessResult(
            status: status, standardOutput: Array(output.utf8), standardError: [], duration: .milliseconds(1))
    }

    mutating func finishLoads() {
        for id in slowLoads { give(loaded(id)) }
        slowLoads = []
        settle()
    }

    private func loaded(_ id: JobID) -> Hub.Input {
        let found = rulesOnDisk ?? rules
        if testsFail {
            return .rulesLoaded(
                id,
                RuleLoadReport(
                    set: nil, problems: [["code": "test", "severity": "error", "file": "test.yaml", "line": 9]],
                    summary: #"test.yaml:9:5: the test "one click" failed"#, failing: found.set.fingerprint))
        }
        guard rulesAreBad else {
            return .rulesLoaded(id, RuleLoadReport(set: found.set, source: found.recorded, problems: reloadWarnings))
        }
        let problem: JSONValue = [
            "code": "E301", "severity": "error", "file": "test.yaml", "line": 3, "hint": "did you mean \"kitchen\"?",
        ]
        return .rulesLoaded(
            id,
            RuleLoadReport(
                set: nil, problems: [problem], summary: #"test.yaml:3:1: unknown button "kitchn""#,
                refusedValues: found.set.confidentialValues))
    }

    /// Lets time pass, and fires every timer that is due meanwhile.
    mutating func wait(_ duration: Duration) {
        let end = now + duration
        while let next =
            ([hubTimer.map { $0 + timerLateness }, worldTimer, runner.pausesUntil] + farEnds.values.map(\.deadline))
            .compactMap(\.self).min(), next <= end
        {
            now = max(now, next)
            // At one instant, events of buttons come before decisions of timers.
            if let timer = worldTimer, timer <= now {
                worldTimer = nil
                worldInputs.append(.timerFired)
            } else if let radio = farEnds.keys.sorted().first(where: {
                farEnds[$0]?.deadline.map { $0 <= now } ?? false
            }) {
                farInputs.append((radio, .timerFired))
            } else if let timer = hubTimer, timer + timerLateness <= now {
                hubTimer = nil
                firedAt = timer
                give(.timerFired)
            }
            settle()
        }
        now = end
    }

    /// Pairs every button of the house that is in public mode.
    mutating func pairAll(within duration: Duration = .seconds(30)) {
        ask(#"{"request":"permit_join","data":{"time":\#(duration.milliseconds / 1000)}}"#)
        wait(duration + .seconds(1))
    }

    // MARK: The loop

    private mutating func settle() {
        while true {
            while !worldInputs.isEmpty || !farInputs.isEmpty {
                guard !worldInputs.isEmpty else {
                    let (radio, input) = farInputs.removeFirst()
                    for effect in farEnds[radio]?.handle(input, at: now) ?? [] { carryOut(effect, of: radio) }
                    continue
                }
                for effect in world.handle(worldInputs.removeFirst(), at: now) { carryOut(effect) }
                lookAtButtons()
            }
            guard let turn = runner.next(at: now) else { return }
            if turn.input == .timerFired { firedAt = nil }
            expectNoProblems(at: min(turn.at, firedAt ?? turn.at))
            // The press is handled in a turn that itself has to go on.
            if turn.input == .goOn, runner.hub.isIncomplete { earlyPressCount += 1 }
            if digest != nil { for effect in turn.effects { digest?.add(effect) } }
            if let seam {
                recordedEffects += turn.effects
                let octets = runner.hub.recordedLine(turn.input, at: turn.at)?.octets
                let line = octets.flatMap { try? JSONValue(parsing: $0) }
                if let line = seam.line(line, turn.input, at: turn.at - recordingStart) { recording.append(line) }
            }
            for effect in turn.effects {
                if let end, end.effects <= 0 {
                    die(isPowerCut: end.isPowerCut)
                    return rise()
                }
                end?.effects -= 1
                see(.effect(effect))
                carryOut(effect)
            }
            let time = clock
            history?.add(turn, &runner.hub, time)
            if isFinished, risesAfterStop {
                isFinished = false
                die(isPowerCut: false)
                return rise()
            }
        }
    }

    private mutating func carryOut(_ effect: SimulatedWorld.Effect) {
        switch effect {
        case .send(let packet, let radio) where farEnds[radio] != nil: farInputs.append((radio, .received(packet)))
        case .send(let packet, let radio):
            if openRadios.contains(radio) { give(.received(packet, RadioID(rawValue: UInt8(radio)))) }
        case .setTimer(let deadline): worldTimer = deadline
        case .cancelTimer: worldTimer = nil
        case .pressFinished, .note, .unknownButton: break
        }
    }

    private mutating func carryOut(_ effect: FarEnd.Effect, of radio: Int) {
        let id = RadioID(rawValue: UInt8(radio))
        switch effect {
        case .send(let packet): worldInputs.append(.received(packet, host: radio))
        case .powerCycle: worldInputs.append(.powerCycled(host: radio))
        case .bus(let input): if openRadios.contains(radio) { give(.bus(input, id)) }
        case .octets(let octets): if openRadios.contains(radio) { give(.received(octets, id)) }
        case .close(let reason):
            if openRadios.remove(radio) != nil { give(.transportClosed(reason, .absent, id)) }
        }
    }

    private mutating func carryOut(_ effect: Hub.Effect) {
        switch effect {
        case .setTimer(let deadline): hubTimer = deadline
        case .cancelTimer: hubTimer = nil
        case .needsEntropy: give(.entropy(random.bytes(2048)))
        case .goOn: break
        case .openTransport(let radio) where keepsAdapterAway || radiosAway.contains(Int(radio.rawValue)):
            give(.transportClosed("hci0 disappeared.", .absent, radio))
        case .openTransport(let radio) where farEnds[Int(radio.rawValue)] != nil:
            guard farEnds[Int(radio.rawValue)]?.isReachable == true else {
                return give(.transportClosed("it is out of reach.", .absent, radio))
            }
            openRadios.insert(Int(radio.rawValue))
            farOpenings += 1
            farInputs.append((Int(radio.rawValue), .opened))
            give(kinds[Int(radio.rawValue)] == .bluez ? .busOpened(.any, radio) : .transportOpened(radio))
        case .openTransport(let radio):
            openRadios.insert(Int(radio.rawValue))
            // The kernel resets the controller when a user channel is closed and opened.
            worldInputs.append(.powerCycled(host: Int(radio.rawValue)))
            give(.transportOpened(radio))
        case .closeTransport(let radio):
            openRadios.remove(Int(radio.rawValue))
            if farEnds[Int(radio.rawValue)] != nil { farInputs.append((Int(radio.rawValue), .closed)) }
        case .bus(let effect, let radio): farInputs.append((Int(radio.rawValue), .bus(effect)))
        // These houses have no flicd as a source.
        case .source: break
        case .flicd(let order):
            journal.append("flicd")
            flicdOrders.append(order)
        case .send(let packet, let radio):
            journal.append("send")
            let radio = Int(radio.rawValue)
            if farEnds[radio] == nil {
                worldInputs.append(.received(packet, host: radio))
            } else {
                farInputs.append((radio, .octets(packet)))
            }
        case .record(let token, let changes):
            journal.append("record")
            guard let refuge = disk.record(token, changes) else { break }
            if refuge == .nowhere { see(.recordFailed) }
            give(.recordFailed(token, "no space left", refuge))
        case .sync(let token):
            journal.append("sync")
            guard let sync = disk.beginSync(token) else { break }
            guard !syncsAreSlow else { return slowSyncs.append(sync) }
            disk.finish(sync)
            give(.synced(token, sync.isAllOnDisk))
        case .subscribe(let filters):
            subscriptions.formUnion(filters.map(\.topicFilter))
            subscribed += filters
            for (topicName, payload) in retained.sorted(by: { $0.key < $1.key })
            where filters.contains(where: { Self.matches(topicName, $0.topicFilter) }) {
                give(.messageReceived(topicName: topicName, payload: Array(payload.utf8), retained: true))
            }
        case .unsubscribe(let filters): subscriptions.subtract(filters)
        case .uplink(.connect): if uplinkIsUp { give(.uplink(.connected(knowsExpiry: true))) }
        case .uplink(.subscribe): break
        case .uplink(.publish(let message, _)):
            journal.append("uplink \(message.topicName)")
            if uplinkIsUp { uplinkMessages.append(message) }
            if uplinkIsUp, engineAsks { askAfter(hello: message) }
        case .loadRules(let id, _): if loadsAreSlow { slowLoads.append(id) } else { give(loaded(id)) }
        case .startJob(let id, .http(let request)):
            journal.append("\(request.method) \(request.url)")
            give(.jobEnded(id, .http(HTTPResult(outcome: .answered(status: 200), duration: .milliseconds(1)))))
        case .cancelJob(_, .http), .discard: break
        case .readFirmware(let id, let file):
            give(.firmwareRead(id, firmware[file].map { .octets($0) } ?? .failed("there is no \(file.name).")))
        case .setLogLevel(let level): logLevel = level
        case .publish(let id, let message, _):
            journal.append("publish \(message.topicName)")
            guard brokerIsUp else { return give(.publishFailed(id, "the broker is gone")) }
            published.append(message)
            if message.retain {
                let payload = String(decoding: message.payload, as: UTF8.self)
                retained[message.topicName] = payload.isEmpty ? nil : payload
            }
            let isUnanswered = writesAreSlow || brokerIsSilent && message.qos > 0
            if isUnanswered { unacknowledged.append(id) } else { give(.published(id)) }
        case .startJob(let id, .process(let request)):
            journal.append("start \(request.arguments.joined(separator: " "))")
            started.append(request)
            if programsEnd { give(.jobEnded(id, .process(Self.result(.exited(0))))) } else { running.append(id) }
        case .cancelJob(let id, .process):
            guard let place = running.firstIndex(of: id) else { break }
            running.remove(at: place)
            give(.jobEnded(id, .process(Self.result(.signalled(15)))))
        case .respond(_, let line): responses.append(line)
        case .broadcast(_, let line): told.append(line)
        case .pressSimulated(let button, let press):
            if let press = SimulatedPress(rawValue: press) { worldInputs.append(.press(button: button, press)) }
        case .log(_, let message): logged.append(message)
        case .writeMetrics(let octets): metrics.append((now, String(decoding: octets, as: UTF8.self)))
        case .status: break
        case .finish(let isRestart):
            isFinished = true
            isRestarting = isRestart
        }
    }

    /// Checks the hub's invariants after each input. A story reports a violation as a broken promise.
    ///
    /// - Parameter instant: the time of the input, which is in the past after a pause; if a timer has fired in a pause and waits, the
    ///   time of that.
    private mutating func expectNoProblems(at instant: Instant) {
        #if DEBUG
            for problem in runner.hub.problems(at: instant) {
                if isWitnessed { see(.problem(problem)) } else { Issue.record("\(problem)") }
            }
        #endif
    }

    private mutating func see(_ sight: Sight) {
        if isWitnessed { sights.append((now, sight)) }
    }

    /// Records the events of the buttons, and whether their stored events are acknowledged.
    private mutating func lookAtButtons() {
        guard isWitnessed else { return }
        for description in descriptions {
            let name = description.name
            guard let memory = world.eventSnapshot(of: name), memory != memories[name] else { continue }
            let former = memories.updateValue(memory, forKey: name)
            var stored = synced
            stored.apply(disk.synced.reserve)
            see(
                .remembered(
                    name, from: former, to: memory, onDisk: stored.cursor(of: ButtonID(description.wantedAddress))))
        }
    }

    mutating func takeSights() -> [(at: Instant, sight: Sight)] {
        defer { sights = [] }
        return sights
    }

    mutating func forgetWhatHappened() {
        flicdOrders = []
        published = []
        started = []
        told = []
        journal = []
        logged = []
    }

    /// The data of the latest answer.
    var data: JSONValue { responses.last?["data"] ?? .null }

    /// The reports of interrupted runs; reports of interrupted messages are left out.
    var interruptedRuns: [String] {
        payloads(on: "tryck/bridge/event").filter {
            $0.contains(#""type":"interrupted""#) && !$0.contains(#""run":null"#)
        }
    }

    func payloads(on topicName: String) -> [String] {
        published.filter { $0.topicName == topicName }.map { String(decoding: $0.payload, as: UTF8.self) }
    }
}
