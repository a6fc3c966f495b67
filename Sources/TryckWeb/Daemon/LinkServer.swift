import Edges
import JSON
import Platform
import Reactor
import Settings
import WebService

/// Serves the socket from which `tryck web` gets a link to sign in. Every user who may open the socket may sign in; its mode is
/// 0660, as that of the control socket.
@ReactorActor
final class LinkServer {
    private var server: ControlServer?

    init(_ loop: EventLoop, path: String, web: Configuration.Web, signIn: SignIn) throws(ControlServerFailure) {
        SystemEnvironment.makeDirectory(SystemEnvironment.directory(of: path), mode: 0o750)
        server = try ControlServer(loop: loop, path: path) { [unowned self] client, line in
            let isLink = (try? JSONValue(parsing: line))?["request"]?.stringValue == "link"
            server?.send(
                (isLink ? Self.answer(web, signIn) : Self.error("there is only the request link")).encoded(), to: client
            )
        }
        if let fault = server?.fault { throw fault }
    }

    func close() { server?.close() }

    private static func answer(_ web: Configuration.Web, _ signIn: SignIn) -> JSONValue {
        guard !web.trustsIngress else { return error("the page is opened in Home Assistant, which signs in") }
        let token = signIn.issueLink(at: Site.now)
        switch web.listen {
        case .tcp(let address):
            // A browser cannot open the addresses that stand for all addresses of the machine.
            let host = ["0.0.0.0", "::"].contains(address.host) ? "localhost" : address.host
            let place = HostAndPort(host: host, port: address.port)
            return ["status": "ok", "data": ["link": .string("http://\(place)\(web.basePath)?token=\(token)")]]
        case .unix:
            return ["status": "ok", "data": ["link": .string("\(web.basePath)?token=\(token)")]]
        }
    }

    private static func error(_ sentence: String) -> JSONValue { ["status": "error", "error": .string(sentence)] }
}
