import ButtonModel
import Edges
import Reactor
import Simulator

/// A simulated button with a connection of its own to another program's virtual controller.
@ReactorActor
final class AttachedButton {
    enum Event: Sendable {
        case onAir(BluetoothAddress)
        case note(String)
        case pressFinished(SimulatedPress)
        /// The reason, as a sentence for people. No event comes after it.
        case failed(String)
    }

    let name: String
    private let loop: EventLoop
    private let transport: H4StreamTransport
    private let handler: @ReactorActor (Event) -> Void
    private var button: SimulatedButton
    private var timer: Timer?
    private var isOnAir = false

    /// - Parameter seed: the source of its keys. The same seed makes the same button.
    init(
        _ loop: EventLoop, _ description: SimulatedButtonDescription, at endpoint: H4StreamTransport.Endpoint,
        seed: UInt64, _ handler: @escaping @ReactorActor (Event) -> Void
    ) {
        self.loop = loop
        self.handler = handler
        name = description.name
        transport = H4StreamTransport(loop: loop, endpoint: endpoint)
        button = SimulatedButton(description, seed: seed, at: Instant(nanoseconds: loop.nanosecondsSinceBoot))
        timer = loop.timer { [unowned self] in advance(.timerFired) }
        transport.open { [unowned self] event in
            switch event {
            case .opened: advance(.transportOpened)
            case .received(let packet): advance(.received(packet))
            case .failed(let failure): handler(.failed("\(failure)"))
            }
        }
    }

    func act(_ action: SimulatedAction) { advance(action.input) }

    func close() {
        timer?.cancel()
        transport.close()
    }

    private func advance(_ input: SimulatedButton.Input) {
        for effect in button.handle(input, at: Instant(nanoseconds: loop.nanosecondsSinceBoot)) {
            switch effect {
            case .send(let packet): transport.send(packet)
            case .setTimer(let deadline): timer?.set(at: deadline.nanoseconds)
            case .cancelTimer: timer?.cancel()
            case .pressFinished(let press): handler(.pressFinished(press))
            case .note(let note): handler(.note(note))
            case .failed(let sentence): handler(.failed(sentence))
            }
        }
        guard !isOnAir, let address = button.address else { return }
        isOnAir = true
        handler(.onAir(address))
    }
}
