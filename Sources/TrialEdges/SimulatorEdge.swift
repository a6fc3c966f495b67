import ButtonModel
package import Edges
package import Reactor
package import Settings
package import Simulator

/// The simulated controller and buttons as a transport. The simulation runs in this process on the reactor's clock.
@ReactorActor
package final class SimulatorEdge: HCITransport {
    private let loop: EventLoop
    private var world: SimulatedWorld
    private var timer: Timer?
    private var handler: (@ReactorActor (HCITransportEvent) -> Void)?
    /// Events that the handler has not received. They are delivered on the next turn of the loop, never during a call.
    private var outgoing: [HCITransportEvent] = []
    private lazy var delivery = loop.timer { [weak self] in self?.deliver() }
    private let note: @ReactorActor (String, String) -> Void

    /// - Parameter note: receives the name of a button and a description of what happened to it.
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
        advance(.powerCycled())
        enqueue(.opened)
    }

    package func send(_ packet: [UInt8]) { advance(.received(packet)) }

    /// Stops delivering packets. The simulation goes on, and packets sent meanwhile are lost.
    package func close() {
        handler = nil
        outgoing = []
    }

    package func act(_ action: SimulatedAction, on button: String) { advance(action.input(of: button)) }

    private func advance(_ input: SimulatedWorld.Input) {
        for effect in world.handleInTime(input, at: Instant(nanoseconds: loop.nanosecondsSinceBoot)) {
            switch effect {
            case .send(let packet, _): enqueue(.received(packet))
            case .setTimer(let deadline): timer?.set(at: deadline.nanoseconds)
            case .cancelTimer: timer?.cancel()
            case .note(let button, let text): note(button, text)
            case .pressFinished, .unknownButton: break
            }
        }
    }

    private func enqueue(_ event: HCITransportEvent) {
        guard handler != nil else { return }
        outgoing.append(event)
        delivery.set(at: 0)
    }

    private func deliver() {
        // Events that the handler causes are delivered on the next turn.
        for _ in 0..<outgoing.count where !outgoing.isEmpty { handler?(outgoing.removeFirst()) }
    }
}

extension SimulatedButtonDescription {
    /// The button of a simulator file.
    package init(_ button: SimulatorButton) {
        self.init(
            name: button.name, address: button.address, serial: button.serial, uuid: button.uuid,
            nickname: button.nickname, firmwareVersion: button.firmware, batteryMillivolts: button.batteryMillivolts,
            isPublic: button.isPublic ?? true, model: button.model ?? .flic2)
    }
}
