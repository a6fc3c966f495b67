import Glibc
import Synchronization

/// Python's web server on a free port of the loopback, ended by its pid with `stop`.
///
/// | path                    | answers |
/// |-------------------------|---------|
/// | `/echo`                 | the request line, the headers and the body as they came |
/// | `/status/N`             | the status |
/// | `/redirect/N/URL`       | the status, leading to the URL |
/// | `/round`                | 302 to itself |
/// | `/hold`                 | nothing, for as long as the client stays |
/// | `/held`                 | how many of these there are |
/// | `/huge`, `/endless`     | ten megabytes that begin with "begin"; as many as the client takes |
/// | `/garbage`, `/nothing`  | what is no HTTP; no octet |
/// | `/body/N`, `/chunked/N` | so many octets, with their length; in chunks of one octet |
/// | `/headers/N`            | headers of so many octets together |
/// | `/trailers`, `/heads`   | trailers without an end; responses 100 without an end |
/// | `/long/header`, `/long/trailer` | a line of headers or trailers without an end |
/// | `/extensions`           | a chunk whose extension has no end |
/// | `/gzip`                 | ten megabytes of zeros, compressed as a transfer coding that was not asked for |
final class TestWebServer: Sendable {
    struct DidNotStart: Error {
        var log: String
    }

    let port: UInt16
    private let process: pid_t
    private let log: Int32
    private let isStopped = Atomic(false)

    /// - Parameter certificate: a file of a certificate and one of its key: it speaks TLS.
    init(certificate: (certificate: String, key: String)? = nil) throws {
        let files = certificate.map { [$0.certificate, $0.key] } ?? []
        (process, log) = try startLogged(["/usr/bin/python3", "-c", Self.script] + files)
        var said: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        var port: UInt16?
        while port == nil {
            let count = read(log, &chunk, chunk.count)
            guard count > 0 else {
                waitpid(process, nil, 0)
                throw DidNotStart(log: String(decoding: said, as: UTF8.self))
            }
            said += chunk.prefix(count)
            port = String(decoding: said, as: UTF8.self).firstMatch(of: /port (\d+)\n/).flatMap { UInt16($0.1) }
        }
        self.port = port ?? 0
    }

    /// Every test calls this: `deinit` may come after the end of the test process.
    func stop() {
        guard !isStopped.exchange(true, ordering: .relaxed) else { return }
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }

    deinit {
        stop()
        close(log)
    }

    private static let script = """
        import http.server, socket, ssl, sys

        held = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *words):
                pass

            def answer(self, status, body=b"", **headers):
                self.send_response_only(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def begin_chunks(self):
                self.wfile.write(b"HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n")

            def handle_one(self):
                global held
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                word, _, rest = self.path[1:].partition("/")
                word = word.partition("?")[0]
                if word == "echo":
                    lines = [self.requestline] + [f"{name}: {value}" for name, value in self.headers.items()]
                    self.answer(200, "\\n".join(lines).encode() + b"\\n\\n" + body)
                elif word == "status":
                    self.answer(int(rest), b"as you like")
                elif word == "redirect":
                    status, _, target = rest.partition("/")
                    self.answer(int(status), b"elsewhere", Location=target)
                elif word == "round":
                    self.answer(302, Location="/round")
                elif word == "hold":
                    held += 1
                    self.connection.recv(1)
                    held -= 1
                    self.close_connection = True
                elif word == "held":
                    self.answer(200, str(held).encode())
                elif word == "huge":
                    self.answer(200, b"begin" + bytes(10_000_000))
                elif word == "endless":
                    self.wfile.write(b"HTTP/1.1 200 OK\\r\\n\\r\\n")
                    while True:
                        self.wfile.write(bytes(65536))
                elif word == "body":
                    self.answer(200, bytes(int(rest)))
                elif word == "chunked":
                    self.begin_chunks()
                    for _ in range(0, int(rest), 1000):
                        self.wfile.write(b"1\\r\\nx\\r\\n" * 1000)
                    self.wfile.write(b"0\\r\\n\\r\\n")
                elif word == "headers":
                    line = b"X: " + b"x" * 995 + b"\\r\\n"
                    head = b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n"
                    left = int(rest) - len(head) - 2
                    self.wfile.write(head + line * (left // 1000 - 1))
                    self.wfile.write(b"X: " + b"x" * (left % 1000 + 995) + b"\\r\\n\\r\\n")
                elif word == "trailers":
                    self.begin_chunks()
                    self.wfile.write(b"1\\r\\nx\\r\\n0\\r\\n")
                    while True:
                        self.wfile.write(b"X-Trailer: yyyyyyyyyyyyyyyyyyyy\\r\\n" * 1000)
                elif word == "long":
                    if rest == "trailer":
                        self.begin_chunks()
                        self.wfile.write(b"1\\r\\nx\\r\\n0\\r\\nX: ")
                    else:
                        self.wfile.write(b"HTTP/1.1 200 OK\\r\\nX: ")
                    while True:
                        self.wfile.write(b"y" * 1000)
                elif word == "heads":
                    while True:
                        self.wfile.write(b"HTTP/1.1 100 Continue\\r\\nX: y\\r\\n\\r\\n" * 1000)
                elif word == "extensions":
                    self.begin_chunks()
                    self.wfile.write(b"1")
                    while True:
                        self.wfile.write(b";x=yyyyyyyyyyyyyyyyyyyyyyyyyyyyy" * 1000)
                elif word == "gzip":
                    import gzip
                    body = gzip.compress(bytes(10_000_000))
                    self.wfile.write(b"HTTP/1.1 200 OK\\r\\nTransfer-Encoding: gzip, chunked\\r\\n\\r\\n")
                    self.wfile.write(b"%x\\r\\n" % len(body) + body + b"\\r\\n0\\r\\n\\r\\n")
                elif word == "garbage":
                    self.wfile.write(b"\\0\\xff\\r\\nSIP/2.0 200 OK\\r\\n\\r\\n")
                    self.close_connection = True
                elif word == "nothing":
                    self.close_connection = True

            do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_one

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 64

            def handle_error(self, request, address):
                pass

        server = Server(("127.0.0.1", 0), Handler)
        if len(sys.argv) > 1:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(sys.argv[1], sys.argv[2])
            server.socket = context.wrap_socket(server.socket, server_side=True)
        print(f"port {server.server_address[1]}", file=sys.stderr, flush=True)
        server.serve_forever()
        """
}
