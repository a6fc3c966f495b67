import ButtonModel

/// What a Duo does in its own way, for hosts that know of them. To others it is a Flic 2 with the big button.
///
/// Its two buttons are pressed, count and are acknowledged apart; what they stored is one queue.
///
/// - Source: protocol notes, 8.1.
extension FlicPeripheral {
    /// What a session with such a host has besides.
    struct DuoTalk: Sendable {
        /// `nil` before init.
        var stream: DuoEventStream?
        /// The buttons whose turns the host wants to hear of.
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
        turnSurplus = [:]
        sendSigned(.initButtonEventsDuoResponse(response), on: id, &effects)
        effects.append(.sessionReady)
        sendDuoEvents(wanted.duoEvents, on: id, &effects)
    }

    /// As many notifications as these events need.
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

    /// Tells every host that wants to know.
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
        let first = pressed.subtracting(toldTurns)
        toldTurns.formUnion(pressed)
        for (id, session) in connections.sessions where session.isPastInit {
            guard let wanted = session.duo?.pushTwist, !wanted.isDisjoint(with: pressed) else { continue }
            sendSigned(
                .pushTwistNotification(
                    .init(
                        pressed: pressed.intersection(wanted), isFirst: first.intersection(wanted),
                        isPressedLong: long.intersection(wanted), angle: angle)), on: id, &effects)
        }
    }

    /// Four of its units are three of a dial's. What is rounded, away from zero, is missing from the next turn.
    private mutating func angle(of units: Int) -> Int32 {
        guard let part = turnedPart else { return 0 }
        let thirds = 4 * min(max(units, -Self.maximumTurn), Self.maximumTurn) - turnSurplus[part, default: 0]
        let angle = (thirds + 2 * thirds.signum()) / 3
        turnSurplus[part] = 3 * angle - thirds
        return Int32(clamping: angle)
    }

    /// Since boot, 47 bits.
    func milliseconds(at time: Instant) -> UInt64 { UInt64(max(0, (time - boot).milliseconds)) & (1 << 47 - 1) }

    /// What a packet has room for besides opcode and signature.
    private static let maximumStreamLength = 120
    /// A hundred whole turns at once.
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

    /// The count of a button just before its oldest entry; `nil` where it has none.
    fileprivate func countBefore(_ part: ButtonPart) -> UInt32? {
        entries.first { $0.part == part }.map { $0.counter &- 1 }
    }
}
