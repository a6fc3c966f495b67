import ButtonModel

extension Hub {
    mutating func firmwareFilesChanged(_ files: [FirmwareFile], at now: Instant) {}
    mutating func firmwareRead(_ id: UInt64, _ reading: FirmwareReading, at now: Instant) {}
}
