import ButtonModel

/// What a session with a Duo says and hears in its own way. Everything else of it is that of a Flic 2.
///
/// It is found to be one by what its last response of a verification says to a host that knows of them.
///
/// - Source: protocol notes, 8.1.
extension ButtonSession {
    /// Of the FullVerifyRequest2 that makes a pairing.
    var pairingFlags: UInt8 { offersDuo ? HostPacket.FullVerifyRequest2.supportsDuo : 0 }
    var quickVerifyFlags: UInt8 { offersDuo ? HostPacket.QuickVerifyRequest.supportsDuo : 0 }

    var offersDuo: Bool { configuration.supportsDuo && !configuration.isTwist }

    /// As far as the verification has shown it.
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
        guard !steps.isEmpty else { return effects.append(.ignored(reason: "events that end too early")) }
        let events = intake.take(steps, at: now)
        pushTwist.take(events, at: now)
        // The counts of the stream may be above what ever came: those of a button that has nothing to send.
        tell(
            events, upTo: intake.cursor, needsAcknowledgement: steps.contains(where: \.kind.code.needsAcknowledgement),
            endsQueue: stream.isDrained, at: now, &effects)
    }

    mutating func receiveTurn(
        _ notification: ButtonPacket.PushTwistNotification, at now: Instant, _ effects: inout [Effect]
    ) {
        guard case .ready(let ready) = state, ready.duoStream != nil else {
            effects.append(.ignored(reason: "a turn before the init response"))
            return
        }
        let movements = pushTwist.take(notification, at: now)
        if !movements.isEmpty { effects.append(.moved(movements)) }
    }
}

extension EventIntake {
    /// The new events of a Duo's notification, in order.
    mutating func take(_ steps: [DuoEvent], at now: Instant) -> [ButtonEvent] {
        steps.compactMap { step in
            let code = step.kind.code
            let swipe: SwipeDirection? = if case .up = code.step { step.gesture.swipe } else { nil }
            return admit(
                ButtonEvent(
                    button: button, bootID: cursor.bootID, counter: step.counter, step: code.step,
                    ticks: UInt64(ticksOfMilliseconds: step.milliseconds), wasQueued: step.storage != .live,
                    wasQueuedLast: step.storage == .queuedLast, part: step.part, swipe: swipe), at: now)
        }
    }
}

extension ButtonPacket.InitButtonEventsResponse {
    /// What a Duo's says of its big button, by the clock of a Flic 2.
    init(_ response: ButtonPacket.InitButtonEventsDuoResponse) {
        self.init(
            hasQueuedEvents: response.hasQueuedEvents, ticks: UInt64(ticksOfMilliseconds: response.milliseconds),
            eventCount: response.eventCount, bootID: response.bootID)
    }
}

extension DuoEventStream {
    /// Of a session that begins with this response.
    init(_ response: ButtonPacket.InitButtonEventsDuoResponse) {
        self.init(
            bigCount: response.eventCount, smallCount: response.smallEventCount, isDrained: !response.hasQueuedEvents)
    }
}

extension UInt64 {
    /// 1/32768 s, at most 48 bits.
    ///
    /// - Parameter milliseconds: at most 47 bits.
    init(ticksOfMilliseconds milliseconds: UInt64) {
        self = Swift.min((milliseconds & (1 << 47 - 1)) * 32_768 / 1000, 1 << 48 - 1)
    }
}
