import HTTPTypes
import Hummingbird
import NIOCore
import WebService

/// `GET /api/events`: the live stream as server-sent events.
func addEventsRoute(to api: RouterGroup<SiteContext>, _ site: Site) {
    api.get("events") { request, context in
        guard request.method == .get else { return Response(status: .ok, headers: eventHeaders) }
        let channel = context.channel
        // A browser sends no header with a connection that the page opens again itself.
        let known = request.headers[.lastEventID] ?? request.uri.queryParameters["after"].map { String($0) }
        let stream = await site.feed.open(
            after: known, session: context.session,
            cut: { channel.close(promise: nil) })
        guard let stream else {
            throw WebFailure(
                .serviceUnavailable, "there are \(ReaderFeed.maximumReaders) live streams; close another page",
                headers: [.retryAfter: "15"])
        }
        site.connections.streamBegan(channel)
        // The end of the body closes the stream. But if the connection ends before the head is written, the body is never
        // requested, so the end of the connection closes the stream, too.
        channel.closeFuture.whenComplete { _ in
            // Without the executor, the task would start threads of the system's pool, which wake up every second.
            Task(executorPreference: LoopTaskExecutor(channel.eventLoop)) { await site.feed.close(stream) }
        }
        return Response(
            status: .ok, headers: eventHeaders,
            body: ResponseBody { writer in
                try await request.body.consumeWithInboundCloseHandler { _ in
                    do {
                        for await octets in stream.chunks {
                            try await writer.write(ByteBuffer(bytes: octets))
                            stream.written(octets.count)
                        }
                        try await writer.finish(nil)
                    } catch {
                        await site.feed.close(stream)
                        throw error
                    }
                    await site.feed.close(stream)
                } onInboundClosed: {
                    stream.finish()
                }
            })
    }
}

private let eventHeaders: HTTPFields = [
    .contentType: "text/event-stream", .cacheControl: "no-store", .accelBuffering: "no",
]
