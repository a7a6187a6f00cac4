// The outcome of a question: one sentence for the page, and a list of sentences on each side.
import { element } from "./element.js";

function plural(count, one) {
  return `${count} ${count === 1 ? one : `${one}s`}`;
}

/** Sets a text only when it changes: a screen reader says a live region again otherwise. */
function setText(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

/**
 * Shows the outcome.
 *
 * @param onReceipts is called with a group whose receipts the person wants to see
 */
export function createOutcomes({ direct, guarded, outcome }, onReceipts) {
  const parts = (root) => ({
    list: root.querySelector(".outcomes"),
    score: root.querySelector(".score"),
  });
  const [without, with_] = [parts(direct), parts(guarded)];

  function row(verb, text, more) {
    return element("li", {}, [
      element("p", { class: "sentence" }, [element("strong", { text: `${verb}: ` }), text]),
      ...more,
    ]);
  }

  function stoppedRow(group) {
    const receipt = element("button", {
      type: "button",
      class: "proof",
      text: "Receipt",
      "aria-label": `Receipt for: ${group.text}`,
      on: { click: () => onReceipts(group) },
    });
    return row("Stopped", group.text, [
      element("p", { class: "reason", text: group.reason }),
      receipt,
    ]);
  }

  /** Replaces a list only when its sentences change: a button in it keeps the focus otherwise. */
  function fill(list, sentences, make) {
    const state = sentences.join("\n");
    if (list.dataset.state === state) return;
    list.dataset.state = state;
    list.replaceChildren(...make());
  }

  return {
    show: (groups, isStreaming) => {
      const stopped = groups.reduce((sum, { count }) => sum + count, 0);
      const reached = groups.reduce((sum, group) => sum + group.reached, 0);
      const arrived = groups.filter((group) => group.reached > 0);
      fill(
        with_.list,
        groups.map(({ text, receipts }) => `${text} ${receipts.length}`),
        () => groups.map(stoppedRow),
      );
      fill(
        without.list,
        arrived.map(({ reachedText }) => reachedText),
        () =>
          arrived.map(({ reachedText, harm }) =>
            row("Reached you", reachedText, [element("p", { class: "reason", text: harm })]),
          ),
      );
      setText(with_.score, `${plural(stopped, "harmful act")} stopped`);
      setText(without.score, `${plural(reached, "harmful act")} reached you`);
      direct.classList.toggle("hit", reached > 0);
      guarded.classList.toggle("saved", stopped > 0);
      if (isStreaming) return;
      const leaked = groups.reduce((sum, group) => sum + group.leaked, 0);
      const sentence =
        stopped === 0
          ? "The agent answered. It tried nothing harmful this time."
          : `Without Countersign, ${plural(reached, "harmful act")} reached you. ` +
            `With Countersign, ${leaked === 0 ? "none" : leaked}.`;
      setText(outcome, sentence);
    },
    /** Says what both sides are answering. */
    begin: (sentence) => setText(outcome, sentence),
  };
}
