import Reactor
import ReactorTestSupport
import Testing

@testable import Edges
@testable import Platform
@testable import TrialEdges

@Suite("The simulated controller as a transport")
struct SimulatorEdgeTests {
    private static let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]

    @Test("nothing is reported from inside a call, and all of it is in order")
    func later() async {
        let outcome: [String]? = await onReactor { run in
            let transport = SimulatorEdge(loop: run.loop, buttons: [], seed: 1) { _, _ in }
            var said: [String] = []
            transport.open { event in
                switch event {
                case .opened:
                    said.append("opened")
                    transport.send(Self.reset)
                    said.append("sent")
                case .received:
                    said.append("received")
                    run.finish(said)
                case .failed: run.finish(said)
                }
            }
            said.append("asked")
        }
        #expect(outcome == ["asked", "opened", "sent", "received"])
    }

    @Test("after it is closed nothing comes, also when it is opened again")
    func closed() async {
        let outcome: [HCITransportEvent]? = await onReactor { run in
            let transport = SimulatorEdge(loop: run.loop, buttons: [], seed: 1) { _, _ in }
            var events: [HCITransportEvent] = []
            transport.open { _ in run.finish([.received([])]) }
            transport.send(Self.reset)
            transport.close()
            transport.open { events.append($0) }
            run.loop.onNextTurn { run.loop.onNextTurn { withExtendedLifetime(transport) { run.finish(events) } } }
        }
        #expect(outcome == [.opened])
    }
}
