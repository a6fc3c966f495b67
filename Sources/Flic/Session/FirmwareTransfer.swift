import ButtonModel

/// The transfer of a firmware image to a button.
///
/// | state    | on                                  | becomes | and we                                           |
/// |----------|-------------------------------------|---------|--------------------------------------------------|
/// | waiting  | the request may be sent             | asking  | ask with length and header                       |
/// | asking   | a position from 0 to the length     | sending | started; data from there to the end of the window |
/// | asking   | a negative position                 | ended   | failed: parameters, busy, or reboot pending      |
/// | sending  | units received, some missing        | sending | received; data to the end of the window          |
/// | sending  | units received, all of them         | ended   | finished; the button must be disconnected now    |
/// | sending  | 0 units received                    | ended   | failed: the signature is invalid                 |
/// | sending  | nothing for 30 s                    | ended   | failed: timed out                                |
/// | asking   | no answer                           | ended   | failed: timed out                                |
/// | not ended| cancel; end of the session          | ended   | failed: cancelled; interrupted                   |
///
/// All other pairs of state and input are ignored. The button keeps the data of an interrupted transfer: its response
/// to the next request for the same image is the position at which to resume.
///
/// - Source: protocol notes, 9.
struct FirmwareTransfer: Sendable {
    enum Input: Hashable, Sendable {
        /// The request queue permits the start request to be sent.
        case mayAsk
        /// The response to the start request: a position in units, or a negative error code.
        case answered(position: Int32)
        case unanswered
        case received(position: Int32)
        case timerFired
        case cancel
        case sessionEnded
    }

    enum Effect: Hashable, Sendable {
        case send(HostPacket)
        case progress(FirmwareUpdateProgress)
    }

    /// The transfer fails if the button does not report new units for this long.
    static let progressTimeout = Duration.seconds(30)

    private enum State: Sendable {
        case waiting
        case asking
        case sending(sent: Int, received: Int, deadline: Instant)
        case ended
    }

    private let image: FirmwareImage
    private var state = State.waiting
    private var unitsPerPacket: Int

    init(_ image: FirmwareImage) {
        self.image = image
        unitsPerPacket = image.format.unitsPerPacket
    }

    /// Limits the packets to the length of a GATT value, for a dialect without fragments.
    ///
    /// - Parameter length: the maximum length of a GATT value in octets.
    mutating func fit(intoValuesOf length: Int) {
        let room = length - 1 - Chaskey.signatureLength
        unitsPerPacket = min(image.format.unitsPerPacket, max(room / image.format.unitLength, 1))
    }

    var hasEnded: Bool { if case .ended = state { true } else { false } }

    var deadline: Instant? {
        switch state {
        case .sending(_, _, let deadline): deadline
        case .waiting, .asking, .ended: nil
        }
    }

    mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        switch (state, input) {
        case (.waiting, .mayAsk):
            state = .asking
            return [.send(image.startRequest)]
        case (.asking, .answered(let position)):
            guard let units = Int(exactly: position), 0...image.unitCount ~= units else {
                return end(.failed(FirmwareUpdateFailure(startCode: position)))
            }
            return [.progress(.started(units: units, of: image.unitCount))]
                + send(from: units, received: units, at: now)
        case (.asking, .unanswered):
            return end(.failed(.timedOut))
        case (.sending(let sent, let received, _), .received(let position)):
            guard position != 0 else { return end(.failed(.signatureInvalid)) }
            guard let units = Int(exactly: position), units <= sent else { return [] }
            guard units < image.unitCount else { return end(.finished) }
            // A position that is not new does not move the window.
            guard units > received else { return [] }
            return [.progress(.received(units: units, of: image.unitCount))]
                + send(from: sent, received: units, at: now)
        case (.sending(_, _, let deadline), .timerFired) where now >= deadline:
            return end(.failed(.timedOut))
        case (.waiting, .cancel), (.asking, .cancel), (.sending, .cancel):
            return end(.failed(.cancelled))
        case (.waiting, .sessionEnded), (.asking, .sessionEnded), (.sending, .sessionEnded):
            return end(.failed(.interrupted))
        case (.waiting, _), (.asking, _), (.sending, _), (.ended, _):
            return []
        }
    }

    private mutating func end(_ progress: FirmwareUpdateProgress) -> [Effect] {
        state = .ended
        return [.progress(progress)]
    }

    private mutating func send(from start: Int, received: Int, at now: Instant) -> [Effect] {
        var effects: [Effect] = []
        var sent = start
        let end = min(image.unitCount, received + image.format.window)
        while sent < end {
            let count = min(unitsPerPacket, end - sent)
            effects.append(.send(image.packet(sent..<sent + count)))
            sent += count
        }
        state = .sending(sent: sent, received: received, deadline: now + Self.progressTimeout)
        return effects
    }
}

extension FirmwareUpdateFailure {
    fileprivate init(startCode: Int32) {
        switch startCode {
        case -1: self = .invalidParameters
        case -2: self = .busy
        case -3: self = .waitingForReboot
        default: self = .unknown(startCode)
        }
    }
}
