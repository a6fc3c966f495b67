package import Hub
package import Reactor

/// Reports the files in the directory of firmware files, initially and after each change, and reads a file.
///
/// The directory is read on a helper thread, except in `start`, because the daemon's start waits for the result anyway.
@ReactorActor
package final class FirmwareEdge {
    package enum Event: Hashable, Sendable {
        /// The files after a change, ordered by model and version.
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

    /// Reports the files, and then each change.
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

    /// Must be called before the last reference is dropped.
    package func stop() { watch.stop() }

    private func listAgain() {
        listings += 1
        let listing = listings
        loop.offload { [directory] in
            FirmwareFiles(in: directory)
        } then: { [weak self] found in
            // If several listings run at the same time, only the last that began is used.
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
