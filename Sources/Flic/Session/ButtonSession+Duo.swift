import ButtonModel

/// The parts of a session with a Duo that differ from a Flic 2.
///
/// A Duo declares itself in the last response of a verification, if the host has declared support for Duo.
///
/// - Source: protocol notes, 8.1.
extension ButtonSession {
    /// The flags of the FullVerifyRequest2 in a pairing.
    var pairingFlags: UInt8 { offersDuo ? HostPacket.FullVerifyRequest2.supportsDuo : 0 }
    var quickVerifyFlags: UInt8 { offersDuo ? HostPacket.QuickVerifyRequest.supportsDuo : 0 }

    var offersDuo: Bool { configuration.supportsDuo && !configuration.isTwist }

    /// The button's model, as shown by its GATT service and the verification.
    var model: FlicModel { configuration.isTwist ? .twist : isDuo ? .duo : .flic2 }

    func initRequest(_ common: HostPacket.InitButtonEventsRequest) -> HostPacket {
        guard isDuo else { return .initButtonEventsRequest(common) }
        return .initButtonEventsDuoRequest(.init(smallEventCount: syncedCursor.smallEventCount, common: common))
    }

    func acknowledgement(upTo cursor: EventCursor) -> HostPacket {
        guard isDuo else { return .acknowledgeEvents(eventCount: cursor.eventCount) }
        return .acknowledgeDuoEvents(eventCount: cursor.eventCount, smallEventCount: cursor.smallEventCount)
    }

    mutating func receiveDuoEvents(_ bits: [UInt8], at now: Instant, _ effects: inout [Effect]) {
        guard case .ready(var ready) = state, var stream = ready.duoStream else {
            effects.append(.ignored(reason: "events before the init response"))
            return
        }
        let steps = stream.decode(bits)
        ready.duoStream = stream
        state = .ready(ready)
        guard !steps.isEmpty else { return effects.append(.ignored(reason: "truncated events")) }
        let events = intake.receive(steps, at: now)
        duoDials.receive(events, at: now)
        // The counters of `stream` begin with the init response and may be above those of all events that arrived.
        report(
            events, upTo: intake.cursor, needsAcknowledgement: steps.contains(where: \.kind.code.needsAcknowledgement),
            endsQueue: stream.isDrained, at: now, &effects)
    }

    mutating func receiveTurn(
        _ notification: ButtonPacket.PushTwistNotification, at now: Instant, _ effects: inout [Effect]
    ) {
        guard case .ready(let ready) = state, ready.duoStream != nil else {
            effects.append(.ignored(reason: "a rotation before the init response"))
            return
        }
        let movements = duoDials.receive(notification, at: now)
        if !movements.isEmpty { effects.append(.moved(movements)) }
    }
}

extension EventIntake {
    /// The new events of a Duo's notification, in order.
    mutating func receive(_ steps: [DuoEvent], at now: Instant) -> [ButtonEvent] {
        steps.compactMap { step in
            let code = step.kind.code
            let swipe: SwipeDirection? = if case .up = code.step { step.gesture.swipe } else { nil }
            return accept(
                ButtonEvent(
                    button: button, bootID: cursor.bootID, counter: step.counter, step: code.step,
                    ticks: UInt64(ticksOfMilliseconds: step.milliseconds), wasQueued: step.storage != .live,
                    wasQueuedLast: step.storage == .queuedLast, part: step.part, swipe: swipe), at: now)
        }
    }
}

extension ButtonPacket.InitButtonEventsResponse {
    /// Converts a Duo's response to that of a Flic 2: the event count of the big button, and the clock in ticks.
    init(_ response: ButtonPacket.InitButtonEventsDuoResponse) {
        self.init(
            hasQueuedEvents: response.hasQueuedEvents, ticks: UInt64(ticksOfMilliseconds: response.milliseconds),
            eventCount: response.eventCount, bootID: response.bootID)
    }
}

extension DuoEventStream {
    /// Creates the decoder of a session that begins with this response.
    init(_ response: ButtonPacket.InitButtonEventsDuoResponse) {
        self.init(
            bigCount: response.eventCount, smallCount: response.smallEventCount, isDrained: !response.hasQueuedEvents)
    }
}

extension UInt64 {
    /// Converts milliseconds, of which the low 47 bits are used, to ticks of 1/32768 s, at most 48 bits.
    init(ticksOfMilliseconds milliseconds: UInt64) {
        self = Swift.min((milliseconds & (1 << 47 - 1)) * 32_768 / 1000, 1 << 48 - 1)
    }
}
