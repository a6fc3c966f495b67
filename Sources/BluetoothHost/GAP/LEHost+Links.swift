import ButtonModel
import Bytes

// Links: commands of the application, the beginning and end of links, and their data.
extension LEHost {
    mutating func perform(_ command: Command, at now: Instant) -> [Effect] {
        switch command {
        case .startScanning(let isActive):
            return carryOut(scanner.setWanted(isActive ? .active : .passive, at: now), at: now)
        case .startBackgroundScanning:
            return carryOut(scanner.setWanted(.background, at: now), at: now)
        case .stopScanning:
            return carryOut(scanner.setWanted(nil, at: now), at: now)
        case .setAcceptList(let peers):
            return carryOut(initiator.setWanted(peers, at: now), at: now)
        case .disconnect(let handle, let reason):
            return links[handle] == nil ? [] : send(.disconnect(handle, reason: reason), at: now)
        case .updateConnection(let handle, let parameters):
            return links[handle] == nil ? [] : send(.leConnectionUpdate(handle, parameters), at: now)
        case .readRSSI(let handle):
            return readRSSI(of: handle, at: now)
        case .exchangeMTU(let handle):
            return start(.exchangeMTU, on: handle, at: now)
        case .discoverService(let handle, let uuid):
            return start(.discoverService(uuid), on: handle, at: now)
        case .setNotifications(let handle, let attribute, let enabled):
            return start(.setNotifications(configuration: attribute, enabled: enabled), on: handle, at: now)
        case .discoverServices(let handle):
            return start(.discoverServices, on: handle, at: now)
        case .discoverCharacteristics(let handle, let service):
            return start(.discoverCharacteristics(service), on: handle, at: now)
        case .discoverDescriptors(let handle, let characteristic):
            return start(.discoverDescriptors(characteristic), on: handle, at: now)
        case .read(let handle, let attribute):
            return start(.read(attribute), on: handle, at: now)
        case .writeWithResponse(let handle, let attribute, let value):
            return start(.write(attribute, value), on: handle, at: now)
        case .setIndications(let handle, let attribute, let enabled):
            return start(.setIndications(configuration: attribute, enabled: enabled), on: handle, at: now)
        case .write(let handle, let attribute, let value):
            return onLink(handle, at: now) { $0.send(.writeCommand(attribute.rawValue, value)) } ?? []
        case .setServices(let services):
            return replaceServices(AttributeTable(services), at: now)
        case .setValue(let attribute, let value):
            let isSet = table.setValue(value, of: attribute)
            return isSet
                ? [] : [.event(.anomaly("attribute \(attribute.rawValue) does not exist, or the value is too long"))]
        case .indicate(let handle, let attribute, let value):
            return onLink(handle, at: now) { $0.indicate(attribute, value, at: now) }
                ?? [.event(.indicationFailed(handle, attribute, .linkLost))]
        case .startAdvertising(let advertisement):
            return carryOut(advertiser.setWanted(advertisement), at: now)
        case .stopAdvertising:
            return carryOut(advertiser.setWanted(nil), at: now)
        case .notify(let handle, let attribute, let value):
            return onLink(handle, at: now) { $0.send(.handleValueNotification(attribute.rawValue, value)) } ?? []
        case .requestParameters(let handle, let parameters):
            return onLink(handle, at: now) { $0.requestParameters(parameters) } ?? []
        case .listen(let spsm):
            listening.insert(spsm)
            return []
        case .stopListening(let spsm):
            listening.remove(spsm)
            return []
        case .openChannel(let handle, let spsm):
            return onLink(handle, at: now) { $0.openChannel(spsm, at: now) }
                ?? [.event(.channelOpenFailed(handle, spsm, .linkLost))]
        case .closeChannel(let handle, let channel):
            return onLink(handle, at: now) { $0.closeChannel(channel, at: now) } ?? []
        case .sendSDU(let handle, let channel, let sdu):
            return onLink(handle, at: now) { $0.send(sdu, on: channel) }
                ?? [.event(.sduRefused(handle, channel, .notOpen))]
        case .setReceiving(let handle, let channel, let isReceiving):
            return onLink(handle, at: now) { $0.setReceiving(isReceiving, on: channel, at: now) } ?? []
        }
    }

    private mutating func start(
        _ procedure: GATTProcedure, on handle: ConnectionHandle, at now: Instant
    ) -> [Effect] {
        onLink(handle, at: now) { $0.start(procedure, at: now) }
            ?? [.event(.procedureFailed(handle, procedure, .linkLost))]
    }

