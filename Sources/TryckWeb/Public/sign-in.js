// The page before one is signed in.

import {h, setText} from "./dom.js";
import * as server from "./server.js";

/**
 * @param {boolean} hasPassword whether a password lets in; else only a link does
 * @param {function()} ondone
 */
export function createSignIn(hasPassword, ondone) {
  const message = h("p", {class: "message bad", role: "alert"});
  const password = h("input", {id: "password", type: "password", autocomplete: "current-password", required: true});
  const submit = h("button", {type: "submit", class: "primary"}, "Sign in");

  async function signIn(event) {
    event.preventDefault();
    submit.disabled = true;
    try {
      await server.signIn(password.value);
      return ondone();
    } catch (refusal) {
      setText(message, sentence(refusal));
      password.select();
    }
    submit.disabled = false;
  }

  const form = h("form", {onsubmit: signIn}, h("label", {for: "password"}, "Password"), password, submit, message);
  const link = h(
    "p", {}, "This page is opened with a link. On the machine that runs Tryck, enter ", h("code", {}, "tryck web"),
    " and open the link that it prints. Each link can be used once.");
  return h("div", {class: "sign-in panel"}, h("h1", {}, "Tryck"), hasPassword ? form : link);
}

function sentence(refusal) {
  if (refusal.status !== 429) return refusal.status === 401 ? "This is not the password." : refusal.message;
  const seconds = Number(refusal.headers.get("Retry-After"));
  return `There were too many attempts. Try again in ${seconds > 0 ? `${seconds} s` : "a minute"}.`;
}
