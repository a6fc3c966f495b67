import CommandSupport
import CommandText
import ControlClient
import Edges
import Glibc
import JSON
import Platform
import Radios
import Reactor
import Settings
import Setup

/// An attempt to open the adapter and to connect to the broker, as the daemon would make it. With a running daemon,
/// the adapter is left to the daemon, and the broker is tried only when the daemon is not connected to it.
@ReactorActor
final class ConnectionAttempt {
    /// In nanoseconds. It is longer than an attempt to connect, unless the resolver is slow.
    private static let timeLimit: Int64 = 15_000_000_000

    private struct Outcome: Sendable {
        var adapter = Observations.Adapter.notTried
        var broker = Observations.Broker.notTried
        var blueZLinks: [BlueZButtonLink] = []
    }

    private enum BlueZAnswer: Sendable {
        case objects([String: BusInterfaces])
        /// A sentence for users.
        case fault(String)
    }

    private let setup: Setup
    private let conversation: Conversation<Outcome>
    private var outcome = Outcome()
    private var pending = 0
    private var transport: (any HCITransport)?
    private var buses: [SystemBus] = []
    private var mqtt: MQTTEdge?
    private var deadline: Timer?

    nonisolated static func run(_ setup: Setup, _ seen: inout Observations) {
        let (wantsAdapter, wantsBroker): (Bool, Bool) =
            switch seen.daemon {
            case .status(let status): (false, status["broker"]?.text("state") == "disconnected")
            case .silent(.notRunning): (seen.stateDirectory.database != .inUse, true)
            case .silent: (false, true)
            }
        if case .tcp(let host, _, _) = setup.configuration.broker { seen.brokerHost = host }
        let wantsLinks = seen.usesAdapter && seen.isBlueZRunning
        let attempted = try? Conversation<Outcome>.run { conversation in
            let attempt = ConnectionAttempt(setup, conversation)
            attempt.start(adapter: wantsAdapter, broker: wantsBroker, links: wantsLinks)
        }
        guard let attempted else { return }
        seen.adapter = attempted.adapter
        seen.broker = attempted.broker
        seen.blueZLinks = attempted.blueZLinks
    }

    private init(_ setup: Setup, _ conversation: Conversation<Outcome>) {
        self.setup = setup
        self.conversation = conversation
    }

    private func start(adapter: Bool, broker: Bool, links: Bool) {
        pending = 1
        // The timer also keeps this object alive.
        let deadline = EventLoop.shared.timer { self.finish() }
        deadline.set(at: EventLoop.shared.nanosecondsSinceBoot + Self.timeLimit)
        self.deadline = deadline
        if adapter { openAdapter() }
        if broker { connect() }
        if links { lookForLinks() }
        ended()
    }

    private func ended() {
        pending -= 1
        guard pending == 0 else { return }
        // `finish` closes the transport, which is not allowed inside the call that reports its event.
        EventLoop.shared.onNextTurn { self.finish() }
    }

    private func finish() {
        deadline?.cancel()
        transport?.close()
        for bus in buses { bus.close() }
        if let mqtt { mqtt.disconnect { withExtendedLifetime(mqtt) {} } }
        conversation.end(.success(outcome))
    }

    // MARK: The adapter

    private func openAdapter() {
        let loop = EventLoop.shared
        switch setup.configuration.usedRadios.first?.transport ?? .none {
        // A connection to a proxy would take it away from its user.
        case .none, .simulated, .esphome: outcome.adapter = .notNeeded
        case .auto: look(.any, orElse: { self.open(.any) })
        case .bluez: look(.any)
        case .bluezIndex(let index): look(.index(index))
        case .bluezAddress(let address): look(.address(address))
        case .hciIndex(let index): open(.index(UInt16(clamping: index)))
        case .hciAddress(let address): open(.address(address))
        case .h4TCP(let host, let port):
            open(H4StreamTransport(loop: loop, endpoint: .tcp(host: host, port: UInt16(clamping: port))))
        case .command(let words):
            open(H4StreamTransport(loop: loop, endpoint: .program(words, directory: setup.directory)))
        case .h4Unix(let path):
            open(H4StreamTransport(loop: loop, endpoint: .unix(path: resolve(path, in: setup.directory))))
        }
    }

