import ButtonModel
package import Reactor
package import Simulator

/// The simulated controller and its buttons as a transport. The simulation runs in this process, on the reactor's
/// clock.
@ReactorActor
package final class SimulatorEdge: HCITransport {
    private let loop: EventLoop
    private var world: SimulatedWorld
    private var timer: Timer?
    private var handler: (@ReactorActor (HCITransportEvent) -> Void)?
    /// Packets to deliver. They wait here while the handler is processing an earlier packet.
    private var outgoing: [[UInt8]] = []
    private var isDelivering = false
    private let note: @ReactorActor (String, String) -> Void

    /// - Parameter note: receives the name of a button and a text about what it does.
    package init(
        loop: EventLoop, buttons: [SimulatedButtonDescription], seed: UInt64,
        note: @escaping @ReactorActor (String, String) -> Void
    ) {
        self.loop = loop
        self.note = note
        world = SimulatedWorld(buttons, seed: seed, at: Instant(nanoseconds: loop.nanosecondsSinceBoot))
        timer = loop.timer { [weak self] in self?.advance(.timerFired) }
    }

    package func open(_ handler: @escaping @ReactorActor (HCITransportEvent) -> Void) {
        self.handler = handler
        advance(.powerCycled)
        handler(.opened)
    }

    package func send(_ packet: [UInt8]) { advance(.received(packet)) }

    /// Stops delivering packets. The simulation goes on, and packets sent meanwhile are lost.
    package func close() { handler = nil }

    package func act(_ action: SimulatedAction, on button: String) { advance(action.input(of: button)) }

    private func advance(_ input: SimulatedWorld.Input) {
        for effect in world.handle(input, at: Instant(nanoseconds: loop.nanosecondsSinceBoot)) {
            switch effect {
            case .send(let packet): outgoing.append(packet)
            case .setTimer(let deadline): timer?.set(at: deadline.nanoseconds)
            case .cancelTimer: timer?.cancel()
            case .note(let button, let text): note(button, text)
            case .pressFinished, .unknownButton: break
            }
        }
        guard !isDelivering else { return }
        isDelivering = true
        var next = 0
        while next < outgoing.count {
            handler?(.received(outgoing[next]))
            next += 1
        }
        outgoing.removeAll(keepingCapacity: true)
        isDelivering = false
    }
}
