// Talks to tryck-web. Every address is relative, so that the page also works below a prefix.

/** The server's refusal of a request. `message` is its sentence. */
export class Refusal extends Error {
  /**
   * @param {number} status of HTTP; 0 if there was no answer
   * @param {string} sentence
   * @param {*} body what the answer contained
   */
  constructor(status, sentence, body, headers) {
    super(sentence);
    this.status = status;
    this.body = body;
    this.headers = headers ?? new Headers();
  }
}

let signedOut = () => {};

/** Sets what is called when the server asks for a password. */
export function onSignedOut(handler) { signedOut = handler; }

/** How long an answer may take, and one that runs tests or looks at the machine, in milliseconds. */
const timeLimit = 20_000;
const longTimeLimit = 120_000;

/**
 * @param {{limit: number, keepalive: boolean}} options `keepalive` sends it also while the page is left
 * @returns {Promise<{body: *, headers: Headers}>}
 */
async function call(method, path, content, headers = {}, {limit = timeLimit, keepalive = false} = {}) {
  const isText = typeof content === "string";
  let answer;
  let received;
  try {
    answer = await fetch(path, {
      method, credentials: "same-origin", keepalive, signal: AbortSignal.timeout(limit),
      headers: {
        "X-Tryck": "1", ...(content === undefined ? {} : {"Content-Type": isText ? "text/plain" : "application/json"}),
        ...headers,
      },
      body: content === undefined ? undefined : isText ? content : JSON.stringify(content),
    });
    received = await answer.text();
  } catch (reason) {
    throw new Refusal(0, reason.name === "TimeoutError"
      ? `tryck-web has not answered for ${limit / 1000} s. Try again; if it goes on, restart it: sudo systemctl restart tryck-web`
      : "tryck-web does not answer.");
  }
  const isJSON = answer.headers.get("Content-Type")?.startsWith("application/json");
  const body = isJSON && received ? JSON.parse(received) : received;
  if (answer.ok) return {body, headers: answer.headers};
  if (answer.status === 401 && path !== "login") signedOut();
  throw new Refusal(answer.status, body?.error ?? `tryck-web answered ${answer.status}.`, body, answer.headers);
}

/** @returns {Promise<{signed_in: boolean, password: boolean, edit_rules: boolean, version: string, ingress: boolean}>} */
export const session = async () => (await call("GET", "api/session")).body;

export const signIn = (password) => call("POST", "login", {password});

export const signOut = () => call("POST", "logout");

/**
 * A request of the control socket.
 *
 * @param {string} name such as `button/rename`
 * @param {object} data
 * @param {{keepalive: boolean}} [options]
 * @returns {Promise<*>} the member `data` of the answer
 */
export const request = async (name, data = {}, options = {}) =>
  (await call("POST", "api/request", {request: name, data}, {}, options)).body.data;

// MARK: Rules

/** @returns {Promise<{name: string, entry: boolean, etag: string, writable: boolean, obstacle: ?string}[]>} */
export const ruleFiles = async () => (await call("GET", "api/rules")).body.files;

const filePath = (name) => `api/rules/${name.split("/").map(encodeURIComponent).join("/")}`;

/** @returns {Promise<{text: string, etag: string}>} */
export async function ruleFile(name) {
  const {body, headers} = await call("GET", filePath(name));
  return {text: body, etag: headers.get("ETag")};
}

/**
 * Saves a file. A refusal has status 412 if the file has changed meanwhile (its body is the present text), or 422 if
 * the text has mistakes (its body has `diagnostics`).
 *
 * @param {string} etag of the text that was edited
 * @param {boolean} anyway whether a text with mistakes is saved
 * @returns {Promise<?string>} the new etag
 */
export async function saveRuleFile(name, text, etag, anyway) {
  const {headers} = await call("PUT", filePath(name) + (anyway ? "?anyway=true" : ""), text, {"If-Match": etag});
  return headers.get("ETag");
}

