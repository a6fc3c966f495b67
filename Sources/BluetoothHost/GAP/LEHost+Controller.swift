import ButtonModel
import Bytes

// The controller: packets from it, answers to commands, faults, and its loss.
extension LEHost {
    mutating func open(at now: Instant) -> [Effect] {
        let setup = ControllerSetup()
        let effects = reset(to: .settingUp(setup))
        return effects + send(setup.command, at: now)
    }

    /// Ends all links and resets all state that depends on the controller.
    mutating func reset(to next: State) -> [Effect] {
        var effects: [Effect] = []
        for (_, link) in links.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            var link = link
            for case .event(let event) in link.end() { effects.append(.event(event)) }
            effects.append(.event(.disconnected(link.connection, reason: .connectionTimeout)))
        }
        state = next
        links = [:]
        linkDeadline = nil
        commands = CommandQueue(resetTimeout: configuration.resetTimeout)
        flow = ACLFlow(packetLength: 0, bufferCount: 0)
        early = EarlyData()
        watch = ControllerWatch()
        scanner.controllerLost()
        initiator.controllerLost()
        advertiser.controllerLost()
        return effects
    }

    private mutating func fail(_ failure: ControllerFailure) -> [Effect] {
        reset(to: .failed) + [.event(.failed(failure))]
    }

    // MARK: Packets

    mutating func receive(_ octets: [UInt8], at now: Instant) -> [Effect] {
        switch state {
        case .closed, .failed: return []
        case .settingUp, .ready: break
        }
        watch.packetReceived(at: now)
        var reader = ByteReader(octets)
        do throws(Truncated) {
            switch H4Indicator(rawValue: try reader.uint8()) {
            case .aclData: return receive(try ACLHeader(decoding: &reader), reader, at: now)
            case .event: return receive(try HCIEvent(decoding: &reader), at: now)
            case .command, nil: return [.event(.anomaly("a packet with an H4 indicator that controllers do not send"))]
            }
        } catch {
            return [.event(.anomaly("a truncated HCI packet"))]
        }
    }

    private mutating func receive(_ header: ACLHeader, _ data: ByteReader, at now: Instant) -> [Effect] {
        guard state == .ready else { return [] }
        guard header.length == data.remainingCount else {
            return [.event(.anomaly("an ACL packet of \(data.remainingCount) octets announces \(header.length)"))]
        }
        let (table, listening) = (table, listening)
        let effects = onLink(header.handle, at: now) {
            $0.receive(
                data, isFirst: header.boundary != .continuing, serving: table, listening: listening, at: now)
        }
        if let effects { return effects }
        guard !early.keep(header, data, at: now) else { return [] }
        return [.event(.anomaly("data for unknown link \(header.handle.rawValue)"))]
    }

    mutating func receiveEarlyData(of handle: ConnectionHandle, at now: Instant) -> [Effect] {
        early.take(handle, at: now).flatMap { receive($0.header, $0.data, at: now) }
    }

    private mutating func disconnectOnce(_ handle: ConnectionHandle, at now: Instant) -> [Effect] {
        watch.isEnding(handle) ? [] : send(.disconnect(handle, reason: .remoteUserTerminated), at: now)
    }

    /// Ends older links to the peer of a new link. Two devices have at most one link, so the older link is over although the
    /// controller reported no disconnection. The Disconnect command is for a controller that still keeps the older link.
    mutating func endLinks(replacedBy connection: LEConnection, at now: Instant) -> [Effect] {
        let replaced = links.filter { $0.value.connection.peer == connection.peer }.keys
        return replaced.sorted { $0.rawValue < $1.rawValue }.flatMap {
            send(.disconnect($0, reason: .remoteUserTerminated), at: now)
                + endLink($0, reason: .connectionTimeout, at: now)
        }
    }

    private mutating func receive(_ event: HCIEvent, at now: Instant) -> [Effect] {
        switch event {
        case .commandComplete(let opcode, let allowance, let returnParameters):
            return carryOut(
                commands.receiveComplete(
                    opcode, allowance: allowance, returnParameters: returnParameters, at: now), at: now)
        case .commandStatus(let opcode, let allowance, let status):
            return carryOut(commands.receiveStatus(opcode, allowance: allowance, status: status, at: now), at: now)
        case .hardwareError(let code):
            return fail(.hardwareError(code))
        case .disconnectionComplete, .numberOfCompletedPackets, .dataBufferOverflow, .leConnectionComplete,
            .leEnhancedConnectionComplete, .leAdvertisingReport, .leConnectionUpdateComplete,
            .leRemoteConnectionParameterRequest, .unknown, .unknownLE:
            // Before set-up is complete these events result from commands of a previous user of the controller.
            return state == .ready ? receiveWhenReady(event, at: now) : []
        }
    }

    private mutating func receiveWhenReady(_ event: HCIEvent, at now: Instant) -> [Effect] {
        switch event {
        case .numberOfCompletedPackets(let completed):
            return receive(completed, at: now)
        case .leAdvertisingReport(let reports):
            return reports.map { .event(.advertised($0)) }
        case .leConnectionComplete(let complete), .leEnhancedConnectionComplete(let complete):
            return connectionCompleted(complete, at: now)
        case .disconnectionComplete(.success, let handle, _) where links[handle] == nil:
            return [.event(.anomaly("Disconnection Complete for unknown link \(handle.rawValue)"))]
        case .disconnectionComplete(.success, let handle, let reason):
            return endLink(handle, reason: reason, at: now)
        case .leConnectionUpdateComplete(.success, let handle, let interval, let latency, let timeout):
            guard links[handle] != nil else { return [] }
            flow.setSupervisionTimeout(timeout, of: handle)
            let event = Event.parametersUpdated(
                handle, interval: interval, peripheralLatency: latency, supervisionTimeout: timeout)
            return [.event(event)]
        case .leRemoteConnectionParameterRequest(let handle, let parameters):
            return send(
                parameters.areValid
                    ? .leRemoteConnectionParameterRequestReply(handle, parameters)
                    : .leRemoteConnectionParameterRequestNegativeReply(
                        handle, reason: .unacceptableConnectionParameters),
                at: now)
        case .disconnectionComplete(let status, let handle, _):
            return [.event(.anomaly("disconnecting link \(handle.rawValue) failed: \(status)"))]
        case .leConnectionUpdateComplete(let status, let handle, _, _, _):
            return links[handle] == nil ? [] : [.event(.connectionUpdateFailed(handle, status))]
        case .dataBufferOverflow:
            // The event does not say which link lost data, so all links with data at the controller are ended and can
            // be established again.
            return [.event(.anomaly("the controller's data buffers overflowed"))]
                + flow.busyLinks.flatMap { disconnectOnce($0, at: now) }
        case .commandComplete, .commandStatus, .hardwareError, .unknown, .unknownLE:
            return []
        }
    }

    private mutating func receive(_ completed: [CompletedPackets], at now: Instant) -> [Effect] {
        var effects: [Effect] = []
        for link in completed where !flow.complete(link, at: now) {
            effects.append(.event(.anomaly("more packets of link \(link.handle.rawValue) completed than were sent")))
        }
        return effects + sendData(at: now)
    }

    // MARK: Commands

    mutating func send(_ command: HCICommand, at now: Instant) -> [Effect] {
        if case .disconnect(let handle, _) = command {
            watch.disconnectRequested(handle, timeout: flow.disconnectTimeout(of: handle), at: now)
        }
        switch state {
        case .closed, .failed: return []
        case .settingUp, .ready: return carryOut(commands.enqueue(command, at: now), at: now)
        }
    }

    mutating func carryOut(_ effects: [CommandQueue.Effect], at now: Instant) -> [Effect] {
        var result: [Effect] = []
        for effect in effects {
            // An earlier answer may have led to the failure of this controller.
            if state == .failed { break }
            switch effect {
            case .send(let packet): result.append(.send(packet))
            case .anomaly(let text): result.append(.event(.anomaly(text)))
            case .answered(let command, let answer): result += answered(command, answer, at: now)
            }
        }
        return result
    }

    private mutating func answered(_ command: HCICommand, _ answer: CommandAnswer, at now: Instant) -> [Effect] {
        if case .settingUp(var setup) = state {
            let step = setup.handle(answer)
            state = .settingUp(setup)
            switch step {
            case .send(let next): return send(next, at: now)
            case .failed(let failure): return fail(failure)
            case .ready(let info): return becomeReady(info, at: now)
            }
        }
        var effects: [Effect] = []
        if answer.status == nil {
            guard !command.isIndispensable else { return fail(.noAnswer(command.opcode)) }
            effects.append(.event(.anomaly("no answer to \(command.opcode)")))
            // The probe shows whether the controller only does not know this command, or has stopped answering.
            effects += probe(at: now)
        }
        return effects + distribute(command, answer, at: now)
    }

    private mutating func becomeReady(_ info: ControllerInfo, at now: Instant) -> [Effect] {
        state = .ready
        flow = ACLFlow(packetLength: info.aclDataLength, bufferCount: info.aclBufferCount)
        var effects: [Effect] = [.event(.ready(info))]
        effects += carryOut(initiator.controllerReady(listSize: info.acceptListSize, at: now), at: now)
        effects += carryOut(
            scanner.controllerReady(isRadioExclusive: !info.scansWhileInitiating, at: now), at: now)
        effects += carryOut(advertiser.controllerReady(), at: now)
        return effects
    }

    /// Passes an answer to the part of the host that sent the command.
    private mutating func distribute(_ command: HCICommand, _ answer: CommandAnswer, at now: Instant) -> [Effect] {
        let status = answer.status
        switch command {
        case .leSetScanParameters, .leSetScanEnable:
            return carryOut(scanner.answered(command, status, at: now), at: now)
        case .leCreateConnection, .leCreateConnectionCancel, .leAddDeviceToFilterAcceptList,
            .leRemoveDeviceFromFilterAcceptList:
            return carryOut(
                initiator.answered(command, status, isScanning: scanner.isOn, at: now), at: now)
        case .leSetRandomAddress, .leSetAdvertisingParameters, .leSetAdvertisingData, .leSetScanResponseData,
            .leSetAdvertisingEnable:
            return carryOut(advertiser.answered(command, status), at: now)
        case .disconnect(let handle, _) where status == .unknownConnectionIdentifier:
            // The controller does not know the link, so it will not send Disconnection Complete.
            return endLink(handle, reason: .unknownConnectionIdentifier, at: now)
        case .leConnectionUpdate(let handle, _):
            guard let status, status != .success, links[handle] != nil else { return [] }
            return [.event(.connectionUpdateFailed(handle, status))]
        case .readRSSI(let handle):
            return receiveRSSI(of: handle, answer)
        case .readBDADDR:
            watch.isProbing = false
            return []
        case .disconnect, .leRemoteConnectionParameterRequestReply,
            .leRemoteConnectionParameterRequestNegativeReply:
            guard let status, status != .success else { return [] }
            return [.event(.anomaly("\(command.opcode) was refused: \(status)"))]
        case .reset, .readLocalVersionInformation, .readLocalSupportedFeatures, .readBufferSize,
            .setEventMask, .leSetEventMask, .leReadBufferSize, .leReadSupportedStates, .leReadFilterAcceptListSize,
            .leClearFilterAcceptList, .unknown:
            return []
        }
    }

    // MARK: Timer

    mutating func radioTimerFired(at now: Instant) -> [Effect] {
        let effects = carryOut(initiator.timerFired(at: now), at: now)
        return effects + carryOut(scanner.timerFired(at: now, isRadioWanted: initiator.isWanting), at: now)
    }

    mutating func watchTimerFired(at now: Instant) -> [Effect] {
        var effects: [Effect] = []
        for fault in flow.timerFired(at: now) {
            switch fault {
            case .completionsLost(let handle, let count):
                let text = "\(count) packets of link \(handle.rawValue) were never completed"
                effects.append(.event(.anomaly(text)))
            case .stuck(let handle):
                effects.append(.event(.anomaly("link \(handle.rawValue) does not complete any packets")))
                effects += disconnectOnce(handle, at: now)
            }
        }
        effects += sendData(at: now)
        for effect in watch.timerFired(at: now) {
            if state == .failed { break }
            switch effect {
            case .probe: effects += probe(at: now)
            case .linkNotEnded(let handle):
                effects += fail(.stopped("link \(handle.rawValue) was not disconnected in time"))
            }
        }
        return effects
    }

    /// Sends a command that every controller answers.
    private mutating func probe(at now: Instant) -> [Effect] {
        guard !watch.isProbing else { return [] }
        watch.isProbing = true
        return carryOut(commands.enqueueFirst(ControllerWatch.probe, at: now), at: now)
    }

    // MARK: The radio

    mutating func carryOut(_ effects: [Scanner.Effect], at now: Instant) -> [Effect] {
        var result: [Effect] = []
        for effect in effects {
            switch effect {
            case .command(let command): result += send(command, at: now)
            case .radioNeeded: result += carryOut(initiator.takePause(at: now), at: now)
            case .stopped: result += carryOut(initiator.scanningEnded(at: now), at: now)
            case .refused(let status): result.append(.event(.scanningFailed(status)))
            }
        }
        return result
    }

    mutating func carryOut(_ effects: [Initiator.Effect], at now: Instant) -> [Effect] {
        var result: [Effect] = []
        for effect in effects {
            switch effect {
            case .command(let command): result += send(command, at: now)
            case .radioFree: result += carryOut(scanner.radioFree(at: now), at: now)
            case .waitsForScanner: scanner.radioIsExclusive(at: now)
            case .failed(let status): result.append(.event(.connectionFailed(status)))
            case .listShared(let peers): result.append(.event(.acceptListShared(by: peers)))
            case .limitReached(let links): result.append(.event(.linkLimitReached(links: links)))
            }
        }
        return result
    }

    mutating func carryOut(_ effects: [Advertiser.Effect], at now: Instant) -> [Effect] {
        var result: [Effect] = []
        for effect in effects {
            switch effect {
            case .command(let command): result += send(command, at: now)
            case .started: result.append(.event(.advertisingStarted))
            case .failed(let status): result.append(.event(.advertisingFailed(status)))
            }
        }
        return result
    }
}
