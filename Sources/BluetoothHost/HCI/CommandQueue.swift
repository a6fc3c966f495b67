import ButtonModel

/// The controller's answer to a command.
struct CommandAnswer: Hashable, Sendable {
    /// `nil`: the controller did not answer in time.
    var status: HCIStatus?
    /// The return parameters of Command Complete after the status.
    var returnParameters: [UInt8] = []
}

/// The commands to the controller: one is outstanding, and the others are queued.
///
/// | state               | on                                  | becomes   | and we                          |
/// |---------------------|-------------------------------------|-----------|---------------------------------|
/// | idle                | enqueue, allowance > 0              | awaiting  | send                            |
/// | idle                | enqueue, allowance = 0              | blocked   | wait for an event that raises it|
/// | awaiting            | its Command Complete or Status      | idle      | answered; send the next         |
/// | awaiting            | Status 0, but a value was requested | awaiting  | wait for Command Complete       |
/// | awaiting            | 2 s, or `resetTimeout`              | idle      | answered with `nil`; send the next |
/// | blocked             | allowance > 0, or 2 s               | awaiting  | send                            |
///
/// A command that the controller called unknown is not sent again, nor is one that was never answered unless it
/// `isIndispensable`. Such a command is answered with "unknown command" at once. A command that was answered before may be answered
/// again: the way to a controller on another machine can be interrupted for seconds.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 4.4.
struct CommandQueue: Hashable, Sendable {
    enum Effect: Hashable, Sendable {
        case send([UInt8])
        case answered(HCICommand, CommandAnswer)
        case anomaly(String)
    }

    static let answerTimeout: Duration = .seconds(2)
    /// How long HCI_Reset may take, which is the first command.
    let resetTimeout: Duration
    /// The maximum number of queued commands; a further command is answered with "memory capacity exceeded".
    static let maximumWaiting = 1024

    /// When to call `timerFired`.
    private(set) var deadline: Instant?
    private var outstanding: HCICommand?
    private var waiting: [HCICommand] = []
    private var unsupported: Set<HCIOpcode> = []
    private var supported: Set<HCIOpcode> = []
    /// The number of commands that the controller accepts now (Num_HCI_Command_Packets); initially 1.
    private var allowance: UInt8 = 1

    init(resetTimeout: Duration = Self.answerTimeout) { self.resetTimeout = resetTimeout }

    mutating func enqueue(_ command: HCICommand, at now: Instant) -> [Effect] {
        guard !unsupported.contains(command.opcode) else {
            return [.answered(command, CommandAnswer(status: .unknownCommand))]
        }
        guard waiting.count < Self.maximumWaiting else {
            return [
                .anomaly("too many commands waiting; \(command.opcode) was dropped"),
                .answered(command, CommandAnswer(status: .memoryCapacityExceeded)),
            ]
        }
        waiting.append(command)
        return sendNext(at: now)
    }

    /// Queues a command before all others.
    mutating func enqueueFirst(_ command: HCICommand, at now: Instant) -> [Effect] {
        waiting.insert(command, at: 0)
        return sendNext(at: now)
    }

    mutating func receiveComplete(
        _ opcode: HCIOpcode, allowance: UInt8, returnParameters: [UInt8], at now: Instant
    ) -> [Effect] {
        self.allowance = allowance
        let status = HCIStatus(rawValue: returnParameters.first ?? HCIStatus.success.rawValue)
        let answer = CommandAnswer(status: status, returnParameters: Array(returnParameters.dropFirst()))
        return finish(opcode, answer, at: now)
    }

    mutating func receiveStatus(
        _ opcode: HCIOpcode, allowance: UInt8, status: HCIStatus, at now: Instant
    ) -> [Effect] {
        self.allowance = allowance
        if status == .success, let outstanding, outstanding.opcode == opcode, outstanding.asksForValue {
            return []
        }
        return finish(opcode, CommandAnswer(status: status), at: now)
    }

    mutating func timerFired(at now: Instant) -> [Effect] {
        guard let deadline, now >= deadline else { return [] }
        self.deadline = nil
        allowance = 1
        guard let command = outstanding else {
            return [.anomaly("the controller did not permit a command in time; one is sent anyway")] + sendNext(at: now)
        }
        outstanding = nil
        if !command.isIndispensable, !supported.contains(command.opcode) { unsupported.insert(command.opcode) }
        return [.answered(command, CommandAnswer(status: nil))] + sendNext(at: now)
    }

    private mutating func finish(_ opcode: HCIOpcode, _ answer: CommandAnswer, at now: Instant) -> [Effect] {
        guard let command = outstanding, command.opcode == opcode else {
            // An event with opcode 0 answers no command and only changes the allowance.
            let isExpected = opcode.rawValue == 0
            return (isExpected ? [] : [.anomaly("an unexpected answer to \(opcode)")])
                + sendNext(at: now)
        }
        outstanding = nil
        deadline = nil
        if answer.status == .unknownCommand { unsupported.insert(opcode) } else { supported.insert(opcode) }
        return [.answered(command, answer)] + sendNext(at: now)
    }

    private mutating func sendNext(at now: Instant) -> [Effect] {
        guard outstanding == nil, let next = waiting.first else { return [] }
        guard allowance > 0 else {
            deadline = deadline ?? now + Self.answerTimeout
            return []
        }
        waiting.removeFirst()
        outstanding = next
        allowance -= 1
        deadline = now + (next == .reset ? resetTimeout : Self.answerTimeout)
        return [.send(next.packet)]
    }
}

extension HCICommand {
    /// True if the controller is unusable without an answer to this command: set-up needs its result, or the host's
    /// work would stop unnoticed.
    var isIndispensable: Bool {
        switch self {
        case .reset, .readLocalVersionInformation, .readLocalSupportedFeatures, .readBDADDR, .leReadBufferSize,
            .readBufferSize, .leCreateConnection, .leSetScanEnable, .leSetAdvertisingEnable, .disconnect:
            true
        case .setEventMask, .readRSSI, .leSetEventMask, .leSetRandomAddress, .leSetAdvertisingParameters,
            .leSetAdvertisingData, .leSetScanResponseData, .leSetScanParameters, .leCreateConnectionCancel,
            .leReadFilterAcceptListSize, .leClearFilterAcceptList, .leAddDeviceToFilterAcceptList,
            .leRemoveDeviceFromFilterAcceptList, .leConnectionUpdate, .leReadSupportedStates,
            .leRemoteConnectionParameterRequestReply, .leRemoteConnectionParameterRequestNegativeReply, .unknown:
            false
        }
    }

    /// True if the command is complete only with return parameters. A Command Status with success then announces the Command
    /// Complete with the parameters, and does not complete the command.
    fileprivate var asksForValue: Bool {
        switch self {
        case .readLocalVersionInformation, .readLocalSupportedFeatures, .readBufferSize, .readBDADDR, .readRSSI,
            .leReadBufferSize, .leReadFilterAcceptListSize, .leReadSupportedStates:
            true
        case .reset, .disconnect, .setEventMask, .leSetEventMask, .leSetRandomAddress, .leSetAdvertisingParameters,
            .leSetAdvertisingData, .leSetScanResponseData, .leSetAdvertisingEnable, .leSetScanParameters,
            .leSetScanEnable, .leCreateConnection, .leCreateConnectionCancel, .leClearFilterAcceptList,
            .leAddDeviceToFilterAcceptList, .leRemoveDeviceFromFilterAcceptList, .leConnectionUpdate,
            .leRemoteConnectionParameterRequestReply, .leRemoteConnectionParameterRequestNegativeReply, .unknown:
            false
        }
    }
}
