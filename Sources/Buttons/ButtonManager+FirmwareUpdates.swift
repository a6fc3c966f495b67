import ButtonModel
import Flic
import Radios

// Firmware updates, which may take several links.
extension ButtonManager {
    /// The maximum number of firmware updates at a time; each keeps an image of up to 1 MiB.
    package static let maximumUpdates = 8

    mutating func startUpdate(of button: ButtonID, _ octets: [UInt8], at now: Instant) {
        let image: FirmwareImage
        do {
            image = try FirmwareImage(octets, for: known[button]?.identity.model ?? .flic2)
        } catch {
            return effects.append(.firmwareUpdate(button, .failed(error)))
        }
        guard updates[button] == nil, updates.count < Self.maximumUpdates else {
            return effects.append(.firmwareUpdate(button, .failed(.busy)))
        }
        updates[button] = image
        if let id = link(to: button), links[id]?.phase == .inSession(isReady: true) {
            advanceSession(id, .perform(.updateFirmware(image)), at: now)
        } else {
            effects.append(.firmwareUpdate(button, .waiting))
        }
    }

    /// Resumes an interrupted firmware update when the session is ready.
    mutating func resumeUpdate(_ id: LinkID, at now: Instant) {
        guard let link = links[id], let image = updates[ButtonID(link.peer)] else { return }
        advanceSession(id, .perform(.updateFirmware(image)), at: now)
    }

    mutating func cancelUpdate(of button: ButtonID, at now: Instant) {
        guard updates[button] != nil else { return }
        endUpdate(of: button)
        sendToSession(of: button, .cancelFirmwareUpdate, at: now)
        effects.append(.firmwareUpdate(button, .failed(.cancelled)))
    }

    mutating func updateProgressed(_ progress: FirmwareUpdateProgress, of button: ButtonID, at now: Instant) {
        guard updates[button] != nil else { return }
        switch progress {
        case .started(let units, let all), .received(let units, let all):
            effects.append(.firmwareUpdate(button, .transferring(percentage: all > 0 ? units * 100 / all : 0)))
        case .finished:
            endUpdate(of: button)
            if let address = known[button]?.identity.address { perform(.discardDiscovery(address), at: now) }
            effects.append(.firmwareUpdate(button, .finished))
        case .failed(.interrupted):
            effects.append(.firmwareUpdate(button, .waiting))
        case .failed(let failure):
            endUpdate(of: button)
            effects.append(.firmwareUpdate(button, .failed(failure)))
        }
    }

    mutating func endUpdate(of button: ButtonID) { updates[button] = nil }
}

extension FirmwareProgress {
    fileprivate static func failed(_ failure: FirmwareUpdateFailure) -> FirmwareProgress {
        .failed(name: failure.name, advice: failure.advice)
    }

    fileprivate static func failed(_ fault: FirmwareImage.InvalidImage) -> FirmwareProgress {
        let advice =
            switch fault {
            case .tooShort, .notWords:
                "The file is not a complete firmware image for this button. Download it again."
            case .tooLong: "The file is too large: images for a Flic 2 are at most 256 KiB, others 1 MiB."
            }
        return .failed(name: "invalid_image", advice: advice)
    }
}