    /// Asks BlueZ for its adapters, and changes nothing.
    ///
    /// - Parameter fallback: what to do if BlueZ has no powered adapter; `nil`: report that.
    private func look(_ choice: BlueZAdapterChoice, orElse fallback: (@ReactorActor () -> Void)? = nil) {
        askBlueZ { [unowned self] answer in
            let fault: String?
            switch answer {
            case .objects(let objects):
                fault = BlueZRadio.fault(of: choice, among: objects)
                if fault == nil, let adapter = BlueZAdapter.find(choice, among: objects) {
                    outcome.adapter = .shared("\(adapter.name) (\(adapter.address))")
                }
            case .fault(let sentence): fault = sentence
            }
            guard let fault else { return }
            if let fallback { fallback() } else { outcome.adapter = .notShared(fault) }
        }
    }

    /// Asks BlueZ which buttons are connected, and changes nothing.
    private func lookForLinks() {
        askBlueZ { [unowned self] answer in
            if case .objects(let objects) = answer { outcome.blueZLinks = BlueZButtonLink.all(among: objects) }
        }
    }

    private func askBlueZ(_ take: @escaping @ReactorActor (BlueZAnswer) -> Void) {
        pending += 1
        let bus = SystemBus(loop: .shared)
        buses.append(bus)
        func asked(_ answer: BlueZAnswer) {
            buses.removeAll { $0 === bus }
            take(answer)
            // The bus must not be closed inside the call that reports its event.
            EventLoop.shared.onNextTurn { bus.close() }
            ended()
        }
        let failure = bus.open { [unowned self] event in
            guard buses.contains(where: { $0 === bus }) else { return }
            switch event {
            case .reported(.objects(_, let objects)): asked(.objects(objects))
            case .reported(.refused(_, let error)): asked(.fault(BlueZRadio.advice(error).0))
            case .failed(let reason): asked(.fault(reason))
            case .reported: break
            }
        }
        if let failure { return asked(.fault(failure)) }
        bus.perform(.call(BusCallID(rawValue: 0), .getManagedObjects))
    }

    private func open(_ wanted: AdapterSelection.Wanted) {
        do throws(TransportFailure) {
            var selection = AdapterSelection(wanted)
            let index = try selection.next(among: try HCISocketTransport.adapters())
            // Opening takes an adapter down first, which would disconnect the headphones that BlueZ has connected to
            // it.
            guard !SystemEnvironment.isRunning("bluetoothd") else {
                outcome.adapter = .left("hci\(index)", isChosen: wanted != .any)
                return
            }
            open(HCISocketTransport(loop: EventLoop.shared, index: index))
        } catch {
            outcome.adapter = .failed(error)
        }
    }

    private func open(_ transport: any HCITransport) {
        pending += 1
        self.transport = transport
        let name = setup.configuration.usedRadios.first?.transport.configurationText ?? "none"
        transport.open { [unowned self] event in
            switch event {
            case .opened: outcome.adapter = .opened(name)
            case .failed(let failure): outcome.adapter = .failed(failure)
            case .received: return
            }
            self.transport = nil
            EventLoop.shared.onNextTurn { transport.close() }
            ended()
        }
    }

    // MARK: The broker

    private func connect() {
        switch setup.configuration.broker {
        case .none: outcome.broker = .notNeeded
        case .embedded:
            outcome.broker = .embedded(isInstalled: InstalledMosquitto.path != nil)
        case .tcp, .unix:
            guard let endpoint = MQTTOptions.Endpoint(setup.configuration, in: setup.directory) else { return }
            pending += 1
            // The client identifier is not the daemon's, because the broker would then disconnect the daemon.
            let suffix = SystemEnvironment.randomOctets(2).map { String($0, radix: 16) }.joined()
            let options = MQTTOptions(
                setup.configuration, endpoint: endpoint,
                clientIdentifier: "\(setup.configuration.mqttClientIdentifier ?? "tryck")_doctor_\(suffix)")
            outcome.broker = .failed(.noAnswer(endpoint: endpoint.description))
            let mqtt = MQTTEdge(loop: .shared, options: options, seed: SystemEnvironment.randomSeed) {
                [unowned self] event in
                switch event {
                case .connected: outcome.broker = .connected(endpoint.description)
                case .disconnected(let failure): outcome.broker = .failed(failure)
                case .published, .publishFailed, .subscribeFailed, .subscribed, .message, .dropped, .expiringMessage:
                    return
                }
                guard let mqtt = self.mqtt else { return }
                self.mqtt = nil
                mqtt.disconnect { withExtendedLifetime(mqtt) { self.ended() } }
            }
            self.mqtt = mqtt
            mqtt.connect()
        }
    }
}
