import BluetoothHost
public import ButtonModel
import Bytes
import Flic

/// One button as a peripheral behind a controller of somebody else's making: a `Host`, a `FlicPeripheral` on top
/// of it, and a finger.
///
/// | on                          | we                                                                  |
/// |-----------------------------|---------------------------------------------------------------------|
/// | transport opened            | set the controller up, take an address, offer the service, advertise |
/// | a link                      | stop advertising; the peripheral speaks over notifications           |
/// | a link lost, or ended       | advertise again as `AdvertisingPlan` says, or stay silent            |
/// | down                        | tell the peripheral; advertise when there is no link                 |
/// | held for 7 s without a link | public mode for 30 s                                                 |
/// | paired                      | leave public mode                                                    |
///
/// Pairings, the event counter and the queue outlive the transport: a button does not forget because a dongle
/// was pulled. Presses wait until the controller is set up, for the certificate names its address.
public struct SimulatedButton: Sendable {
    public enum Input: Hashable, Sendable {
        case transportOpened
        case received([UInt8])
        case transportClosed
        /// At most `SimulatedButton.maximumQueuedPresses` wait; one more is refused with a note.
        case press(SimulatedPress)
        case timerFired
    }

    public enum Effect: Hashable, Sendable {
        case send([UInt8])
        case setTimer(Instant)
        case cancelTimer
        case pressFinished(SimulatedPress)
        case note(String)
        /// The controller cannot be used.
        case failed(String)
    }

    public static let maximumQueuedPresses = Finger.maximumQueuedPresses
    static let publicModeHold = Duration.seconds(7)

    /// The address it advertises with, once its controller is known.
    public private(set) var address: BluetoothAddress?
    public let description: SimulatedButtonDescription

    private var host = Host(.init(attMTU: FlicGATT.attMTU))
    private var hostDeadline: Instant?
    private var peripheral: FlicPeripheral?
    private var peripheralDeadline: Instant?
    private var finger = Finger()
    /// Presses from before there was a peripheral to press.
    private var waitingPresses: [SimulatedPress] = []
    /// When the button, held down, becomes public.
    private var publicModeAt: Instant?
    private var plan: AdvertisingPlan
    /// What the host was last asked for.
    private var mode = AdvertisingPlan.Mode.silent
    private var isUp = false
    private var link: Connection?
    private var advertisesAgain = false
    private var timer = LogicalTimer()
    private var randomness: SplitMix64

    /// - Parameter seed: with the name, the source of its keys, boot id and randomness.
    public init(_ description: SimulatedButtonDescription, seed: UInt64, at now: Instant) {
        self.description = description
        plan = AdvertisingPlan(isPublicUntilPaired: description.isPublic && description.pairings.isEmpty)
        randomness = SplitMix64(seed: seed ^ stableHash(description.name))
    }

    public mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        var effects: [Effect] = []
        switch input {
        case .transportOpened:
            perform(.transportOpened, at: now, &effects)
        case .received(let packet):
            perform(.received(packet), at: now, &effects)
        case .transportClosed:
            closeTransport(at: now, &effects)
        case .press(let press):
            take(press, at: now, &effects)
        case .timerFired:
            timer.fired()
            fireTimers(at: now, &effects)
        }
        move(at: now, &effects)
        advertise(at: now, &effects)
        switch timer.rearm(for: deadline(at: now)) {
        case .set(let instant): effects.append(.setTimer(instant))
        case .cancel: effects.append(.cancelTimer)
        case nil: break
        }
        return effects
    }

    private func deadline(at now: Instant) -> Instant? {
        let machines = earliest(hostDeadline, peripheralDeadline)
        let hand = earliest(finger.deadline, publicModeAt)
        return earliest(earliest(machines, hand), plan.nextChange(after: now))
    }

    private mutating func fireTimers(at now: Instant, _ effects: inout [Effect]) {
        if let deadline = hostDeadline, deadline <= now {
            hostDeadline = nil
            perform(.timerFired, at: now, &effects)
        }
        if let deadline = peripheralDeadline, deadline <= now {
            peripheralDeadline = nil
            tell(.timerFired, at: now, &effects)
        }
    }
}

// MARK: - The finger

extension SimulatedButton {
    private mutating func take(_ press: SimulatedPress, at now: Instant, _ effects: inout [Effect]) {
        let isTaken: Bool
        if peripheral == nil {
            isTaken = waitingPresses.count < Self.maximumQueuedPresses
            if isTaken { waitingPresses.append(press) }
        } else {
            isTaken = finger.enqueue(press, at: now)
        }
        if !isTaken { effects.append(.note("too many presses are waiting; \(press.rawValue) is left out")) }
    }

    private mutating func move(at now: Instant, _ effects: inout [Effect]) {
        for step in finger.advance(to: now) {
            switch step {
            case .down:
                effects.append(.note("down"))
                publicModeAt = now + Self.publicModeHold
                if link == nil { plan.pressed(at: now) }
                tell(.pressed, at: now, &effects)
            case .up:
                effects.append(.note("up"))
                publicModeAt = nil
                tell(.released, at: now, &effects)
            case .finished(let press):
                effects.append(.pressFinished(press))
            }
        }
        if let instant = publicModeAt, instant <= now {
            publicModeAt = nil
            if link == nil { plan.enterPublicMode(at: now) }
        }
    }
}

// MARK: - Advertising

