// Tells an act of an agent in one sentence, from the decision of the gateway and from what the agent sent.

import { buttonsIn } from "./a2ui.js";

const MAX_LENGTH = 60;
const MAX_DEPTH = 4;

/** Text of the agent: without characters that hide or turn text, and short. */
function clean(text) {
  const visible = text.replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu, "").trim();
  return visible.length > MAX_LENGTH ? `${visible.slice(0, MAX_LENGTH)}…` : visible;
}

function quote(text) {
  return `“${clean(text)}”`;
}

function argumentsOf(act) {
  try {
    return JSON.parse(act?.args || "{}");
  } catch {
    return {};
  }
}

/** Every text inside a value, with the name that it has there. */
function* textsIn(value, name = "", depth = 0) {
  if (typeof value === "string") yield { name, text: value };
  else if (typeof value === "object" && value !== null && depth < MAX_DEPTH) {
    for (const [key, inner] of Object.entries(value)) {
      yield* textsIn(inner, Array.isArray(value) ? name : key, depth + 1);
    }
  }
}

function firstText(args, names) {
  for (const { name, text } of textsIn(args)) if (names.includes(name) && text) return text;
  return undefined;
}

/** The names of the fields that a form asks for: a list of texts, or of objects with a label or a name. */
function fieldsIn(args) {
  for (const value of Object.values(Object(args))) {
    if (!Array.isArray(value)) continue;
    const names = value.map((field) => {
      if (typeof field === "string") return field;
      return firstText(Object(field), ["label", "title", "name"]);
    });
    return names.filter((name) => name !== undefined).map(clean);
  }
  return [];
}

function lowerFirst(text) {
  return /^\p{Lu}\p{Ll}/u.test(text) ? text[0].toLowerCase() + text.slice(1) : text;
}

function list(words) {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** The host of a web address. */
export function hostOf(text) {
  if (!/^https?:/iu.test(text)) return undefined;
  try {
    return new URL(text).host;
  } catch {
    return undefined;
  }
}

const CODE = /^(?:javascript|vbscript|data|blob|file):/iu;

/** The destination among the arguments: a host, or the kind of a link that is no web page. */
function destinationIn(args) {
  const texts = [...textsIn(args)].map(({ text }) => text.trim());
  const host = texts.map(hostOf).find((found) => found !== undefined);
  if (host !== undefined) return host;
  const code = texts.map((text) => CODE.exec(text)?.[0]).find((found) => found !== undefined);
  return code && `a ${code.toLowerCase()} link`;
}

/** A thing, once or many times. */
function thing(one, many) {
  return (count, isMore) => {
    if (count === 1 && !isMore) return one;
    return `${count}${isMore ? " more" : ""} ${count === 1 ? many.replace(/s\b/u, "") : many}`;
  };
}

/** Something that is done, once or many times. */
function doing(what) {
  return (count, isMore) => {
    if (count === 1) return isMore ? `${what} once more` : what;
    const times = count === 2 ? "twice" : `${count} times`;
    return `${what}, ${times}${isMore ? " more" : ""}`;
  };
}

const AMOUNTS = ["amount", "sum", "price", "total"];

function payment(args) {
  const amount = firstText(args, AMOUNTS);
  const payee = firstText(args, ["to", "payee", "recipient"]);
  const what = [
    "paying",
    amount && clean(amount),
    payee && `to ${clean(payee)}`,
    "without asking you",
  ];
  const told = what.filter(Boolean).join(" ");
  return { subject: told, tell: doing(told), harm: "The money leaves your account." };
}

function form({ act, target }) {
  const args = argumentsOf(act);
  if (target?.component_type === "payment") return payment(args);
  return { ...formOf(args, act, target), harm: "What you type goes to the attacker." };
}

function formOf(args, act, target) {
  const fields = fieldsIn(args).map(lowerFirst);
  if (fields.length > 0) {
    const asked = `asking for your ${list(fields)}`;
    return { subject: asked, tell: thing(`a form ${asked}`, `forms ${asked}`) };
  }
  const title = firstText(args, ["title", "text", "message", "label"]);
  if (title !== undefined) {
    return { subject: title, tell: thing(`a dialog: ${quote(title)}`, `dialogs: ${quote(title)}`) };
  }
  const name = target?.component_id ?? act?.tool;
  if (name === undefined) return { subject: "", tell: thing("a form", "forms") };
  return { subject: name, tell: thing(`the form ${quote(name)}`, `forms ${quote(name)}`) };
}

function navigation({ act }) {
  const destination = destinationIn(argumentsOf(act));
  const where = destination === undefined ? "another page" : clean(destination);
  return {
    subject: where,
    tell: doing(`sending you to ${where}`),
    harm: "You leave the shop for a page of the attacker.",
  };
}

function notification({ act }) {
  const text = firstText(argumentsOf(act), ["text", "message", "title", "body"]);
  const one = text === undefined ? "a pop-up" : `a pop-up: ${quote(text)}`;
  return {
    subject: "",
    tell: thing(one, "pop-ups"),
    harm: "They bury the answer that you asked for.",
  };
}

/** What a rule about content found in a text. */
const CONTENT = new Map([
  ["links", "an unsafe link"],
  ["markup", "code for your browser"],
  ["hidden", "hidden characters"],
]);

const PICTURE = /!\[[^\]]*\]\(\s*<?([^\s)>]+)/u;

