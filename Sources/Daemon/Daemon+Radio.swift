import BluetoothHost
import ButtonModel
import Edges
import Hub
import Logging
import Platform
import Radios
import Reactor
import RuleLoader
import Setup
import Simulator

// Opens and closes the transport of the configuration, as requested by the hub.
extension Daemon {
    func openTransport() {
        closeTransport()
        switch setup.configuration.transport {
        case .bluez: openBus(.any)
        case .bluezIndex(let index): openBus(.index(index))
        case .bluezAddress(let address): openBus(.address(address))
        case .auto: openBusOrAdapter()
        case .hciIndex, .hciAddress, .h4TCP, .h4Unix, .command, .simulated, .none: openController()
        }
    }

    private func openController() {
        guard let transport = makeTransport() else { return }
        self.transport = transport
        transport.open { [weak self, weak transport] event in
            guard let self, let transport, self.transport === transport else { return }
            switch event {
            case .opened: self.deliver(.transportOpened)
            case .received(let packet):
                self.capture?.add(packet, .received)
                self.deliver(.received(packet))
            case .failed(let failure):
                self.refuseAdapter()
                self.transport = nil
                self.transportFailed(failure)
            }
        }
    }

    // MARK: BlueZ

    private func openBus(_ choice: BlueZAdapterChoice) {
        let bus = SystemBus(loop: loop)
        self.bus = bus
        let failure = bus.open { [weak self, weak bus] event in
            guard let self, let bus, self.bus === bus else { return }
            switch event {
            case .reported(let input): deliver(.bus(input))
            case .failed(let reason): busFailed(reason)
            }
        }
        guard failure == nil else { return busFailed(failure ?? "") }
        deliver(.busOpened(choice))
    }

    private func busFailed(_ reason: String) {
        bus = nil
        deliver(.transportClosed("\(reason).", .absent))
    }

    /// Uses BlueZ if it has a powered adapter, else a controller. Once BlueZ was used, it stays in use: a bluetoothd that is
    /// being restarted must find its adapter again.
    private func openBusOrAdapter() {
        guard !hasUsedBlueZ else { return openBus(.any) }
        let bus = SystemBus(loop: loop)
        self.bus = bus
        let failure = bus.open { [weak self, weak bus] event in
            guard let self, let bus, self.bus === bus else { return }
            var hasAdapter = false
            if case .reported(.objects(_, let objects)) = event {
                hasAdapter = BlueZAdapter.find(.any, among: objects)?.isPowered ?? false
            } else if case .reported(let input) = event, !input.isAnswer {
                return
            }
            bus.close()
            self.bus = nil
            guard hasAdapter else { return openController() }
            hasUsedBlueZ = true
            openBus(.any)
        }
        guard failure == nil else {
            self.bus = nil
            return openController()
        }
        bus.perform(.call(BusCallID(rawValue: 0), .getManagedObjects))
    }

    func closeTransport() {
        bus?.close()
        bus = nil
        refuseAdapter()
        transport?.close()
        transport = nil
    }

    private func transportFailed(_ failure: TransportFailure) {
        deliver(.transportClosed("\(failure).", failure.fault))
    }

    /// Excludes the current adapter, so that the next attempt uses another, if there is a choice.
    private func refuseAdapter() {
        if let transport = transport as? HCISocketTransport { adapterSelection?.refuse(transport.index) }
    }

    func pressSimulated(_ button: String, _ press: String) {
        guard let action = SimulatedAction(name: press) else {
            return logger.warning("there is no press called \"\(press)\"")
        }
        simulator?.act(action, on: button)
    }

    private func makeTransport() -> (any HCITransport)? {
        switch setup.configuration.transport {
        case .auto: return adapter(.any)
        case .hciIndex(let index): return adapter(.index(UInt16(clamping: index)))
        case .hciAddress(let address): return adapter(.address(address))
        case .h4TCP(let host, let port):
            return H4StreamTransport(loop: loop, endpoint: .tcp(host: host, port: UInt16(clamping: port)))
        case .h4Unix(let path):
            return H4StreamTransport(loop: loop, endpoint: .unix(path: resolve(path, in: setup.directory)))
        case .command(let words):
            return H4StreamTransport(loop: loop, endpoint: .program(words, directory: setup.directory))
        case .simulated:
            let world = simulator ?? makeSimulator()
            simulator = world
            return world
        case .bluez, .bluezIndex, .bluezAddress, .none: return nil
        }
    }

    /// Creates the simulated buttons, which exist as long as this process. They keep the stored pairings, as real
    /// buttons do; the rest of their state is new, as after a battery change.
    private func makeSimulator() -> SimulatorEdge {
        var buttons = setup.simulator
        for index in buttons.indices {
            let id = ButtonID(buttons[index].wantedAddress)
            buttons[index].pairings = store.stored.buttons.filter { $0.id == id }.compactMap(\.pairing)
        }
        return SimulatorEdge(loop: loop, buttons: buttons, seed: SystemEnvironment.randomSeed) {
            [logger] button, text in
            logger.debug("simulated \(button): \(text)")
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
}

extension BusInput {
    /// True for the answer to a call.
    fileprivate var isAnswer: Bool {
        switch self {
        case .objects, .answered, .acquired, .refused: true
        case .ownerLost, .interfacesAdded, .interfacesRemoved, .propertiesChanged, .received, .ended: false
        }
    }
}
