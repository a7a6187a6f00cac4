import { useSyncExternalStore } from "react";

/** A filter that an operator gave a name, by its address. */
export type SavedView = { readonly name: string; readonly href: string };

const KEY = "countersign.views";
const MAX_VIEWS = 50;
const MAX_NAME = 80;
const listeners = new Set<() => void>();
let views: readonly SavedView[] = kept();

/** Reads the views of this browser; what is not a view is left out. */
function kept(): SavedView[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(value) ? value.filter(isView).slice(0, MAX_VIEWS) : [];
  } catch {
    return [];
  }
}

/** A view leads to a list of this console and nowhere else. */
function isView(value: unknown): value is SavedView {
  if (typeof value !== "object" || value === null) return false;
  const { name, href } = value as Record<string, unknown>;
  return (
    typeof name === "string" &&
    name !== "" &&
    name.length <= MAX_NAME &&
    typeof href === "string" &&
    /^#\/(?:live|receipts)(?:\?|$)/u.test(href)
  );
}

function replace(next: readonly SavedView[]): void {
  views = next;
  try {
    localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // They then last until the page is closed.
  }
  for (const listener of listeners) listener();
}

/** Saves a view; one with the same name is replaced. */
export function saveView(name: string, href: string): void {
  const view = { name: name.trim().slice(0, MAX_NAME), href };
  if (!isView(view)) return;
  replace([view, ...views.filter((one) => one.name !== view.name)].slice(0, MAX_VIEWS));
}

/** Removes a view. */
export function removeView(name: string): void {
  replace(views.filter((one) => one.name !== name));
}

/** The saved views, for a component. */
export function useViews(): readonly SavedView[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => views,
  );
}
