import assert from "node:assert/strict";
import test from "node:test";

import {createAnnouncer} from "../../../Sources/TryckWeb/Public/announcer.js";

const press = (n) => ({n, name: "kitchen", line: {event: "click"}});

test("the same press again is another text, which a screen reader says", (context) => {
  // The announcer says nothing more until this function is called.
  let later = null;
  const original = globalThis.setTimeout;
  globalThis.setTimeout = (callback) => { later = callback; };
  context.after(() => { globalThis.setTimeout = original; });
  const region = {textContent: ""};
  const announcer = createAnnouncer(region);
  announcer.draw({marks: [], count: 0});
  const said = [];
  for (const n of [0, 1, 2]) {
    announcer.draw({marks: [press(n)], count: n + 1});
    said.push(region.textContent);
    later();
  }
  assert.deepEqual(said.map((text) => text.trim()), Array(3).fill("kitchen: click."));
  assert.notEqual(said[0], said[1]);
  assert.notEqual(said[1], said[2]);
});
