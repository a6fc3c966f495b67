import assert from "node:assert/strict";
import test from "node:test";

import {axisHeight, hit, laneHeight, lanes, ticks, visible, x} from "../../../Sources/TryckWeb/Public/timeline-layout.js";

const view = {from: 0, to: 10_000, now: 10_000, width: 1000};
const buttons = ["a", "b"].map((id) => ({id, name: `button ${id}`}));
const state = {
  buttons, latest: {}, rules: [{id: "first"}, {id: "second"}],
  presses: [{n: 0, button: "a", from: 1000, to: 2000}, {n: 1, button: "b", from: 20_000, to: 21_000}],
  marks: [{n: 2, button: "a", at: 2000, arrived: null}, {n: 3, button: "b", at: -5000, arrived: 500}],
  runs: [{n: 4, rule: "second", run: 7, from: 2000, to: null}],
};

test("a time has its place", () => {
  assert.equal(x(view, 2500), 250);
});

test("what began before or goes on is shown", () => {
  const shown = visible(state, view);
  assert.deepEqual(shown.presses.map(({n}) => n), [0]);
  assert.deepEqual(shown.marks.map(({n}) => n), [2, 3]);
  assert.deepEqual(shown.runs.map(({n}) => n), [4]);
});

test("each button has a lane, and each rule that ran", () => {
  assert.deepEqual(lanes(state, visible(state, view)).map(({key}) => key), ["a", "b", "second"]);
});

test("of many buttons only those that did something have a lane", () => {
  const many = {...state, buttons: Array.from({length: 100}, (_, n) => ({id: n === 50 ? "a" : `id${n}`, name: String(n)}))};
  assert.deepEqual(lanes(many, visible({...many, marks: []}, view)).map(({label}) => label), ["50", "second"]);
});

test("a point is a mark, else a press, else a run of its lane", () => {
  const shown = visible(state, view);
  const rows = lanes(state, shown);
  assert.equal(hit(view, rows, shown, 205, 5).entry.n, 2);
  assert.equal(hit(view, rows, shown, 120, 5).entry.n, 0);
  assert.equal(hit(view, rows, shown, 900, 2 * laneHeight + 5).entry.n, 4);
  assert.equal(hit(view, rows, shown, 700, 5), null);
  assert.equal(hit(view, rows, shown, 205, 99 * laneHeight), null);
});

test("the lines of the axis are whole steps, with room between them", () => {
  const times = ticks(view);
  assert.deepEqual(times.slice(0, 3), [0, 1000, 2000]);
  assert.ok(axisHeight > 0 && ticks({...view, width: 180}).length <= 3);
});

test("a late press whose beginning is not shown is found at the head of its arrow", () => {
  const shown = visible(state, view);
  assert.equal(hit(view, lanes(state, shown), shown, 52, laneHeight + 10)?.entry.n, 3);
});

test("labels of days are as far apart as others", () => {
  const week = ticks({from: 0, to: 7 * 86_400_000, width: 260});
  assert.ok(week.length > 0 && week.length <= 3);
});
