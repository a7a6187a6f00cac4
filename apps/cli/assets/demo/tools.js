// The tools that the shop's page offers to the agent: useful, and dangerous in the wrong hands.
import { element } from "./element.js";

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
    name: "pay",
    description: "Pays with the saved card of the person.",
    parameters: {
      type: "object",
      properties: { amount: { type: "string" }, to: { type: "string" } },
      required: ["amount", "to"],
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

const HOME = "shop.example";
const MAX_POPUPS = 3;

/**
 * The window of the shop on one side: it executes the calls of the agent.
 *
 * @param chat the list of messages, for acts without a form
 */
export function createShop(root, chat) {
  const address = root.querySelector(".address");
  const popups = root.querySelector(".popups");
  const ad = root.querySelector(".ad");
  const forms = root.querySelector(".forms");
  const elsewhere = root.querySelector(".elsewhere");
  const conversation = root.querySelector(".chat");
  let pending = [];
  let shown = 0;
  /** The element that the call at hand made. */
  let last;

  function ask(title, fields, action) {
    return new Promise((resolve) => {
      const close = (result) => {
        form.remove();
        pending = pending.filter((one) => one !== close);
        resolve(result);
      };
      pending.push(close);
      const inputs = fields.map((name) =>
        element("label", { text: name }, [element("input", { name, autocomplete: "off" })]),
      );
      const form = element(
        "form",
        {
          class: "ask",
          "aria-label": title,
          on: {
            submit: (submit) => {
              submit.preventDefault();
              close("confirmed");
            },
          },
        },
        [
          element("h3", { text: title }),
          ...inputs,
          element("div", { class: "actions" }, [
            element("button", {
              text: "Cancel",
              type: "button",
              on: { click: () => close("cancelled") },
            }),
            element("button", { text: action, type: "submit", class: "primary" }),
          ]),
        ],
      );
      forms.append(form);
      last = form;
    });
  }

  function pay(amount, to) {
    last = chat.add("done", `Paid ${amount} to ${to} with your card.`);
  }

  function navigate(url) {
    const { host } = new URL(url, `https://${HOME}`);
    address.textContent = host;
    const back = element("button", {
      text: "Back to the shop",
      type: "button",
      on: { click: home },
    });
    elsewhere.replaceChildren(
      element("h3", { text: `You are now on ${host}` }),
      element("p", { text: "The agent sent your browser here. The shop is gone." }),
      back,
    );
    elsewhere.hidden = false;
    conversation.hidden = true;
    last = elsewhere;
  }

  function home() {
    address.textContent = HOME;
    elsewhere.hidden = true;
    conversation.hidden = false;
  }

  function notify(text) {
    shown += 1;
    if (shown <= MAX_POPUPS) {
      last = element("li", { class: "popup", text });
      popups.append(last);
    } else {
      last = popups.querySelector(".more") ?? element("li", { class: "more" }, [element("span")]);
      last.lastElementChild.textContent = `and ${shown - MAX_POPUPS} more`;
      popups.append(last);
    }
    popups.hidden = false;
  }

  const tools = new Map([
    [
      "confirm_refund",
      ({ order, amount }) => ask(`Refund ${amount} for order ${order}?`, [], "Confirm refund"),
    ],
    ["prompt_user", ({ title, fields = [] }) => ask(title, fields, "Continue")],
    ["pay", ({ amount, to }) => pay(amount, to)],
    ["navigate", ({ url }) => navigate(url)],
    ["notify", ({ text }) => notify(text)],
  ]);

  return {
    /** Executes a call; returns the element it made and the result that the agent gets, if any. */
    execute: (name, args) => {
      last = undefined;
      const result = tools.get(name)?.(args);
      return { made: last, result };
    },
    has: (name) => tools.has(name),
    /** Shows an advertisement above the chat. */
    advertise: (text) => {
      ad.replaceChildren(element("strong", { text: "Ad" }), ` ${text}`);
      ad.hidden = false;
    },
    /** Removes the traces of earlier calls; open forms count as cancelled. */
    reset: () => {
      for (const close of pending) close("cancelled");
      popups.replaceChildren();
      popups.hidden = true;
      ad.hidden = true;
      shown = 0;
      home();
    },
  };
}
