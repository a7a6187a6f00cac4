import { useEffect, useState } from "react";
import type { ReactNode } from "react";
import { announce } from "./announce.js";

/** Copies a text, and says so. */
export function CopyButton({
  text,
  what,
}: {
  readonly text: string;
  readonly what: string;
}): ReactNode {
  const [state, setState] = useState<"" | "copied" | "failed">("");
  useEffect(() => {
    if (state === "") return undefined;
    const timer = setTimeout(() => setState(""), 2000);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setState("copied");
      announce(`${what} copied`);
    } catch {
      // A page without a secure context has no clipboard; the operator selects the text instead.
      setState("failed");
      announce(`${what} could not be copied`);
    }
  };
  return (
    <button type="button" className="small copy" onClick={copy} aria-label={`Copy ${what}`}>
      {state === "copied" ? "Copied" : state === "failed" ? "Copy failed" : "Copy"}
    </button>
  );
}
