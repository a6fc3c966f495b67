import ButtonModel
import CCurl
package import Hub
import Platform
package import Reactor
package import Rules

/// The web requests of rules: libcurl, on the event loop.
///
/// libcurl says which sockets it waits for and until when, and is called when one of them is ready; it resolves names on
/// threads of its own. Its callbacks only leave notes, to be taken after the call that they came from.
///
/// Certificates are always verified. A proxy is taken from the environment, as other programs do.
///
/// What an answer says is taken in portions: libcurl reads a small buffer each time a socket is ready, a transfer that has
/// had its share of a turn of the loop pauses until the next, and so does the whole edge.
///
/// Nothing is reported from inside a call: `ended` comes on a later turn of the loop, once for each start.
@ReactorActor
package final class HTTPEdge {
    /// How many run at once; the rest wait in line.
    package nonisolated static let maximumRunning = 32
    /// How many wait; what comes then is refused.
    package nonisolated static let maximumWaiting = 1_024
    /// Octets kept of a body; the rest is read and dropped.
    package nonisolated static let maximumBody = 64 * 1024
    /// Octets of a body; a longer one ends its transfer.
    package nonisolated static let maximumAnswer = 1024 * 1024
    /// Octets of headers and trailers together, those of responses before the last among them.
    package nonisolated static let maximumHeaders = 64 * 1024
    package nonisolated static let maximumRedirects = 5
    /// Until the server has taken the connection, TLS included.
    package nonisolated static let connectTimeout: Duration = .seconds(5)

    package typealias Ended = @ReactorActor (HTTPResult) -> Void

    private final class Job {
        var request: HTTPAction
        let timeout: Duration
        let ended: Ended
        var timer: Timer?
        /// While it runs.
        var transfer: HTTPTransfer?
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
    private let authorities: String?
    private var client: HTTPClient?
    private var jobs: [UInt64: Job] = [:]
    /// Those of `jobs` that have not begun, in order.
    private var waiting: [UInt64] = []
    private var running: [UnsafeMutableRawPointer: UInt64] = [:]
    private var watches: [Int32: Watch] = [:]
    /// Set by `cancelAll`; nothing starts any more.
    private var allEnded: (@ReactorActor () -> Void)?

    private lazy var timer = loop.timer { [weak self] in self?.act(on: CURL_SOCKET_TIMEOUT) }
    private lazy var budget = EdgeBudget(loop)
    /// The most octets of bodies that all transfers together took in one turn of the loop so far.
    var mostBodyInTurn: Int { client?.notes.mostBodyInTurn ?? 0 }
    private var paused: [UnsafeMutableRawPointer] = []
    private lazy var goOn = loop.timer { [weak self] in self?.goOnWithPaused() }

    /// - Parameter authorities: a file of certificates to trust instead of the system's.
    package init(loop: EventLoop, authorities: String? = nil) {
        self.loop = loop
        self.authorities = authorities
    }

    /// - Parameters:
    ///   - id: for `cancel`; not in use by another request.
    ///   - timeout: from now until the last octet of the answer, the time in line included.
    package func start(_ id: UInt64, _ request: HTTPAction, timeout: Duration, _ ended: @escaping Ended) {
        precondition(jobs[id] == nil, "request \(id) is under way already")
        let job = Job(request, timeout, ended)
        jobs[id] = job
        guard allEnded == nil else { return end(id, .failed("the daemon is stopping")) }
        guard waiting.count < Self.maximumWaiting else {
            return end(id, .failed("\(Self.maximumWaiting) requests are waiting already"))
        }
        job.timer = loop.timer { [weak self] in self?.end(id, .failed("there was no answer within \(timeout)")) }
        job.timer?.set(at: loop.nanosecondsSinceBoot.addingSaturating(timeout.nanoseconds))
        waiting.append(id)
        beginWaiting()
    }

    /// Ends the request early. Its result is reported as always; one that is unknown or has ended is left alone.
    package func cancel(_ id: UInt64) {
        end(id, .failed("it was cancelled"))
        takeNotes()
    }

    /// Cancels everything for good and calls `done` when the last result is reported.
    package func cancelAll(_ done: @escaping @ReactorActor () -> Void) {
        allEnded = done
        for id in jobs.keys { end(id, .failed("the daemon is stopping")) }
        takeNotes()
        if jobs.isEmpty { loop.soon { [self] in reportAllEnded() } }
    }

    // MARK: One request

    private func beginWaiting() {
        while running.count < Self.maximumRunning, !waiting.isEmpty {
            let id = waiting.removeFirst()
            guard let job = jobs[id] else { continue }
            job.began = loop.nanosecondsSinceBoot
            transfer(id, job)
        }
        takeNotes()
    }

    private func transfer(_ id: UInt64, _ job: Job) {
        do throws(HTTPTransfer.Failure) {
            if client == nil { client = try HTTPClient() }
            guard let client else { return }
            let transfer = try HTTPTransfer(job.request, authorities: authorities, client)
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
        if job.began == nil { waiting.removeAll { $0 == id } }
        let body = drop(job)
        let now = loop.nanosecondsSinceBoot
        let result = HTTPResult(
            outcome: outcome, body: body, duration: .nanoseconds(now - (job.began ?? now)), note: note)
        loop.soon { [self] in
            jobs[id] = nil
            job.ended(result)
            beginWaiting()
            if jobs.isEmpty { reportAllEnded() }
        }
    }

    /// - Returns: what was kept of the body.
    private func drop(_ job: Job) -> [UInt8] {
        guard let transfer = job.transfer else { return [] }
        job.transfer = nil
        running[transfer.easy] = nil
        paused.removeAll { $0 == transfer.easy }
        client?.notes.paused.removeAll { $0 == transfer.easy }
        return transfer.close()
    }

    private func transferEnded(_ easy: UnsafeMutableRawPointer, _ code: CURLcode) {
        guard let id = running[easy], let job = jobs[id], let transfer = job.transfer else { return }
        guard code == CURLE_OK else { return end(id, .failed(transfer.sentence(for: code))) }
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
            self.transfer(id, job)
        }
    }

    private func reportAllEnded() {
        guard let done = allEnded else { return }
        // Still stopping, but with nobody left to tell.
        allEnded = {}
        done()
    }

    // MARK: libcurl

    private func act(on socket: curl_socket_t) {
        guard let client else { return }
        guard budget.allows else {
            // A socket stays ready; the timer does not come again by itself.
            if socket == CURL_SOCKET_TIMEOUT { timer.set(at: 0) }
            return
        }
        client.notes.turn = loop.turn
        client.act(on: socket)
        endTransfers()
    }

    private func goOnWithPaused() {
        guard let client else { return }
        client.notes.turn = loop.turn
        while let easy = paused.first, budget.allows {
            paused.removeFirst()
            guard running[easy] != nil else { continue }
            client.goOn(with: easy)
            budget.spend(client.notes.taken)
            client.notes.taken = 0
        }
        endTransfers()
    }

    private func endTransfers() {
        while let (easy, code) = client?.nextDone() { transferEnded(easy, code) }
        takeNotes()
    }

    private func takeNotes() {
        guard let notes = client?.notes else { return }
        budget.spend(notes.taken)
        notes.taken = 0
        paused += notes.paused
        notes.paused = []
        if !paused.isEmpty { goOn.set(at: 0) }
        for (socket, wants) in notes.sockets {
            if wants == CURL_POLL_REMOVE {
                watches.removeValue(forKey: socket)?.cancel()
                continue
            }
            var interest: Interest = []
            if wants & CURL_POLL_IN != 0 { interest.insert(.read) }
            if wants & CURL_POLL_OUT != 0 { interest.insert(.write) }
            if let watch = watches[socket] {
                watch.set(interest)
            } else {
                watches[socket] = loop.watch(socket, interest) { [weak self] _ in self?.act(on: socket) }
            }
        }
        notes.sockets = []
        if let milliseconds = notes.timeout {
            notes.timeout = nil
            if milliseconds < 0 {
                timer.cancel()
            } else {
                timer.set(at: loop.nanosecondsSinceBoot.addingSaturating(Int64(milliseconds) * 1_000_000))
            }
        }
    }
}
