import BluetoothHost
import ButtonModel
import Edges
import PictureTransfer
import Reactor
import ReactorTestSupport

/// Runs an application on a controller behind a TCP port until the condition holds, or a minute has passed; nil when
/// the controller is lost.
func onAir<App: Application & Sendable>(
    _ application: App, port: Int, until condition: @escaping @Sendable (App) -> Bool
) async -> App? {
    let ended: App?? = await onReactor { run in
        Radio(application, run, port: port, until: condition).open()
    }
    return ended ?? nil
}

@ReactorActor
private final class Radio<App: Application & Sendable> {
    private var application: App
    private let run: ReactorRun<App?>
    private let transport: H4StreamTransport
    private let condition: (App) -> Bool
    private var timer: Timer?

    init(_ application: App, _ run: ReactorRun<App?>, port: Int, until condition: @escaping (App) -> Bool) {
        self.application = application
        self.run = run
        self.condition = condition
        transport = H4StreamTransport(
            loop: run.loop, endpoint: .tcp(host: "127.0.0.1", port: UInt16(clamping: port)))
    }

    func open() {
        timer = run.loop.timer { self.deliver(.timerFired) }
        run.after(milliseconds: 60_000) { self.finish() }
        transport.open { event in
            switch event {
            case .opened: self.deliver(.transportOpened)
            case .received(let packet): self.deliver(.received(packet))
            case .failed: self.run.finish(nil)
            }
        }
    }

    private func deliver(_ input: LEHost.Input) {
        let effects = application.handle(input, at: Instant(nanoseconds: run.loop.nanosecondsSinceBoot))
        for effect in effects {
            switch effect {
            case .send(let packet): transport.send(packet)
            case .setTimer(let instant): timer?.set(at: instant.nanoseconds)
            case .cancelTimer: timer?.cancel()
            case .event: break
            }
        }
        if condition(application) { finish() }
    }

    private func finish() {
        timer?.cancel()
        transport.close()
        run.finish(application)
    }
}
