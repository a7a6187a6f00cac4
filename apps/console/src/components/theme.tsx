import { useSyncExternalStore } from "react";
import type { ReactNode } from "react";

const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

const KEY = "countersign.theme";
const listeners = new Set<() => void>();
let theme: Theme = kept();
apply();

function kept(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return THEMES.find((name) => name === value) ?? "system";
  } catch {
    return "system";
  }
}

function apply(): void {
  document.documentElement.dataset["theme"] = theme;
}

function choose(next: Theme): void {
  theme = next;
  apply();
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // It then lasts until the page is closed.
  }
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", listener);
  return () => {
    listeners.delete(listener);
    system.removeEventListener("change", listener);
  };
}

/** Which colours are shown now; charts draw anew when it changes. */
export function useColours(): "light" | "dark" {
  return useSyncExternalStore(subscribe, () => {
    if (theme !== "system") return theme;
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  });
}

/** The switch between the system's colours, light and dark. */
export function ThemeSwitch(): ReactNode {
  const chosen = useSyncExternalStore(subscribe, () => theme);
  return (
    <label className="theme">
      <span>Colours</span>
      <select value={chosen} onChange={(event) => choose(event.target.value as Theme)}>
        {THEMES.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
