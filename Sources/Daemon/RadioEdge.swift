import BluetoothHost
import ButtonModel
import Edges
import Hub
import Platform
import Radios
import Reactor
import Settings
import Setup

/// Opens and closes one radio of the configuration: a transport to a controller, a connection to the system bus for BlueZ, or
/// one to an ESPHome proxy.
@ReactorActor
final class RadioEdge {
    enum Event {
        case opened
        case received([UInt8])
        case busOpened(BlueZAdapterChoice)
        case bus(BusInput)
        /// The radio could not be opened, or is gone; a sentence for users.
        case closed(String, AdapterFault)
    }

    private let loop: EventLoop
    private let wanted: Configuration.Transport
    /// The directory of the configuration, at which relative paths start.
    private let directory: String
    private let capture: CaptureFile?
    private let simulator: @ReactorActor () -> (any HCITransport)?
    private let report: @ReactorActor (Event) -> Void
    private var transport: (any HCITransport)?
    /// The connection to the system bus while BlueZ is used, in place of `transport`.
    private var bus: SystemBus?
    /// The connection to an ESPHome proxy, in place of `transport`.
    private var proxy: ProxyStream?
    private var automatic = AutomaticTransport()
    /// Ends the wait for bluetoothd to power an adapter.
    private var powerTimer: Timer?
    private var adapterSelection: AdapterSelection?

    /// - Parameters:
    ///   - capture: the file for the packets, if they are captured.
    ///   - simulator: makes the simulated radio.
    init(
        loop: EventLoop, _ wanted: Configuration.Transport, directory: String, capture: CaptureFile?,
        simulator: @escaping @ReactorActor () -> (any HCITransport)?,
        report: @escaping @ReactorActor (Event) -> Void
    ) {
        self.loop = loop
        self.wanted = wanted
        self.directory = directory
        self.capture = capture
        self.simulator = simulator
        self.report = report
    }

    func open() {
        close()
        switch wanted {
        case .bluez: openBus(.any)
        case .bluezIndex(let index): openBus(.index(index))
        case .bluezAddress(let address): openBus(.address(address))
        case .auto: carryOut(automatic.opening())
        case .esphome(let host, let port, _): openProxy(host, UInt16(clamping: port))
        case .hciIndex, .hciAddress, .h4TCP, .h4Unix, .command, .simulated, .none: openController()
        }
    }

    func close() {
        powerTimer?.cancel()
        bus?.close()
        bus = nil
        refuseAdapter()
        transport?.close()
        transport = nil
        proxy?.close()
        proxy = nil
    }

    func send(_ packet: [UInt8]) {
        if let proxy { return proxy.send(packet) }
        capture?.add(packet, .sent)
        transport?.send(packet)
    }

    func perform(_ effect: BusEffect) { bus?.perform(effect) }

    private func openController() {
        guard let transport = makeTransport() else { return }
        self.transport = transport
        transport.open { [weak self, weak transport] event in
            guard let self, let transport, self.transport === transport else { return }
            switch event {
            case .opened:
                self.automatic.adapterOpened()
                self.report(.opened)
            case .received(let packet):
                self.capture?.add(packet, .received)
                self.report(.received(packet))
            case .failed(let failure):
                self.refuseAdapter()
                self.transport = nil
                self.transportFailed(failure)
            }
        }
    }

    private func transportFailed(_ failure: TransportFailure) { report(.closed("\(failure).", failure.fault)) }

    /// Excludes the current adapter, so that the next attempt uses another, if there is a choice.
    private func refuseAdapter() {
        if let transport = transport as? HCISocketTransport { adapterSelection?.refuse(transport.index) }
    }

    private func makeTransport() -> (any HCITransport)? {
        switch wanted {
        case .auto: return adapter(.any)
        case .hciIndex(let index): return adapter(.index(UInt16(clamping: index)))
        case .hciAddress(let address): return adapter(.address(address))
        case .h4TCP(let host, let port):
            return H4StreamTransport(loop: loop, endpoint: .tcp(host: host, port: UInt16(clamping: port)))
        case .h4Unix(let path):
            return H4StreamTransport(loop: loop, endpoint: .unix(path: resolve(path, in: directory)))
        case .command(let words):
            return H4StreamTransport(loop: loop, endpoint: .program(words, directory: directory))
        case .simulated: return simulator()
        case .bluez, .bluezIndex, .bluezAddress, .esphome, .none: return nil
        }
    }

    private func adapter(_ wanted: AdapterSelection.Wanted) -> (any HCITransport)? {
        do throws(TransportFailure) {
            var selection = adapterSelection ?? AdapterSelection(wanted)
            let adapters: [HCISocketTransport.Adapter]
            if case .index = wanted { adapters = [] } else { adapters = try HCISocketTransport.adapters() }
            let index = try selection.next(among: adapters)
            adapterSelection = selection
            return HCISocketTransport(loop: loop, index: index)
        } catch {
            transportFailed(error)
            return nil
        }
    }

    // MARK: An ESPHome proxy

    private func openProxy(_ host: String, _ port: UInt16) {
        let proxy = ProxyStream(loop: loop, host: host, port: port) { [weak self] event in
            guard let self else { return }
            switch event {
            case .opened: report(.opened)
            case .received(let octets): report(.received(octets))
            case .failed(let reason):
                self.proxy = nil
                report(.closed("\(reason).", .absent))
            }
        }
        self.proxy = proxy
        proxy.open()
    }

    // MARK: BlueZ

    private func openBus(_ choice: BlueZAdapterChoice) {
        let bus = SystemBus(loop: loop)
        self.bus = bus
        let failure = bus.open { [weak self, weak bus] event in
            guard let self, let bus, self.bus === bus else { return }
            switch event {
            case .reported(let input): report(.bus(input))
            case .failed(let reason): busFailed(reason)
            }
        }
        guard failure == nil else { return busFailed(failure ?? "") }
        report(.busOpened(choice))
    }

    private func busFailed(_ reason: String) {
        bus = nil
        report(.closed("\(reason).", .absent))
    }

    // MARK: Automatic choice

    private func carryOut(_ step: AutomaticTransport.Step) {
        switch step {
        case .ask: askBlueZ()
        case .wait:
            let timer = loop.timer { [unowned self] in decide(automatic.waited()) }
            timer.set(at: loop.nanosecondsSinceBoot + AutomaticTransport.powerTime.nanoseconds)
            powerTimer = timer
        case .useBlueZ: openBus(.any)
        case .useAdapter: openController()
        }
    }

    /// Carries out a step that follows from what BlueZ says, or does not say.
    private func decide(_ step: AutomaticTransport.Step) {
        guard step != .wait else { return carryOut(step) }
        powerTimer?.cancel()
        bus?.close()
        bus = nil
        carryOut(step)
    }

    private func askBlueZ() {
        let bus = SystemBus(loop: loop)
        self.bus = bus
        let failure = bus.open { [weak self, weak bus] event in
            guard let self, let bus, self.bus === bus else { return }
            let step =
                switch event {
                case .reported(let input): automatic.reported(input)
                case .failed: automatic.failed()
                }
            if let step { decide(step) }
        }
        guard failure == nil else {
            self.bus = nil
            return carryOut(automatic.failed())
        }
        bus.perform(.call(BusCallID(rawValue: 0), .getManagedObjects))
    }
}
