import assert from "node:assert/strict";
import test from "node:test";

import {history} from "../../../Sources/TryckWeb/Public/server.js";

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
