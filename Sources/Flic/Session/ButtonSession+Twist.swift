import ButtonModel

/// The parts of a session with a Twist that differ from a Flic 2: its packets, dials and LEDs.
extension ButtonSession {
    var dialect: PacketDialect { configuration.isTwist ? .twist : .flic2 }

    /// - Source: protocol notes, 6.7.
    func millivolts(_ raw: UInt16) -> Int { configuration.isTwist ? Int(raw) : Battery.millivolts(raw: raw) }

    mutating func receiveTwist(_ packet: TwistButtonPacket, at now: Instant, _ effects: inout [Effect]) {
        switch packet {
        case .buttonEventNotification(let notification):
            // If a press began before this session, the event count of the init response includes its hold.
            receiveEvents(notification.common(after: intake.cursor.eventCount), at: now, &effects)
        case .rotationNotification(let rotation):
            guard case .ready = state else {
                return effects.append(.ignored(reason: "a rotation before the init response"))
            }
            if let movement = dials.turned(rotation, of: ButtonID(configuration.address)) {
                effects.append(.moved([movement]))
            }
            sendDialUpdates(&effects)
        case .changeConfigurationResponse:
            guard isAnswer(to: .changeConfiguration, &effects) else { break }
            sendRequests(at: now, &effects)
        }
    }

    mutating func askTwistForEvents(_ effects: inout [Effect]) {
        sentLEDMode = dials.ledMode
        send(
            .twist(
                .initButtonEventsRequest(
                    .init(
                        eventCount: syncedCursor.eventCount, configurations: dials.begin(),
                        bootID: syncedCursor.bootID))), &effects)
    }

    /// Sends changed positions of the dials. Before the session is settled the init request or `followUp` sends them.
    mutating func sendDialUpdates(_ effects: inout [Effect]) {
        guard configuration.isTwist, isSettled else { return }
        for update in dials.updates() { send(.twist(.updatePosition(update)), &effects) }
    }

    mutating func setLEDMode(_ mode: LEDMode, at now: Instant, _ effects: inout [Effect]) {
        guard configuration.isTwist else { return }
        dials.ledMode = mode
        guard isSettled else { return }
        addConfigurationRequest()
        sendRequests(at: now, &effects)
    }

    mutating func addConfigurationRequest() {
        guard configuration.isTwist, dials.ledMode != sentLEDMode else { return }
        add(.changeConfiguration)
    }

    mutating func sendConfiguration(_ effects: inout [Effect]) {
        sentLEDMode = dials.ledMode
        send(.twist(.changeConfigurationRequest(dials.configurations)), &effects)
    }
}
