import CLinux
import Glibc
import Hub
import Reactor
import ReactorTestSupport
import Testing

@testable import Edges
@testable import Platform

@Suite("The connection to a flicd")
struct FlicdSourceEdgeTests {
    @Test(
        "the failure of a connection is reported with the reason",
        arguments: [("127.0.0.2", "Connection refused"), ("no such name", "Name or service not known")])
    func unreachable(host: String, reason: String) async {
        let inputs: [SourceInput]? = await onReactor { run in
            var inputs: [SourceInput] = []
            var edge: FlicdSourceEdge?
            // No process listens on port 1.
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

    @Test("a slow name resolution does not block the loop")
    func slowName() async {
        let alive = OutcomeBox<Bool>()
        let outcome: [SourceInput]? = await onReactor { run in
            var edge: FlicdSourceEdge?
            let made = FlicdSourceEdge(
                loop: run.loop, host: "slow", port: 1,
                resolve: { host, _ in
                    // Ten seconds at most, and only where the loop waits for this.
                    for _ in 0..<1000 where alive.value == nil { poll(nil, 0, 10) }
                    return .failure(
                        Unresolved(reason: alive.value == nil ? "the loop stood still" : "\(host) was slow"))
                },
                { input in
                    edge?.close()
                    run.finish([input])
                })
            edge = made
            made.connect()
            run.loop.onNextTurn { alive.value = true }
        }
        #expect(outcome == [.closed("it cannot be reached: slow was slow")])
    }

    @Test("the result of a name resolution before a `close` is not reported")
    func lateName() async {
        let outcome: [SourceInput]? = await onReactor { run in
            var inputs: [SourceInput] = []
            var edge: FlicdSourceEdge?
            let made = FlicdSourceEdge(
                loop: run.loop, host: "late", port: 1, resolve: { host, _ in .failure(Unresolved(reason: host)) },
                { input in
                    inputs.append(input)
                    // Inputs that are still on their way arrive before that.
                    run.after(milliseconds: 50) {
                        edge?.close()
                        run.finish(inputs)
                    }
                })
            edge = made
            made.connect()
            made.close()
            made.connect()
            made.connect()
        }
        #expect(outcome == [.closed("it cannot be reached: late")])
    }

    @Test("what comes is handed on until the other end closes, or we do", arguments: ["127.0.0.1", "::1"])
    func stream(host: String) async throws {
        let listener = try #require(Listener(host))
        let outcome: [SourceInput]? = await onReactor { run in
            var inputs: [SourceInput] = []
            var edge: FlicdSourceEdge?
            var peer: Int32 = -1
            let made = FlicdSourceEdge(loop: run.loop, host: host, port: listener.port) { input in
                switch input {
                case .connected:
                    inputs.append(.connected(bootID: 0))
                    peer = accept(listener.descriptor, nil, nil)
                    edge?.send([1, 0, 0])
                    var heard = [UInt8](repeating: 9, count: 8)
                    #expect(recv(peer, &heard, 8, 0) == 3 && heard.prefix(3) == [1, 0, 0])
                    #expect(Glibc.send(peer, [5, 0], 2, 0) == 2)
                case .received:
                    inputs.append(input)
                    if inputs.count == 2 {
                        close(peer)
                    } else {
                        edge?.close()
                        #expect(Glibc.send(peer, [7], 1, Int32(MSG_NOSIGNAL)) <= 1)
                        run.after(milliseconds: 20) { run.finish(inputs) }
                    }
                case .closed:
                    inputs.append(input)
                    edge?.connect()
                }
            }
            edge = made
            made.connect()
        }
        #expect(
            outcome == [
                .connected(bootID: 0), .received([5, 0]), .closed("it closed the connection"),
                .connected(bootID: 0), .received([5, 0]),
            ])
    }
}

/// A port of this machine on which the test listens.
private final class Listener: Sendable {
    let descriptor: Int32
    let port: UInt16

    init?(_ host: String) {
        guard case .success(let addresses) = SocketAddress.resolve(host: host, port: 0), let address = addresses.first
        else { return nil }
        descriptor = socket(address.family, Int32(SOCK_STREAM.rawValue), 0)
        guard address.bind(descriptor) == 0, listen(descriptor, 4) == 0 else { return nil }
        var storage = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let descriptor = descriptor
        let result = withUnsafeMutableBytes(of: &storage) { octets in
            octets.baseAddress.map { getsockname(descriptor, $0.assumingMemoryBound(to: sockaddr.self), &length) }
        }
        guard result == 0 else { return nil }
        // At the same place in both families.
        port = UInt16(bigEndian: storage.sin6_port)
    }

    deinit { close(descriptor) }
}
