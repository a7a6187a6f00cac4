import type { ReactNode } from "react";
import type {
  SurfaceAction,
  SurfaceDrawing,
  SurfaceInfo,
  SurfaceInput,
} from "@countersign/surface";
import { Text } from "../components/text.js";
import type { Drawn } from "./drawings.js";
import { treeOf } from "./drawing-tree.js";
import type { DrawingNode } from "./drawing-tree.js";
import { shorten } from "./shorten.js";

/** Inputs, URLs or texts of one component that are displayed. */
const MAX_PARTS = 20;

/** An interface as boxes of text. It has no control, no link and no picture: nothing loads and nothing can be pressed. */
export function DrawingView({ drawn }: { readonly drawn: Drawn }): ReactNode {
  const { surfaces, problems, reason } = drawn;
  const [problem] = problems;
  return (
    <div className="drawing">
      {surfaces.map((one) => (
        <SurfaceBox
          key={`${one.surface.kind} ${one.surface.surfaceId}`}
          drawing={one}
          reason={reason}
        />
      ))}
      {problem === undefined ? null : (
        <p className="small-print">
          Not all of it is known: <Text value={problem} isWrapped />
          {problems.length > 1 ? ` And ${problems.length - 1} more.` : ""}
        </p>
      )}
      {reason === undefined ? null : (
        <p className="small-print drawing-reason">
          Blocked: <Text value={shorten(reason)} isWrapped />
        </p>
      )}
    </div>
  );
}

function SurfaceBox({
  drawing,
  reason,
}: {
  readonly drawing: SurfaceDrawing;
  readonly reason: string | undefined;
}): ReactNode {
  const { surface, components, isCut } = drawing;
  const { kind, surfaceId, version, catalogueId, html, app } = surface;
  const { roots, leftOut } = treeOf(drawing, reason);
  return (
    <div className="drawn-surface">
      <p className="drawn-head faint">
        {TITLES[kind]}
        {version === undefined ? "" : ` ${version}`} <Text value={shorten(surfaceId)} isWrapped />
        {catalogueId === undefined ? null : (
          <>
            {" "}
            · catalogue <Text value={shorten(catalogueId)} isWrapped />
          </>
        )}
        {surface.sendDataModel ? " · sends its data with every message" : ""}
      </p>
      {app === undefined ? null : <AppFacts app={app} />}
      {html === undefined ? null : <HtmlFacts html={html} />}
      {components.length === 0 ? (
        <p className="faint small-print">Nothing is drawn: the surface has no root component.</p>
      ) : (
        <Nodes nodes={roots} />
      )}
      {leftOut === 0 ? null : (
        <p className="small-print">
          Left out: {counted(leftOut, "deeply nested component")} without text.
        </p>
      )}
      {isCut ? (
        <p className="small-print">
          Too large to draw here: these are its first {components.length} components.
        </p>
      ) : null}
    </div>
  );
}

const TITLES: Readonly<Record<SurfaceInfo["kind"], string>> = {
  a2ui: "A2UI",
  "mcp-app": "MCP App",
  "html-sandbox": "HTML in a sandbox",
};

function AppFacts({ app }: { readonly app: NonNullable<SurfaceInfo["app"]> }): ReactNode {
  return (
    <p className="small-print">
      resource <Text value={shorten(app.resourceUri)} isWrapped /> · server{" "}
      <Text value={shorten(app.serverId ?? app.serverHash ?? "")} isWrapped />
      {app.hasToolInput ? " · gets the arguments of its tool" : ""}
    </p>
  );
}

function HtmlFacts({ html }: { readonly html: NonNullable<SurfaceInfo["html"]> }): ReactNode {
  const { bytes, styleBytes, scriptBytes, forms, scripts, frames, hash, isComplete } = html;
  return (
    <p className="small-print">
      {(bytes + styleBytes + scriptBytes).toLocaleString()} bytes · {counted(forms, "form")} ·{" "}
      {counted(scripts, "script")} · {counted(frames, "frame")}
      {isComplete ? "" : " · not complete"} · SHA-256 <span className="mono">{hash}</span>
    </p>
  );
}

