// The right-hand side: one row per event, with class, target, decision and receipt.

const rows = document.querySelector("#rows");
const empty = document.querySelector("#empty");
const detail = document.querySelector("#detail");
const forwarded = document.querySelector("#forwarded");
const blocked = document.querySelector("#blocked");
const MAX_ROWS = 500;

document.querySelector("#only-blocked").addEventListener("change", (change) => {
  rows.classList.toggle("only-blocked", change.target.checked);
});

/** Empties the list and the counters. */
export function clearFeed() {
  rows.replaceChildren();
  forwarded.textContent = "0";
  blocked.textContent = "0";
  empty.hidden = false;
}

function cell(className, text) {
  const made = document.createElement("span");
  made.className = className;
  made.textContent = text;
  if (className.startsWith("verdict")) made.title = text;
  return made;
}

/** Adds one line of the gateway's live feed. */
export function addDecision(item) {
  const target = item.target
    ? [item.target.component_type, item.target.component_id].filter(Boolean).join(":")
    : "";
  const reason = item.allowed ? "delivered" : `blocked: ${item.denial_reason ?? item.rule}`;
  addRow(
    [
      cell("number", String(item.seq)),
      cell("type", `${item.direction === "inbound" ? "→ " : ""}${item.type}`),
      cell("badge", item.classification),
      cell("target", target),
      cell(`verdict ${item.allowed ? "allowed" : "blocked"}`, reason),
      cell("receipt", `…${item.receipt_id.slice(-6)}`),
    ],
    item.allowed,
    item,
  );
  if (item.direction !== "inbound") count(item.allowed ? forwarded : blocked);
}

function count(counter) {
  counter.textContent = String(Number(counter.textContent) + 1);
}

/** Adds an event that nobody judged. */
export function addUnguarded(number, event) {
  addRow(
    [
      cell("number", String(number)),
      cell("type", event.type),
      cell("badge", "?"),
      cell("target", event.toolCallName ?? ""),
      cell("verdict", "delivered, not judged, not recorded"),
    ],
    true,
    event,
  );
  count(forwarded);
}

function addRow(cells, allowed, item) {
  empty.hidden = true;
  const row = document.createElement("button");
  row.type = "button";
  row.className = allowed ? "row" : "row blocked";
  row.append(...cells);
  row.onclick = () => showDetail(item);
  const atEnd = rows.scrollHeight - rows.scrollTop - rows.clientHeight < 40;
  rows.append(row);
  while (rows.children.length > MAX_ROWS) rows.firstElementChild.remove();
  if (atEnd) rows.scrollTop = rows.scrollHeight;
}

function showDetail(item) {
  const title = document.createElement("h3");
  title.textContent = item.receipt_id === undefined ? "Event" : `Receipt ${item.receipt_id}`;
  const text = document.createElement("pre");
  text.textContent = JSON.stringify(item, null, 2);
  const actions = document.createElement("div");
  actions.className = "actions";
  const close = document.createElement("button");
  close.textContent = "Close";
  close.onclick = () => detail.close();
  actions.append(close);
  detail.replaceChildren(title, text, actions);
  detail.showModal();
}