extension SimulatedButton {
    /// Brings the peripheral's public mode and the host's advertising in line with the plan.
    private mutating func advertise(at now: Instant, _ effects: inout [Effect]) {
        guard isUp, let address, let peripheral else { return }
        let isPublic = plan.isPublic(at: now)
        if peripheral.isInPublicMode != isPublic { tell(.setPublicMode(isPublic), at: now, &effects) }

        let wanted = plan.mode(at: now)
        guard wanted != mode else { return }
        let former = mode
        mode = wanted
        switch wanted {
        case .silent:
            // The controller stopped by itself where a link was the reason.
            guard link == nil else { return }
            perform(.perform(.stopAdvertising), at: now, &effects)
            effects.append(.note("silent"))
        case .advertising(let isPublic, let interval):
            perform(.perform(.startAdvertising(advertisement(of: address, isPublic, interval))), at: now, &effects)
            // A longer interval is nothing to tell.
            if case .advertising(isPublic, _) = former { return }
            effects.append(.note(isPublic ? "advertising, public" : "advertising"))
        }
    }

    private func advertisement(
        of address: BluetoothAddress, _ isPublic: Bool, _ interval: UInt16
    ) -> Advertisement {
        Advertisement(
            data: isPublic
                ? FlicGATT.publicData(address: address, firmwareVersion: description.firmware) : FlicGATT.flags,
            scanResponse: isPublic ? FlicGATT.scanResponse(address: address) : [],
            interval: interval, randomAddress: address.kind == .random ? address : nil)
    }
}

// MARK: - The host and the peripheral

extension SimulatedButton {
    private mutating func perform(_ input: Host.Input, at now: Instant, _ effects: inout [Effect]) {
        for effect in host.handle(input, at: now) {
            switch effect {
            case .send(let packet): effects.append(.send(packet))
            case .setTimer(let instant): hostDeadline = instant
            case .cancelTimer: hostDeadline = nil
            case .event(let event): take(event, at: now, &effects)
            }
        }
    }

    private mutating func take(_ event: Host.Event, at now: Instant, _ effects: inout [Effect]) {
        switch event {
        case .ready(let controller):
            begin(behind: controller.address, at: now, &effects)
        case .failed(let failure):
            closeTransport(at: now, &effects)
            effects.append(.failed(String(describing: failure)))

        case .connected(let connection):
            guard connection.role == .peripheral, link == nil else { return }
            link = connection
            plan.connected()
            effects.append(.note("connected"))
            tell(.linkUp(attMTU: 23), at: now, &effects)
        case .mtuExchanged(let handle, let attMTU):
            guard handle == link?.handle else { return }
            tell(.mtuChanged(attMTU: Int(attMTU)), at: now, &effects)
        case .written(let handle, let attribute, let value):
            guard handle == link?.handle, attribute == host.valueHandle(of: FlicGATT.toButton) else { return }
            tell(.received(value, random: randomness.octets(8)), at: now, &effects)
        case .disconnected(let connection, let reason):
            guard connection.handle == link?.handle else { return }
            endLink(isLost: reason == .connectionTimeout, at: now, &effects)
            effects.append(.note("disconnected"))

        case .advertisingFailed(let status):
            // Not asked for again before the plan changes.
            effects.append(.note("the controller refused to advertise: \(status)"))
        case .anomaly(let text):
            effects.append(.note(text))

        case .advertisingStarted, .subscribed, .parametersUpdated, .advertised, .connectionFailed, .acceptListTurned,
            .linkLimitReached, .connectionUpdateFailed, .scanningFailed,
            .serviceDiscovered, .notificationsSet, .procedureFailed, .notified,
            .servicesDiscovered, .descriptorsDiscovered, .read, .writeCompleted, .indicationsSet, .indicated,
            .servicesChanged, .subscribedToIndications, .indicationConfirmed, .indicationFailed, .channelOpened,
            .channelOpenFailed, .channelClosed, .sduReceived, .sduRefused, .channelWritable:
            break
        }
    }

    private mutating func tell(_ input: FlicPeripheral.Input, at now: Instant, _ effects: inout [Effect]) {
        guard let answers = peripheral?.handle(input, at: now) else { return }
        for answer in answers {
            switch answer {
            case .send(let value):
                guard let link, let attribute = host.valueHandle(of: FlicGATT.fromButton) else { continue }
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
        perform(.perform(.setServices(FlicGATT.services)), at: now, &effects)
        guard peripheral == nil else { return }
        let configuration = description.peripheral(at: address, drawing: &randomness)
        peripheral = FlicPeripheral(configuration, at: now)
        let root = SimulatorRoot.publicKey.hex
        effects.append(.note("\(address) (\(address.kind)), serial \(configuration.serial), root \(root)"))
        for press in waitingPresses { _ = finger.enqueue(press, at: now) }
        waitingPresses.removeAll()
    }

    private mutating func endLink(isLost: Bool, at now: Instant, _ effects: inout [Effect]) {
        guard link != nil else { return }
        link = nil
        let remembersHost = peripheral?.isPaired ?? false
        plan.disconnected(isLost: isLost && remembersHost, advertisesAgain: advertisesAgain, at: now)
        advertisesAgain = false
        tell(.linkDown, at: now, &effects)
    }

    private mutating func closeTransport(at now: Instant, _ effects: inout [Effect]) {
        isUp = false
        mode = .silent
        endLink(isLost: true, at: now, &effects)
        perform(.transportClosed, at: now, &effects)
    }
}
