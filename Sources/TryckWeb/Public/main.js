// Starts the page: signs in, listens to the stream, and draws the page that the address names.

import {createAnnouncer} from "./announcer.js";
import {h, setAttribute, setText} from "./dom.js";
import {comeBack, forgetDrafts} from "./drafts.js";
import {createHealth} from "./health.js";
import {createNow} from "./now.js";
import {createPair} from "./pair.js";
import {createPast} from "./past.js";
import {createRulesPage} from "./rules-page.js";
import * as server from "./server.js";
import {createSignIn} from "./sign-in.js";
import {isKnown, nothing, reduce, withAnswer, withoutDaemon, withoutServer, withServer, withSnapshot} from "./state.js";
import {createTimelinePage} from "./timeline-page.js";

/**
 * What a page gets.
 *
 * @typedef {object} App
 * @property {function(): import("./state.js").State} state
 * @property {function(function(import("./state.js").State): import("./state.js").State)} update changes the state
 * @property {typeof import("./server.js")} server
 * @property {function(): object} session
 * @property {ReturnType<typeof import("./past.js").createPast>} past
 * @property {function(string, object): Promise<*>} ask makes a request, and shows a refusal; undefined after one
 * @property {function(string)} say shows a sentence for some seconds
 * @property {function(string)} refresh asks for `status`, `buttons` or `rules` again
 */

const creators = {
  now: createNow, timeline: createTimelinePage, rules: createRulesPage, pair: createPair, health: createHealth,
};

const main = document.querySelector("main");
const banner = document.querySelector("#banner");
const toast = document.querySelector("#toast");
const announcer = createAnnouncer(document.querySelector("#announcements"));
const pages = new Map();

let state = nothing;
let session = null;
let page = null;
let isDirty = true;
let toastTimer = null;

/** @type {App} */
const app = {
  state: () => state,
  update: (change) => {
    state = change(state);
    schedule();
  },
  server,
  session: () => session,
  ask: async (name, data) => {
    try {
      return await server.request(name, data);
    } catch (refusal) {
      say(refusal.message);
      return undefined;
    }
  },
  refresh: async (name) => {
    const answer = await app.ask(name, {});
    if (answer !== undefined) app.update((state) => withAnswer(state, name, answer));
  },
};

app.say = say;
app.past = createPast(app);

/** Shows a sentence for some seconds. */
function say(sentence) {
  setText(toast, sentence);
  toast.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { toast.hidden = true; }, 6000);
}

// MARK: Drawing

function schedule() { isDirty = true; }

/** Once for each frame that the browser shows. A page that nobody sees gets none. */
function frame(time) {
  requestAnimationFrame(frame);
  if (!page) return;
  if (isDirty) {
    isDirty = false;
    banner.hidden = state.problem === "";
    setText(banner, state.problem);
    setAttribute(document.body, "data-link", state.link);
    page.draw(state);
    announcer.draw(state);
  }
  page.frame?.(state, time);
}

function show() {
  const name = location.hash.slice(1).split("/")[0];
  const key = Object.hasOwn(creators, name) ? name : "now";
  if (!pages.has(key)) pages.set(key, creators[key](app));
  const next = pages.get(key);
  for (const link of document.querySelectorAll("nav a")) {
    setAttribute(link, "aria-current", link.hash === `#${key}` ? "page" : null);
  }
  if (next === page) return;
  page?.hidden?.();
  page = next;
  document.title = `${page.title} – Tryck`;
  main.replaceChildren(page.element);
  page.draw(state);
  page.shown?.();
  window.scrollTo(0, 0);
}

// MARK: Stream

function receive(change) {
  app.update(change);
  for (const name of ["rules", "status", "buttons"]) {
    if (!state.stale[name] || state.link !== "live") continue;
    state = {...state, stale: {...state.stale, [name]: false}};
    app.refresh(name);
  }
}

function listen() {
  server.listen({
    snapshot: (snapshot) => receive((state) => withSnapshot(state, snapshot, Date.now())),
    line: (line) => receive((state) => reduce(withServer(state), line, Date.now())),
    gone: (sentence) => receive((state) => withoutDaemon(state, sentence)),
    beat: () => { if (state.link === "no_server") receive(withServer); },
    lost: () => receive(withoutServer),
  });
}

// MARK: Start

async function start() {
  session = await server.session();
  if (!session.signed_in) return showSignIn();
  document.body.classList.add("signed-in");
  const out = document.querySelector("#sign-out");
  out.hidden = session.ingress;
  out.addEventListener("click", async () => {
    await server.signOut().catch(() => null);
    forgetDrafts();
    location.reload();
  });
  document.querySelector("#skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  addEventListener("hashchange", () => {
    show();
    main.focus({preventScroll: true});
  });
  show();
  listen();
  requestAnimationFrame(frame);
}

function showSignIn() {
  // A second answer that says so must not take away what was typed meanwhile.
  if (main.querySelector(".sign-in")) return;
  document.body.classList.remove("signed-in");
  page = null;
  // The stream has ended with the session. `frame` returns without a page, so nothing else would hide the banner.
  banner.hidden = true;
  main.replaceChildren(createSignIn(session?.password ?? true, comeBack));
  main.querySelector("input")?.focus();
}

server.onSignedOut(showSignIn);
start().catch((refusal) => main.replaceChildren(
  h("p", {class: "panel hint"}, refusal.message, " Load the page again when it runs.")));
