import ButtonModel

/// Switches the controller's legacy connectable advertising on and off.
///
/// | state      | on                          | becomes  | and we                                            |
/// |------------|-----------------------------|----------|---------------------------------------------------|
/// | off        | wanted                      | starting | random address, parameters, data, response, enable|
/// | starting   | all answered with success   | on       | started                                           |
/// | starting   | all answered, one error     | off      | failed with the first error; no retry             |
/// | on         | another advertisement or none wanted | stopping | disable                                  |
/// | on         | a central connected         | off      | nothing: the controller has stopped by itself     |
/// | stopping   | answered                    | off      | start again if an advertisement is wanted         |
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.4 to 7.8.9.
struct Advertiser: Hashable, Sendable {
    enum Effect: Hashable, Sendable {
        case command(HCICommand)
        case started
        case failed(HCIStatus)
    }

    private enum State: Hashable, Sendable {
        case off
        /// `status`: the first error of the answers so far.
        case starting(Advertisement, answersMissing: Int, status: HCIStatus)
        case on(Advertisement)
        case stopping
    }

    private var state = State.off
    private var wanted: Advertisement?
    private var isControllerReady = false

    var isOn: Bool { state != .off }

    mutating func setWanted(_ advertisement: Advertisement?) -> [Effect] {
        wanted = advertisement
        return settle()
    }

    mutating func controllerReady() -> [Effect] {
        isControllerReady = true
        return settle()
    }

    /// Resets everything except what is wanted.
    mutating func controllerLost() {
        let advertisement = wanted
        self = Advertiser()
        wanted = advertisement
    }

    /// Handles a central's connection, which ends connectable advertising.
    mutating func connected() -> [Effect] {
        switch state {
        case .on(let advertisement):
            // A different advertisement that was requested since remains wanted.
            if wanted == advertisement { wanted = nil }
            state = .off
            return settle()
        case .starting(let advertisement, _, _):
            // The connection preceded the answers to the commands; advertising is disabled, and their results are
            // ignored.
            if wanted == advertisement { wanted = nil }
            state = .stopping
            return [.command(.leSetAdvertisingEnable(false))]
        case .off, .stopping:
            return []
        }
    }

    mutating func answered(_ command: HCICommand, _ status: HCIStatus?) -> [Effect] {
        switch (state, command) {
        case (.starting(let advertisement, let missing, let first), .leSetRandomAddress),
            (.starting(let advertisement, let missing, let first), .leSetAdvertisingParameters),
            (.starting(let advertisement, let missing, let first), .leSetAdvertisingData),
            (.starting(let advertisement, let missing, let first), .leSetScanResponseData),
            (.starting(let advertisement, let missing, let first), .leSetAdvertisingEnable(true)):
            let status = first == .success ? status ?? .success : first
            guard missing <= 1 else {
                state = .starting(advertisement, answersMissing: missing - 1, status: status)
                return []
            }
            return started(advertisement, status)
        case (.stopping, .leSetAdvertisingEnable(false)):
            state = .off
            return settle()
        case (.off, _), (.starting, _), (.on, _), (.stopping, _):
            return []
        }
    }

    private mutating func started(_ advertisement: Advertisement, _ status: HCIStatus) -> [Effect] {
        guard status == .success else {
            state = .off
            if wanted == advertisement { wanted = nil }
            return [.failed(status)] + settle()
        }
        state = .on(advertisement)
        return [.started] + settle()
    }

    private mutating func settle() -> [Effect] {
        switch state {
        case .starting, .stopping:
            return []
        case .on(let advertisement):
            guard wanted != advertisement else { return [] }
            state = .stopping
            return [.command(.leSetAdvertisingEnable(false))]
        case .off:
            guard isControllerReady, let wanted else { return [] }
            let commands = commands(for: wanted)
            state = .starting(wanted, answersMissing: commands.count, status: .success)
            return commands.map { .command($0) }
        }
    }

    private func commands(for advertisement: Advertisement) -> [HCICommand] {
        let parameters = LEAdvertisingParameters(
            intervalMinimum: advertisement.interval, intervalMaximum: advertisement.interval,
            ownAddressKind: advertisement.randomAddress == nil ? .public : .random)
        return (advertisement.randomAddress.map { [.leSetRandomAddress($0)] } ?? [])
            + [
                .leSetAdvertisingParameters(parameters),
                .leSetAdvertisingData(advertisement.data),
                .leSetScanResponseData(advertisement.scanResponse),
                .leSetAdvertisingEnable(true),
            ]
    }
}
