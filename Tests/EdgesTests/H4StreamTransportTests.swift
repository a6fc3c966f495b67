import CLinux
import Glibc
import Reactor
import ReactorTestSupport
import Testing

@testable import Edges
@testable import Platform

@Suite struct H4StreamTransportTests {
    private static let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
    private static let answer: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]

    @Test("packets go both ways", arguments: [true, false])
    func exchange(isTCP: Bool) async {
        let events: [HCITransportEvent]? = await onReactor { run in
            let peer = StreamPeer(run.loop, isTCP: isTCP) { connection, octets in
                guard octets == Self.reset else { return run.finish([]) }
                // In two pieces, the second with another packet.
                connection.send(Self.answer.prefix(2))
                connection.send(Self.answer.dropFirst(2) + Self.answer)
            }
            let transport = H4StreamTransport(loop: run.loop, endpoint: peer.endpoint)
            var events: [HCITransportEvent] = []
            transport.open { event in
                events.append(event)
                if event == .opened { transport.send(Self.reset) }
                if events.count == 3 {
                    transport.close()
                    run.finish(events)
                }
            }
            transport.send([0x01, 0x00, 0x00, 0x00])  // Not open yet: dropped.
        }
        #expect(events == [.opened, .received(Self.answer), .received(Self.answer)])
    }

    @Test("a program's input and output carry packets")
    func program() async {
        let script =
            #"printf '\004\016\004\001\003\014\000'; head -c 4 >/dev/null; printf '\004\016\004\001\003\014\000'; sleep 60"#
        let events: [HCITransportEvent]? = await onReactor { run in
            let transport = H4StreamTransport(
                loop: run.loop, endpoint: .program(["sh", "-c", script], directory: "/"))
            var events: [HCITransportEvent] = []
            transport.open { event in
                events.append(event)
                if event == .received(Self.answer) { transport.send(Self.reset) }
                if events.count == 3 {
                    transport.close()
                    Self.finish(run, events)
                }
            }
        }
        #expect(events == [.opened, .received(Self.answer), .received(Self.answer)])
    }

    /// Finishes when all programs are reaped: a child that nobody waits for would keep tests of exits waiting.
    @ReactorActor
    private static func finish<Value>(_ run: ReactorRun<Value>, _ value: Value) {
        guard TransportProgram.living > 0 else { return run.finish(value) }
        run.after(milliseconds: 5) { finish(run, value) }
    }

    @Test(
        "a program that cannot be started, or ends, is a failure with the last line of its errors",
        arguments: [
            (
                ["no-such-program"],
                "cannot be started: there is no program \"no-such-program\" in /usr/local/bin, /usr/bin, /bin"
            ),
            (["sh", "-c", "echo one >&2; echo 'no route to shed' >&2; exit 255"], "ended: no route to shed"),
            (["true"], "ended"),
        ])
    func programEnds(words: [String], reason: String) async {
        let failure: HCITransportEvent? = await onReactor { run in
            let transport = H4StreamTransport(loop: run.loop, endpoint: .program(words, directory: "/"))
            transport.open { event in
                guard event != .opened else { return }
                withExtendedLifetime(transport) { Self.finish(run, event) }
            }
        }
        #expect(failure == .failed(.program(words[0], reason: reason)))
    }

    @Test("a name is resolved, and its addresses are tried in turn")
    func name() async {
        let event: HCITransportEvent? = await onReactor { run in
            let peer = StreamPeer(run.loop, isTCP: true) { _, _ in }
            guard case .tcp(_, let port) = peer.endpoint else { return run.finish(.opened) }
            let transport = H4StreamTransport(loop: run.loop, endpoint: .tcp(host: "localhost", port: port))
            transport.open { event in
                _ = peer
                transport.close()
                run.finish(event)
            }
        }
        #expect(event == .opened)
    }

    @Test("the failure of a connection names the peer and the reason")
    func unreachable() async {
        for (endpoint, reason) in [
            (.unix(path: "/no/such/socket"), "No such file or directory"),
            (.unix(path: ""), "the path is empty or longer than 107 octets"),
            (.unix(path: String(repeating: "x", count: 108)), "the path is empty or longer than 107 octets"),
            // No process listens on port 1 of this address.
            (.tcp(host: "127.0.0.2", port: 1), "Connection refused"),
        ] as [(H4StreamTransport.Endpoint, String)] {
            let event: HCITransportEvent? = await onReactor { run in
                let transport = H4StreamTransport(loop: run.loop, endpoint: endpoint)
                transport.open { event in
                    _ = transport
                    run.finish(event)
                }
            }
            #expect(event == .failed(.unreachable(endpoint.description, reason: reason)))
        }
    }

    @Test("a name without an address fails")
    func unresolved() async {
        let event: HCITransportEvent? = await onReactor { run in
            let transport = H4StreamTransport(loop: run.loop, endpoint: .tcp(host: "no such name", port: 1))
            transport.open { event in
                _ = transport
                run.finish(event)
            }
        }
        guard case .failed(.unreachable("h4:tcp:no such name:1", _)) = event else {
            Issue.record("\(String(describing: event))")
            return
        }
    }

    @Test("what came before the peer closed is delivered before the failure")
    func peerCloses() async {
        let events: [HCITransportEvent]? = await events { connection, _ in
            connection.send(Self.answer)
            connection.close()
        }
        guard events?.count == 3, case .failed(.closedByPeer) = events?[2] else {
            Issue.record("\(String(describing: events))")
            return
        }
        #expect(events?.prefix(2) == [.opened, .received(Self.answer)])
    }

    @Test("a stream that is not HCI fails and is closed")
    func garbage() async {
        let events: [HCITransportEvent]? = await events { connection, _ in
            connection.send(Array("HTTP/1.1 400 Bad Request".utf8))
        }
        guard events?.count == 2, case .failed(.malformedStream(_, H4Malformed(indicator: 0x48))) = events?[1] else {
            Issue.record("\(String(describing: events))")
            return
        }
    }

    @Test("a handler that closes the transport receives no further event, even of packets that have arrived")
    func closeInside() async {
        let count: Int? = await onReactor { run in
            let peer = StreamPeer(run.loop, isTCP: false) { connection, _ in
                connection.send(Self.answer + Self.answer + Self.answer)
            }
            let transport = H4StreamTransport(loop: run.loop, endpoint: peer.endpoint)
            var count = 0
            transport.open { event in
                if event == .opened { return transport.send(Self.reset) }
                count += 1
                transport.close()
                run.after(milliseconds: 20) {
                    _ = peer
                    run.finish(count)
                }
            }
        }
        #expect(count == 1)
    }

    @Test("a peer that does not read is given up at one mebibyte")
    func stalled() async {
        let event: HCITransportEvent? = await onReactor { run in
            let peer = StreamPeer(run.loop, isTCP: false, reads: false) { _, _ in }
            let transport = H4StreamTransport(loop: run.loop, endpoint: peer.endpoint)
            transport.open { event in
                if event == .opened {
                    for _ in 0..<64 { transport.send([UInt8](repeating: 0, count: 64 * 1024)) }
                } else {
                    _ = peer
                    run.finish(event)
                }
            }
        }
        guard case .failed(.stalled) = event else {
            Issue.record("\(String(describing: event))")
            return
        }
    }

    /// The events of a transport that sends one packet and then listens until it fails.
    private func events(
        peer: @escaping @ReactorActor (StreamConnection, [UInt8]) -> Void
    ) async -> [HCITransportEvent]? {
        await onReactor { run in
            let peer = StreamPeer(run.loop, isTCP: true, peer)
            let transport = H4StreamTransport(loop: run.loop, endpoint: peer.endpoint)
            var events: [HCITransportEvent] = []
            transport.open { event in
                events.append(event)
                if event == .opened { transport.send(Self.reset) }
                if case .failed = event {
                    _ = peer
                    run.finish(events)
                }
            }
        }
    }
}

