import Foundation
import Testing

@Suite("Metrics of a running daemon", .serialized, .ownThread)
struct MetricsTests {
    private static func samples(_ workshop: Workshop) throws -> [Substring] {
        try String(contentsOfFile: workshop.path("metrics/tryck.prom"), encoding: .utf8).split(separator: "\n")
    }

    @Test("the metrics file exists while the daemon runs, and says at the end that the daemon has stopped")
    func life() throws {
        let workshop = try Workshop()
        try FileManager.default.createDirectory(
            atPath: workshop.path("metrics"), withIntermediateDirectories: true)
        let configuration = """
            bluetooth: {transport: none}
            mqtt: {broker: none, password: copper-4711}
            metrics: {textfile: metrics/tryck.prom}

            """
        try workshop.write("tryck.yaml", configuration)
        let daemon = try workshop.daemon()
        try daemon.line(containing: "commands reach it at")
        try workshop.wait { FileManager.default.fileExists(atPath: workshop.path("metrics/tryck.prom")) }
        let begun = try Self.samples(workshop)
        #expect(begun.contains("tryck_up 1") && begun.contains("tryck_buttons 0"))
        #expect(!begun.contains { $0.contains("copper") })
        daemon.signal(SIGTERM)
        #expect(try daemon.status() == 0)
        #expect(try Self.samples(workshop).contains("tryck_up 0"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: workshop.path("metrics")) == ["tryck.prom"])
    }

    @Test("without the directory of the metrics file the daemon runs, and the log says what to do")
    func noDirectory() throws {
        let workshop = try Workshop()
        try workshop.write(
            "tryck.yaml",
            "bluetooth: {transport: none}\nmqtt: {broker: none}\nmetrics: {textfile: nowhere/tryck.prom}\n")
        let daemon = try workshop.daemon()
        try daemon.line(containing: "create the directory \(workshop.path("nowhere"))")
        #expect(try workshop.tryck(["status"]).status() == 0)
        daemon.signal(SIGTERM)
        #expect(try daemon.status() == 0)
    }
}