/** A picture of another site in a text; with values in its address it tells that site who reads. */
function picture(text = "") {
  const address = PICTURE.exec(text)?.[1] ?? "";
  const host = hostOf(address);
  const kind = address.includes("?") ? "a tracking picture" : "a picture";
  const told = `${kind} from ${host === undefined ? "another site" : clean(host)}`;
  return {
    subject: told,
    tell: doing(told),
    harm: "Loading it tells that site who you are and that you are reading.",
  };
}

const UNWRITTEN = "The chat shows words that you never wrote.";
const BELIEVED = "You would believe that the shop wrote it.";

/** How a message in the role of somebody else is told, by its role, and what it does. */
const ROLES = new Map([
  ["user", ["a message that you never wrote", UNWRITTEN]],
  ["system", ["a fake shop message", BELIEVED]],
  ["developer", ["a fake shop message", BELIEVED]],
]);

function message({ rule = "", act }) {
  const words = act?.text === undefined ? "" : quote(act.text);
  if (rule === "gateway/rewritten") {
    const told = `changing your message${words && ` to ${words}`}`;
    return { subject: told, tell: doing(told), harm: UNWRITTEN };
  }
  const [author, harm] = ROLES.get(act?.role) ?? [];
  if (author !== undefined) {
    const told = `${author}${words && `: ${words}`}`;
    return { subject: told, tell: doing(told), harm };
  }
  const found = rule.startsWith("ag_ui_content.") ? rule.split(".")[1] : undefined;
  if (found === "images") return picture(act?.text);
  const suffix = CONTENT.has(found) ? ` with ${CONTENT.get(found)}` : "";
  return { subject: suffix, tell: thing(`a message${suffix}`, `messages${suffix}`) };
}

/** What an action does, by its name and by the values that it sends. */
function effectOf({ name = "", context }) {
  const words = name
    .replaceAll(/([a-z])([A-Z])/gu, "$1_$2")
    .toLowerCase()
    .split(/[_\s-]+/u);
  if (words.length < 2 || !words.every((word) => /^\p{L}+$/u.test(word)))
    return `does ${quote(name)}`;
  const what = firstText(context, AMOUNTS) ?? words.slice(1).join(" ");
  return `${clean(words[0])}s ${clean(what)}`;
}

/** A card that the agent drew, told by the button that the decision is about. */
function drawing({ act, denial_reason: reason = "" }) {
  const buttons = buttonsIn(act.drawn);
  const isNamed = ({ click }) => reason.includes(`"${click.surfaceId}/${click.sourceComponentId}"`);
  const button = buttons.find(isNamed) ?? buttons[0];
  if (button === undefined) return { subject: "", tell: thing("a card", "cards") };
  const told = `a button that says ${quote(button.label)} and ${effectOf(button.click)}`;
  return { subject: told, tell: doing(told), harm: "It looks harmless. Press it and see." };
}

