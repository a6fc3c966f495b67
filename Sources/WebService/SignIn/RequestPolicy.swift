package import Settings

/// Decides which requests are looked at all, from the names of both ends and from what only pages of ours can send.
///
/// `Host` is checked because a page of another site can let its own name lead to this machine (DNS rebinding). `Origin` is
/// checked because a browser sends it with requests of other sites.
package struct RequestPolicy: Hashable, Sendable {
    /// The address of Home Assistant's Supervisor, which asks for a password before it passes a request on.
    package static let ingressAddress = "172.30.32.2"

    package enum Peers: Hashable, Sendable {
        /// Browsers. `Host` has to be an IP address, `localhost`, or one of these names in lower case.
        case browsers(names: Set<String>)
        /// A proxy at a Unix socket, which knows its own names.
        case proxy
        /// Only Home Assistant's Supervisor.
        case ingress

        /// The peers for a configuration.
        ///
        /// Browsers may use the name in `web.url`, because the owner of the page wrote it, and Home Assistant links to it.
        ///
        /// - Parameter hostName: the name of this machine, if it has one.
        package static func of(_ web: Configuration.Web, hostName: String?) -> Peers {
            if web.trustsIngress { return .ingress }
            guard case .tcp(let address) = web.listen else { return .proxy }
            var names: Set<String> = ["localhost", address.host.lowercased()]
            if let name = hostName?.lowercased(), !name.isEmpty { names.formUnion([name, name + ".local"]) }
            if let name = web.url.flatMap(host(of:)) { names.insert(RequestPolicy.plain(name)) }
            return .browsers(names: names)
        }

        /// The name in an address of a page that browsers open over HTTP.
        private static func host(of url: String) -> String? {
            guard let scheme = ["http://", "https://"].first(where: url.hasPrefix) else { return nil }
            let authority = url.dropFirst(scheme.utf8.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            return HostAndPort(authority, defaultPort: 80)?.host
        }
    }

    /// The properties of a request that decide whether it is accepted.
    package struct Head: Hashable, Sendable {
        package var isChange: Bool
        /// The address of the peer without its port; `nil` for a Unix socket.
        package var peer: String?
        package var host: String?
        package var origin: String?
        /// True if there is a header `X-Tryck: 1`, which other sites cannot send.
        package var isMarked: Bool

        package init(isChange: Bool, peer: String?, host: String?, origin: String? = nil, isMarked: Bool = false) {
            self.isChange = isChange
            self.peer = peer
            self.host = host
            self.origin = origin
            self.isMarked = isMarked
        }
    }

    package var peers: Peers

    package init(_ peers: Peers) { self.peers = peers }

    /// The address of the visitor, whose wrong passwords are counted.
    ///
    /// A proxy at a Unix socket appends the address of its client to `X-Forwarded-For`; what stands before it comes from the
    /// client and may be invented. Over TCP, anybody can send the header, so it is ignored.
    ///
    /// - Parameter forwarded: the values of the headers `X-Forwarded-For`, in their order.
    package func visitor(peer: String?, forwarded: [String]) -> String {
        switch peers {
        case .browsers, .ingress: return peer ?? "a proxy"
        case .proxy:
            let last = forwarded.last?.split(separator: ",").last.map { String($0.trimmingPrefix { $0 == " " }) }
            return last.flatMap { Self.isAddress($0) ? $0 : nil } ?? "a proxy"
        }
    }

    /// Why a request is refused with 403, as a sentence; `nil` if it is not.
    package func refusal(of head: Head) -> String? {
        guard let host = head.host, let name = HostAndPort(host, defaultPort: 80) else {
            return "the request has no valid Host header; use the address that tryck web prints"
        }
        switch peers {
        case .browsers(let names):
            guard Self.isAddress(name.host) || names.contains(Self.plain(name.host)) else {
                return "the page is not served under the name \(name.host); use an IP address, or set web.url"
            }
        case .proxy: break
        case .ingress:
            guard head.peer == Self.ingressAddress else {
                return "only Home Assistant's ingress is let in, because trust_ingress is set"
            }
        }
        if let origin = head.origin, !Self.isSame(origin, host) {
            return "the request comes from another site, \(origin.prefix(100)); open the page itself"
        }
        guard !head.isChange || head.isMarked else {
            return "a request that changes something needs the header X-Tryck: 1"
        }
        return nil
    }

    /// True if an origin, `http://host:port`, is that of the page. Default ports are those of the scheme.
    private static func isSame(_ origin: String, _ host: String) -> Bool {
        for (scheme, port) in [("http://", 80), ("https://", 443)] where origin.lowercased().hasPrefix(scheme) {
            guard let there = HostAndPort(origin.dropFirst(scheme.utf8.count), defaultPort: port),
                let here = HostAndPort(host, defaultPort: port)
            else { return false }
            return plain(there.host) == plain(here.host) && there.port == here.port
        }
        return false
    }

    fileprivate static func plain(_ host: String) -> String {
        let host = host.lowercased()
        return host.hasSuffix(".") ? String(host.dropLast()) : host
    }

    /// True for the text of an IP address, which no name server can give another meaning.
    private static func isAddress(_ host: String) -> Bool {
        if host.contains(":") {
            return host.utf8.allSatisfy { octet in
                switch octet {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                    UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: ":"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
        }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                UInt8(part) != nil && part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
    }
}
