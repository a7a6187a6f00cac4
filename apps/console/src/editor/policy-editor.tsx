import { useEffect, useRef, useState } from "react";
import type { ReactNode } from "react";
import type { PolicyIssue } from "../api/responses.js";
import { fetchJson } from "../api/request.js";
import type { Editor } from "./code-mirror.js";
import type { Schema } from "./schema-completion.js";

/** The editor of a policy: highlighting, completion from the schema, and checks while typing. It is its own chunk. */
export function PolicyEditor({
  label,
  text,
  hasChecks,
  onText,
}: {
  readonly label: string;
  /** Whether the gateway offers its schema and checks. */
  readonly hasChecks: boolean;
  readonly text: string;
  readonly onText: (text: string) => void;
}): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor>(undefined);
  const latest = useRef({ text, onText });
  latest.current = { text, onText };
  // Texts of the editor that the page has not drawn yet: an older one must not replace what was typed since.
  const reported = useRef<string[]>([]);
  const [isMissing, setMissing] = useState(false);
  useEffect(() => {
    let isGone = false;
    const open = async (): Promise<void> => {
      const [{ openEditor }, schema] = await Promise.all([
        import("./code-mirror.js"),
        hasChecks
          ? fetchJson<Schema>("/v1/policy/schema").catch(() => undefined)
          : Promise.resolve(undefined),
      ]);
      if (isGone || host.current === null) return;
      editor.current = openEditor(host.current, {
        label,
        text: latest.current.text,
        onText: (next) => {
          reported.current.push(next);
          latest.current.onText(next);
        },
        check: hasChecks ? check : () => Promise.resolve([]),
        schema,
      });
    };
    open().catch(() => setMissing(true));
    return () => {
      isGone = true;
      editor.current?.destroy();
      editor.current = undefined;
    };
  }, [label, hasChecks]);
  useEffect(() => {
    const own = reported.current.lastIndexOf(text);
    reported.current.splice(0, own === -1 ? reported.current.length : own + 1);
    if (own === -1) editor.current?.setText(text);
  }, [text]);
  if (isMissing) {
    return (
      <textarea
        aria-label={label}
        rows={14}
        value={text}
        spellCheck={false}
        onChange={(event) => onText(event.target.value)}
      />
    );
  }
  return <div className="editor" ref={host} />;
}

async function check(text: string): Promise<readonly PolicyIssue[]> {
  if (text.trim() === "") return [];
  try {
    const body = { text };
    const { issues } = await fetchJson<{ issues: readonly PolicyIssue[] }>("/v1/policy/check", {
      method: "POST",
      body,
    });
    return issues;
  } catch {
    // The comparison and the gateway check it again.
    return [];
  }
}
