import Glibc
package import Reactor

/// Says that files have changed, once it is quiet again: inotify on the directories that they are in.
///
/// Directories, because most editors write a new file and rename it over the old one, and a watch on a file stays with the
/// old one. A file need not be there, nor its directory. Where links lead to it, the change of a link is a change.
///
/// An editor's many steps become one call, `quiet` after the last, but at most `patience` after the first. By then the
/// watches are where the files are now: what happens after the call is noticed again.
///
/// A directory that moves together with the one above it is not noticed.
@ReactorActor
package final class FileWatch {
    static let quiet: Int64 = 200_000_000
    static let patience: Int64 = 2_000_000_000

    /// What matters in a directory.
    private struct Interest {
        var names: Set<String> = []
        /// Files of the kind that is looked for, and directories that come and go.
        var isSearched = false
        /// One of the names is a file's, and its content matters. Where it is not, nothing is heard of what is written
        /// there: a database beside a directory that is watched would wake us with each write.
        var hasFiles = false

        var events: UInt32 { hasFiles || isSearched ? FileWatch.structure | FileWatch.content : FileWatch.structure }
    }

    private let loop: EventLoop
    private let suffixes: [String]
    private let changed: @ReactorActor () -> Void
    private let descriptor: Int32
    /// Why there is no descriptor.
    private let failure: Int32
    private var watch: Watch?
    private var files: Set<String> = []
    private var directories: Set<String> = []
    private var interests: [Int32: Interest] = [:]
    private var firstChange: Int64?

    private lazy var timer = loop.timer { [weak self] in self?.quietAgain() }

    /// - Parameter suffixes: how the names of the files end that matter in a directory.
    package init(
        loop: EventLoop, suffixes: [String] = [".yaml", ".yml"], _ changed: @escaping @ReactorActor () -> Void
    ) {
        self.loop = loop
        self.suffixes = suffixes
        self.changed = changed
        descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        failure = descriptor < 0 ? errno : 0
        if descriptor >= 0 { watch = loop.watch(descriptor, .read) { [weak self] _ in self?.read() } }
    }

    /// Replaces what is watched. A change that was noticed before is still reported.
    ///
    /// - Parameters:
    ///   - files: absolute paths.
    ///   - directories: absolute paths of those in which any file with one of the suffixes matters, as where a pattern
    ///     is included.
    /// - Returns: a sentence, where something cannot be watched.
    @discardableResult
    package func watch(files: Set<String>, directories: Set<String> = []) -> String? {
        self.files = files
        self.directories = directories
        return arm()
    }

    /// To be called before it is let go.
    package func stop() {
        timer.cancel()
        guard let watch else { return }
        watch.cancel()
        self.watch = nil
        interests = [:]
        close(descriptor)
    }

    // MARK: What is watched

    private func arm() -> String? {
        guard watch != nil else { return "changes of files are not noticed: \(describe(failure))" }
        var wanted: [String: Interest] = [:]
        for path in files.sorted() {
            for step in PathSteps(path).steps {
                wanted[step.directory, default: Interest()].names.insert(step.name)
                wanted[step.directory]?.hasFiles = true
            }
        }
        for path in directories.sorted() {
            let steps = PathSteps(path)
            for step in steps.steps { wanted[step.directory, default: Interest()].names.insert(step.name) }
            if let end = steps.end { wanted[end, default: Interest()].isSearched = true }
        }
        var sentence: String?
        var armed: [Int32: Interest] = [:]
        // Two names may lead to one directory, and the last to be armed has the say: more events come after fewer.
        for (directory, interest) in wanted.sorted(by: { $0.value.events < $1.value.events }) {
            let number = inotify_add_watch(descriptor, directory, interest.events)
            guard number >= 0 else {
                // It is gone since: the steps to it are watched, and say so.
                if errno != ENOENT { sentence = "changes in \(directory) are not noticed: \(describe(errno))" }
                continue
            }
            var merged = armed[number] ?? Interest()
            merged.names.formUnion(interest.names)
            merged.isSearched = merged.isSearched || interest.isSearched
            merged.hasFiles = merged.hasFiles || interest.hasFiles
            armed[number] = merged
        }
        for number in interests.keys where armed[number] == nil { inotify_rm_watch(descriptor, number) }
        interests = armed
        return sentence
    }

    private nonisolated static let structure = UInt32(
        IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
    private nonisolated static let content = UInt32(IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB)

    // MARK: What happens

    private func read() {
        var matters = false
        withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 8) { buffer in
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            guard count > 0 else { return }
            var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            // Watch, mask, cookie and the length of the name, which is filled up with zeros.
            while rest.count >= 16 {
                let length = Int(rest.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
                guard length <= rest.count - 16 else { return }
                let name = String(decoding: rest[16..<16 + length].prefix { $0 != 0 }, as: UTF8.self)
                matters =
                    self.matters(
                        name, in: rest.loadUnaligned(as: Int32.self),
                        rest.loadUnaligned(fromByteOffset: 4, as: UInt32.self)) || matters
                rest = UnsafeRawBufferPointer(rebasing: rest[(16 + length)...])
            }
        }
        guard matters else { return }
        let now = loop.nanosecondsSinceBoot
        let first = firstChange ?? now
        firstChange = first
        timer.set(at: min(now + FileWatch.quiet, first + FileWatch.patience))
    }

    private func matters(_ name: String, in number: Int32, _ mask: UInt32) -> Bool {
        if mask & UInt32(IN_Q_OVERFLOW) != 0 { return true }
        // Among them the end of a watch that we took away ourselves.
        guard let interest = interests[number] else { return false }
        if mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED) != 0 { return true }
        if interest.names.contains(name) { return true }
        guard interest.isSearched, !name.hasPrefix(".") else { return false }
        return suffixes.contains { name.hasSuffix($0) } || mask & UInt32(IN_ISDIR) != 0
    }

    private func quietAgain() {
        firstChange = nil
        _ = arm()
        changed()
    }
}
