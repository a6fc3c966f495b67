import DiskTestSupport
import Glibc
import Reactor
import ReactorTestSupport
import Testing

@testable import Edges
@testable import TrialEdges

@Suite("The embedded broker")
struct EmbeddedBrokerTests {
    @Test("it starts, takes clients, and is gone after stop")
    func lifecycle() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let broker = RunningBroker(directory)
            let path = try await broker.ready()
            #expect(mode(of: directory.path + "/broker") == 0o700)
            #expect(mode(of: directory.path + "/broker/mosquitto.conf") == 0o600)
            let client = TestClient(MQTTOptions(endpoint: .unix(path: path)))
            #expect(await client.next() == .connected(.v5))
            broker.edge.stop()
            // On a busy machine the client can connect again while the broker still ends.
            let refusal = MQTTEvent.disconnected(.connectionRefused(endpoint: path))
            var happened = await client.next()
            for _ in 0..<20 where happened != refusal { happened = await client.next() }
            #expect(happened == refusal)
            await client.disconnect()
        }
    }

    @Test("when it dies it is started again, and clients come back")
    func restart() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let broker = RunningBroker(directory)
            let path = try await broker.ready()
            let client = TestClient(MQTTOptions(endpoint: .unix(path: path)))
            #expect(await client.next() == .connected(.v5))
            let shell = try #require(broker.edge.process)
            let mosquitto = try #require(children(of: shell).first { name(of: $0) == "mosquitto" })
            kill(mosquitto, SIGKILL)
            #expect(await broker.happenings.next() == .failed("mosquitto ended (signal 9); it will be restarted"))
            #expect(await broker.happenings.next() == .ready(path: path))
            await client.next { $0 == .connected(.v5) ? () : nil }
            await client.disconnect()
            broker.edge.stop()
        }
    }

    @Test("it does not outlive its parent: when the pipe closes, it ends")
    func leash() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let broker = RunningBroker(directory)
            _ = try await broker.ready()
            broker.edge.closeLifetimePipe()
            #expect(await broker.happenings.next() == .failed("mosquitto ended (status 0); it will be restarted"))
            broker.edge.stop()
        }
    }

    @Test("without the program the sentence says what to install")
    func missing() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let broker = RunningBroker(directory, program: "/nonexistent/mosquitto")
            guard case .failed(let sentence) = await broker.happenings.next() else { throw Unexpected() }
            #expect(sentence.contains("install the package mosquitto"))
            // And it is looked for again.
            #expect(await broker.happenings.next() == .failed(sentence))
            broker.edge.stop()
        }
    }

    @Test("a program that ends at once is tried again with growing waits")
    func broken() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let start = EventLoop.shared.nanosecondsSinceBoot
            let broker = RunningBroker(directory, program: "/bin/false")
            for _ in 0..<3 {
                #expect(await broker.happenings.next() == .failed("mosquitto ended (status 1); it will be restarted"))
            }
            let waited = (EventLoop.shared.nanosecondsSinceBoot - start) / 1_000_000
            #expect(waited >= 125 + 250)
            broker.edge.stop()
        }
    }

    @Test("it listens only on its socket file, and an existing directory is closed to other users")
    func privacy() async throws {
        let directory = TemporaryDirectory()
        mkdir(directory.path + "/broker", 0o777)
        chmod(directory.path + "/broker", 0o777)
        writeFile(directory.path + "/broker/mqtt.sock", "what lies there is replaced".utf8)
        try await withReactor {
            let broker = RunningBroker(directory)
            let path = try await broker.ready()
            #expect(path == directory.path + "/broker/mqtt.sock")
            #expect(mode(of: directory.path + "/broker") == 0o700)
            let shell = try #require(broker.edge.process)
            let mosquitto = try #require(children(of: shell).first { name(of: $0) == "mosquitto" })
            // Its sockets by their inodes, and the inodes of all that listen on TCP.
            var sockets: Set<String> = []
            for descriptor in 0..<64 {
                var target = [CChar](repeating: 0, count: 64)
                let count = readlink("/proc/\(mosquitto)/fd/\(descriptor)", &target, target.count)
                guard count > 0 else { continue }
                let octets = target.prefix(count).map { UInt8(bitPattern: $0) }
                let words = String(decoding: octets, as: UTF8.self).split(separator: "[")
                if words.first == "socket:" { sockets.insert(String(words[1].dropLast())) }
            }
            var listening: Set<String> = []
            for family in ["tcp", "tcp6"] {
                let table = String(decoding: readFile("/proc/net/\(family)"), as: UTF8.self)
                for line in table.split(separator: "\n") {
                    let words = line.split(separator: " ").map(String.init)
                    if words.count > 9, words[3] == "0A" { listening.insert(words[9]) }
                }
            }
            #expect(!sockets.isEmpty)
            #expect(sockets.isDisjoint(with: listening))
            broker.edge.stop()
        }
    }

    @Test("a file that has another name elsewhere is replaced and not overwritten")
    func secondName() async throws {
        let directory = TemporaryDirectory()
        mkdir(directory.path + "/broker", 0o700)
        writeFile(directory.path + "/valuable", "keep me".utf8)
        #expect(link(directory.path + "/valuable", directory.path + "/broker/mosquitto.conf") == 0)
        try await withReactor {
            let broker = RunningBroker(directory)
            _ = try await broker.ready()
            #expect(readFile(directory.path + "/valuable") == Array("keep me".utf8))
            broker.edge.stop()
        }
    }

    @Test("mosquitto reads the configuration that was written, also if another file has its path meanwhile")
    func replacedConfiguration() async throws {
        let directory = TemporaryDirectory()
        let mosquitto = try #require(InstalledMosquitto.path)
        let configuration = directory.path + "/broker/mosquitto.conf"
        let program = directory.path + "/program"
        // As a program starts after the configuration is written, it can stand for another user who is quick.
        let script = """
            #!/bin/sh
            /bin/rm \(configuration)
            echo "listener 0 \(directory.path)/other.sock" >\(configuration)
            exec \(mosquitto) "$@"

            """
        writeFile(program, script.utf8)
        chmod(program, 0o700)
        try await withReactor {
            let broker = RunningBroker(directory, program: program)
            let path = try await broker.ready()
            #expect(path == directory.path + "/broker/mqtt.sock")
            #expect(access(directory.path + "/other.sock", F_OK) != 0)
            broker.edge.stop()
        }
    }

    @Test(
        "where the state directory cannot be written, its files are in the next place that can, until it can"
    )
    func unwritable() async throws {
        let directory = TemporaryDirectory()
        // A directory cannot be created in a file, not even by root.
        writeFile(directory.path + "/state", [])
        try await withReactor {
            let broker = RunningBroker(
                directory, "state/broker",
                otherPlaces: [
                    .directory(directory.path + "/state/other"), .directory(directory.path + "/runtime"),
                    .temporary(in: directory.path),
                ])
            let runtime = try await broker.ready()
            #expect(runtime == directory.path + "/runtime/mqtt.sock")
            #expect(mode(of: directory.path + "/runtime") == 0o700)
            let client = TestClient(MQTTOptions(endpoint: .unix(path: runtime)))
            #expect(await client.next() == .connected(.v5))
            await client.disconnect()
            // mosquitto is started again when the disk has been mended.
            unlink(directory.path + "/state")
            mkdir(directory.path + "/state", 0o700)
            broker.edge.closeLifetimePipe()
            #expect(await broker.happenings.next() == .failed("mosquitto ended (status 0); it will be restarted"))
            let mended = try await broker.ready()
            #expect(mended == directory.path + "/state/broker/mqtt.sock")
            broker.edge.stop()
        }
    }

    @Test(
        "the last place is a new directory, which is removed at the end; a link is no place")
    func temporary() async throws {
        let directory = TemporaryDirectory()
        mkdir(directory.path + "/elsewhere", 0o755)
        chmod(directory.path + "/elsewhere", 0o755)
        symlink(directory.path + "/elsewhere", directory.path + "/link")
        // The configuration cannot be written here.
        mkdir(directory.path + "/broker", 0o700)
        mkdir(directory.path + "/broker/mosquitto.conf", 0o700)
        try await withReactor {
            let broker = RunningBroker(
                directory, otherPlaces: [.directory(directory.path + "/link"), .temporary(in: directory.path)])
            let path = try await broker.ready()
            #expect(path.hasPrefix(directory.path + "/tryck-broker."))
            let place = String(path.dropLast("/mqtt.sock".count))
            #expect(mode(of: place) == 0o700)
            broker.edge.stop()
            #expect(access(place, F_OK) != 0)
            #expect(access(directory.path + "/elsewhere/mosquitto.conf", F_OK) != 0)
            #expect(mode(of: directory.path + "/elsewhere") == 0o755)
        }
    }

    @Test("temporary directories that a killed run has left are removed at the start, and no others")
    func abandoned() async throws {
        let directory = TemporaryDirectory()
        mkdir(directory.path + "/temporary", 0o700)
        func make(_ name: String, _ files: [String] = ["mosquitto.conf", "mqtt.sock"]) -> String {
            let path = directory.path + "/temporary/" + name
            mkdir(path, 0o700)
            for file in files { writeFile("\(path)/\(file)", "left".utf8) }
            return path
        }
        let gone = [make("tryck-broker.abcdef"), make("tryck-broker.ABC123", [])]
        let kept = [
            make("tryck-broker.notours"), make("other-broker.abcdef"), make("tryck-broker.files1", ["notes"]),
            make("tryck-broker.locked"), make("tryck-broker.listen", []),
        ]
        let locked = open(kept[3], O_RDONLY | O_DIRECTORY)
        defer { close(locked) }
        #expect(flock(locked, LOCK_EX | LOCK_NB) == 0)
        symlink(kept[1], directory.path + "/temporary/tryck-broker.linked")
        try await withReactor {
            // A broker of an earlier version holds no lock.
            let other = RunningBroker(directory, "temporary/tryck-broker.listen")
            _ = try await other.ready()
            let broker = RunningBroker(directory, otherPlaces: [.temporary(in: directory.path + "/temporary")])
            _ = try await broker.ready()
            for path in gone { #expect(access(path, F_OK) != 0, "\(path)") }
            for path in kept { #expect(access(path, F_OK) == 0, "\(path)") }
            #expect(access(kept[1] + "/mqtt.sock", F_OK) == 0 && access(kept[2] + "/notes", F_OK) == 0)
            #expect(access(kept[3] + "/mqtt.sock", F_OK) == 0 && access(kept[4] + "/mqtt.sock", F_OK) == 0)
            broker.edge.stop()
            other.edge.stop()
        }
    }

    @Test("the temporary directory of a running broker stays when another one starts")
    func temporaryOfOther() async throws {
        let directory = TemporaryDirectory()
        writeFile(directory.path + "/file", [])
        try await withReactor {
            let broker = RunningBroker(directory, "file/broker", otherPlaces: [.temporary(in: directory.path)])
            let path = try await broker.ready()
            let other = RunningBroker(directory, "other", otherPlaces: [.temporary(in: directory.path)])
            _ = try await other.ready()
            #expect(access(path, F_OK) == 0)
            broker.edge.stop()
            other.edge.stop()
        }
    }

    @Test("a temporary directory in which no socket can be created is removed, and the next place has another")
    func nextTemporary() async throws {
        let directory = TemporaryDirectory()
        writeFile(directory.path + "/broker", [])
        // A socket's path has at most 107 octets.
        let long = directory.path + "/" + String(repeating: "l", count: 100)
        mkdir(long, 0o700)
        try await withReactor {
            let broker = RunningBroker(
                directory, otherPlaces: [.temporary(in: long), .temporary(in: directory.path)])
            let path = try await broker.ready()
            #expect(path.hasPrefix(directory.path + "/tryck-broker."))
            #expect(rmdir(long) == 0)
            broker.edge.stop()
        }
    }

    @Test("the new directory is removed when another place can be written")
    func temporaryNoMore() async throws {
        let directory = TemporaryDirectory()
        let obstacle = directory.path + "/broker/mosquitto.conf"
        mkdir(directory.path + "/broker", 0o700)
        mkdir(obstacle, 0o700)
        try await withReactor {
            let broker = RunningBroker(directory, otherPlaces: [.temporary(in: directory.path)])
            let path = try await broker.ready()
            let place = String(path.dropLast("/mqtt.sock".count))
            #expect(access(place, F_OK) == 0)
            rmdir(obstacle)
            broker.edge.closeLifetimePipe()
            #expect(await broker.happenings.next() == .failed("mosquitto ended (status 0); it will be restarted"))
            #expect(try await broker.ready() == directory.path + "/broker/mqtt.sock")
            #expect(access(place, F_OK) != 0)
            broker.edge.stop()
        }
    }

    @Test("where nothing can be written the sentence names each place and what to do, and it is tried again")
    func nowhere() async throws {
        let directory = TemporaryDirectory()
        writeFile(directory.path + "/file", [])
        try await withReactor {
            let file = directory.path + "/file"
            let broker = RunningBroker(directory, "file/broker", otherPlaces: [.temporary(in: file)])
            let sentence = """
                mosquitto has no room for its files: cannot create \(file)/broker for mosquitto: Not a directory; \
                cannot create a directory in \(file): Not a directory. Free some space, or make one of these directories \
                writable; Tryck tries again
                """
            #expect(await broker.happenings.next() == .failed(sentence))
            #expect(await broker.happenings.next() == .failed(sentence))
            unlink(file)
            mkdir(file, 0o700)
            var event = await broker.happenings.next()
            while case .failed = event { event = await broker.happenings.next() }
            #expect(event == .ready(path: file + "/broker/mqtt.sock"))
            broker.edge.stop()
        }
    }

    @Test("where its socket's path is too long the sentence says what to set")
    func longPath() async throws {
        let directory = TemporaryDirectory()
        let long = directory.path + "/" + String(repeating: "d", count: 100)
        mkdir(long, 0o700)
        try await withReactor {
            let happenings = Happenings<EmbeddedBroker.Event>()
            let edge = EmbeddedBroker(loop: .shared, directory: long + "/broker", seed: 1) { happenings.add($0) }
            edge.start()
            guard case .failed(let sentence) = await happenings.next() else { throw Unexpected() }
            #expect(sentence.hasSuffix("longer than 107 octets; set a shorter state_directory"))
            edge.stop()
        }
    }
}

@ReactorActor
private final class RunningBroker {
    let happenings = Happenings<EmbeddedBroker.Event>()
    let edge: EmbeddedBroker

    init(
        _ directory: TemporaryDirectory, _ name: String = "broker", otherPlaces: [EmbeddedBroker.Place] = [],
        program: String? = nil
    ) {
        let happenings = happenings
        edge = EmbeddedBroker(
            loop: .shared, directory: "\(directory.path)/\(name)", otherPlaces: otherPlaces, program: program, seed: 1
        ) {
            happenings.add($0)
        }
        edge.start()
    }

    func ready() async throws -> String {
        guard case .ready(let path) = await happenings.next() else { throw Unexpected() }
        return path
    }
}

private func children(of process: pid_t) -> [pid_t] {
    let text = String(decoding: readFile("/proc/\(process)/task/\(process)/children"), as: UTF8.self)
    return text.split(separator: " ").compactMap { pid_t($0) }
}

private func name(of process: pid_t) -> String {
    String(decoding: readFile("/proc/\(process)/comm").dropLast(), as: UTF8.self)
}
