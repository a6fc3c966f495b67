import assert from "node:assert/strict";
import test from "node:test";

import {history, listen, longestQuiet, request} from "../../../Sources/TryckWeb/Public/server.js";

/** Answers as `GET /api/history` does, with at most `size` lines at once. */
function serve(times, size) {
  let requests = 0;
  globalThis.fetch = async (path) => {
    requests += 1;
    const asked = new URL(path, "http://localhost").searchParams;
    const [from, to] = [Date.parse(asked.get("from")), Date.parse(asked.get("to"))];
    const all = times.filter((time) => time >= from && time < to);
    const lines = all.slice(0, size).map((time) => ({time: new Date(time).toISOString()}));
    return new Response(JSON.stringify({lines, gaps: [`before ${to}`], more: all.length > size}), {headers: {"Content-Type": "application/json"}});
  };
  return () => requests;
}

const shown = ({lines}) => lines.map((line) => Date.parse(line.time));

test("the past is asked for until nothing is missing, and each line is there once", async () => {
  const times = Array.from({length: 95}, (_, index) => 1000 + Math.floor(index / 3));
  const requests = serve(times, 10);
  const past = await history(0, 5000);
  assert.deepEqual(shown(past), times.slice(0, shown(past).length));
  assert.equal(requests(), 10);
  assert.equal(past.isWhole, false);

  const fewer = times.slice(0, 60);
  serve(fewer, 10);
  const whole = await history(0, 5000);
  assert.deepEqual([shown(whole), whole.isWhole], [fewer, true]);
  assert.deepEqual(whole.gaps, ["before 5000"], "each is there once");
});

test("more lines of one time than an answer has are not asked for again and again", async () => {
  const requests = serve(Array.from({length: 30}, () => 1000), 10);
  const past = await history(0, 5000);
  assert.equal(past.isWhole, false);
  assert.equal(past.lines.length, 10);
  assert.ok(requests() <= 2, `${requests()} requests`);
});

// MARK: Stream

class Source extends EventTarget {
  static opened = [];
  static CLOSED = 2;
  readyState = 1;

  constructor(address) {
    super();
    this.address = address;
    Source.opened.push(this);
  }

  close() { this.readyState = 2; }

  tell(name, data, lastEventId = "") { this.dispatchEvent(Object.assign(new Event(name), {data: JSON.stringify(data), lastEventId})); }
}

/** Replaces the timers of a test. Returns what lets time go on. */
function clock(context) {
  const original = [globalThis.setTimeout, globalThis.clearTimeout];
  context.after(() => { [globalThis.setTimeout, globalThis.clearTimeout] = original; });
  let now = 0;
  let last = 0;
  const timers = new Map();
  globalThis.setTimeout = (action, time) => {
    last += 1;
    timers.set(last, {action, at: now + time});
    return last;
  };
  globalThis.clearTimeout = (timer) => timers.delete(timer);
  return (time) => {
    now += time;
    for (const [key, {action, at}] of [...timers]) if (at <= now && timers.delete(key)) action();
  };
}

test("a stream that is quiet is said to be lost, and opened again after the last line", (context) => {
  const tick = clock(context);
  Source.opened = [];
  globalThis.EventSource = Source;
  globalThis.addEventListener = () => {};
  const heard = [];
  const tell = (name) => (data) => heard.push([name, data]);
  listen({snapshot: tell("snapshot"), line: tell("line"), gone: tell("gone"), beat: tell("beat"), lost: () => heard.push(["lost"])});
  const [first] = Source.opened;
  assert.equal(first.address, "api/events");
  first.tell("snapshot", {status: 1}, "a-1");
  first.tell("message", {kind: "event"}, "a-2");
  for (let n = 0; n < 4; n += 1) {
    tick(5000);
    first.tell("beat", {});
  }
  assert.equal(Source.opened.length, 1);
  tick(longestQuiet);
  assert.deepEqual(heard.at(-1), ["lost"]);
  assert.deepEqual(Source.opened.map(({address, readyState}) => [address, readyState]), [["api/events", 2], ["api/events?after=a-2", 1]]);
  // Also the next connection may be dead.
  tick(longestQuiet);
  assert.equal(Source.opened.length, 3);
});

test("a request that is not answered in time is refused with a sentence", async () => {
  globalThis.fetch = async (_, {signal}) => {
    assert.ok(signal instanceof AbortSignal);
    throw new DOMException("", "TimeoutError");
  };
  await assert.rejects(request("status"), (refusal) => refusal.status === 0 && /has not answered for 20 s/.test(refusal.message));
});
