import ButtonModel

// Clients' connections: commands per turn and unsent octets are bounded.
extension FlicdServer {
    mutating func connected(_ id: ClientID, _ peer: String, at now: Instant) {
        guard clients[id] == nil else { return }
        let client = FlicdClient(peer: peer)
        let held = clients.values.count { $0.owner == client.owner }
        if !Self.share.admits(owned: held, total: clients.count) {
            // The oldest client that has sent no command is disconnected: one of the same address, or, if that address
            // has no client yet, any. Ids ascend in the order of connection.
            let silent = clients.filter { !$0.value.hasSentPacket && (held == 0 || $0.value.owner == client.owner) }
            guard let first = silent.keys.min() else {
                let isFull = clients.count >= Self.maximumClients
                let text = "flicd: \(peer) was refused: \(isFull ? clients.count : held) clients "
                log(
                    isFull ? .turnedAway : .shareTaken, .warning,
                    text + (isFull ? "are connected" : "of this address are connected"), at: now)
                return effects.append(.close(id, isWritten: false))
            }
            close(first, .evicted, "has sent no command yet, and another client needs its slot", at: now)
        }
        clients[id] = client
        log(.debug, "flicd: \(peer) has connected")
    }

    /// Executes complete commands, up to the limits of a turn.
    mutating func executeCommands(for id: ClientID, at now: Instant) {
        guard let before = clients[id]?.outgoing.count else { return }
        affectedClients.insert(id)
        for _ in 0..<Self.commandsPerTurn {
            let packet: [UInt8]?
            do throws(FlicdFrameTooLong) {
                packet = try clients[id]?.framer.next()
            } catch {
                return refuse(id, error, at: now)
            }
            guard let packet else { return commandsExecuted(id) }
            clients[id]?.hasSentPacket = true
            execute(packet, for: id, at: now)
            guard let count = clients[id]?.outgoing.count else { return }
            if count - before >= Self.octetsPerTurn { break }
        }
        if clients[id]?.hasPendingCommands == false {
            clients[id]?.hasPendingCommands = true
            effects.append(.pause(id))
        }
        deadlines.set(.pendingCommands, at: now)
    }

    private mutating func commandsExecuted(_ id: ClientID) {
        guard let client = clients[id] else { return }
        if client.hasFinished {
            dropRequests(of: id)
            clients[id]?.isEnding = true
        } else if client.hasPendingCommands {
            effects.append(.resume(id))
        }
        clients[id]?.hasPendingCommands = false
    }

    private mutating func refuse(_ id: ClientID, _ frame: FlicdFrameTooLong, at now: Instant) {
        let opcode = frame.opcode.map { ", beginning with \($0)," } ?? ""
        countIgnored()
        close(id, .notAClient, "sent a frame of \(frame.length) octets\(opcode) and is not a flicd client", at: now)
    }

    private mutating func close(_ id: ClientID, _ line: Line, _ reason: String, at now: Instant) {
        guard let client = clients[id] else { return }
        log(line, .warning, "flicd: \(client.peer) \(reason); it is disconnected", at: now)
        removeClient(id)
        effects.append(.close(id, isWritten: false))
    }

    mutating func finished(_ id: ClientID) {
        clients[id]?.hasFinished = true
        affectedClients.insert(id)
        if clients[id]?.hasPendingCommands == false { commandsExecuted(id) }
    }

    mutating func removeClient(_ id: ClientID) {
        guard let client = clients[id] else { return }
        dropRequests(of: id)
        clients[id] = nil
        log(.debug, "flicd: \(client.peer) has disconnected")
    }

    /// Discards a client's channels, wizards, scanners and listeners without sending it events.
    private mutating func dropRequests(of id: ClientID) {
        guard let client = clients[id] else { return }
        for channel in client.channels.keys { dropChannel(channel, of: id) }
        for wizard in client.wizards.keys { deadlines.cancel(.wizard(id, wizard)) }
        clients[id]?.wizards = [:]
        clients[id]?.scanners = []
        clients[id]?.listeners = [:]
        isListeningChanged = true
    }

    // MARK: Sending

    mutating func send(_ event: FlicdEvent, to id: ClientID) {
        guard clients[id]?.isEnding == false else { return }
        clients[id]?.outgoing += event.encoded()
        affectedClients.insert(id)
    }

    mutating func sendToAll(_ event: FlicdEvent) {
        for id in clients.keys { send(event, to: id) }
    }

    mutating func drained(_ id: ClientID) {
        guard let client = clients[id], client.isBlocked else { return }
        clients[id]?.isBlocked = false
        clients[id]?.advertisements = [:]
        affectedClients.insert(id)
        for (key, advertisement) in client.advertisements.sorted(by: { $0.key < $1.key }) {
            send(.advertisementPacket(scanID: key.scanner, advertisement), to: id)
        }
    }

    mutating func closeStalledClients(at now: Instant) {
        for id in affectedClients.sorted() {
            guard let client = clients[id], client.isBlocked, client.outgoing.count > Self.maximumUnsentCount else {
                continue
            }
            close(id, .stalled, "does not read", at: now)
        }
    }

    /// Emits one `send` with the pending octets of each client that this input affected.
    mutating func flushClients() {
        for id in affectedClients.sorted() {
            guard let client = clients[id], !client.isBlocked else { continue }
            if !client.outgoing.isEmpty {
                effects.append(.send(id, client.outgoing))
                clients[id]?.outgoing = []
            }
            if client.isEnding {
                clients[id] = nil
                log(.debug, "flicd: \(client.peer) has disconnected")
                effects.append(.close(id, isWritten: true))
            }
        }
        affectedClients.removeAll(keepingCapacity: true)
    }
}

extension FlicdClient.AdvertisementKey: Comparable {
    static func < (left: Self, right: Self) -> Bool {
        (left.scanner, left.address.rawValue) < (right.scanner, right.address.rawValue)
    }
}
