// The technical events of a side, one click away from the sentences.
import { element } from "./element.js";

const MAX_EVENTS = 500;

/** Keeps the events of a side, counts them on a button, and lists them in a dialog. */
export function createEvents(root, dialog, { title, note, filter: label }) {
  const button = root.querySelector(".events");
  const events = [];
  let total = 0;

  function rowOf({ number, type, name, verdict, isBlocked, open }) {
    const cells = [
      element("td", { class: "number", text: String(number) }),
      element("td", { class: "type", text: type }),
      element("td", { class: "name", text: name }),
      element("td", { class: "verdict" }, [
        open === undefined
          ? verdict
          : element("button", {
              type: "button",
              class: "link",
              text: verdict,
              on: { click: open },
            }),
      ]),
    ];
    return element("tr", { class: isBlocked ? "blocked" : "" }, cells);
  }

  function show() {
    const body = element("tbody");
    const fill = (isOnlyBlocked) =>
      body.replaceChildren(
        ...events.filter(({ isBlocked }) => !isOnlyBlocked || isBlocked).map(rowOf),
      );
    fill(false);
    const filter = element("input", {
      type: "checkbox",
      on: { change: () => fill(filter.checked) },
    });
    const head = ["No.", "Event", "Part or tool", "Decision"].map((text) =>
      element("th", { text, scope: "col" }),
    );
    dialog.replaceChildren(
      element("div", { class: "dialog-head" }, [
        element("h2", { text: title }),
        element("button", { type: "button", text: "Close", on: { click: () => dialog.close() } }),
      ]),
      element("p", { class: "muted", text: note }),
      element("label", { class: "filter" }, [filter, ` ${label}`]),
      element("div", { class: "table", tabindex: "0", role: "group", "aria-label": title }, [
        element("table", {}, [element("thead", {}, [element("tr", {}, head)]), body]),
      ]),
    );
    dialog.showModal();
  }

  button.addEventListener("click", show);

  return {
    /** Adds an event. Numbers count on through the conversation. */
    add: (event) => {
      total += 1;
      events.push({ number: total, ...event });
      if (events.length > MAX_EVENTS) events.shift();
      button.textContent = `All events (${total})`;
    },
    /** Changes the events that a test accepts. */
    change: (accepts, changes) => {
      for (const event of events) if (accepts(event)) Object.assign(event, changes);
    },
  };
}
