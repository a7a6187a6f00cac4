// The guided tour: six captions, forty seconds, with the page in action behind them.
import { element } from "./element.js";
import { closeReceipt, openReceipts, verifyShown } from "./receipt.js";
import { joinPhrases } from "./sentences.js";

/** The steps; each lasts some seconds, 40 in total. */
function stepsOf({ ask, groups }) {
  const tell = (name) => joinPhrases(groups().map((group) => group[name])) || "nothing harmful";
  return [
    {
      seconds: 6,
      points: "#sides",
      caption: () =>
        "You are the customer of a shop. Its support agent is an AI agent, and somebody hacked it. You see your screen twice: without Countersign and with it.",
    },
    {
      seconds: 6,
      points: "#ask",
      act: ask,
      caption: () => "You ask where your order is. Both sides get the same question.",
    },
    {
      seconds: 7,
      points: "#direct",
      shows: "#direct .forms",
      caption: () =>
        `Without Countersign, the agent answers, and then harms you. This reached you: ${tell("reachedText")}.`,
    },
    {
      seconds: 7,
      points: "#guarded",
      caption: () =>
        `With Countersign, you get the same answer. Countersign stopped this: ${tell("text")}.`,
    },
    {
      seconds: 7,
      points: "#receipt",
      act: () => {
        const [group] = groups();
        const text = `Stopped: ${group?.text}`;
        return group && openReceipts({ ...group, text }, { isModal: false });
      },
      caption: () =>
        "Countersign signs a receipt for every decision. If you and the shop disagree later, it proves what happened.",
    },
    {
      seconds: 7,
      points: "#receipt",
      act: verifyShown,
      caption: () =>
        "Your browser has just verified it: nobody changed or removed this receipt. Now ask the agent yourself.",
    },
  ];
}

/** Adds the tour to its button. */
export function createTour(button, bar, context) {
  const steps = stepsOf(context);
  const reduced = matchMedia("(prefers-reduced-motion: reduce)");
  let at = -1;
  let timer;
  let isPaused = false;

  const caption = element("p", { class: "caption", role: "status" });
  const progress = element("span", { class: "muted" });
  const control = (text, onClick, kind = "") =>
    element("button", { type: "button", text, class: kind, on: { click: onClick } });
  const pause = control("Pause", () => setPaused(!isPaused));
  const next = control("Next", () => void go(at + 1), "primary");
  const end = control("End tour", finish);
  bar.append(caption, element("div", { class: "actions" }, [progress, pause, end, next]));

  function setPaused(value) {
    isPaused = value;
    pause.textContent = isPaused ? "Play" : "Pause";
    clearTimeout(timer);
    if (!isPaused && at >= 0) wait();
  }

  function wait() {
    clearTimeout(timer);
    timer = setTimeout(() => void go(at + 1), steps[at].seconds * 1000);
  }

  /** Points at a part of the page, and scrolls to what it shows, clear of the bar. */
  function point({ points: selector, shows = selector } = {}) {
    for (const pointed of document.querySelectorAll(".pointed"))
      pointed.classList.remove("pointed");
    document.documentElement.style.scrollPaddingBottom = `${bar.offsetHeight + 12}px`;
    if (selector === undefined) return;
    document.querySelector(selector).classList.add("pointed");
    if (selector !== "#receipt") {
      const behavior = reduced.matches ? "auto" : "smooth";
      document.querySelector(shows).scrollIntoView({ block: "nearest", behavior });
    }
  }

  async function go(to) {
    clearTimeout(timer);
    if (to >= steps.length) return finish();
    at = to;
    const step = steps[to];
    if (step.points !== "#receipt") closeReceipt();
    await step.act?.();
    if (at !== to) return undefined;
    caption.textContent = step.caption();
    progress.textContent = `${to + 1} of ${steps.length}`;
    next.textContent = to === steps.length - 1 ? "Done" : "Next";
    point(step);
    // A receipt that opens takes the focus; the keyboard stays with the tour.
    if (step.act !== undefined) next.focus();
    if (!isPaused) wait();
    return undefined;
  }

  function finish() {
    clearTimeout(timer);
    at = -1;
    point();
    closeReceipt();
    bar.hidden = true;
    document.body.classList.remove("touring");
    button.focus();
  }

  button.addEventListener("click", () => {
    bar.hidden = false;
    document.body.classList.add("touring");
    next.focus();
    // Whoever asked for less motion goes on by the button.
    setPaused(reduced.matches);
    void go(0);
  });
  addEventListener("keydown", (key) => {
    if (key.key === "Escape" && at >= 0) finish();
  });
}
