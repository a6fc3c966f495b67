import ButtonModel
import Buttons
import Bytes
import JSON
import Rules

// Firmware updates, from files in the state directory or from an image that was sent over the control socket.
extension Hub {
    mutating func firmwareFilesChanged(_ files: [FirmwareFile], at now: Instant) {
        // The order of the ids makes the effects repeatable.
        let records = buttons.sorted
        let before = records.map { firmwareFile(for: $0) }
        firmwareFiles = files
        for (record, file) in zip(records, before) where firmwareFile(for: record) != file {
            announce(buttons.firmwareFileChanged(record.identity.id), at: now)
        }
    }

    /// The newest file for the button's model, if it is newer than the button's firmware.
    func offeredFirmware(for record: ButtonRecord) -> FirmwareFile? {
        firmwareFile(for: record).flatMap { $0.version > record.identity.firmwareVersion ? $0 : nil }
    }

    /// The newest file for the button's model.
    func firmwareFile(for record: ButtonRecord) -> FirmwareFile? {
        firmwareFiles.filter { $0.model == record.identity.model.rawValue }.max { $0.version < $1.version }
    }

    /// Starts an update with the image in the request, or else with the newest file.
    mutating func update(_ button: ButtonID, _ data: JSONValue, isLocal: Bool, at now: Instant) -> RequestAnswer {
        if let image = data["image"] {
            guard isLocal, let octets = image.stringValue.flatMap({ Array<UInt8>(hex: $0) }) else {
                return .error(
                    isLocal
                        ? #"button/update takes {"id": …, "image": the file's octets in hexadecimal}"#
                        : "an image cannot be sent over MQTT; put it into firmware/ of the state directory, or use the control socket"
                )
            }
            install(octets, on: button, at: now)
            return named(button)
        }
        guard let record = buttons[button], let file = firmwareFile(for: record) else {
            let model = buttons[button]?.identity.model ?? .flic2
            return .error(
                "there is no firmware for this button; put \(model.rawValue)-VERSION.bin into firmware/ of the state directory"
            )
        }
        guard file.version > record.identity.firmwareVersion else {
            return .error(
                "the button already has version \(record.identity.firmwareVersion); \(file.name) is not newer")
        }
        guard record.updatePercentage == nil else {
            return .error("a firmware update of this button is in progress already")
        }
        let id = identifiers.jobID()
        jobs.firmwareReadStarted(id, for: button)
        announce(buttons.updateProgressed(button, 0), at: now)
        emit(.readFirmware(id, file))
        return named(button)
    }

    mutating func firmwareRead(_ id: JobID, _ reading: FirmwareReading, at now: Instant) {
        guard let button = jobs.firmwareReadEnded(id), buttons[button] != nil else { return }
        switch reading {
        case .octets(let octets): install(octets, on: button, at: now)
        case .failed(let sentence): updateProgressed(button, .failed(name: "unreadable", advice: sentence), at: now)
        }
    }

    private mutating func install(_ image: [UInt8], on button: ButtonID, at now: Instant) {
        log(.info, "\(label(of: button)): firmware update, an image of \(image.count) octets")
        advanceButtons(.request(button, .updateFirmware(image)), at: now)
    }

    mutating func updateProgressed(_ button: ButtonID, _ progress: FirmwareProgress, at now: Instant) {
        var percentage: Int?
        let step: Occurrence.FirmwareStep
        switch progress {
        case .waiting:
            step = .waiting
            percentage = 0
        case .transferring(let transferred):
            step = .transferring(percentage: transferred)
            percentage = transferred
        case .finished:
            log(.info, "\(label(of: button)): the new firmware was transferred; the button restarts with it")
            step = .finished
        case .failed(let name, let advice):
            log(.warning, "\(label(of: button)): firmware update failed: \(advice)", from: .outside(.failedUpdate))
            step = .failed(reason: name, advice: advice)
        }
        announce(buttons.updateProgressed(button, percentage), at: now)
        broadcast(.firmware(name(of: button), step))
    }
}
