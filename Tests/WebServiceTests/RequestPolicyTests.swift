import Settings
import Testing

@testable import WebService

@Suite("Which requests are looked at")
struct RequestPolicyTests {
    private let browsers = RequestPolicy(.browsers(names: ["localhost", "box", "box.local"]))

    private func head(
        _ host: String?, origin: String? = nil, isChange: Bool = true, isMarked: Bool = true,
        peer: String? = "192.0.2.1"
    ) -> RequestPolicy.Head {
        .init(isChange: isChange, peer: peer, host: host, origin: origin, isMarked: isMarked)
    }

    @Test("a proxy at a Unix socket says who its visitor is; what the visitor has invented stands before it")
    func visitors() {
        let proxy = RequestPolicy(.proxy)
        #expect(proxy.visitor(peer: nil, forwarded: ["192.0.2.9, 198.51.100.7"]) == "198.51.100.7")
        #expect(proxy.visitor(peer: nil, forwarded: ["192.0.2.9", "2001:db8::1"]) == "2001:db8::1")
        #expect(proxy.visitor(peer: nil, forwarded: []) == "a proxy")
        #expect(proxy.visitor(peer: nil, forwarded: ["192.0.2.9, unknown"]) == "a proxy")
        #expect(browsers.visitor(peer: "192.0.2.1", forwarded: ["192.0.2.9"]) == "192.0.2.1")
    }

    @Test(
        "the name in web.url is a host, too, because people type it, and Home Assistant links to it",
        arguments: [
            ("http://Pi.fritz.box:8125/", "pi.fritz.box:8125"), ("https://home.example", "home.example"),
            ("https://home.example./tryck/?x#y", "Home.Example"), ("http://home.example?a:b", "home.example:8125"),
        ])
    func namedInURL(url: String, host: String) {
        var web = Configuration.Web()
        web.listen = .tcp(HostAndPort(host: "0.0.0.0", port: 8125))
        #expect(RequestPolicy(.of(web, hostName: "Box")).refusal(of: head(host)) != nil)
        web.url = url
        let policy = RequestPolicy(.of(web, hostName: "Box"))
        #expect(policy.refusal(of: head(host)) == nil)
        #expect(policy.refusal(of: head("evil.example")) != nil)
        for own in ["box", "box.local:8125", "localhost:8125", "0.0.0.0:8125"] {
            #expect(policy.refusal(of: head(own)) == nil)
        }
    }

    @Test(
        "an address of Home Assistant's own pages adds no name",
        arguments: ["homeassistant://hassio/ingress/x", nil, "http://"])
    func noNameInURL(url: String?) {
        var web = Configuration.Web()
        web.url = url
        #expect(RequestPolicy.Peers.of(web, hostName: nil) == .browsers(names: ["localhost", "127.0.0.1"]))
    }

    @Test(
        "addresses and the names of this machine are hosts",
        arguments: [
            "127.0.0.1:8125", "127.0.0.1", "[::1]:8125", "[fe80::1]", "192.168.1.5:80", "localhost:8125", "LOCALHOST",
            "box", "Box.local.:8125",
        ])
    func hosts(host: String) { #expect(browsers.refusal(of: head(host)) == nil) }

    @Test(
        "names of others and no names are none, because a page there may lead to this machine",
        arguments: [
            nil, "", "evil.example", "evil.example:8125", "127.0.0.1.evil.example", "localhost.evil.example",
            "127.0.0.256", "127.1", "0x7f000001", "2130706433", "[::1].evil.example", "[evil]", "a b", "x@127.0.0.1",
            "127.0.0.1:0", "127.0.0.1:99999", "::1", "127.0.0.1/", "+1.0.0.1",
        ])
    func foreignHosts(host: String?) { #expect(browsers.refusal(of: head(host)) != nil) }

    @Test(
        "the page's own origin is let in",
        arguments: [
            ("127.0.0.1:8125", "http://127.0.0.1:8125"), ("box", "http://box"), ("box:80", "http://box"),
            ("box", "https://box"), ("box:443", "https://box"), ("Box:8125", "HTTP://box:8125"),
        ])
    func origins(host: String, origin: String) { #expect(browsers.refusal(of: head(host, origin: origin)) == nil) }

    @Test(
        "other origins are not, for reading neither",
        arguments: [
            "null", "", "http://evil.example", "http://127.0.0.1:8126", "http://127.0.0.1", "https://127.0.0.1:8125/",
            "file://", "http://127.0.0.1:8125.evil.example", "http://127.0.0.1:8125, http://evil.example",
            "http://evil.example@127.0.0.1:8125", "ftp://127.0.0.1:8125",
        ])
    func foreignOrigins(origin: String) {
        #expect(browsers.refusal(of: head("127.0.0.1:8125", origin: origin)) != nil)
        #expect(browsers.refusal(of: head("127.0.0.1:8125", origin: origin, isChange: false)) != nil)
    }

    @Test("a change needs the header that other sites cannot send")
    func mark() {
        #expect(browsers.refusal(of: head("localhost", isMarked: false)) != nil)
        #expect(browsers.refusal(of: head("localhost", isChange: false, isMarked: false)) == nil)
    }

    @Test("behind a Unix socket, the proxy knows the names, and the origin is still compared")
    func proxy() {
        let policy = RequestPolicy(.proxy)
        #expect(policy.refusal(of: head("tryck.example.org", peer: nil)) == nil)
        #expect(policy.refusal(of: head("tryck.example.org", origin: "https://tryck.example.org", peer: nil)) == nil)
        #expect(policy.refusal(of: head("tryck.example.org", origin: "https://evil.example", peer: nil)) != nil)
        #expect(policy.refusal(of: head(nil, peer: nil)) != nil)
    }

    @Test("Home Assistant's ingress is let in from one address, under any name")
    func ingress() {
        let policy = RequestPolicy(.ingress)
        let own = RequestPolicy.ingressAddress
        #expect(policy.refusal(of: head("home.example:8123", origin: "https://home.example:8123", peer: own)) == nil)
        #expect(policy.refusal(of: head("home.example:8123", origin: "https://evil.example", peer: own)) != nil)
        #expect(policy.refusal(of: head("home.example:8123", isMarked: false, peer: own)) != nil)
        for peer in ["127.0.0.1", "172.30.32.1", "172.30.32.20", "::ffff:172.30.32.2", nil] {
            #expect(policy.refusal(of: head("home.example:8123", peer: peer)) != nil)
        }
    }
}
