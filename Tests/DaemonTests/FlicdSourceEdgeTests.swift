import Hub
import Reactor
import ReactorTestSupport
import Testing

@testable import Daemon

@Suite("The connection to a flicd")
struct FlicdSourceEdgeTests {
    @Test(
        "one that cannot be made is told with the reason",
        arguments: [("127.0.0.2", "Connection refused"), ("no such name", "Name or service not known")])
    func unreachable(host: String, reason: String) async {
        let inputs: [SourceInput]? = await onReactor { run in
            var inputs: [SourceInput] = []
            var edge: FlicdSourceEdge?
            // Nobody listens on port 1.
            let made = FlicdSourceEdge(loop: run.loop, host: host, port: 1) { input in
                inputs.append(input)
                guard inputs.count < 2 else { return run.finish(inputs) }
                edge?.connect()
            }
            edge = made
            made.connect()
        }
        #expect(inputs == [.closed("it cannot be reached: \(reason)"), .closed("it cannot be reached: \(reason)")])
    }
}
