import ButtonModel
import Edges
import Hub
import Logging
import Platform
import Radios
import Reactor
import Settings
import Setup

// The radios of the configuration, and the simulated one.
extension Daemon {
    func makeRadios() -> [RadioEdge] {
        setup.configuration.usedRadios.enumerated().map { place, radio in
            let id = RadioID(rawValue: UInt8(place))
            return RadioEdge(
                loop: loop, radio.transport, directory: setup.directory, capture: place == 0 ? capture : nil,
                simulator: { [unowned self] in self.simulation?.transport },
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
        guard simulation?.press(button, press) != false else {
            return logger.warning("there is no press called \"\(press)\"")
        }
    }
}
