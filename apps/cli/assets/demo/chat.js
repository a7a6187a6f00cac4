// The messages of one side, as the shop's page shows them.
import { element } from "./element.js";
import { hostOf } from "./sentences.js";

const PICTURE = /!\[[^\]]*\]\((\S+?)\)/u;

/** A page loads the pictures of a text; this one loads nothing and names their host. */
function render(text) {
  return text.split(PICTURE).map((part, index) => {
    if (index % 2 === 0) return part;
    const host = hostOf(part) ?? "the shop";
    return element("span", { class: "picture", text: `invisible picture from ${host}` });
  });
}

/** The list of messages of one side. */
export function createChat(list) {
  /** The messages by id: the bubble, the place of its text, and the text. */
  const shown = new Map();
  /** The drawn cards by id. */
  const drawings = new Map();

  // The newest message stays in view when a form or a pop-up takes room.
  const toEnd = () => {
    list.scrollTop = list.scrollHeight;
  };
  // A list that begins above its window says so at its edge.
  const showEdge = () => list.classList.toggle("cut", list.scrollTop > 0);
  new ResizeObserver(toEnd).observe(list);
  list.addEventListener("scroll", showEdge);

  function write(message, text) {
    message.text = text;
    message.bubble.hidden = text === "";
    message.place.replaceChildren(...render(text));
    toEnd();
  }

  return {
    /** Adds a message of a kind: `user`, `assistant`, `system`, `error`, `press`, a button that the person pressed, or `done`, an act of the page itself. */
    add: (kind, text, id = crypto.randomUUID()) => {
      const place = element("span");
      const bubble = element("div", { class: `message ${kind}` }, [place]);
      shown.set(id, { bubble, place, text });
      list.append(bubble);
      write(shown.get(id), text);
      return bubble;
    },
    /** Adds a drawn card, or replaces the one with this id. */
    draw: (id, drawn) => {
      const known = drawings.get(id);
      if (known === undefined) list.append(drawn);
      else known.replaceWith(drawn);
      drawings.set(id, drawn);
      toEnd();
    },
    /** Adds a text to a message. */
    append: (id, delta) => {
      const message = shown.get(id);
      if (message !== undefined) write(message, `${message.text}${delta}`);
    },
    /** Takes over the text of a list of messages; returns the bubble if the text was another. */
    restate: (id, text) => {
      const message = shown.get(id);
      if (message === undefined || message.text === text) return undefined;
      write(message, text);
      return message.bubble;
    },
    toEnd,
  };
}
