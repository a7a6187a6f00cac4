import { ownMember } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { listMember, textMember } from "../json/values.js";
import type { Path } from "../yaml/source.js";

/** One actor, whichever of the three forms wrote it. */
export type ActorView = {
  readonly name: string;
  readonly mode: string | undefined;
  /** The path of the phase list; `undefined` in the single-phase form, which has no list. */
  readonly phasesPath: Path | undefined;
  readonly phases: readonly { readonly value: JsonValue; readonly path: Path }[];
};

/** Names of extractors an actor declares in any of its phases. */
export function declaredExtractors(actor: ActorView): ReadonlySet<string> {
  const names = new Set<string>();
  for (const phase of actor.phases) {
    for (const extractor of listMember(phase.value, "extractors")) {
      const name = textMember(extractor, "name");
      if (name !== undefined) names.add(name);
    }
  }
  return names;
}

/** The actors of an execution. A short form has one, called `default`. */
export function actorViews(execution: unknown, path: Path): ActorView[] {
  const actors = ownMember(execution, "actors");
  if (Array.isArray(actors)) {
    return actors.map((actor, index) =>
      view(actor, [...path, "actors", index], textMember(actor, "name") ?? "", undefined),
    );
  }
  const mode = textMember(execution, "mode");
  if (ownMember(execution, "phases") !== undefined) {
    const first = textMember(listMember(execution, "phases")[0], "mode");
    return [view(execution, path, "default", mode ?? first)];
  }
  if (ownMember(execution, "state") === undefined) return [];
  return [
    {
      name: "default",
      mode,
      phasesPath: undefined,
      phases: [{ value: execution as JsonValue, path }],
    },
  ];
}

function view(holder: unknown, path: Path, name: string, mode: string | undefined): ActorView {
  return {
    name,
    mode: mode ?? textMember(holder, "mode"),
    phasesPath: [...path, "phases"],
    phases: listMember(holder, "phases").map((value, index) => ({
      value,
      path: [...path, "phases", index],
    })),
  };
}
