import assert from "node:assert/strict";
import test from "node:test";

import {forgetDrafts, keepDraft, keptDraft} from "../../../Sources/TryckWeb/Public/drafts.js";

/** Stands in for the storage of a browser, whose entries are its own properties. */
class Storage {
  getItem(key) { return this[key] ?? null; }
  setItem(key, value) { this[key] = String(value); }
  removeItem(key) { delete this[key]; }
}

const open = (path) => { globalThis.location = {pathname: path}; };

test("pages of two houses at one host have their own drafts, as below Home Assistant's ingress", () => {
  globalThis.sessionStorage = new Storage();
  open("/api/hassio_ingress/one/");
  keepDraft("home.yaml", {text: "version: 1", etag: "1"});
  open("/api/hassio_ingress/two/");
  assert.equal(keptDraft("home.yaml"), null);
  keepDraft("home.yaml", {text: "version: 2", etag: "2"});
  forgetDrafts();
  assert.equal(keptDraft("home.yaml"), null);
  open("/api/hassio_ingress/one/");
  assert.deepEqual(keptDraft("home.yaml"), {text: "version: 1", etag: "1"}, "who signs out of one house is still signed in at the other");
});
