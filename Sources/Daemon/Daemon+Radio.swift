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

// The radios of the configuration, and the simulated one.
extension Daemon {
    func makeRadios() -> [RadioEdge] {
        setup.configuration.usedRadios.enumerated().map { place, radio in
            let id = RadioID(rawValue: UInt8(place))
            return RadioEdge(
                loop: loop, radio.transport, directory: setup.directory, capture: place == 0 ? capture : nil,
                simulator: { [unowned self] in
                    let world = self.simulator ?? self.makeSimulator()
                    self.simulator = world
                    return world
                },
                report: { [weak self] event in
                    switch event {
                    case .opened: self?.deliver(.transportOpened(id))
                    case .received(let packet): self?.deliver(.received(packet, id))
                    case .busOpened(let choice): self?.deliver(.busOpened(choice, id))
                    case .bus(let input): self?.deliver(.bus(input, id))
                    case .closed(let reason, let fault): self?.deliver(.transportClosed(reason, fault, id))
                    }
                })
        }
    }

    func pressSimulated(_ button: String, _ press: String) {
        guard let action = SimulatedAction(name: press) else {
            return logger.warning("there is no press called \"\(press)\"")
        }
        simulator?.act(action, on: button)
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
}