/// A listening socket that takes one connection, in place of a controller.
@ReactorActor
private final class StreamPeer {
    let endpoint: H4StreamTransport.Endpoint
    private var connection: StreamConnection?

    init(
        _ loop: EventLoop, isTCP: Bool, reads: Bool = true,
        _ received: @escaping @ReactorActor (StreamConnection, [UInt8]) -> Void
    ) {
        let listener = socket(isTCP ? AF_INET : AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        if isTCP {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            withUnsafeMutablePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    precondition(bind(listener, address, size) == 0, "bind: \(errno)")
                    precondition(getsockname(listener, address, &size) == 0, "getsockname: \(errno)")
                }
            }
            endpoint = .tcp(host: "127.0.0.1", port: UInt16(bigEndian: address.sin_port))
        } else {
            let path = "@tryck-test-\(getpid())-\(listener)-\(loop.nanosecondsSinceBoot)"
            guard case .success(let addresses) = SocketAddress.resolve(unixPath: path) else { preconditionFailure() }
            precondition(addresses[0].bind(listener) == 0, "bind: \(errno)")
            endpoint = .unix(path: path)
        }
        precondition(listen(listener, 1) == 0, "listen: \(errno)")
        var watch: Watch?
        watch = loop.watch(listener, .read) { [self] _ in
            let descriptor = linux_accept(listener)
            watch?.cancel()
            close(listener)
            guard reads else { return }
            connection = StreamConnection(loop, descriptor) { [self] event in
                if case .received(let octets) = event, let connection { received(connection, octets) }
            }
        }
    }
}
