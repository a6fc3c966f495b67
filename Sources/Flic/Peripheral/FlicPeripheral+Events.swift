import ButtonModel

/// Presses on their way out: stored, sent, and sent again.
extension FlicPeripheral {
    mutating func startEvents(
        _ request: HostPacket.InitButtonEventsRequest, on id: UInt8, at now: Instant, _ effects: inout [Effect]
    ) {
        let isKnownBoot = request.bootID == bootID
        // What this host does not want another one may still be waiting for.
        var wanted = queue
        if isKnownBoot { wanted.forget(upTo: request.eventCount) }
        wanted.limit(
            count: request.maximumQueuedPackets == 31 ? nil : Int(request.maximumQueuedPackets),
            maximumAge: request.maximumQueuedAge == 0xFFFFF ? nil : request.maximumQueuedAge, now: ticks(at: now))
        let first = wanted.entries.first
        lastActivity = now
        connections[id]?.isPastInit = true
        connections[id]?.autoDisconnectSeconds = request.autoDisconnectSeconds
        if let period = configuration.pingPeriod, dialect == .flic2 { connections[id]?.nextPing = now + period }
        sendSigned(
            .initButtonEventsResponse(
                .init(
                    hasQueuedEvents: first != nil, ticks: ticks(at: now),
                    eventCount: first.map { $0.counter &- 1 } ?? press.counter,
                    bootID: isKnownBoot && dialect == .flic2 ? nil : bootID)),
            on: id, &effects)
        effects.append(.sessionReady)
        let count = dialect == .twist ? TwistEventNotification.maximumItemCount : EventNotification.maximumItemCount
        for notification in wanted.notifications(of: count) {
            sendSigned(packet(notification), on: id, &effects)
        }
    }

    mutating func reportPressSteps(before now: Instant, _ effects: inout [Effect]) {
        while let deadline = press.deadline, deadline < now, let step = press.timePassed() { report(step, &effects) }
    }

    mutating func report(_ step: PressEncoder.Step, _ effects: inout [Effect]) {
        let entry = EventQueue.Entry(counter: step.counter, code: step.code, ticks: ticks(at: step.time))
        queue.append(entry)
        let notification = EventNotification(
            eventCount: entry.counter, items: [EventNotification.Item(ticks: entry.ticks, code: entry.code)])
        for (id, session) in connections.sessions where session.isPastInit {
            sendSigned(packet(notification), on: id, &effects)
        }
    }

    /// 1/32768 s since boot, 47 bits.
    func ticks(at time: Instant) -> UInt64 {
        let nanoseconds = UInt64(max(0, (time - boot).nanoseconds))
        let second: UInt64 = 1_000_000_000
        let ticks = nanoseconds / second * Self.ticksPerSecond + nanoseconds % second * Self.ticksPerSecond / second
        return ticks & (1 << 47 - 1)
    }
}
