import Reactor
import ReactorTestSupport
import Testing

@testable import Edges
@testable import Platform

@Suite("The connection to an ESPHome proxy")
struct ProxyStreamTests {
    @Test(
        "a name that cannot be resolved is said, and for one of the local network what to do",
        arguments: [
            (
                "hall-proxy.local",
                "the name hall-proxy.local cannot be resolved (Name or service not known): is the proxy on? "
                    + "A name in .local needs libnss-mdns; or write its IP address"
            ),
            ("hall-proxy.lan", "the proxy hall-proxy.lan cannot be reached: Name or service not known"),
        ])
    func unresolved(host: String, sentence: String) async {
        let event: ProxyStream.Event? = await onReactor { run in
            var stream: ProxyStream?
            let made = ProxyStream(
                loop: run.loop, host: host, port: 6053,
                resolve: { _, _ in .failure(Unresolved(reason: "Name or service not known")) },
                report: { event in
                    stream?.close()
                    run.finish(event)
                })
            stream = made
            made.open()
        }
        #expect(event == .failed(sentence))
    }
}