const draft = (name, limit = timeLimit) => async (content) =>
  (await call("POST", `api/rules/${name}`, content, {}, {limit})).body;

/** Each takes `{files: {NAME: TEXT}}` and more, and answers as the command with `--json`. */
export const check = draft("check");
export const runTests = draft("test", longTimeLimit);
export const explain = draft("explain");
export const complete = draft("complete");
export const hints = draft("hints");
export const compare = draft("compare", longTimeLimit);

/** The most answers that are asked for at once; each has up to 10,000 lines. */
const mostPages = 10;

/**
 * The lines of the stream between two times in milliseconds since 1970.
 *
 * @returns {Promise<{lines: object[], gaps: string[], isWhole: boolean}>} `gaps` says what cannot be shown; `isWhole` is
 *   false if lines at the end are missing
 */
export async function history(from, to) {
  const time = (milliseconds) => encodeURIComponent(new Date(milliseconds).toISOString());
  let lines = [];
  const gaps = new Set();
  let begin = from;
  for (let count = 0; count < mostPages; count += 1) {
    const {body} = await call("GET", `api/history?from=${time(begin)}&to=${time(to)}`);
    lines = lines.concat(body.lines);
    for (const gap of body.gaps) gaps.add(gap);
    if (!body.more) return {lines, gaps: [...gaps], isWhole: true};
    // The next answer begins with the lines of the last time, of which some may be missing here.
    const last = Date.parse(body.lines.at(-1).time);
    if (last <= begin) break;
    begin = last;
    lines = lines.filter((line) => Date.parse(line.time) < begin);
  }
  return {lines, gaps: [...gaps], isWhole: false};
}

/** @returns {Promise<{findings: import("./findings.js").Finding[]}>} what `tryck doctor` finds besides the status */
export const doctor = async () => (await call("GET", "api/doctor", undefined, {}, {limit: longTimeLimit})).body;

// MARK: Stream

/** The delay before the stream is opened again after the server has refused it, in milliseconds. */
const reopenAfter = 2000;
/** How long a stream may be quiet, in milliseconds. The server sends a beat every 5 s. */
export const longestQuiet = 11_000;

/**
 * Listens to the stream for as long as the page is open. The browser reconnects by itself, with the number of the last
 * line. A stream that the server has refused, or that is quiet although its connection seems to be open, is opened again.
 *
 * @param {{snapshot: function(object), line: function(object), gone: function(string), beat: function(), lost: function()}} handlers
 */
export function listen(handlers) {
  let source = null;
  let timer = null;
  let last = "";

  function open() {
    source = new EventSource(last ? `api/events?after=${encodeURIComponent(last)}` : "api/events");
    wait(longestQuiet, reopen);
    hear("snapshot", handlers.snapshot);
    hear("gone", (data) => handlers.gone(data.error));
    hear("beat", handlers.beat);
    hear("message", handlers.line);
    source.addEventListener("error", failed);
  }

  function hear(name, handler) {
    source.addEventListener(name, (event) => {
      wait(longestQuiet, reopen);
      last = event.lastEventId || last;
      handler(JSON.parse(event.data));
    });
  }

  function wait(time, action) {
    clearTimeout(timer);
    timer = setTimeout(action, time);
  }

  /** The connection is dead without an end: the server hangs, or the network has gone. */
  function reopen() {
    source.close();
    handlers.lost();
    open();
  }

  async function failed() {
    const refused = source;
    handlers.lost();
    if (refused.readyState !== EventSource.CLOSED) return;
    clearTimeout(timer);
    const known = await session().catch(() => null);
    if (refused !== source) return;
    if (known && !known.signed_in) return signedOut();
    wait(reopenAfter, open);
  }

  open();
  // A browser keeps a page that was left for a while, with its connection, and opens only six to one server.
  addEventListener("pagehide", () => {
    clearTimeout(timer);
    source.close();
  });
  addEventListener("pageshow", (event) => { if (event.persisted) open(); });
}
