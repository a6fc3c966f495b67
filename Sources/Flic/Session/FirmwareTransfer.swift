import ButtonModel

/// One firmware image on its way into a button.
///
/// | state    | on                                  | becomes | and we                                           |
/// |----------|-------------------------------------|---------|--------------------------------------------------|
/// | waiting  | the request may be sent             | asking  | ask with length and initialisation vector        |
/// | asking   | a position from 0 to the length     | sending | started; data from there, as much as may be      |
/// | asking   | a negative position                 | ended   | failed: invalid parameters, busy, for a reboot   |
/// | sending  | words received, some missing        | sending | received; data to the end of the window          |
/// | sending  | words received, all of them         | ended   | finished; the button has to be let go now        |
/// | sending  | 0 words received                    | ended   | failed: its signature is not right               |
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
        /// The answer to it, in words or as a negative code.
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

    /// Words sent beyond those the button has told of.
    static let window = 512
    /// Words between two notifications of the button.
    static let statusInterval: UInt16 = 60
    /// A button that has told nothing of new words for so long will not tell any more.
    static let patience = Duration.seconds(30)

    private enum State: Sendable {
        case waiting
        case asking
        case sending(sent: Int, received: Int, deadline: Instant)
        case ended
    }

    private let image: FirmwareImage
    private var state = State.waiting

    init(_ image: FirmwareImage) { self.image = image }

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
            return [
                .send(
                    .startFirmwareUpdateRequest(
                        .init(
                            wordCount: UInt16(truncatingIfNeeded: image.wordCount),
                            initializationVector: image.initializationVector,
                            statusInterval: Self.statusInterval)))
            ]
        case (.asking, .answered(let position)):
            guard let words = Int(exactly: position), 0...image.wordCount ~= words else {
                return end(.failed(FirmwareUpdateFailure(startCode: position)))
            }
            return [.progress(.started(words: words, of: image.wordCount))]
                + send(from: words, received: words, at: now)
        case (.asking, .unanswered):
            return end(.failed(.timedOut))
        case (.sending(let sent, let received, _), .received(let position)):
            guard position != 0 else { return end(.failed(.signatureInvalid)) }
            guard let words = Int(exactly: position), words <= sent else { return [] }
            guard words < image.wordCount else { return end(.finished) }
            // Words that it told of before open nothing.
            guard words > received else { return [] }
            return [.progress(.received(words: words, of: image.wordCount))]
                + send(from: sent, received: words, at: now)
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
        let end = min(image.wordCount, received + Self.window)
        while sent < end {
            let count = min(HostPacket.maximumFirmwareWordCount, end - sent)
            effects.append(.send(.firmwareUpdateData(image.words(sent..<sent + count))))
            sent += count
        }
        state = .sending(sent: sent, received: received, deadline: now + Self.patience)
        return effects
    }
}

extension FirmwareImage {
    /// - Parameter range: within `0..<wordCount`.
    fileprivate func words(_ range: Range<Int>) -> [UInt8] {
        Array(data.dropFirst(4 * range.lowerBound).prefix(4 * range.count))
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
