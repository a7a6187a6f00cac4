import type { ReactNode } from "react";
import type { Policy } from "../api/responses.js";
import { StateBadge } from "../components/badge.js";
import { CopyButton } from "../components/copy-button.js";
import { Text } from "../components/text.js";
import { Scroll } from "../components/scroll.js";
import { visibleText } from "../components/visible-text.js";
import { policyBlocks } from "./format-policy.js";

/** The blocks of a policy, each with its settings in words, and the whole as it was loaded. */
export function PolicyBlocks({ policy }: { readonly policy: Policy }): ReactNode {
  const text = JSON.stringify(policy.document, undefined, 2);
  return (
    <section className="card" aria-labelledby="blocks">
      <div className="head">
        <h2 id="blocks">Blocks and settings</h2>
        <CopyButton text={text} what="policy as JSON" />
      </div>
      <Scroll title="Blocks, scroll sideways">
        <table>
          <thead>
            <tr>
              <th scope="col">Block</th>
              <th scope="col">Mode</th>
              <th scope="col">Settings</th>
            </tr>
          </thead>
          <tbody>
            {policyBlocks(policy).map((block) => (
              <tr key={block.name}>
                <td>
                  <code>
                    <Text value={block.name} />
                  </code>
                </td>
                <td>
                  <StateBadge name={block.mode} />
                </td>
                <td>
                  {block.settings.length === 0 ? (
                    <span className="faint">defaults</span>
                  ) : (
                    <ul className="settings">
                      {block.settings.map(([name, value]) => (
                        <li key={name}>
                          <Text value={name} />: <Text value={value} isWrapped />
                        </li>
                      ))}
                    </ul>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p className="faint small-print">
        Rules, in order of evaluation: {policy.rules.length === 0 ? "none" : null}
        {policy.rules.map((rule, at) => (
          <span key={rule}>
            {at === 0 ? "" : ", "}
            <Text value={rule} isWrapped />
          </span>
        ))}
        .
      </p>
      <details>
        <summary>Full policy as loaded</summary>
        <pre className="wrapped" tabIndex={0} aria-label="Policy as JSON">
          {text.split("\n").map(visibleText).join("\n")}
        </pre>
      </details>
    </section>
  );
}