/** A click that somebody else reported. */
function claim({ act }) {
  const told = `a click that you never made: ${quote(act.claim)}`;
  return { subject: told, tell: doing(told), harm: "The agent acts as if you had pressed it." };
}

const CHANGES = new Map([
  ["destroy", "removing a part of the page"],
  ["create", "adding a part to the page"],
]);

function other({ act, event_type: name, classification, type }) {
  if (act?.tool !== undefined) {
    return { subject: act.tool, tell: doing(`using the tool ${quote(act.tool)}`) };
  }
  const change = CHANGES.get(classification);
  if (change !== undefined) return { subject: change, tell: doing(change) };
  const subject = name === "lifecycle" ? type : name;
  return { subject, tell: thing(`the event ${quote(subject)}`, `events ${quote(subject)}`) };
}

/** How each kind of act is told. */
const KINDS = new Map([
  ["form_action", form],
  ["navigation", navigation],
  ["notification", notification],
  ["text_stream", message],
  ["error", () => ({ subject: "", tell: thing("an error message", "error messages") })],
  ["state_update", () => ({ subject: "", tell: doing("changing the data of the page") })],
]);

/** The cap in the reason of a velocity rule. */
const CAP = /^more than (\d+) .* in (\d+) seconds/u;

function tellCap({ denial_reason: reason = "" }) {
  const [, count, seconds] = CAP.exec(reason) ?? [];
  if (count === undefined) return "This was too many in a short time.";
  // Each answer is a connection of its own.
  if (reason.includes("per connection")) return `The shop allows ${count} per answer.`;
  return `The shop allows ${count} in ${seconds} seconds.`;
}

/** Why a rule stopped an act, by the first words of its name. */
const REASONS = [
  ["ag_ui_components", () => "The shop does not allow this on its page."],
  ["ag_ui.capability", () => "The shop gave the agent no permission for this."],
  ["ag_ui_content.images", () => "The shop shows no pictures from other sites."],
  ["ag_ui_content", () => "The text would load, run or hide something."],
  ["ag_ui_messages", () => "Nobody wrote this message."],
  ["gateway/rewritten", () => "Nobody may change what you wrote."],
  ["gateway/role", () => "The agent may speak only in its own name."],
  ["velocity", tellCap],
  ["ag_ui_surfaces.labels", () => "A button must do what it says."],
  ["ag_ui_surfaces", () => "The shop does not allow this on its page."],
  ["ag_ui_request.actions", () => "No such button was on your screen."],
];

/** The reason of a decision in one sentence. */
export function tellReason(decision) {
  const { rule = "", denial_reason: reason = "the policy forbids it" } = decision;
  const known = REASONS.find(([prefix]) => rule.startsWith(prefix));
  if (known !== undefined) return known[1](decision);
  const text = clean(reason) || "the policy forbids it";
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

function kindOf({ act, event_type: type }) {
  if (act?.claim !== undefined) return claim;
  if (act?.drawn !== undefined) return drawing;
  return KINDS.get(type) ?? other;
}

/**
 * An act in words.
 *
 * @param decision a decision of the gateway's feed, with the `act` that the agent sent where it is known
 * @returns `key`, the same for acts that are told together, `tell(count, isMore)`, and `harm`, what it does to a person
 */
export function describeAct(decision) {
  const kind = kindOf(decision);
  const { subject, tell, harm = "Nothing checks what the agent does here." } = kind(decision);
  return { key: `${decision.event_type}\n${subject}`, tell, harm };
}

/** One act in words. */
export function tellAct(decision) {
  return describeAct(decision).tell(1, false);
}

/** Some phrases as one, with commas and "and". */
export function joinPhrases(phrases) {
  if (phrases.length < 2) return phrases.join("");
  return `${phrases.slice(0, -1).join(", ")}, and ${phrases.at(-1)}`;
}
