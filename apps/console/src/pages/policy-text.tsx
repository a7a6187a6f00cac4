import { useEffect, useRef, useState } from "react";
import type { ReactNode } from "react";
import type { Policy } from "../api/responses.js";
import { hrefOf } from "../route/route.js";
import { CopyButton } from "../components/copy-button.js";
import { Text } from "../components/text.js";
import { visibleText } from "../components/visible-text.js";
import type { Token } from "../editor/code-mirror.js";

/** The active document with highlighting; each rule leads to its line. */
export function PolicyText({
  policy,
  line,
}: {
  readonly policy: Policy;
  readonly line: number | undefined;
}): ReactNode {
  const isSource = policy.text !== undefined;
  const text = policy.text ?? JSON.stringify(policy.document, undefined, 2);
  return (
    <section className="card" aria-labelledby="document">
      <div className="head">
        <h2 id="document">Active document</h2>
        <CopyButton text={text} what="policy" />
      </div>
      {isSource ? (
        <p className="faint small-print">
          <Text value={policy.file ?? policy.files.join(", ")} isWrapped />
        </p>
      ) : (
        <p className="faint small-print">
          The policy comes from several files or is built in: this is the document as the gateway
          loaded it.
        </p>
      )}
      <RuleLinks policy={policy} />
      <Lines key={policy.hash} text={text} marked={line} />
    </section>
  );
}

function RuleLinks({ policy: { rules, lines = {} } }: { readonly policy: Policy }): ReactNode {
  return (
    <details>
      <summary>
        {rules.length} {rules.length === 1 ? "rule" : "rules"}, in order of evaluation
      </summary>
      <ul className="chips rule-links">
        {rules.map((rule) => {
          const line = Object.hasOwn(lines, rule) ? lines[rule] : undefined;
          return (
            <li key={rule}>
              {line === undefined ? (
                <Text value={rule} />
              ) : (
                <a href={hrefOf(["policy"], { line: String(line) })}>
                  <Text value={rule} />
                </a>
              )}
            </li>
          );
        })}
      </ul>
    </details>
  );
}

function Lines({
  text,
  marked,
}: {
  readonly text: string;
  readonly marked: number | undefined;
}): ReactNode {
  const [lines, setLines] = useState<readonly (readonly Token[])[]>(() =>
    text.split("\n").map((line) => [{ text: line, kind: "" }]),
  );
  useEffect(() => {
    let isGone = false;
    void import("../editor/code-mirror.js")
      .then(({ highlightYaml }) => {
        if (!isGone) setLines(highlightYaml(text));
      })
      // Without highlighting the text is the same.
      .catch(() => {});
    return () => {
      isGone = true;
    };
  }, [text]);
  const place = useRef<HTMLLIElement>(null);
  useEffect(() => place.current?.scrollIntoView({ block: "center" }), [marked]);
  return (
    <ol className="code" tabIndex={0} aria-label="Policy, line by line">
      {lines.map((tokens, at) => (
        <li
          key={at}
          ref={at + 1 === marked ? place : undefined}
          className={at + 1 === marked ? "marked" : undefined}
        >
          <code>
            {tokens.map((token, index) => (
              <span key={index} className={token.kind === "" ? undefined : token.kind}>
                {visibleText(token.text)}
              </span>
            ))}
          </code>
        </li>
      ))}
    </ol>
  );
}
