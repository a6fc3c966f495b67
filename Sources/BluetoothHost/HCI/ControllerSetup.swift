import ButtonModel
import Bytes

/// Sets up a controller after its transport was opened, with one command at a time in the order of `Stage`.
///
/// | answer                       | indispensable command       | other command   |
/// |------------------------------|-----------------------------|-----------------|
/// | success, and long enough     | next stage                  | next stage      |
/// | success, but too short       | failed: malformed           | next stage      |
/// | an error                     | failed: refused             | next stage      |
/// | none in time                 | failed: noAnswer            | next stage      |
///
/// Only commands with a use are sent: some controllers do not answer some commands, and a few stop working after them.
struct ControllerSetup: Hashable, Sendable {
    enum Step: Hashable, Sendable {
        case send(HCICommand)
        case ready(ControllerInfo)
        case failed(ControllerFailure)
    }

    enum Stage: Hashable, Sendable {
        case reset
        case version
        case features
        case address
        case eventMask
        case leEventMask
        case leBufferSize
        /// Only if LE has no buffers of its own and shares those of BR/EDR.
        case bufferSize
        case supportedStates
        case acceptListSize
        /// Only if the controller has a filter accept list.
        case clearAcceptList
    }

    /// The events Disconnection Complete, Hardware Error, Data Buffer Overflow and LE Meta.
    static let eventMask: UInt64 = 1 << 4 | 1 << 15 | 1 << 25 | 1 << 61
    /// The events Connection Complete, Advertising Report, Connection Update Complete and Remote Connection Parameter
    /// Request. Enhanced Connection Complete would replace the first, and adds nothing without privacy.
    static let leEventMask: UInt64 = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5
    /// The shortest permitted ACL data length, in octets.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.2.
    static let shortestACLDataLength = 27

    private var stage = Stage.reset
    private var info = ControllerInfo(
        address: BluetoothAddress(rawValue: 0), hciVersion: 0, manufacturer: 0, acceptListSize: 0, aclDataLength: 0,
        aclBufferCount: 0)

    /// The command of the current stage. The first one must be sent by the caller; `.send` contains the later ones.
    var command: HCICommand {
        switch stage {
        case .reset: .reset
        case .version: .readLocalVersionInformation
        case .features: .readLocalSupportedFeatures
        case .address: .readBDADDR
        case .eventMask: .setEventMask(Self.eventMask)
        case .leEventMask: .leSetEventMask(Self.leEventMask)
        case .leBufferSize: .leReadBufferSize
        case .bufferSize: .readBufferSize
        case .supportedStates: .leReadSupportedStates
        case .acceptListSize: .leReadFilterAcceptListSize
        case .clearAcceptList: .leClearFilterAcceptList
        }
    }

    /// Handles the answer to `command`.
    mutating func handle(_ answer: CommandAnswer) -> Step {
        let opcode = command.opcode
        let isNeeded = command.isIndispensable
        if isNeeded, answer.status == nil { return .failed(.noAnswer(opcode)) }
        if isNeeded, let status = answer.status, status != .success { return .failed(.refused(opcode, status)) }
        if answer.status == .success {
            do throws(Truncated) {
                try read(answer.returnParameters)
            } catch  where isNeeded {
                return .failed(.malformed("the answer to \(opcode) is too short"))
            } catch {}
        }
        return advance()
    }

    /// Reads the return parameters of the current stage.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.4 and 7.8.
    private mutating func read(_ parameters: [UInt8]) throws(Truncated) {
        var reader = ByteReader(parameters)
        switch stage {
        case .version:
            info.hciVersion = try reader.uint8()
            // HCI subversion and LMP version.
            try reader.skip(2 + 1)
            info.manufacturer = try reader.uint16()
        case .features:
            features = try reader.uint64()
        case .address:
            info.address = BluetoothAddress(rawValue: try reader.uint48())
        case .leBufferSize:
            info.aclDataLength = Int(try reader.uint16())
            info.aclBufferCount = Int(try reader.uint8())
        case .bufferSize:
            info.aclDataLength = Int(try reader.uint16())
            // Synchronous data length.
            try reader.skip(1)
            info.aclBufferCount = Int(try reader.uint16())
        case .supportedStates:
            let states = try reader.uint64()
            info.scansWhileInitiating = states & Self.scanningWhileInitiating == Self.scanningWhileInitiating
        case .acceptListSize:
            info.acceptListSize = Int(try reader.uint8())
        case .reset, .eventMask, .leEventMask, .clearAcceptList:
            break
        }
    }

    private mutating func advance() -> Step {
        switch stage {
        case .reset: stage = .version
        case .version: stage = .features
        case .features:
            guard features & Self.leSupported != 0 else { return .failed(.notLowEnergy) }
            stage = .address
        case .address: stage = .eventMask
        case .eventMask: stage = .leEventMask
        case .leEventMask: stage = .leBufferSize
        case .leBufferSize where info.aclDataLength == 0 || info.aclBufferCount == 0: stage = .bufferSize
        case .leBufferSize, .bufferSize:
            guard info.aclDataLength >= Self.shortestACLDataLength, info.aclBufferCount > 0 else {
                return .failed(.malformed("\(info.aclBufferCount) ACL buffers of \(info.aclDataLength) octets"))
            }
            stage = .supportedStates
        case .supportedStates: stage = .acceptListSize
        case .acceptListSize where info.acceptListSize > 0: stage = .clearAcceptList
        case .acceptListSize, .clearAcceptList: return .ready(info)
        }
        return .send(command)
    }

    /// The LMP feature bit "LE Supported (Controller)".
    ///
    /// - Source: Bluetooth Core 5.4, Vol 2, Part C, 3.3.
    private static let leSupported: UInt64 = 1 << 38
    /// The bits of LE Supported States for passive and active scanning while initiating.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.27.
    private static let scanningWhileInitiating: UInt64 = 1 << 22 | 1 << 23
    private var features: UInt64 = 0
}
