import CommandSupport
import ControlClient
import Platform
import Reactor

/// The `tryck-web` of a demo.
@ReactorActor
final class DemoPage {
    /// Nanoseconds between two attempts to get a link from the program that has just been started.
    private static let interval: Int64 = 50_000_000
    /// The attempts until it counts as not started: 10 s.
    private static let maximumAttempts = 200

    private let loop: EventLoop
    private let files: DemoFiles
    private let handler: @ReactorActor (Result<String, Failure>) -> Void
    private var child: DaemonChild?
    private var timer: Timer?
    private var attempts = 0

    /// - Parameter handler: gets the link when the program listens, or the reason why it does not.
    init(
        _ loop: EventLoop, program: String, files: DemoFiles,
        _ handler: @escaping @ReactorActor (Result<String, Failure>) -> Void
    ) throws(Failure) {
        self.loop = loop
        self.files = files
        self.handler = handler
        let arguments = [
            program, "--config", files.configuration, "--control-socket", files.controlSocket, "--state-directory",
            files.pageState,
        ]
        child = try DaemonChild(loop, arguments: arguments, log: files.pageLog) { [unowned self] _ in ended() }
        timer = loop.timer { [unowned self] in requestLink() }
        requestLink()
    }

    func stop() {
        timer?.cancel()
        child?.stop()
        child = nil
    }

    private func requestLink() {
        attempts += 1
        let candidates = LinkSocket.candidates(controlSocket: files.controlSocket, environment: [:])
        do throws(Failure) {
            handler(.success(try PageLink.request(candidates)))
        } catch {
            guard attempts < Self.maximumAttempts else { return handler(.failure(error)) }
            timer?.set(at: loop.nanosecondsSinceBoot + Self.interval)
        }
    }

    private func ended() {
        guard child != nil else { return }
        stop()
        handler(.failure(Failure(.internalError, "The page has ended; its log is \(files.pageLog).")))
    }
}
