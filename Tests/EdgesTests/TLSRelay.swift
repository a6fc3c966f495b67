import DiskTestSupport
import Glibc

@testable import Edges

/// Accepts connections with TLS on `localhost`, and passes on what arrives to a plain peer, and back.
final class TLSRelay: Sendable {
    private let files: Certificates
    private let process: pid_t
    private let log: Int32
    let port = freePort()

    init() throws {
        files = try Certificates()
        let directory = files.directory.path
        (process, log) = try startLogged([
            "/usr/bin/env", "python3", "-c", Self.script, directory, "\(port)",
        ])
        var chunk = [UInt8](repeating: 0, count: 64)
        guard read(log, &chunk, chunk.count) > 0 else {
            stop()
            throw Unexpected()
        }
    }

    /// The endpoint that leads to the peer at this port from now on.
    func endpoint(for peer: UInt16) -> MQTTOptions.Endpoint {
        writeFile(files.directory.path + "/peer", "\(peer)".utf8)
        return .tls(
            host: "localhost", port: port,
            MQTTTransportSecurity(certificateAuthorityPath: files.directory.path + "/ca.crt"))
    }

    func stop() {
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
        close(log)
    }

    private static let script = """
        import os, select, socket, ssl, sys, threading
        directory = sys.argv[1]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(directory + "/broker.crt", directory + "/broker.key")

        def relay(client):
            try:
                with open(directory + "/peer") as file: peer = socket.create_connection(("127.0.0.1", int(file.read())))
                with peer, context.wrap_socket(client, server_side=True) as client:
                    while True:
                        ready = [client] if client.pending() else select.select([client, peer], [], [])[0]
                        for one, other in ((client, peer), (peer, client)):
                            if one not in ready: continue
                            octets = one.recv(65536)
                            if not octets: return
                            other.sendall(octets)
            except OSError: pass

        listener = socket.create_server(("127.0.0.1", int(sys.argv[2])))
        os.write(2, b"listening")
        while True: threading.Thread(target=relay, args=(listener.accept()[0],), daemon=True).start()
        """
}
