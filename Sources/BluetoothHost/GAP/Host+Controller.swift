import ButtonModel
import Bytes

// The controller's side of the host: what it sends, what became of its commands, and its loss.
extension Host {
    mutating func open(at now: Instant) -> [Effect] {
        let setup = ControllerSetup()
        let effects = lose(becoming: .settingUp(setup))
        return effects + send(setup.command, at: now)
    }

    /// Ends all links and forgets the controller.
    mutating func lose(becoming next: State) -> [Effect] {
        var effects: [Effect] = []
        for (_, link) in links.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            var link = link
            for case .event(let event) in link.end() { effects.append(.event(event)) }
            effects.append(.event(.disconnected(link.connection, reason: .connectionTimeout)))
        }
        state = next
        links = [:]
        linkDeadline = nil
        commands = CommandQueue()
        flow = ACLFlow(packetLength: 0, bufferCount: 0)
        scanner.controllerLost()
        initiator.controllerLost()
        advertiser.controllerLost()
        return effects
    }

    private mutating func fail(_ failure: ControllerFailure) -> [Effect] {
        lose(becoming: .failed) + [.event(.failed(failure))]
    }

    // MARK: Packets

    mutating func receive(_ octets: [UInt8], at now: Instant) -> [Effect] {
        switch state {
        case .closed, .failed: return []
        case .settingUp, .ready: break
        }
        var reader = ByteReader(octets)
        do throws(Truncated) {
            switch H4Indicator(rawValue: try reader.uint8()) {
            case .aclData: return receive(try ACLHeader(decoding: &reader), reader, at: now)
            case .event: return receive(try HCIEvent(decoding: &reader), at: now)
            case .command, nil: return [.event(.anomaly("a packet that no controller sends"))]
            }
        } catch {
            return [.event(.anomaly("an HCI packet that ends too early"))]
        }
    }

    private mutating func receive(_ header: ACLHeader, _ data: ByteReader, at now: Instant) -> [Effect] {
        guard state == .ready else { return [] }
        guard header.length == data.remainingCount else {
            return [.event(.anomaly("an ACL packet of \(data.remainingCount) octets says \(header.length)"))]
        }
        let (table, listening) = (table, listening)
        let effects = onLink(header.handle, at: now) {
            $0.receive(
                data, isFirst: header.boundary != .continuing, serving: table, listening: listening, at: now)
        }
        return effects ?? [.event(.anomaly("data of link \(header.handle.rawValue), which is not there"))]
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
            // Before the controller is set up these are about what somebody else asked for.
            return state == .ready ? receiveWhenReady(event, at: now) : []
        }
    }

    private mutating func receiveWhenReady(_ event: HCIEvent, at now: Instant) -> [Effect] {
        switch event {
        case .numberOfCompletedPackets(let completed):
            return receive(completed)
        case .leAdvertisingReport(let reports):
            return reports.map { .event(.advertised($0)) }
        case .leConnectionComplete(let complete), .leEnhancedConnectionComplete(let complete):
            return connectionCompleted(complete, at: now)
        case .disconnectionComplete(.success, let handle, let reason):
            return endLink(handle, reason: reason, at: now)
        case .leConnectionUpdateComplete(.success, let handle, let interval, let latency, let timeout):
            guard links[handle] != nil else { return [] }
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
            return [.event(.anomaly("link \(handle.rawValue) was not ended: \(status)"))]
        case .leConnectionUpdateComplete(let status, let handle, _, _, _):
            return [.event(.anomaly("the parameters of link \(handle.rawValue) were not changed: \(status)"))]
        case .dataBufferOverflow:
            return [.event(.anomaly("the controller's data buffers overflowed"))]
        case .commandComplete, .commandStatus, .hardwareError, .unknown, .unknownLE:
            return []
        }
    }

    private mutating func receive(_ completed: [CompletedPackets]) -> [Effect] {
        var effects: [Effect] = []
        for link in completed where !flow.complete(link) {
            effects.append(.event(.anomaly("more packets of link \(link.handle.rawValue) completed than were sent")))
        }
        return effects + sendData()
    }

    // MARK: Commands

    mutating func send(_ command: HCICommand, at now: Instant) -> [Effect] {
        switch state {
        case .closed, .failed: []
        case .settingUp, .ready: carryOut(commands.enqueue(command, at: now), at: now)
        }
    }

    mutating func carryOut(_ effects: [CommandQueue.Effect], at now: Instant) -> [Effect] {
        var result: [Effect] = []
        for effect in effects {
            // What an answer led to may have been the end of this controller.
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
        }
        return effects + distribute(command, answer.status, at: now)
    }

    private mutating func becomeReady(_ info: ControllerInfo, at now: Instant) -> [Effect] {
        state = .ready
        flow = ACLFlow(packetLength: info.aclDataLength, bufferCount: info.aclBufferCount)
        var effects: [Effect] = [.event(.ready(info))]
        effects += carryOut(initiator.controllerReady(listSize: info.acceptListSize, at: now), at: now)
        effects += carryOut(scanner.controllerReady(), at: now)
        effects += carryOut(advertiser.controllerReady(), at: now)
        return effects
    }

    /// Gives an answer to whom the command was for.
    private mutating func distribute(_ command: HCICommand, _ status: HCIStatus?, at now: Instant) -> [Effect] {
        switch command {
        case .leSetScanParameters, .leSetScanEnable:
            return carryOut(scanner.answered(command, status), at: now)
        case .leCreateConnection, .leCreateConnectionCancel, .leAddDeviceToFilterAcceptList,
            .leRemoveDeviceFromFilterAcceptList:
            return carryOut(
                initiator.answered(command, status, isScanning: scanner.isOn, at: now), at: now)
        case .leSetRandomAddress, .leSetAdvertisingParameters, .leSetAdvertisingData, .leSetScanResponseData,
            .leSetAdvertisingEnable:
            return carryOut(advertiser.answered(command, status), at: now)
        case .disconnect(let handle, _) where status == .unknownConnectionIdentifier:
            // No Disconnection Complete will come.
            return endLink(handle, reason: .unknownConnectionIdentifier, at: now)
        case .disconnect, .leConnectionUpdate, .leRemoteConnectionParameterRequestReply,
            .leRemoteConnectionParameterRequestNegativeReply:
            guard let status, status != .success else { return [] }
            return [.event(.anomaly("\(command.opcode) was refused: \(status)"))]
        case .reset, .readLocalVersionInformation, .readLocalSupportedFeatures, .readBufferSize, .readBDADDR,
            .setEventMask, .leSetEventMask, .leReadBufferSize, .leReadFilterAcceptListSize,
            .leClearFilterAcceptList, .unknown:
            return []
        }
    }

    // MARK: The radio

    mutating func carryOut(_ effects: [Scanner.Effect], at now: Instant) -> [Effect] {
        var result: [Effect] = []
        for effect in effects {
            switch effect {
            case .command(let command): result += send(command, at: now)
            case .radioNeeded: result += carryOut(initiator.takePause(at: now), at: now)
            case .stopped: result += carryOut(initiator.scanningEnded(at: now), at: now)
            case .refused(let status): result.append(.event(.anomaly("scanning was refused: \(status)")))
            }
        }
        return result
    }

    mutating func carryOut(_ effects: [Initiator.Effect], at now: Instant) -> [Effect] {
        var result: [Effect] = []
        for effect in effects {
            switch effect {
            case .command(let command): result += send(command, at: now)
            case .radioFree: result += carryOut(scanner.radioFree(), at: now)
            case .failed(let status): result.append(.event(.connectionFailed(status)))
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
