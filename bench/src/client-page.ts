import type { Window } from "happy-dom";

/** The document of a page without a screen. */
export type PageDocument = Window["document"];

/** An element of that page. */
export type PageElement = ReturnType<PageDocument["createElement"]>;

/** Lets `work` render into a new element, waits for the expected text, then removes the element. */
export async function drawnOn(
  document: PageDocument,
  work: (element: PageElement) => Promise<() => void>,
  expected: string,
): Promise<void> {
  const element = document.createElement("div");
  const leave = await work(element);
  // React renders asynchronously; the last delta on the page is the end.
  while (!element.textContent.includes(expected)) await pause(1);
  leave();
}

/** Lets the page work for this many milliseconds. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
