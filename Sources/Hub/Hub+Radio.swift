import ButtonModel
import Buttons
import FlicdProtocol
import Radios
import Rules

// The Bluetooth adapter.
extension Hub {

    /// - Parameter input: tells the button manager that the transport or the bus is open.
    mutating func transportOpened(_ input: ButtonManager.Input, at now: Instant) {
        // Presses may have become impossible to record while the adapter was being opened.
        guard !radio.isHeldClosed else { return emit(.closeTransport) }
        radio.opened(isShared: input != .transportOpened)
        reportControllerToFlicd(at: now)
        advanceButtons(input, at: now)
    }

    mutating func controllerReady(_ address: BluetoothAddress, at now: Instant) {
        radio.becameReady(address, at: now)
        reportControllerToFlicd(at: now)
        invalidate(.bridgeInfo)
        invalidate(.bridgeHealth)
        log(
            .info,
            "Bluetooth adapter \(address) on \(configuration.transport) is ready"
                + (radio.isShared ? ", shared with BlueZ" : ""))
        broadcast(.adapter(radio.state, address: address))
        reportServiceStatus()
    }

    mutating func transportClosed(_ reason: String, _ fault: AdapterFault, at now: Instant) {
        let closing = radio.closed(reason, fault, time: wallClock(at: now), at: now)
        invalidate(.bridgeInfo)
        invalidate(.bridgeHealth)
        advanceButtons(.transportClosed, at: now)
        reportControllerToFlicd(at: now)
        if let delay = closing.retryDelay {
            setTimer(.transport, at: now + delay)
            if closing.isLogged {
                log(.error, "\(configuration.transport): \(reason) Trying again in \(delay.milliseconds / 1000) s.")
            }
        } else {
            // The store cannot record presses. Its journal tells when the adapter may be opened.
            cancelTimer(.transport)
        }
        broadcast(.adapter(radio.state, reason: reason))
        reportServiceStatus()
    }

    mutating func linkShortageChanged(_ waiting: Set<ButtonID>) {
        let before = radio.linkShortageChanged(waiting)
        if before.isEmpty, !waiting.isEmpty {
            let names = waiting.sorted().prefix(8).map { label(of: $0) }.joined(separator: ", ")
            log(
                .warning,
                "no space for a new connection: \(names) have no link; buttons take turns on the adapter's links")
        } else if !before.isEmpty, waiting.isEmpty {
            log(.info, "the adapter has room for all buttons again")
        }
        broadcast(.linkShortage(waiting: waiting.sorted().map { label(of: $0) }))
    }

    mutating func allowOpening() {
        guard radio.allowOpening() else { return }
        // `start` opens the adapter for the first time.
        if configuration.hasTransport, startedAt != nil, !isFinished { emit(.openTransport) }
    }

    /// Ends all links. A button keeps the presses that it cannot deliver, and they are judged by their age when they arrive.
    mutating func holdRadioClosed(at now: Instant) {
        let wasOpen = radio.isOpen
        guard radio.holdClosed() else { return }
        guard wasOpen else { return cancelTimer(.transport) }
        emit(.closeTransport)
        transportClosed("The adapter is closed until presses can be recorded.", .absent, at: now)
    }

    mutating func reportServiceStatus() {
        let (count, ready) = buttonCounts
        emit(.status("adapter \(radio.state.name), \(count) buttons, \(ready) ready"))
    }
}
