import BluetoothHost
import ButtonModel
import Bytes
import Flic

/// The button's own BLE peripheral: advertising, the link, and GATT.
extension SimulatedButton {
    /// Updates the peripheral's public mode and the host's advertising according to the plan.
    mutating func advertise(at now: Instant, _ effects: inout [Effect]) {
        guard isUp, let address, let peripheral else { return }
        let isPublic = plan.isPublic(at: now)
        if peripheral.isInPublicMode != isPublic { tell(.setPublicMode(isPublic), at: now, &effects) }

        let wanted = plan.mode(at: now)
        guard wanted != mode else { return }
        let former = mode
        mode = wanted
        switch wanted {
        case .silent:
            perform(.perform(.stopAdvertising), at: now, &effects)
            effects.append(.note("silent"))
        case .advertising(let isPublic, let interval):
            perform(.perform(.startAdvertising(advertisement(of: address, isPublic, interval))), at: now, &effects)
            // A change of the interval alone is not noted.
            if case .advertising(isPublic, _) = former { return }
            effects.append(.note(isPublic ? "advertising, public" : "advertising"))
        }
    }

    private func advertisement(
        of address: BluetoothAddress, _ isPublic: Bool, _ interval: UInt16
    ) -> Advertisement {
        Advertisement(
            data: isPublic
                ? FlicGATT.publicData(
                    description.model, address: address, firmwareVersion: peripheral?.firmwareVersion ?? 0)
                : FlicGATT.flags,
            scanResponse: isPublic
                ? FlicGATT.scanResponse(
                    description.model, address: address, isConnected: link != nil || description.isConnectedElsewhere)
                : [],
            interval: interval, randomAddress: address.kind == .random ? address : nil)
    }
}

extension SimulatedButton {
    mutating func perform(_ input: LEHost.Input, at now: Instant, _ effects: inout [Effect]) {
        for effect in host.handle(input, at: now) {
            switch effect {
            case .send(let packet): effects.append(.send(packet))
            case .setTimer(let instant): hostDeadline = instant
            case .cancelTimer: hostDeadline = nil
            case .event(let event): take(event, at: now, &effects)
            }
        }
    }

    private mutating func take(_ event: LEHost.Event, at now: Instant, _ effects: inout [Effect]) {
        switch event {
        case .ready(let controller):
            begin(behind: controller.address, at: now, &effects)
        case .failed(let failure):
            closeTransport(at: now, &effects)
            effects.append(.failed(String(describing: failure)))

        case .connected(let connection):
            guard connection.role == .peripheral else { return }
            // A controller stops advertising by itself when a link is established.
            mode = .silent
            guard link == nil else {
                return perform(
                    .perform(.disconnect(connection.handle, reason: .remoteUserTerminated)), at: now, &effects)
            }
            link = connection
            plan.connected()
            effects.append(.note("connected"))
            tell(.linkUp(attMTU: 23), at: now, &effects)
        case .mtuExchanged(let handle, let attMTU):
            guard handle == link?.handle else { return }
            tell(.mtuChanged(attMTU: Int(attMTU)), at: now, &effects)
        case .written(let handle, let attribute, let value):
            guard handle == link?.handle, attribute == host.valueHandle(of: FlicGATT.toButton(description.model))
            else { return }
            tell(.received(value, random: randomness.octets(8)), at: now, &effects)
        case .disconnected(let connection, let reason):
            guard connection.handle == link?.handle else { return }
            endLink(isLost: losesLink || reason == .connectionTimeout, at: now, &effects)
            effects.append(.note("disconnected"))

        case .advertisingFailed(let status):
            // The request is repeated only after the plan changes.
            effects.append(.note("the controller refused to advertise: \(status)"))
        case .anomaly(let text):
            effects.append(.note(text))

        case .advertisingStarted, .subscribed, .parametersUpdated, .advertised, .connectionFailed, .acceptListShared,
            .linkLimitReached, .connectionUpdateFailed, .scanningFailed, .rssiRead,
            .serviceDiscovered, .notificationsSet, .procedureFailed, .notified,
            .servicesDiscovered, .descriptorsDiscovered, .read, .writeCompleted, .indicationsSet, .indicated,
            .servicesChanged, .subscribedToIndications, .indicationConfirmed, .indicationFailed, .channelOpened,
            .channelOpenFailed, .channelClosed, .sduReceived, .sduRefused, .channelWritable:
            break
        }
    }

    mutating func tell(_ input: FlicPeripheral.Input, at now: Instant, _ effects: inout [Effect]) {
        guard let answers = peripheral?.handle(input, at: now) else { return }
        for answer in answers {
            switch answer {
            case .send(let value):
                guard let link, let attribute = host.valueHandle(of: FlicGATT.fromButton(description.model))
                else { continue }
                perform(.perform(.notify(link.handle, attribute, value)), at: now, &effects)
            case .setTimer(let instant): peripheralDeadline = instant
            case .cancelTimer: peripheralDeadline = nil
            case .requestParameters(let minimum, let maximum, let latency, let timeout):
                guard let link else { continue }
                let wanted = ConnectionParameters(
                    intervalMinimum: minimum, intervalMaximum: maximum, peripheralLatency: latency,
                    supervisionTimeout: timeout)
                perform(.perform(.requestParameters(link.handle, wanted)), at: now, &effects)
            case .paired:
                plan.leavePublicMode()
                effects.append(.note("paired"))
            case .sessionReady:
                turnConverter.sessionBegan()
                effects.append(.note("session ready"))
            case .light(let pattern):
                effects.append(
                    .note(pattern.map { "light: colour \($0.colour), \($0.periods) times" } ?? "light: as usual"))
            case .factoryReset:
                effects.append(.note("all pairings forgotten"))
            case .updated(let version):
                effects.append(.note("restarted with firmware \(version)"))
            case .disconnect(let again):
                guard let link else { continue }
                advertisesAgain = again
                perform(.perform(.disconnect(link.handle, reason: .remoteUserTerminated)), at: now, &effects)
            }
        }
    }

    private mutating func begin(
        behind controllerAddress: BluetoothAddress, at now: Instant, _ effects: inout [Effect]
    ) {
        isUp = true
        let address = self.address ?? description.address(behind: controllerAddress)
        self.address = address
        perform(.perform(.setServices(FlicGATT.services(description.model))), at: now, &effects)
        guard peripheral == nil else { return }
        let configuration = description.peripheral(at: address, drawing: &randomness)
        peripheral = FlicPeripheral(configuration, at: now)
        let root = SimulatorRoot.publicKey.hex
        effects.append(.note("\(address) (\(address.kind)), serial \(configuration.serial), root \(root)"))
        for (script, part) in waitingPresses { _ = enqueue(script, on: part, at: now) }
        waitingPresses.removeAll()
    }

    private mutating func endLink(isLost: Bool, at now: Instant, _ effects: inout [Effect]) {
        guard link != nil else { return }
        link = nil
        // `linkDown` may reboot the button, which clears its advertising settings, so it comes before they are read.
        tell(.linkDown, at: now, &effects)
        plan.disconnected(
            lookingFor: isLost ? peripheral?.advertisingSettings : nil, advertisesAgain: advertisesAgain, at: now)
        advertisesAgain = false
        losesLink = false
    }

    mutating func closeTransport(at now: Instant, _ effects: inout [Effect]) {
        isUp = false
        mode = .silent
        endLink(isLost: true, at: now, &effects)
        perform(.transportClosed, at: now, &effects)
    }
}
