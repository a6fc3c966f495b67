import ButtonModel

// The links' side of the host: their beginning and end, what is asked of them, and what they send.
extension Host {
    mutating func perform(_ command: Command, at now: Instant) -> [Effect] {
        switch command {
        case .startScanning(let isActive):
            return carryOut(scanner.want(isActive ? .active : .passive, at: now), at: now)
        case .stopScanning:
            return carryOut(scanner.want(nil, at: now), at: now)
        case .setAcceptList(let peers):
            return carryOut(initiator.want(peers, at: now), at: now)
        case .disconnect(let handle, let reason):
            return links[handle] == nil ? [] : send(.disconnect(handle, reason: reason), at: now)
        case .updateConnection(let handle, let parameters):
            return links[handle] == nil ? [] : send(.leConnectionUpdate(handle, parameters), at: now)
        case .exchangeMTU(let handle):
            return start(.exchangeMTU(offered: configuration.attMTU), on: handle, at: now)
        case .discoverService(let handle, let uuid):
            return start(.discoverService(uuid), on: handle, at: now)
        case .setNotifications(let handle, let attribute, let enabled):
            return start(.setNotifications(configuration: attribute, enabled: enabled), on: handle, at: now)
        case .write(let handle, let attribute, let value):
            return onLink(handle, at: now) { $0.send(.writeCommand(attribute.rawValue, value)) } ?? []
        case .setServices(let services):
            table = AttributeTable(services)
            return []
        case .startAdvertising(let advertisement):
            return carryOut(advertiser.want(advertisement), at: now)
        case .stopAdvertising:
            return carryOut(advertiser.want(nil), at: now)
        case .notify(let handle, let attribute, let value):
            return onLink(handle, at: now) { $0.send(.handleValueNotification(attribute.rawValue, value)) } ?? []
        case .requestParameters(let handle, let parameters):
            return onLink(handle, at: now) { $0.requestParameters(parameters) } ?? []
        }
    }

    private mutating func start(
        _ procedure: GATTClient.Procedure, on handle: ConnectionHandle, at now: Instant
    ) -> [Effect] {
        onLink(handle, at: now) { $0.start(procedure, at: now) } ?? [.event(.procedureFailed(handle, .linkLost))]
    }

    // MARK: Beginning and end

    mutating func connectionCompleted(_ complete: LEConnectionComplete, at now: Instant) -> [Effect] {
        let connection = complete.connection
        guard complete.status == .success else {
            return carryOut(
                initiator.connectionCompleted(complete.status, with: connection.peer, at: now), at: now)
        }
        // A handle that comes again was freed without our hearing of it.
        var effects = endLink(connection.handle, reason: .unknownConnectionIdentifier, at: now)
        effects += endLinks(replacedBy: connection, at: now)
        flow.setSupervisionTimeout(complete.supervisionTimeout, of: connection.handle)
        links[connection.handle] = Link(connection, offeredMTU: configuration.attMTU)
        effects.append(.event(.connected(connection)))
        switch connection.role {
        case .central:
            effects += carryOut(initiator.connectionCompleted(.success, with: connection.peer, at: now), at: now)
        case .peripheral:
            effects += carryOut(advertiser.connected(), at: now)
            effects += carryOut(initiator.linkStarted(connection.peer, at: now), at: now)
        }
        return effects + receiveEarlyData(of: connection.handle, at: now)
    }

    mutating func endLink(_ handle: ConnectionHandle, reason: HCIStatus, at now: Instant) -> [Effect] {
        guard var link = links.removeValue(forKey: handle) else { return [] }
        flow.remove(handle)
        watch.ended(handle)
        early.linkEnded(handle, at: now)
        refreshLinkDeadline()
        var effects = carryOut(link.end(), of: handle, at: now)
        effects.append(.event(.disconnected(link.connection, reason: reason)))
        effects += carryOut(initiator.linkEnded(link.connection.peer, at: now), at: now)
        // Its buffers are free for the others.
        return effects + sendData(at: now)
    }

    // MARK: Traffic

    /// What `body` makes one link do; `nil` when there is no such link.
    mutating func onLink(
        _ handle: ConnectionHandle, at now: Instant, _ body: (inout Link) -> [Link.Effect]
    ) -> [Effect]? {
        guard let index = links.index(forKey: handle) else { return nil }
        let deadline = links.values[index].deadline
        let effects = body(&links.values[index])
        if links.values[index].deadline != deadline { refreshLinkDeadline() }
        return carryOut(effects, of: handle, at: now)
    }

    private mutating func carryOut(_ effects: [Link.Effect], of handle: ConnectionHandle, at now: Instant) -> [Effect] {
        var result: [Effect] = []
        result.reserveCapacity(effects.count)
        for effect in effects {
            switch effect {
            case .event(let event): result.append(.event(event))
            case .command(let command): result += send(command, at: now)
            case .send(let frame):
                if !flow.enqueue(frame, for: handle) {
                    result.append(.event(.anomaly("too many frames wait on link \(handle.rawValue); one was dropped")))
                }
                result += sendData(at: now)
            }
        }
        return result
    }

    mutating func sendData(at now: Instant) -> [Effect] {
        flow.takePackets(at: now).map { .send($0) }
    }

    private mutating func refreshLinkDeadline() {
        linkDeadline = links.values.lazy.compactMap(\.deadline).min()
    }
}