    private mutating func replaceServices(_ replacement: AttributeTable, at now: Instant) -> [Effect] {
        let difference = replacement.firstDifference(from: table)
        table = replacement
        guard let difference else { return [] }
        let announcement = table.valueHandle(of: .short(GATTType.serviceChanged))
        var effects: [Effect] = []
        for handle in links.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            effects += onLink(handle, at: now) { $0.servicesChanged(from: difference, announcement, at: now) } ?? []
        }
        return effects
    }

    // MARK: Signal strength

    private mutating func readRSSI(of handle: ConnectionHandle, at now: Instant) -> [Effect] {
        guard let link = links[handle], !link.isReadingRSSI else { return [] }
        links[handle]?.isReadingRSSI = true
        return send(.readRSSI(handle), at: now)
    }

    /// Handles the answer to HCI_Read_RSSI. A controller that cannot measure is usable, so an unknown value yields no
    /// event, and an error only an anomaly.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.5.4.
    mutating func receiveRSSI(of handle: ConnectionHandle, _ answer: CommandAnswer) -> [Effect] {
        guard links[handle] != nil else { return [] }
        links[handle]?.isReadingRSSI = false
        switch answer.status {
        case .success: break
        // Disconnection Complete will follow, or the missing answer was reported already.
        case .unknownConnectionIdentifier, nil: return []
        case let status?: return [.event(.anomaly("\(HCIOpcode.readRSSI) was refused: \(status)"))]
        }
        var fields = ByteReader(answer.returnParameters)
        guard let measured = try? fields.connectionHandle(), let rssi = try? fields.int8(), measured == handle else {
            return [.event(.anomaly("the answer to \(HCIOpcode.readRSSI) is invalid"))]
        }
        return rssi == AdvertisingReport.unknownRSSI ? [] : [.event(.rssiRead(handle, rssi))]
    }

    // MARK: Beginning and end

    mutating func connectionCompleted(_ complete: LEConnectionComplete, at now: Instant) -> [Effect] {
        let connection = complete.connection
        guard complete.status == .success else {
            return carryOut(
                initiator.connectionCompleted(complete.status, with: connection.peer, at: now), at: now)
        }
        // A handle that is assigned again belonged to a link whose Disconnection Complete was lost.
        var effects = endLink(connection.handle, reason: .unknownConnectionIdentifier, at: now)
        effects += endLinks(replacedBy: connection, at: now)
        flow.setSupervisionTimeout(complete.supervisionTimeout, of: connection.handle)
        links[connection.handle] = LELink(
            connection, offeredMTU: configuration.attMTU, channels: configuration.channels)
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
        // The link's controller buffers are now free for other links.
        return effects + sendData(at: now)
    }

    // MARK: Traffic

    /// Applies `body` to a link and carries out the effects; `nil` when there is no such link.
    mutating func onLink(
        _ handle: ConnectionHandle, at now: Instant, _ body: (inout LELink) -> [LELink.Effect]
    ) -> [Effect]? {
        guard let index = links.index(forKey: handle) else { return nil }
        let deadline = links.values[index].deadline
        let effects = body(&links.values[index])
        if links.values[index].deadline != deadline { refreshLinkDeadline() }
        if links.values[index].hasChannelFrames { channelSenders.insert(handle) }
        let result = carryOut(effects, of: handle, at: now)
        return channelSenders.isEmpty ? result : result + sendData(at: now)
    }

    private mutating func carryOut(_ effects: [LELink.Effect], of handle: ConnectionHandle, at now: Instant) -> [Effect]
    {
        var result: [Effect] = []
        result.reserveCapacity(effects.count)
        for effect in effects {
            switch effect {
            case .event(let event): result.append(.event(event))
            case .command(let command): result += send(command, at: now)
            case .send(let frame): result += enqueue(frame, for: handle, isReserved: true, at: now)
            case .sendIfRoom(let frame): result += enqueue(frame, for: handle, isReserved: false, at: now)
            }
        }
        return result
    }

    private mutating func enqueue(_ frame: [UInt8], for handle: ConnectionHandle, isReserved: Bool, at now: Instant)
        -> [Effect]
    {
        let hasRoom = flow.enqueue(frame, for: handle, isReserved: isReserved)
        let dropped = "too many frames wait on link \(handle.rawValue); one was dropped"
        return (hasRoom ? [] : [.event(.anomaly(dropped))]) + sendData(at: now)
    }

    /// Sends queued data until the controller's buffers are full. A frame of a credit-based channel is added to a link only when
    /// the link has no other data. So an attribute PDU waits for the rest of at most one such frame.
    mutating func sendData(at now: Instant) -> [Effect] {
        var effects: [Effect] = flow.takePackets(at: now).map { .send($0) }
        while fillFromChannels(&effects) { effects += flow.takePackets(at: now).map { .send($0) } }
        return effects
    }

    /// - Returns: whether frames were queued.
    private mutating func fillFromChannels(_ effects: inout [Effect]) -> Bool {
        var hasFilled = false
        for handle in channelSenders.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard let index = links.index(forKey: handle), links.values[index].hasChannelFrames else {
                channelSenders.remove(handle)
                continue
            }
            guard flow.isIdle(handle) else { continue }
            for effect in links.values[index].nextChannelFrame() {
                switch effect {
                case .send(let frame):
                    hasFilled = flow.enqueue(frame, for: handle, isReserved: true) || hasFilled
                case .event(let event): effects.append(.event(event))
                case .sendIfRoom, .command: break
                }
            }
        }
        return hasFilled
    }

    private mutating func refreshLinkDeadline() {
        linkDeadline = links.values.lazy.compactMap(\.deadline).min()
    }
}
