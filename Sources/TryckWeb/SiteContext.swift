import HTTPTypes
import Hummingbird
import NIOCore
import WebService

/// The connection and the session of a request.
struct SiteContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    /// The session of the request; `nil` behind Home Assistant's ingress, which has no sessions.
    var session: SessionTable.ID?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The address of the peer without its port; `nil` for a Unix socket.
    var peer: String? { channel.remoteAddress?.ipAddress }
}

extension Request {
    /// The values of the session's cookie. A browser may send several, of which only one has a session.
    var sessionCookies: [String] {
        headers[values: .cookie].flatMap { header in
            header.split(separator: ";").compactMap { pair in
                let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
                return parts.count == 2 && parts[0] == "tryck_session" ? String(parts[1]) : nil
            }
        }
    }
}

extension Site {
    /// The octets of a request's body.
    ///
    /// - Throws: `WebFailure` with 413 for a longer body.
    func octets(
        of request: Request, _ context: SiteContext, upTo limit: Int = maximumBody
    ) async throws(WebFailure) -> [UInt8] {
        var octets: [UInt8] = []
        var count = 0
        do {
            for try await buffer in request.body {
                count += buffer.readableBytes
                if count <= limit { octets.append(contentsOf: buffer.readableBytesView) } else { octets = [] }
                // The rest of a body that is only a little too long is read and discarded, because some clients do not read the
                // response before they have sent the whole body.
                if count > 8 * maximumBody { break }
            }
        } catch {
            throw WebFailure(.badRequest, "the body is not complete; send it again")
        }
        connections.bodyEnded(context.channel)
        guard count <= limit else { throw .tooLong(limit) }
        return octets
    }
}

/// The most octets of a body.
let maximumBody = 1 << 20
