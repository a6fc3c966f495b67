/// The opcode of an HCI command: OGF in the upper six bits, OCF in the lower ten.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.
public struct HCIOpcode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }
    public var description: String { "0x" + String(rawValue, radix: 16) }

    public static let disconnect = HCIOpcode(rawValue: 0x0406)
    public static let readRemoteVersionInformation = HCIOpcode(rawValue: 0x041D)
    public static let setEventMask = HCIOpcode(rawValue: 0x0C01)
    public static let reset = HCIOpcode(rawValue: 0x0C03)
    public static let readLocalVersionInformation = HCIOpcode(rawValue: 0x1001)
    public static let readLocalSupportedCommands = HCIOpcode(rawValue: 0x1002)
    public static let readLocalSupportedFeatures = HCIOpcode(rawValue: 0x1003)
    public static let readBufferSize = HCIOpcode(rawValue: 0x1005)
    public static let readBDADDR = HCIOpcode(rawValue: 0x1009)
    public static let readRSSI = HCIOpcode(rawValue: 0x1405)
    public static let leSetEventMask = HCIOpcode(rawValue: 0x2001)
    public static let leReadBufferSize = HCIOpcode(rawValue: 0x2002)
    public static let leReadLocalSupportedFeatures = HCIOpcode(rawValue: 0x2003)
    public static let leSetRandomAddress = HCIOpcode(rawValue: 0x2005)
    public static let leSetAdvertisingParameters = HCIOpcode(rawValue: 0x2006)
    public static let leSetAdvertisingData = HCIOpcode(rawValue: 0x2008)
    public static let leSetScanResponseData = HCIOpcode(rawValue: 0x2009)
    public static let leSetAdvertisingEnable = HCIOpcode(rawValue: 0x200A)
    public static let leSetScanParameters = HCIOpcode(rawValue: 0x200B)
    public static let leSetScanEnable = HCIOpcode(rawValue: 0x200C)
    public static let leCreateConnection = HCIOpcode(rawValue: 0x200D)
    public static let leCreateConnectionCancel = HCIOpcode(rawValue: 0x200E)
    public static let leReadFilterAcceptListSize = HCIOpcode(rawValue: 0x200F)
    public static let leClearFilterAcceptList = HCIOpcode(rawValue: 0x2010)
    public static let leAddDeviceToFilterAcceptList = HCIOpcode(rawValue: 0x2011)
    public static let leRemoveDeviceFromFilterAcceptList = HCIOpcode(rawValue: 0x2012)
    public static let leConnectionUpdate = HCIOpcode(rawValue: 0x2013)
    public static let leReadSupportedStates = HCIOpcode(rawValue: 0x201C)
    public static let leRemoteConnectionParameterRequestReply = HCIOpcode(rawValue: 0x2020)
    public static let leRemoteConnectionParameterRequestNegativeReply = HCIOpcode(rawValue: 0x2021)
}

/// The code of an HCI event.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.7.
public enum HCIEventCode: UInt8, Hashable, Sendable {
    case disconnectionComplete = 0x05
    case commandComplete = 0x0E
    case commandStatus = 0x0F
    case hardwareError = 0x10
    case numberOfCompletedPackets = 0x13
    case dataBufferOverflow = 0x1A
    case leMeta = 0x3E
}

/// The subevent code of an LE Meta event.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.7.65.
public enum LESubeventCode: UInt8, Hashable, Sendable {
    case connectionComplete = 0x01
    case advertisingReport = 0x02
    case connectionUpdateComplete = 0x03
    case remoteConnectionParameterRequest = 0x06
    case enhancedConnectionComplete = 0x0A
}

/// The first octet of an H4 packet: the packet's type.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part A, 2.
public enum H4Indicator: UInt8, Hashable, Sendable {
    case command = 0x01
    case aclData = 0x02
    case event = 0x04
}

/// A controller's error code; 0 is success.
///
/// - Source: Bluetooth Core 5.4, Vol 1, Part F, 1.3.
public struct HCIStatus: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let success = HCIStatus(rawValue: 0x00)
    public static let unknownCommand = HCIStatus(rawValue: 0x01)
    public static let unknownConnectionIdentifier = HCIStatus(rawValue: 0x02)
    public static let memoryCapacityExceeded = HCIStatus(rawValue: 0x07)
    public static let connectionTimeout = HCIStatus(rawValue: 0x08)
    public static let connectionLimitExceeded = HCIStatus(rawValue: 0x09)
    public static let connectionAlreadyExists = HCIStatus(rawValue: 0x0B)
    public static let commandDisallowed = HCIStatus(rawValue: 0x0C)
    public static let invalidParameters = HCIStatus(rawValue: 0x12)
    public static let remoteUserTerminated = HCIStatus(rawValue: 0x13)
    public static let localHostTerminated = HCIStatus(rawValue: 0x16)
    public static let unacceptableConnectionParameters = HCIStatus(rawValue: 0x3B)
    public static let failedToBeEstablished = HCIStatus(rawValue: 0x3E)

    public var description: String {
        let digits = String(rawValue, radix: 16)
        return "0x" + (digits.count < 2 ? "0" : "") + digits
    }
}
