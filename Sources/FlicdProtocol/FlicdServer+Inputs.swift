import ButtonModel

// Inputs from Tryck: added and removed buttons, the controller, and its capacity for links.
extension FlicdServer {
    mutating func identityChanged(_ identity: ButtonIdentity) {
        listed = nil
        if buttons[identity.id] != nil {
            buttons[identity.id]?.identity = identity
        } else {
            buttons[identity.id] = FlicdButton(identity)
            channelsChanged(of: identity.id)
        }
    }

    /// Completes the wizards that found this button before NewVerifiedButton is sent. If the button has channels, they
    /// receive Ready before NewVerifiedButton, too.
    mutating func paired(_ identity: ButtonIdentity, at now: Instant) {
        guard buttons[identity.id] == nil else { return identityChanged(identity) }
        var isConnected = false
        if let attempt, ButtonID(attempt.address) == identity.id {
            isConnected = attempt.isConnected
            self.attempt = nil
        }
        identityChanged(identity)
        buttons[identity.id]?.status = isConnected ? .connected : .disconnected
        buttons[identity.id]?.isNew = true
        completeWizards(with: identity.address, at: now)
        if channels[identity.id] == nil { announce(identity.id) }
    }

    mutating func announce(_ button: ButtonID) {
        guard let known = buttons[button], known.isNew else { return }
        buttons[button]?.isNew = false
        sendToAll(.newVerifiedButton(known.identity.address))
    }

    mutating func delete(_ address: BluetoothAddress, for client: ClientID) {
        let button = ButtonID(address)
        guard buttons[button] != nil else { return send(.buttonDeleted(address, byThisClient: true), to: client) }
        effects.append(.delete(button))
        buttonDeleted(button, .deletedByOtherClient, deletedBy: client)
    }

    /// Ends every channel of a button, then sends ButtonDeleted.
    mutating func buttonDeleted(_ button: ButtonID, _ reason: FlicdRemovedReason, deletedBy client: ClientID?) {
        guard let known = buttons[button] else { return }
        endChannels(of: button, for: client, .deletedByThisClient, others: reason)
        buttons[button] = nil
        listed = nil
        // No `requestMode` follows: the button's modes are discarded with it.
        emittedModes[button] = nil
        changedModes.remove(button)
        deadlines.cancel(.mode(button))
        for id in clients.keys {
            send(.buttonDeleted(known.identity.address, byThisClient: id == client), to: id)
        }
    }

    mutating func controllerChanged(_ state: FlicdControllerState, _ address: BluetoothAddress?, at now: Instant) {
        if let address { controllerAddress = address }
        guard state != controllerState else { return }
        controllerState = state
        if state != .attached {
            endAttempt(.bluetoothUnavailable, at: now)
            for button in buttons.keys.sorted() where buttons[button]?.status != .disconnected {
                reportDisconnected(button)
            }
            failWizards(.bluetoothUnavailable, at: now)
        }
        sendToAll(.bluetoothControllerStateChange(state))
    }

    mutating func linkLimitChanged(_ limit: Int?) {
        if let limit { maximumLinks = limit }
        guard hasNoSpace != (limit != nil) else { return }
        hasNoSpace = limit != nil
        let maximum = UInt8(clamping: maximumLinks ?? 0)
        sendToAll(hasNoSpace ? .noSpaceForNewConnection(maximum: maximum) : .gotSpaceForNewConnection(maximum: maximum))
    }
}
