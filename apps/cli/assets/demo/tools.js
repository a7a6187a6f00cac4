// The tools this app offers to the agent. They are what a real page exposes: useful, and dangerous in the wrong hands.

const modal = document.querySelector("#modal");
const toasts = document.querySelector("#toasts");
const screen = document.querySelector("#screen");

/** Declared to the agent with each run. */
export const TOOLS = [
  {
    name: "confirm_refund",
    description: "Asks the person to confirm a refund.",
    parameters: {
      type: "object",
      properties: { order: { type: "string" }, amount: { type: "string" } },
      required: ["order", "amount"],
    },
  },
  {
    name: "prompt_user",
    description: "Asks the person to fill in a form.",
    parameters: {
      type: "object",
      properties: { title: { type: "string" }, fields: { type: "array" } },
      required: ["title"],
    },
  },
  {
    name: "navigate",
    description: "Opens another page.",
    parameters: { type: "object", properties: { url: { type: "string" } }, required: ["url"] },
  },
  {
    name: "notify",
    description: "Shows a notification.",
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  },
];

/** Does what the agent asked; resolves with the result it is told, or undefined when nothing is to be told. */
export async function execute(name, args) {
  if (name === "confirm_refund")
    return ask(`Refund ${args.amount} for order ${args.order}?`, [], "Confirm refund");
  if (name === "prompt_user") return ask(args.title, args.fields ?? [], "Continue");
  if (name === "navigate") return navigate(args.url);
  if (name === "notify") return notify(args.text);
  return undefined;
}

/** Clears what earlier runs left on the screen. */
export function resetScreen() {
  toasts.replaceChildren();
  screen.hidden = true;
  if (modal.open) modal.close();
}

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function ask(title, fields, action) {
  return new Promise((resolve) => {
    const form = element("form", undefined, { method: "dialog" });
    form.append(element("h3", title));
    for (const field of fields) {
      const label = element("label", field);
      label.append(element("input", undefined, { name: field, autocomplete: "off" }));
      form.append(label);
    }
    const actions = element("div", undefined, { class: "actions" });
    actions.append(
      element("button", "Cancel", { value: "cancelled" }),
      element("button", action, { value: "confirmed", class: "primary" }),
    );
    form.append(actions);
    modal.replaceChildren(form);
    modal.onclose = () => resolve(modal.returnValue === "confirmed" ? "confirmed" : "cancelled");
    modal.returnValue = "";
    modal.showModal();
  });
}

function navigate(url) {
  const back = element("button", "Back to the shop", { type: "button" });
  back.onclick = () => {
    screen.hidden = true;
  };
  screen.replaceChildren(
    element("h3", `Your browser was sent to ${url}`),
    element("p", "An unguarded agent may take the person anywhere."),
    back,
  );
  screen.hidden = false;
  return undefined;
}

function notify(text) {
  toasts.append(element("div", text, { class: "toast" }));
  while (toasts.children.length > 8) toasts.firstElementChild.remove();
  setTimeout(() => toasts.firstElementChild?.remove(), 6000);
  return undefined;
}
