import { useState } from "react";
import type { ReactNode } from "react";
import type { Policy } from "../api/responses.js";
import { StateBadge } from "../components/badge.js";
import { Reason } from "../components/needs-role.js";
import { Text } from "../components/text.js";
import { Scroll } from "../components/scroll.js";
import { visibleText } from "../components/visible-text.js";
import { ChangePolicy, useReadOnly } from "./apply-policy.js";
import { policyBlocks } from "./format-policy.js";
import type { PolicyBlock } from "./format-policy.js";

/** The blocks of a policy, each with its settings in words and the switch of its mode. */
export function PolicyBlocks({
  policy,
  onChange,
}: {
  readonly policy: Policy;
  readonly onChange: () => void;
}): ReactNode {
  const [switching, setSwitching] = useState<PolicyBlock>();
  const readOnly = useReadOnly(policy);
  return (
    <section className="card" aria-labelledby="blocks">
      <div className="head">
        <h2 id="blocks">Blocks and settings</h2>
        <Reason text={readOnly} />
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
                  {block.mode === "off" ? null : (
                    <button
                      type="button"
                      className="small"
                      disabled={readOnly !== undefined}
                      onClick={() => setSwitching(block)}
                    >
                      {block.mode === "observe" ? "Enforce…" : "Observe…"}
                      <span className="unseen"> block {visibleText(block.name)}</span>
                    </button>
                  )}
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
      {switching === undefined ? null : (
        <SwitchMode
          policy={policy}
          block={switching}
          onDone={() => {
            setSwitching(undefined);
            onChange();
          }}
        />
      )}
    </section>
  );
}

function SwitchMode({
  policy,
  block: { name, mode },
  onDone,
}: {
  readonly policy: Policy;
  readonly block: PolicyBlock;
  readonly onDone: () => void;
}): ReactNode {
  const next = mode === "observe" ? "enforce" : "observe";
  return (
    <ChangePolicy
      title={next === "enforce" ? "Enforce this block?" : "Only observe with this block?"}
      action={next === "enforce" ? "Enforce" : "Observe"}
      path="/v1/policy/mode"
      body={{ block: name, mode: next, expect: policy.hash }}
      done={`The block ${visibleText(name)} is in ${next} mode`}
      onDone={onDone}
    >
      <p>
        Block{" "}
        <strong>
          <Text value={name} isWrapped />
        </strong>
        :{" "}
        {next === "enforce"
          ? "the gateway blocks events that violate its rules. See above which events that would have been."
          : "the gateway forwards events that violate its rules and records the rule. Nothing of this block is blocked any more."}
      </p>
      <p className="faint">
        The gateway writes the mode into the policy file and keeps its comments.
      </p>
    </ChangePolicy>
  );
}
