import ButtonModel
import CCurl
package import Hub
import Platform
package import Reactor
package import Rules

/// Performs the web requests of rules, with libcurl on the event loop. `JobQueue` decides which of them run.
///
/// libcurl requests the sockets and the timeout to wait for, and is called when one of them is ready. It resolves names
/// on its own threads. Its callbacks only store `HTTPClient.CallbackRequests`, which are handled after the call of libcurl.
///
/// Certificates are always verified. A proxy is taken from the environment variables, as in other programs.
///
/// The work per turn of the loop is limited: libcurl reads a small buffer whenever a socket is ready, and a transfer
/// that has used its share of the turn pauses until the next, as does the whole edge. libcurl is loaded, and authorities
/// are read, on a helper thread. Requests wait for both.
///
/// `ended` is called once for each `start`, on a later turn of the loop and never during a call.
@ReactorActor
package final class HTTPEdge {
    /// The octets of a body that are kept; the remaining octets are read and discarded.
    package nonisolated static let maximumBody = 64 * 1024
    /// The maximum length of a body in octets; a longer one ends its transfer.
    package nonisolated static let maximumAnswer = 1024 * 1024
    /// The maximum length in octets of all headers and trailers, including those of responses before the last.
    package nonisolated static let maximumHeaders = 64 * 1024
    /// The maximum number of octets that a server may send for one answer, with all that is neither header nor body, such as
    /// the extensions of chunks and messages of TLS. A body of the maximum length in chunks of one octet has 6 MiB.
    package nonisolated static let maximumReceived = 16 * 1024 * 1024
    package nonisolated static let maximumRedirects = 5
    /// The time limit for the connection, including the TLS handshake.
    package nonisolated static let connectTimeout: Duration = .seconds(5)

    package typealias Ended = @ReactorActor (HTTPResult) -> Void

    private final class Job {
        var request: HTTPAction
        let timeout: Duration
        let ended: Ended
        var timer: Timer?
        /// Set while the request runs and does not wait for libcurl or for the authorities.
        var transfer: HTTPTransfer?
        /// When the request was launched; `nil` while it waits in the queue.
        var began: Int64?
        var redirects = 0
        var hasEnded = false

        init(_ request: HTTPAction, _ timeout: Duration, _ ended: @escaping Ended) {
            self.request = request
            self.timeout = timeout
            self.ended = ended
        }
    }

    private let loop: EventLoop
    private let authoritiesFile: String?
    private let authoritiesLifetime: Duration
    private let open: @Sendable () -> String?
    private var client: HTTPClient?
    private var authorities = HTTPAuthorities.notNeeded
    private var authoritiesReadAt: Int64 = 0
    private var isPreparing = false
    private var queue = JobQueue()
    private var jobs: [UInt64: Job] = [:]
    /// The launched jobs that wait for libcurl or for the authorities, in order.
    private var unprepared: [UInt64] = []
    private var running: [UnsafeMutableRawPointer: UInt64] = [:]
    private var watches: [Int32: Watch] = [:]
    /// Set by `cancelAll` until the last result has been reported.
    private var allEnded: (@ReactorActor () -> Void)?

    private lazy var timer = loop.timer { [weak self] in self?.act(on: CURL_SOCKET_TIMEOUT) }
    private lazy var budget = EdgeBudget(loop)
    /// The largest number of octets of bodies that all transfers together received in one turn of the loop so far.
    var mostBodyInTurn: Int { client?.callbackRequests.mostBodyInTurn ?? 0 }
    private var paused: [UnsafeMutableRawPointer] = []
    private lazy var resumeTimer = loop.timer { [weak self] in self?.resumePaused() }

    /// - Parameters:
    ///   - authorities: a file of certificates that are trusted instead of the system's.
    ///   - authoritiesLifetime: the time after which that file is read again. While it cannot be read, the certificates that were
    ///     read before remain in use.
    ///   - open: loads libcurl, on a helper thread; returns the reason if it cannot.
    package init(
        loop: EventLoop, authorities: String? = nil, authoritiesLifetime: Duration = .seconds(24 * 3_600),
        open: @escaping @Sendable () -> String? = { HTTPPreparation.openLibrary() }
    ) {
        self.loop = loop
        authoritiesFile = authorities
        self.authoritiesLifetime = authoritiesLifetime
        self.open = open
    }

    /// - Parameters:
    ///   - id: identifies the request for `cancel`; no other request may be using it.
    ///   - timeout: the time from now until the last octet of the answer, including the time in the queue.
    package func start(_ id: UInt64, _ request: HTTPAction, timeout: Duration, _ ended: @escaping Ended) {
        precondition(jobs[id] == nil, "request \(id) is under way already")
        let job = Job(request, timeout, ended)
        jobs[id] = job
        job.timer = loop.timer { [weak self] in self?.end(id, .failed("there was no answer within \(timeout)")) }
        job.timer?.set(at: loop.nanosecondsSinceBoot.addingSaturating(timeout.nanoseconds))
        carryOut(queue.handle(.start(id)))
    }

    /// Ends the request early. Its result is reported as usual. An unknown or ended request is ignored.
    package func cancel(_ id: UInt64) { carryOut(queue.handle(.cancel(id))) }

    /// Cancels all requests, and those that are started later, and calls `done` when the last result has been reported.
    package func cancelAll(_ done: @escaping @ReactorActor () -> Void) {
        allEnded = done
        carryOut(queue.handle(.cancelAll))
    }

    private func carryOut(_ effects: [JobQueue.Effect]) {
        for effect in effects {
            switch effect {
            case .launch(let id):
                jobs[id]?.began = loop.nanosecondsSinceBoot
                launch(id)
            case .refuse(let id, let reason), .cancel(let id, let reason):
                end(id, .failed(reason.sentence(about: "requests")))
            case .allEnded: loop.onNextTurn { [self] in reportAllEnded() }
            }
        }
        handleCallbackRequests()
    }

    // MARK: One request

    private func launch(_ id: UInt64) {
        guard let job = jobs[id] else { return }
        guard let client = client(for: job.request) else { return unprepared.append(id) }
        transfer(id, job, client)
    }

    /// - Returns: `nil` if the request has to wait for libcurl or for the authorities.
    private func client(for request: HTTPAction) -> HTTPClient? {
        guard request.usesTLS else {
            if client == nil { prepare(withAuthorities: false) }
            return client
        }
        if authorities.isMissing {
            prepare(withAuthorities: true)
            return nil
        }
        let age = loop.nanosecondsSinceBoot - authoritiesReadAt
        if age > authoritiesLifetime.nanoseconds { prepare(withAuthorities: true) }
        return client
    }

    private func prepare(withAuthorities: Bool) {
        guard !isPreparing else { return }
        isPreparing = true
        loop.offload { [open, authoritiesFile] in
            Result { () throws(HTTPTransfer.Failure) in
                try HTTPPreparation(open: open, file: authoritiesFile, withAuthorities: withAuthorities)
            }
        } then: { [weak self] in
            self?.prepared($0, withAuthorities: withAuthorities)
        }
    }

    private func prepared(_ result: Result<HTTPPreparation, HTTPTransfer.Failure>, withAuthorities: Bool) {
        isPreparing = false
        do throws(HTTPTransfer.Failure) {
            let preparation = try result.get()
            if client == nil { client = try HTTPClient() }
            if withAuthorities { authorities = preparation.authorities }
        } catch {
            // The next request tries again. A request without TLS does not need the authorities, and those that were read a day
            // ago are still of use.
            for id in unprepared where !withAuthorities || authorities.isMissing && jobs[id]?.request.usesTLS == true {
                end(id, .failed(error.sentence))
            }
        }
        if withAuthorities { authoritiesReadAt = loop.nanosecondsSinceBoot }
        let prepared = unprepared
        unprepared = []
        for id in prepared { launch(id) }
        handleCallbackRequests()
    }

    private func transfer(_ id: UInt64, _ job: Job, _ client: HTTPClient) {
        do throws(HTTPTransfer.Failure) {
            let authorities = job.request.usesTLS ? authorities : .notNeeded
            let transfer = try HTTPTransfer(job.request, authorities, client)
            job.transfer = transfer
            running[transfer.easy] = id
        } catch {
            end(id, .failed(error.sentence))
        }
    }

    private func end(_ id: UInt64, _ outcome: HTTPResult.Outcome, note: String? = nil) {
        guard let job = jobs[id], !job.hasEnded else { return }
        job.hasEnded = true
        job.timer?.cancel()
        // If the time limit has ended the request, it may still wait.
        if job.began == nil { _ = queue.handle(.cancel(id)) }
        unprepared.removeAll { $0 == id }
        let body = drop(job)
        let now = loop.nanosecondsSinceBoot
        let result = HTTPResult(
            outcome: outcome, body: body, duration: .nanoseconds(now - (job.began ?? now)), note: note)
        loop.onNextTurn { [self] in
            jobs[id] = nil
            // The report comes first, because it may cancel the job that would be launched next.
            job.ended(result)
            carryOut(job.began == nil ? [] : queue.handle(.ended(id)))
        }
    }

    /// - Returns: the octets of the body that were kept.
    private func drop(_ job: Job) -> [UInt8] {
        guard let transfer = job.transfer else { return [] }
        job.transfer = nil
        running[transfer.easy] = nil
        paused.removeAll { $0 == transfer.easy }
        defer { client?.callbackRequests.transferEnded(transfer.easy) }
        return transfer.close()
    }

    private func transferEnded(_ easy: UnsafeMutableRawPointer, _ code: CURLcode) {
        guard let id = running[easy], let job = jobs[id], let transfer = job.transfer else { return }
        // libcurl reports a refusal of the last octets as success if they were refused while it resumed the transfer.
        guard code == CURLE_OK, !transfer.isRefused else { return end(id, .failed(transfer.sentence(for: code))) }
        let status = transfer.status
        switch HTTPRedirect(of: job.request, status, to: transfer.redirect) {
        case .none:
            end(id, .answered(status: status))
        case .refused(let note):
            end(id, .answered(status: status), note: note)
        case .follow(let request):
            job.redirects += 1
            guard job.redirects <= Self.maximumRedirects else {
                return end(id, .failed("it is redirected more than \(Self.maximumRedirects) times"))
            }
            _ = drop(job)
            job.request = request
            launch(id)
        }
    }

    private func reportAllEnded() {
        let done = allEnded
        allEnded = nil
        done?()
    }

    // MARK: libcurl

    private func act(on socket: curl_socket_t) {
        guard let client else { return }
        guard budget.allows else {
            // epoll reports the socket again in the next turn, but the timer fires only once.
            if socket == CURL_SOCKET_TIMEOUT { timer.set(at: 0) }
            return
        }
        client.callbackRequests.turn = loop.turn
        client.act(on: socket)
        endTransfers()
    }

    private func resumePaused() {
        guard let client else { return }
        client.callbackRequests.turn = loop.turn
        while let easy = paused.first, budget.allows {
            paused.removeFirst()
            guard running[easy] != nil else { continue }
            client.resume(easy)
            budget.spend(client.callbackRequests.taken)
            client.callbackRequests.taken = 0
        }
        endTransfers()
    }

    private func endTransfers() {
        while let easy = client?.callbackRequests.overlong.popLast() {
            guard let id = running[easy] else { continue }
            end(id, .failed("the server sends more than \(Self.maximumReceived >> 20) MiB for one answer"))
        }
        while let (easy, code) = client?.nextDone() { transferEnded(easy, code) }
        handleCallbackRequests()
    }

    private func handleCallbackRequests() {
        guard let callbackRequests = client?.callbackRequests else { return }
        budget.spend(callbackRequests.taken)
        callbackRequests.taken = 0
        paused += callbackRequests.paused
        callbackRequests.paused = []
        if !paused.isEmpty { resumeTimer.set(at: 0) }
        for (socket, wants) in callbackRequests.sockets {
            if wants == CURL_POLL_REMOVE {
                watches.removeValue(forKey: socket)?.cancel()
                continue
            }
            var interest: IOEvents = []
            if wants & CURL_POLL_IN != 0 { interest.insert(.read) }
            if wants & CURL_POLL_OUT != 0 { interest.insert(.write) }
            if let watch = watches[socket] {
                watch.set(interest)
            } else {
                watches[socket] = loop.watch(socket, interest) { [weak self] _ in self?.act(on: socket) }
            }
        }
        callbackRequests.sockets = []
        if let milliseconds = callbackRequests.timeout {
            callbackRequests.timeout = nil
            if milliseconds < 0 {
                timer.cancel()
            } else {
                timer.set(at: loop.nanosecondsSinceBoot.addingSaturating(Int64(milliseconds) * 1_000_000))
            }
        }
    }
}

extension HTTPAction {
    /// True if libcurl will use TLS.
    fileprivate var usesTLS: Bool { url.prefix(6).lowercased() == "https:" }
}