function counted(number: number, noun: string): string {
  return `${number.toLocaleString()} ${noun}${number === 1 ? "" : "s"}`;
}

function Nodes({ nodes }: { readonly nodes: readonly DrawingNode[] }): ReactNode {
  return (
    <ul className="drawn-nodes">
      {nodes.map((node, at) => (
        <NodeBox key={at} node={node} />
      ))}
    </ul>
  );
}

function NodeBox({ node: { component, children, hasDecided } }: { readonly node: DrawingNode }) {
  const { componentType, id, label, actions, inputs, urls, kind, accessibilityLabel, texts } =
    component;
  const isActing = actions.length > 0;
  const hasOwnText = !isActing && inputs.length === 0 && label !== "";
  return (
    <li
      className={`drawn-node${hasDecided ? " decided" : ""}${componentType === "a2ui:Row" ? " row" : ""}`}
    >
      <p className="drawn-head faint">
        <span className="drawn-type">
          <Text value={shorten(componentType.replace(/^a2ui:/u, ""))} isWrapped />
        </span>{" "}
        {kind === "a2ui" ? <Text value={shorten(id)} isWrapped /> : null}
        {hasDecided ? <strong className="drawn-decided">reason for the block</strong> : null}
      </p>
      {hasOwnText ? (
        <p className="drawn-text">
          <Text value={shorten(label)} isWrapped />
        </p>
      ) : null}
      {actions.slice(0, MAX_PARTS).map((action) => (
        <ActionBox key={action.path} action={action} label={label} />
      ))}
      {inputs.slice(0, MAX_PARTS).map((input, at) => (
        <InputBox key={at} input={input} />
      ))}
      {accessibilityLabel === undefined || accessibilityLabel === label ? null : (
        <p className="small-print faint">
          Read aloud as <Text value={shorten(accessibilityLabel)} isWrapped />
        </p>
      )}
      {kind === "a2ui" || texts.length === 0 ? null : (
        <p className="drawn-text">
          <Text value={shorten(texts.slice(0, MAX_PARTS).join(" "))} isWrapped />
        </p>
      )}
      {urls.slice(0, MAX_PARTS).map((url, at) => (
        <p key={at} className="small-print">
          <span className="faint">{url.use}</span>{" "}
          <span className="mono">
            <Text value={shorten(url.value)} isWrapped />
          </span>
        </p>
      ))}
      <More count={actions.length} noun="action" />
      <More count={inputs.length} noun="input" />
      <More count={urls.length} noun="URL" />
      {children.length === 0 ? null : <Nodes nodes={children} />}
    </li>
  );
}

function More({ count, noun }: { readonly count: number; readonly noun: string }): ReactNode {
  if (count <= MAX_PARTS) return null;
  return <p className="small-print faint">And {counted(count - MAX_PARTS, `more ${noun}`)}.</p>;
}

function ActionBox({
  action: { name, kind, contextKeys },
  label,
}: {
  readonly action: SurfaceAction;
  readonly label: string;
}): ReactNode {
  return (
    <p className="drawn-action">
      <span className="drawn-button">
        {label === "" ? "(no label)" : <Text value={shorten(label)} isWrapped />}
      </span>{" "}
      → <Text value={shorten(name)} isWrapped />
      <span className="faint">
        {kind === "function" ? " in the page" : ""}
        {contextKeys.length === 0 ? null : (
          <>
            {" "}
            with <Text value={shorten(contextKeys.join(", "))} isWrapped />
          </>
        )}
      </span>
    </p>
  );
}

function InputBox({ input }: { readonly input: SurfaceInput }): ReactNode {
  const { label, id, type, isSecret, hints } = input;
  return (
    <p className="drawn-action">
      <span className="drawn-input">
        {label === "" ? (
          <Text value={shorten(id)} isWrapped />
        ) : (
          <Text value={shorten(label)} isWrapped />
        )}
      </span>{" "}
      <span className="faint">
        asks for {type}
        {isSecret ? ", hides what is typed" : ""}
        {hints.length === 0 ? null : (
          <>
            {" · "}
            <Text value={shorten(hints.join(", "))} isWrapped />
          </>
        )}
      </span>
    </p>
  );
}
