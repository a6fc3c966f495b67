import ButtonModel

/// The behaviour of a simulated Duo that differs from a Flic 2, for hosts that support Duo. To other hosts it is a
/// Flic 2 with only the big button.
///
/// The presses, counters and acknowledgements of its two buttons are separate; their stored events are one queue.
///
/// - Source: protocol notes, 8.1.
extension FlicPeripheral {
    /// The additional state of a session with a host that supports Duo.
    struct DuoSessionState: Sendable {
        /// `nil` before init.
        var stream: DuoEventStream?
        /// The buttons for which the host has enabled reports of rotation.
        var pushTwist: ButtonPacket.PushTwistNotification.Parts = []
    }

    mutating func startDuoEvents(
        _ request: HostPacket.InitButtonEventsDuoRequest, on id: UInt8, at now: Instant, _ effects: inout [Effect]
    ) {
        guard connections[id]?.duo != nil else { return }
        let common = request.common
        let isKnownBoot = common.bootID == bootID
        if isKnownBoot {
            queue.forget(upTo: common.eventCount)
            queue.forget(upTo: request.smallEventCount, of: .small)
        }
        var wanted = queue
        begin(common, wanted: &wanted, on: id, at: now)
        let response = ButtonPacket.InitButtonEventsDuoResponse(
            hasQueuedEvents: !wanted.entries.isEmpty, milliseconds: milliseconds(at: now),
            eventCount: wanted.countBefore(.big) ?? press.counter,
            smallEventCount: wanted.countBefore(.small) ?? smallPress.counter, bootID: isKnownBoot ? nil : bootID)
        connections[id]?.duo?.stream = DuoEventStream(response)
        excessRotation = [:]
        sendSigned(.initButtonEventsDuoResponse(response), on: id, &effects)
        effects.append(.sessionReady)
        sendDuoEvents(wanted.duoEvents, on: id, &effects)
    }

    /// Sends events in as many notifications as they need.
    mutating func sendDuoEvents(_ events: [DuoEvent], on id: UInt8, _ effects: inout [Effect]) {
        var rest = events[...]
        while !rest.isEmpty, var stream = connections[id]?.duo?.stream {
            let (octets, count) = stream.encode(rest, room: Self.maximumStreamLength)
            connections[id]?.duo?.stream = stream
            sendSigned(.buttonEventDuoNotification(octets), on: id, &effects)
            rest = rest.dropFirst(max(count, 1))
        }
    }

    var turnedPart: ButtonPart? { press.downSince != nil ? .big : smallPress.downSince != nil ? .small : nil }

    /// Reports a rotation to every host that has enabled this for a pressed button.
    ///
    /// - Parameter units: `Dial.unitsPerTurn` to a turn; clockwise is positive.
    mutating func turnDuo(units: Int, at now: Instant, _ effects: inout [Effect]) {
        let angle = angle(of: units)
        var pressed: ButtonPacket.PushTwistNotification.Parts = []
        var long = pressed
        for (part, encoder) in [(ButtonPacket.PushTwistNotification.Parts.big, press), (.small, smallPress)] {
            guard let downSince = encoder.downSince else { continue }
            pressed.insert(part)
            if now - downSince >= Self.longPress { long.insert(part) }
        }
        let first = pressed.subtracting(reportedRotation)
        reportedRotation.formUnion(pressed)
        for (id, session) in connections.sessions where session.isPastInit {
            guard let wanted = session.duo?.pushTwist, !wanted.isDisjoint(with: pressed) else { continue }
            sendSigned(
                .pushTwistNotification(
                    .init(
                        pressed: pressed.intersection(wanted), isFirst: first.intersection(wanted),
                        isPressedLong: long.intersection(wanted), angle: angle)), on: id, &effects)
        }
    }

    /// Converts dial units to a Duo's units, four for three. The result is rounded away from zero, and the excess is
    /// subtracted from the next rotation.
    private mutating func angle(of units: Int) -> Int32 {
        guard let part = turnedPart else { return 0 }
        let thirds = 4 * min(max(units, -Self.maximumTurn), Self.maximumTurn) - excessRotation[part, default: 0]
        let angle = (thirds + 2 * thirds.signum()) / 3
        excessRotation[part] = 3 * angle - thirds
        return Int32(clamping: angle)
    }

    /// The time since the boot in milliseconds, 47 bits.
    func milliseconds(at time: Instant) -> UInt64 { UInt64(max(0, (time - boot).milliseconds)) & (1 << 47 - 1) }

    /// The longest bit stream in a packet, in octets.
    private static let maximumStreamLength = 120
    /// The largest rotation at once: a hundred turns.
    private static let maximumTurn = 100 * Dial.unitsPerTurn
    private static let longPress = Duration.milliseconds(500)
}

extension EventQueue.Entry {
    func duoEvent(storage: DuoEvent.Storage) -> DuoEvent {
        let kind = DuoEvent.Kind(code)
        return DuoEvent(
            part: part, counter: counter, milliseconds: milliseconds, kind: kind,
            gesture: kind.hasGesture ? gesture : .none, storage: storage)
    }
}

extension EventQueue {
    fileprivate var duoEvents: [DuoEvent] {
        entries.enumerated().map { index, entry in
            entry.duoEvent(storage: index == entries.count - 1 ? .queuedLast : .queued)
        }
    }

    /// The counter of a button before its oldest entry; `nil` if it has none.
    fileprivate func countBefore(_ part: ButtonPart) -> UInt32? {
        entries.first { $0.part == part }.map { $0.counter &- 1 }
    }
}
