public import ButtonModel

/// The behaviour of a simulated Twist that differs from a Flic 2: its dialect and its dial.
extension FlicPeripheral {
    var dialect: PacketDialect { configuration.model == .twist ? .twist : .flic2 }

    /// The battery voltage in the unit of the dialect: millivolts for a Twist, else as in `Battery`.
    var rawBattery: UInt16 {
        switch dialect {
        case .flic2: Battery.raw(millivolts: batteryMillivolts)
        case .twist: UInt16(clamping: batteryMillivolts)
        }
    }

    /// The state of a Twist's dial; `nil` for other models.
    public var dialSnapshot: DialSnapshot? {
        guard dialect == .twist else { return nil }
        let modes = dial.configurations.indices
        return DialSnapshot(
            slot: dial.activeMode + 1,
            positions: Dictionary(uniqueKeysWithValues: zip(modes.map(Dial.init(mode:)), dial.positions)),
            ledModes: Dictionary(
                uniqueKeysWithValues: zip(
                    modes.map(Dial.init(mode:)), dial.configurations.map { LEDMode(code: $0.ledMode) })))
    }

    /// The dial that a turn moves now; `nil` for a Flic 2, and for a Duo while none of its buttons is down.
    public var turnedDial: Dial? { dialect == .twist ? Dial(mode: dial.mode) : turnedPart.map(Dial.part) }

    mutating func frames(in value: [UInt8]) -> [Frame] {
        guard dialect == .twist else { return link?.assembler.receive(value) ?? [] }
        return Frame(twist: value, connectionID: connections.onlyID ?? 0).map { [$0] } ?? []
    }

    mutating func receiveTwist(
        _ packet: TwistHostPacket, on id: UInt8, at now: Instant, _ effects: inout [Effect]
    ) {
        switch packet {
        case .initButtonEventsRequest(let request):
            dial.begin(request.configurations)
            startEvents(
                .init(
                    eventCount: request.eventCount, bootID: request.bootID, autoDisconnectSeconds: Self.never,
                    maximumQueuedPackets: 31, maximumQueuedAge: 0xFFFFF), on: id, at: now, &effects)
        case .updatePosition(let update): dial.update(update)
        case .changeConfigurationRequest(let configurations):
            dial.configure(configurations)
            sendSigned(.twist(.changeConfigurationResponse), on: id, &effects)
        case .startFirmwareUpdateRequest(let request): startFirmwareUpdate(.init(request), on: id, &effects)
        }
    }

    mutating func turn(units: Int, at now: Instant, _ effects: inout [Effect]) {
        guard dialect == .twist else { return turnDuo(units: units, at: now, &effects) }
        let listeners = connections.sessions.filter(\.session.isPastInit)
        let rotation = dial.turned(units: units, isReceived: !listeners.isEmpty)
        for (id, _) in listeners { sendSigned(.twist(.rotationNotification(rotation)), on: id, &effects) }
    }

    /// Encodes the steps in the button's dialect.
    func packet(_ notification: EventNotification) -> ButtonPacket {
        guard dialect == .twist else { return .buttonEventNotification(notification) }
        let items = notification.items.map {
            TwistEventNotification.Item(
                ticks: $0.ticks, code: TwistEventCode($0.code), wasQueued: $0.wasQueued,
                wasQueuedLast: $0.wasQueuedLast, mode: dial.activeMode)
        }
        return .twist(.buttonEventNotification(.init(eventCount: notification.eventCount, items: items)))
    }
}
