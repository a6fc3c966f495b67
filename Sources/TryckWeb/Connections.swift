import ButtonModel
import NIOCore
import Synchronization
import WebService

/// The open connections to the page's server. Closes those that `ConnectionTable` names.
final class Connections: Sendable {
    private struct State: Sendable {
        var table = ConnectionTable<ObjectIdentifier>()
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// When the next timer of each connection fires.
        var timers: [ObjectIdentifier: Instant] = [:]
    }

    private let state = Mutex(State())

    func opened(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        let surplus = state.withLock { state -> (any Channel)? in
            state.channels[id] = channel
            let surplus = state.table.opened(id, from: channel.remoteAddress?.ipAddress, at: Site.now)
            return surplus.flatMap { state.channels[$0] }
        }
        surplus?.close(promise: nil)
        setTimer(for: channel)
        // `whenComplete` also calls `closed` if the connection is closed already, so each `opened` has its `closed`.
        channel.closeFuture.whenComplete { [self] _ in closed(channel) }
    }

    private func closed(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        state.withLock { state in
            state.table.closed(id)
            state.channels[id] = nil
            state.timers[id] = nil
        }
    }

    func requestBegan(_ channel: any Channel, hasBody: Bool) {
        state.withLock { $0.table.requestBegan(ObjectIdentifier(channel), hasBody: hasBody, at: Site.now) }
        setTimer(for: channel)
    }

    func bodyEnded(_ channel: any Channel) {
        state.withLock { $0.table.bodyEnded(ObjectIdentifier(channel), at: Site.now) }
    }

    func streamBegan(_ channel: any Channel) {
        state.withLock { $0.table.streamBegan(ObjectIdentifier(channel), at: Site.now) }
    }

    func responseEnded(_ channel: any Channel) {
        state.withLock { $0.table.responseEnded(ObjectIdentifier(channel), at: Site.now) }
        setTimer(for: channel)
    }

    /// Sets a timer for the deadline of the connection, unless the connection has a timer that fires earlier. That timer then sets
    /// the next one.
    private func setTimer(for channel: any Channel) {
        let id = ObjectIdentifier(channel)
        let deadline = state.withLock { state -> Instant? in
            guard let deadline = state.table.deadline(of: id), state.timers[id].map({ $0 > deadline }) ?? true else {
                return nil
            }
            state.timers[id] = deadline
            return deadline
        }
        guard let deadline else { return }
        channel.eventLoop.scheduleTask(in: .nanoseconds(max(.zero, deadline - Site.now).nanoseconds)) { [self] in
            timerFired(channel, setFor: deadline)
        }
    }

    private func timerFired(_ channel: any Channel, setFor time: Instant) {
        let id = ObjectIdentifier(channel)
        let isOverdue = state.withLock { state in
            if state.timers[id] == time { state.timers[id] = nil }
            return state.table.deadline(of: id).map { $0 <= Site.now } ?? false
        }
        if isOverdue { channel.close(promise: nil) } else { setTimer(for: channel) }
    }
}

/// Tells `Connections` of each new connection.
final class ConnectionWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Never

    private let connections: Connections

    init(_ connections: Connections) { self.connections = connections }

    func handlerAdded(context: ChannelHandlerContext) { connections.opened(context.channel) }
}
