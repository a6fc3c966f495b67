import ButtonModel

/// The events of presses of a simulated button: storing, sending, and repeating them after init.
extension FlicPeripheral {
    mutating func startEvents(
        _ request: HostPacket.InitButtonEventsRequest, on id: UInt8, at now: Instant, _ effects: inout [Effect]
    ) {
        let isKnownBoot = request.bootID == bootID
        if isKnownBoot { queue.forget(upTo: request.eventCount) }
        // The limits of this request apply to this session only; another host may request the other events.
        var wanted = queue
        wanted.keep(.big)
        begin(request, wanted: &wanted, on: id, at: now)
        let first = wanted.entries.first
        sendSigned(
            .initButtonEventsResponse(
                .init(
                    hasQueuedEvents: first != nil, ticks: ticks(at: now),
                    eventCount: first.map { $0.counter &- 1 } ?? press.counter,
                    bootID: isKnownBoot && dialect == .flic2 ? nil : bootID)),
            on: id, &effects)
        effects.append(.sessionReady)
        for notification in wanted.notifications(of: maximumItemCount) {
            sendSigned(packet(notification), on: id, &effects)
        }
    }

    /// The maximum number of events in a notification, limited by the ATT_MTU for a Twist, which cannot fragment
    /// packets.
    private var maximumItemCount: Int {
        guard dialect == .twist, let link else { return EventNotification.maximumItemCount }
        return TwistEventNotification.maximumItemCount(attMTU: link.attMTU)
    }

    /// Handles the part of an init request that is the same for all models.
    mutating func begin(
        _ request: HostPacket.InitButtonEventsRequest, wanted: inout EventQueue, on id: UInt8, at now: Instant
    ) {
        wanted.limit(
            count: request.maximumQueuedPackets == 31 ? nil : Int(request.maximumQueuedPackets),
            maximumAge: request.maximumQueuedAge == 0xFFFFF ? nil : request.maximumQueuedAge, now: ticks(at: now))
        lastActivity = now
        connections[id]?.isPastInit = true
        connections[id]?.autoDisconnectSeconds = request.autoDisconnectSeconds
        if let period = configuration.pingPeriod, dialect == .flic2 { connections[id]?.nextPing = now + period }
    }

    mutating func press(_ part: ButtonPart, at now: Instant, _ effects: inout [Effect]) {
        guard part == .big || part == .small && configuration.model == .duo else { return }
        // A second press exactly at the end of the double click window still belongs to the double click.
        reportPressSteps(before: now, &effects)
        lastActivity = now
        if part == .big { dial.pressed() }
        gestures[part] = nil
        reportedRotation.remove(part == .small ? .small : .big)
        let step = part == .small ? smallPress.pressed(at: now) : press.pressed(at: now)
        if let step { report(step, of: part, &effects) }
    }

    mutating func release(_ part: ButtonPart, swipe: SwipeDirection?, at now: Instant, _ effects: inout [Effect]) {
        reportPressSteps(before: now, &effects)
        lastActivity = now
        if part == .big { dial.released() }
        if configuration.model == .duo { gestures[part] = swipe.map(DuoEvent.Gesture.swipe) }
        let step = part == .small ? smallPress.released(at: now) : press.released(at: now)
        if let step { report(step, of: part, &effects) }
    }

    /// Reports the steps that are due before `now`, in the order of their times.
    mutating func reportPressSteps(before now: Instant, _ effects: inout [Effect]) {
        while let deadline = pressDeadline, deadline < now {
            if press.deadline == deadline, let step = press.timePassed() {
                report(step, of: .big, &effects)
            } else if let step = smallPress.timePassed() {
                report(step, of: .small, &effects)
            }
        }
    }

    var pressDeadline: Instant? { [press.deadline, smallPress.deadline].compactMap(\.self).min() }

    private mutating func report(_ step: PressEncoder.Step, of part: ButtonPart, _ effects: inout [Effect]) {
        let entry = EventQueue.Entry(
            counter: step.counter, code: step.code, ticks: ticks(at: step.time),
            milliseconds: milliseconds(at: step.time), part: part, gesture: gestures[part] ?? .none)
        queue.append(entry)
        let notification = EventNotification(
            eventCount: entry.counter, items: [EventNotification.Item(ticks: entry.ticks, code: entry.code)])
        for (id, session) in connections.sessions where session.isPastInit {
            if session.duo?.stream != nil {
                sendDuoEvents([entry.duoEvent(storage: .live)], on: id, &effects)
            } else if part == .big {
                sendSigned(packet(notification), on: id, &effects)
            }
        }
    }

    /// The time since the boot in ticks of 1/32768 s, 47 bits.
    func ticks(at time: Instant) -> UInt64 {
        let nanoseconds = UInt64(max(0, (time - boot).nanoseconds))
        let second: UInt64 = 1_000_000_000
        let ticks = nanoseconds / second * Self.ticksPerSecond + nanoseconds % second * Self.ticksPerSecond / second
        return ticks & (1 << 47 - 1)
    }
}
