import BluetoothHost
import ButtonModel
import Edges
import Hub
import Logging
import Platform
import Reactor
import RuleLoader
import Setup
import Simulator

// Opens and closes the transport of the configuration, as requested by the hub.
extension Daemon {
    func openTransport() {
        closeTransport()
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

    func closeTransport() {
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
        case .simulated:
            let world = simulator ?? makeSimulator()
            simulator = world
            return world
        case .none: return nil
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
