import ButtonModel
import Edges
import Hub
import Logging
import Platform
import Radios
import Reactor
import Settings
import Setup

extension Configuration.Radio {
    /// True if Tryck itself exchanges HCI packets with the radio. With `auto` it does unless BlueZ has the adapter.
    var mayBeCaptured: Bool {
        switch transport {
        case .auto, .hciIndex, .hciAddress, .h4TCP, .h4Unix, .command, .simulated: true
        case .bluez, .bluezIndex, .bluezAddress, .esphome, .none: false
        }
    }
}

// The radios of the configuration, and the simulated one.
extension Daemon {
    func makeRadios() -> [RadioEdge] {
        let captured = setup.configuration.usedRadios.firstIndex(where: \.mayBeCaptured)
        return setup.configuration.usedRadios.enumerated().map { place, radio in
            let id = RadioID(rawValue: UInt8(place))
            return RadioEdge(
                loop: loop, radio.transport, directory: setup.directory, capture: place == captured ? capture : nil,
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
