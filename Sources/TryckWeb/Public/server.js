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

/** @returns {Promise<{body: *, headers: Headers}>} */
async function call(method, path, content, headers = {}) {
  const isText = typeof content === "string";
  let answer;
  try {
    answer = await fetch(path, {
      method, credentials: "same-origin",
      headers: {
        "X-Tryck": "1", ...(content === undefined ? {} : {"Content-Type": isText ? "text/plain" : "application/json"}),
        ...headers,
      },
      body: content === undefined ? undefined : isText ? content : JSON.stringify(content),
    });
  } catch {
    throw new Refusal(0, "tryck-web does not answer.");
  }
  const isJSON = answer.headers.get("Content-Type")?.startsWith("application/json");
  const received = await answer.text();
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
 * @returns {Promise<*>} the member `data` of the answer
 */
export const request = async (name, data = {}) => (await call("POST", "api/request", {request: name, data})).body.data;

// MARK: Rules

/** @returns {Promise<{name: string, entry: boolean, etag: string, writable: boolean}[]>} */
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

const draft = (name) => async (content) => (await call("POST", `api/rules/${name}`, content)).body;

/** Each takes `{files: {NAME: TEXT}}` and more, and answers as the command with `--json`. */
export const check = draft("check");
export const runTests = draft("test");
export const explain = draft("explain");
export const complete = draft("complete");
export const hints = draft("hints");
export const compare = draft("compare");

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
export const doctor = async () => (await call("GET", "api/doctor")).body;

// MARK: Stream

/** The delay before the stream is opened again after the server has refused it, in milliseconds. */
const reopenAfter = 2000;

/**
 * Listens to the stream for as long as the page is open. The browser reconnects by itself, with the number of the last
 * line, unless the server has refused the connection.
 *
 * @param {{snapshot: function(object), line: function(object), gone: function(string), lost: function()}} handlers
 */
export function listen(handlers) {
  const source = new EventSource("api/events");
  source.addEventListener("snapshot", (event) => handlers.snapshot(JSON.parse(event.data)));
  source.addEventListener("gone", (event) => handlers.gone(JSON.parse(event.data).error));
  source.addEventListener("message", (event) => handlers.line(JSON.parse(event.data)));
  source.addEventListener("error", async () => {
    handlers.lost();
    if (source.readyState !== EventSource.CLOSED) return;
    const known = await session().catch(() => null);
    if (known && !known.signed_in) return signedOut();
    setTimeout(() => listen(handlers), reopenAfter);
  });
  // A browser keeps a page that was left for a while, with its connection, and opens only six to one server.
  addEventListener("pagehide", () => source.close(), {once: true});
  addEventListener("pageshow", (event) => { if (event.persisted) listen(handlers); }, {once: true});
}
