import ButtonModel
import Bytes
import Hub
import Rules
import Simulator

/// A hub and a simulated air in one process, with a virtual clock: it measures time on the air, which does not depend
/// on the load of the machine.
struct BenchHouse {
    static let start = Instant(sinceBoot: .seconds(1000))

    private(set) var now = start
    private var runner: HubRunner
    private(set) var world: SimulatedWorld
    private(set) var readyCount = 0
    private(set) var paired: Set<ButtonID> = []
    /// The packets on the air since `beginTally`.
    private(set) var tally = LinkTally(at: start)
    /// All inputs of the hub, if they are kept, so that other hubs can be given the same.
    private(set) var inputs: [(Hub.Input, Instant)] = []
    private let keepsInputs: Bool
    /// True if data from buttons is kept in `intercepted` instead of reaching the hub.
    var intercepts = false
    var intercepted: [[UInt8]] = []
    private var worldInputs: [SimulatedWorld.Input] = []
    private var hubTimer, worldTimer: Instant?
    private var drawn: UInt64

    static let configuration = HubConfiguration(
        version: "bench", extraTrustRoots: [SimulatorRoot.publicKey],
        radios: [ConfiguredRadio("simulated:bench")], hasBroker: false)

    /// - Parameters:
    ///   - maximumLinks: how many links the host's controller supports.
    ///   - air: how the air carries packets.
    init(
        _ buttons: [SimulatedButtonDescription], seed: UInt64, maximumLinks: Int = 8, keepsInputs: Bool = false,
        rules: RuleSet = RuleSet(), air: Air.Configuration = .init()
    ) {
        runner = HubRunner(
            Hub(Self.configuration, stored: StoredState(installationID: "be4c"), rules: rules))
        world = SimulatedWorld(
            buttons, seed: seed, at: now,
            controller: .init(
                address: BluetoothAddress(rawValue: 0x0000_5E00_5301), acceptListSize: 255, maximumLinks: maximumLinks),
            air: air)
        drawn = seed
        self.keepsInputs = keepsInputs
        for input in [.wallClock(UTCTime(milliseconds: 1_795_000_000_000)), .entropy(entropy()), .start] as [Hub.Input]
        {
            runner.add(input)
        }
        settle()
    }

    mutating func ask(_ line: String) {
        runner.add(.controlLine(Hub.ClientID(rawValue: 1), Array(line.utf8)))
        settle()
    }

    mutating func give(_ input: SimulatedWorld.Input) {
        worldInputs.append(input)
        settle()
    }

    mutating func give(_ input: Hub.Input) {
        runner.add(input)
        settle()
    }

    /// The hub's effects for one packet, which are not carried out yet.
    mutating func receive(_ packet: [UInt8]) -> [Hub.Effect] { runner.hub.handle(.received(packet), at: now) }

    /// Carries out the effects for one packet.
    mutating func carryOut(_ effects: [Hub.Effect]) {
        if effects.last == .goOn { runner.add(.goOn) }
        for effect in effects { took(effect) }
        settle()
    }

    /// The number of connection events in which a button took part; 0 for an unknown button.
    func connectionEvents(of button: String) -> Int { world.connectionEvents(of: button, at: now) ?? 0 }

    mutating func beginTally() { tally = LinkTally(at: now) }

    /// Lets time pass until a condition holds.
    ///
    /// - Returns: whether it holds before `limit` has passed.
    mutating func wait(_ limit: Duration, until isSo: (BenchHouse) -> Bool = { _ in false }) -> Bool {
        let end = now + limit
        while !isSo(self) {
            guard let next = [hubTimer, worldTimer].compactMap(\.self).min(), next <= end else {
                now = end
                return isSo(self)
            }
            now = max(now, next)
            if worldTimer == next {
                worldTimer = nil
                worldInputs.append(.timerFired)
            } else {
                hubTimer = nil
                runner.add(.timerFired)
            }
            settle()
        }
        return true
    }

    private mutating func settle() {
        while true {
            while !worldInputs.isEmpty {
                for effect in world.handle(worldInputs.removeFirst(), at: now) { took(effect) }
            }
            guard let turn = runner.next(at: now) else { return }
            if keepsInputs { inputs.append((turn.input, now)) }
            for effect in turn.effects { took(effect) }
        }
    }

    private mutating func took(_ effect: SimulatedWorld.Effect) {
        switch effect {
        case .send(let packet, _):
            tally.saw(packet, .fromButton, at: now)
            if intercepts, packet.first == 2 {
                intercepted.append(packet)
            } else {
                runner.add(.received(packet))
            }
        case .setTimer(let deadline): worldTimer = deadline
        case .cancelTimer: worldTimer = nil
        case .pressFinished, .note, .unknownButton: break
        }
    }

    private mutating func took(_ effect: Hub.Effect) {
        switch effect {
        case .send(let packet, _):
            tally.saw(packet, .toButton, at: now)
            worldInputs.append(.received(packet))
        case .setTimer(let deadline): hubTimer = deadline
        case .cancelTimer: hubTimer = nil
        case .needsEntropy: runner.add(.entropy(entropy()))
        case .openTransport: runner.add(.transportOpened())
        case .sync(let token): runner.add(.synced(token, true))
        case .record(_, let changes):
            for case .putButton(let button) in changes { paired.insert(button.id) }
        case .log(.info, let message) where message.hasSuffix(" is ready") && !message.hasPrefix("Bluetooth"):
            readyCount += 1
        case .goOn, .closeTransport, .bus, .source, .subscribe, .unsubscribe, .uplink, .publish, .startJob, .cancelJob,
            .loadRules, .discard, .readFirmware, .respond, .broadcast, .flicd,
            .pressSimulated, .log, .setLogLevel, .status, .writeMetrics, .finish:
            break
        }
    }

    /// Random octets. They only need to differ between sessions.
    private mutating func entropy() -> [UInt8] {
        (0..<2048).map { _ in
            drawn = drawn &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: drawn >> 56)
        }
    }
}
