import { A2uiSurface, basicCatalog } from "@a2ui/react/v0_9";
import { Catalog, MessageProcessor } from "@a2ui/web_core/v0_9";
import { createElement } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import type { JsonValue } from "@countersign/core";

/** The controls and the loaded URLs of the page that the official React renderer drew. */
export interface DrawnPage {
  readonly buttons: readonly DrawnButton[];
  readonly urls: readonly string[];
  readonly labels: readonly string[];
}

export interface DrawnButton {
  /** All texts in it, with those of its images. */
  readonly text: string;
  /** The text on the screen before a click, without the pictures of icons. */
  readonly visible: string;
  readonly actions: readonly JsonValue[];
}

const { components, functions } = basicCatalog;
const catalogue = new Catalog(
  "https://a2ui.org/specification/v0_9/basic_catalog.json",
  [...components.values()],
  [...functions.values()],
);

/** Draws each surface in the page, reads it and clicks every button; runs in a browser. */
function draw(text: string): DrawnPage[] {
  const surfaces = JSON.parse(text) as readonly (readonly JsonValue[])[];
  return surfaces.map((operations) => {
    let clicks: JsonValue[] = [];
    const processor = new MessageProcessor([catalogue], (action) => {
      const whole = JSON.stringify(action, (_, value: unknown) => value ?? null);
      clicks.push(JSON.parse(whole) as JsonValue);
    });
    processor.processMessages(operations as never);
    const surface = processor.model.getSurface("s");
    const container = document.createElement("div");
    document.body.append(container);
    const root = createRoot(container);
    flushSync(() => root.render(surface && createElement(A2uiSurface, { surface })));
    const elements = readElements(container);
    // A click opens modals, so the texts are read before the first one.
    const drawn = readButtons(container);
    const buttons = drawn.map(({ button, ...texts }) => {
      clicks = [];
      flushSync(() => button.click());
      return { ...texts, actions: clicks };
    });
    const page = { buttons, ...elements };
    root.unmount();
    container.remove();
    return page;
  });
}

/** Every button of the agent; those of tabs are the renderer's own. */
function readButtons(container: Element) {
  // An icon is the name of a picture in a font, which this page does not load.
  const icons = [...container.querySelectorAll<HTMLElement>(".material-symbols-outlined")];
  const buttons = [...container.querySelectorAll("button")].filter(
    (one) => !one.classList.contains("a2ui-tabs-header"),
  );
  const texts = buttons.map((one) => textOf(one));
  for (const icon of icons) icon.style.display = "none";
  return buttons.map((button, index) => ({
    button,
    text: texts[index] ?? "",
    visible: button.checkVisibility() ? button.innerText : "",
  }));
}

function readElements(container: Element): Pick<DrawnPage, "urls" | "labels"> {
  const media = [...container.querySelectorAll("[src], [href], [poster]")];
  const urls = media.flatMap((one) =>
    ["src", "href", "poster"].flatMap((name) => one.getAttribute(name) ?? []),
  );
  const labels = [...container.querySelectorAll("label")].map((one) => one.textContent);
  return { urls, labels };
}

/** The text of an element with the texts of its images. */
function textOf(element: Element): string {
  return [...element.childNodes]
    .map((node) => {
      if (node instanceof HTMLImageElement) return node.alt;
      return node instanceof Element ? textOf(node) : (node.textContent ?? "");
    })
    .join(" ");
}

Object.assign(globalThis, { draw });
