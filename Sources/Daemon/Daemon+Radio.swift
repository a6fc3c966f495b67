import ButtonModel
import Hub
import Logging
import Reactor
import RuleLoader
import Simulator

// The transport the configuration names, opened and closed as the hub says.
extension Daemon {
    func openTransport() {
        closeTransport()
        guard let transport = makeTransport() else { return }
        self.transport = transport
        transport.open { [weak self, weak transport] event in
            guard let self, let transport, self.transport === transport else { return }
            switch event {
            case .opened: self.deliver(.transportOpened)
            case .received(let packet): self.deliver(.received(packet))
            case .failed(let failure):
                self.transport = nil
                self.deliver(.transportClosed("\(failure)."))
            }
        }
    }

    func closeTransport() {
        transport?.close()
        transport = nil
    }

    func pressSimulated(_ button: String, _ press: String) {
        guard let press = SimulatedPress(rawValue: press) else {
            return logger.warning("there is no press called \"\(press)\"")
        }
        simulator?.press(button, press)
    }

    private func makeTransport() -> (any HCITransport)? {
        switch setup.configuration.transport {
        case .auto: return adapter { _ in true }
        case .hciIndex(let index): return HCISocketTransport(loop: loop, index: UInt16(clamping: index))
        case .hciAddress(let address): return adapter { $0.address == address }
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

    /// The simulated buttons live as long as this process. What they were paired with before they remember as
    /// real ones do; all else about them is new, as after a change of battery.
    private func makeSimulator() -> SimulatorEdge {
        var buttons = setup.simulator
        for index in buttons.indices {
            let id = ButtonID(buttons[index].wantedAddress)
            buttons[index].pairings = stored.buttons.filter { $0.id == id }.map(\.pairing)
        }
        return SimulatorEdge(loop: loop, buttons: buttons, seed: Surroundings.randomSeed) { [logger] button, text in
            logger.debug("simulated \(button): \(text)")
        }
    }

    /// The first adapter that is asked for. Which number it has is looked up each time: it may have changed.
    private func adapter(_ isWanted: (HCISocketTransport.Adapter) -> Bool) -> (any HCITransport)? {
        do {
            guard let found = try HCISocketTransport.adapters().first(where: isWanted) else {
                let name = setup.configuration.transport.word
                deliver(.transportClosed("there is no such adapter (\(name)): plug it in, or see tryck.yaml."))
                return nil
            }
            return HCISocketTransport(loop: loop, index: found.index)
        } catch {
            deliver(.transportClosed("\(error)."))
            return nil
        }
    }
}
