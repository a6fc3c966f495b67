import ButtonModel
import Bytes

extension FlicdCommand {
    /// - Parameter packet: the packet from its opcode on. Octets after the known fields are ignored, because newer
    ///   versions append fields.
    package init(decoding packet: [UInt8]) throws(FlicdPacketFailure) {
        var reader = ByteReader(packet)
        guard let opcode = try? reader.uint8() else { throw .empty }
        do throws(Truncated) {
            self = try Self.command(opcode, &reader)
        } catch {
            throw .tooShort(opcode: opcode)
        }
    }

    private static func command(_ opcode: UInt8, _ reader: inout ByteReader) throws(Truncated) -> FlicdCommand {
        switch opcode {
        case 0: .getInfo
        case 1: .createScanner(id: try reader.uint32())
        case 2: .removeScanner(id: try reader.uint32())
        case 3:
            .createConnectionChannel(
                id: try reader.uint32(), try reader.address(), try FlicdChannelMode(&reader))
        case 4: .removeConnectionChannel(id: try reader.uint32())
        case 5: .forceDisconnect(try reader.address())
        case 6: .changeModeParameters(id: try reader.uint32(), try FlicdChannelMode(&reader))
        case 7: .ping(id: try reader.uint32())
        case 8: .getButtonInfo(try reader.address())
        case 9: .createScanWizard(id: try reader.uint32())
        case 10: .cancelScanWizard(id: try reader.uint32())
        case 11: .deleteButton(try reader.address())
        case 12: .createBatteryStatusListener(id: try reader.uint32(), try reader.address())
        case 13: .removeBatteryStatusListener(id: try reader.uint32())
        default: .other(opcode: opcode)
        }
    }

    /// The complete frame: the length, then the packet.
    package func encoded() -> [UInt8] {
        var writer = ByteWriter(capacity: 16)
        writer.uint8(opcode)
        switch self {
        case .createScanner(let id), .removeScanner(let id), .removeConnectionChannel(let id), .ping(let id),
            .createScanWizard(let id), .cancelScanWizard(let id), .removeBatteryStatusListener(let id):
            writer.uint32(id)
        case .createConnectionChannel(let id, let address, let mode):
            writer.uint32(id)
            writer.address(address)
            mode.write(to: &writer)
        case .changeModeParameters(let id, let mode):
            writer.uint32(id)
            mode.write(to: &writer)
        case .forceDisconnect(let address), .getButtonInfo(let address), .deleteButton(let address):
            writer.address(address)
        case .createBatteryStatusListener(let id, let address):
            writer.uint32(id)
            writer.address(address)
        case .getInfo, .other: break
        }
        return framed(writer)
    }

    package var opcode: UInt8 {
        switch self {
        case .getInfo: 0
        case .createScanner: 1
        case .removeScanner: 2
        case .createConnectionChannel: 3
        case .removeConnectionChannel: 4
        case .forceDisconnect: 5
        case .changeModeParameters: 6
        case .ping: 7
        case .getButtonInfo: 8
        case .createScanWizard: 9
        case .cancelScanWizard: 10
        case .deleteButton: 11
        case .createBatteryStatusListener: 12
        case .removeBatteryStatusListener: 13
        case .other(let opcode): opcode
        }
    }
}

extension FlicdChannelMode {
    /// The value that means `never`. Older documentation gives 512, and some clients send a negative number.
    private static let never: UInt16 = 511

    fileprivate init(_ reader: inout ByteReader) throws(Truncated) {
        let latencyMode = LatencyMode(flicdNumber: try reader.uint8())
        let seconds = try reader.uint16()
        self.init(latencyMode: latencyMode, autoDisconnectTime: seconds < Self.never ? seconds : nil)
    }

    fileprivate func write(to writer: inout ByteWriter) {
        writer.uint8(latencyMode.flicdNumber)
        writer.uint16(min(autoDisconnectTime ?? Self.never, Self.never))
    }
}

extension LatencyMode {
    /// flicd does not number the modes in the order of their latency. An unknown number is decoded as `normal`.
    fileprivate init(flicdNumber: UInt8) {
        self = Self.allCases.first { $0.flicdNumber == flicdNumber } ?? .normal
    }

    fileprivate var flicdNumber: UInt8 {
        switch self {
        case .normal: 0
        case .low: 1
        case .high: 2
        }
    }
}
