import { A2uiSurface, basicCatalog } from "@a2ui/react/v0_9";
import { Catalog, MessageProcessor } from "@a2ui/web_core/v0_9";
import { createElement } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import type { JsonValue } from "@countersign/core";

/** What a person can act on and what is loaded, from the page that the official React renderer drew. */
export interface DrawnPage {
  readonly buttons: readonly { readonly text: string; readonly actions: readonly JsonValue[] }[];
  readonly urls: readonly string[];
  readonly labels: readonly string[];
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
    const page = { buttons: [] as DrawnPage["buttons"][number][], ...readElements(container) };
    for (const button of container.querySelectorAll("button")) {
      clicks = [];
      const shown = textOf(button);
      flushSync(() => button.click());
      page.buttons.push({ text: shown, actions: clicks });
    }
    root.unmount();
    container.remove();
    return page;
  });
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
