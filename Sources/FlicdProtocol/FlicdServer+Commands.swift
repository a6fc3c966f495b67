import ButtonModel

// Commands. A command with an id that is not in use, or that creates an id in use, does nothing: packets of client and
// server cross regularly.
extension FlicdServer {
    mutating func execute(_ packet: [UInt8], for client: ClientID, at now: Instant) {
        let command: FlicdCommand
        do throws(FlicdPacketFailure) {
            command = try FlicdCommand(decoding: packet)
        } catch {
            return logMisuse(client, opcode: packet.first, "is shorter than it should be")
        }
        switch command {
        case .getInfo: send(.getInfoResponse(info()), to: client)
        case .createScanner(let id): createScanner(id, for: client)
        case .removeScanner(let id):
            clients[client]?.scanners.remove(id)
            isListeningChanged = true
        case .createConnectionChannel(let id, let address, let mode):
            createChannel(id, to: address, mode, for: client)
        case .removeConnectionChannel(let id): endChannel(id, of: client, .removedByThisClient)
        case .forceDisconnect(let address): forceDisconnect(ButtonID(address), for: client)
        case .changeModeParameters(let id, let mode): changeMode(of: id, mode, for: client)
        case .ping(let id): send(.pingResponse(id: id), to: client)
        case .getButtonInfo(let address): send(.getButtonInfoResponse(buttonInfo(address)), to: client)
        case .createScanWizard(let id): createWizard(id, for: client, at: now)
        case .cancelScanWizard(let id): complete(id, of: client, .cancelledByUser, at: now)
        case .deleteButton(let address): delete(address, for: client)
        case .createBatteryStatusListener(let id, let address): createListener(id, to: address, for: client, at: now)
        case .removeBatteryStatusListener(let id): clients[client]?.listeners[id] = nil
        case .other(let opcode): logMisuse(client, opcode: opcode, "is not known")
        }
    }

    mutating func logMisuse(_ id: ClientID, opcode: UInt8?, _ what: String) {
        countIgnored()
        guard let opcode, let client = clients[id], clients[id]?.loggedOpcodes.insert(opcode).inserted == true else {
            return
        }
        log(.debug, "flicd: \(client.peer) sent command \(opcode), which \(what); ignored")
    }

    private mutating func info() -> FlicdInfo {
        let addresses =
            listed ?? buttons.values.map(\.identity.address).sorted { $0.rawValue < $1.rawValue }
        listed = addresses
        return FlicdInfo(
            controllerState: controllerState, address: controllerAddress,
            maxPendingConnections: UInt8(clamping: acceptListSize),
            maxConcurrentlyConnectedButtons: maximumLinks.map { Int16(clamping: $0) },
            currentPendingConnections: UInt8(clamping: buttons.count + unpaired.count), hasNoSpace: hasNoSpace,
            verifiedButtons: addresses)
    }

    private func buttonInfo(_ address: BluetoothAddress) -> FlicdButtonInfo {
        guard let identity = buttons[ButtonID(address)]?.identity else { return FlicdButtonInfo(address: address) }
        return FlicdButtonInfo(
            address: address, uuid: identity.uuid, serial: identity.serial,
            flicVersion: identity.model == .flic1 ? 1 : 2,
            // Some clients read the version as a signed number.
            firmwareVersion: min(identity.firmwareVersion, UInt32(Int32.max)))
    }

    // MARK: Batteries

    private mutating func createListener(
        _ id: UInt32, to address: BluetoothAddress, for client: ClientID, at now: Instant
    ) {
        guard let listeners = clients[client]?.listeners, listeners[id] == nil else { return }
        guard listeners.count < Self.maximumListeners else {
            return send(.batteryStatus(id: id, percentage: nil, timestamp: wallClock(at: now).seconds), to: client)
        }
        clients[client]?.listeners[id] = address
        let battery = buttons[ButtonID(address)]?.battery
        let time = battery?.at ?? wallClock(at: now)
        send(.batteryStatus(id: id, percentage: battery?.percentage, timestamp: time.seconds), to: client)
    }

    mutating func batteryMeasured(_ button: ButtonID, _ percentage: Int8, _ time: UTCTime) {
        guard buttons[button] != nil else { return }
        buttons[button]?.battery = (percentage, time)
        for (client, state) in clients {
            for (id, address) in state.listeners.sorted(by: { $0.key < $1.key }) where ButtonID(address) == button {
                send(.batteryStatus(id: id, percentage: percentage, timestamp: time.seconds), to: client)
            }
        }
    }
}

extension UTCTime {
    /// Seconds since 1970 UTC, rounded down.
    var seconds: Int64 { milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000 }
}
