package import Hub
package import Reactor

/// The directory with firmware: which files there are, whenever that changes, and what is in one.
///
/// The directory is read on a helper thread, but for the first time, when somebody waits for it anyway.
@ReactorActor
package final class FirmwareEdge {
    package enum Event: Hashable, Sendable {
        /// By model and version; other than the last time.
        case files([FirmwareFile])
        /// A sentence for the log.
        case notice(String)
    }

    private let loop: EventLoop
    private let directory: String
    private let handler: @ReactorActor (Event) -> Void
    private var found: FirmwareFiles?
    private var listings: UInt64 = 0

    private lazy var watch = FileWatch(loop: loop, suffixes: [".bin"]) { [weak self] in self?.listAgain() }

    package init(loop: EventLoop, directory: String, _ handler: @escaping @ReactorActor (Event) -> Void) {
        self.loop = loop
        self.directory = directory
        self.handler = handler
    }

    /// Reports what there is, and from then on each change.
    package func start() {
        if let sentence = FirmwareFiles.makeDirectory(directory) { handler(.notice(sentence)) }
        if let sentence = watch.watch(files: [], directories: [directory]) {
            handler(.notice("\(sentence); new firmware is found after a restart"))
        }
        take(FirmwareFiles(in: directory))
    }

    package func read(_ file: FirmwareFile, _ done: @escaping @ReactorActor (FirmwareReading) -> Void) {
        loop.offload { [directory] in
            FirmwareFiles.read(file, in: directory)
        } then: {
            done($0)
        }
    }

    /// To be called before it is let go.
    package func stop() { watch.stop() }

    private func listAgain() {
        listings += 1
        let listing = listings
        loop.offload { [directory] in
            FirmwareFiles(in: directory)
        } then: { [weak self] found in
            // Of two that run at once the last to begin is the one to believe.
            guard let self, listing == listings else { return }
            take(found)
        }
    }

    private func take(_ found: FirmwareFiles) {
        let before = self.found
        self.found = found
        for notice in found.notices where before?.notices.contains(notice) != true { handler(.notice(notice)) }
        if found.files != before?.files { handler(.files(found.files)) }
    }
}
