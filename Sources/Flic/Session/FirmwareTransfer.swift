import ButtonModel

/// One firmware image on its way into a button.
///
/// | state    | on                                  | becomes | and we                                           |
/// |----------|-------------------------------------|---------|--------------------------------------------------|
/// | waiting  | the request may be sent             | asking  | ask with length and header                       |
/// | asking   | a position from 0 to the length     | sending | started; data from there, as much as may be      |
/// | asking   | a negative position                 | ended   | failed: invalid parameters, busy, for a reboot   |
/// | sending  | units received, some missing        | sending | received; data to the end of the window          |
/// | sending  | units received, all of them         | ended   | finished; the button has to be let go now        |
/// | sending  | 0 units received                    | ended   | failed: its signature is not right               |
/// | sending  | nothing for 30 s                    | ended   | failed: timed out                                |
/// | asking   | no answer                           | ended   | failed: timed out                                |
/// | not ended| cancel; end of the session          | ended   | failed: cancelled; interrupted                   |
///
/// Every other pair is ignored. The button keeps what it has after a cut: the position it answers to the next request
/// for the same image is where that goes on.
///
/// - Source: protocol notes, 9.
struct FirmwareTransfer: Sendable {
    enum Input: Hashable, Sendable {
        /// The next request is ours to send.
        case mayAsk
        /// The answer to it, in units or as a negative code.
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

    /// A button that has told nothing of new units for so long will not tell any more.
    static let patience = Duration.seconds(30)

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

    /// Where packets cannot be cut, they have to be short enough for one value each.
    ///
    /// - Parameter length: octets of a value.
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
            // Units that it told of before open nothing.
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
        state = .sending(sent: sent, received: received, deadline: now + Self.patience)
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
