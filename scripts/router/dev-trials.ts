/**
 * The requests that are set aside for choices in the making, as trials: what a router's thresholds are
 * chosen on. They are worded by people for menus of people; made-up trials are harder.
 *
 * None of the reported requests is read here. Spec: docs/evaluation.md.
 */
import { readFileSync } from "node:fs";

import { lineText } from "../../src/device/router/text.ts";
import { parseCases } from "../eval/choice.ts";
import type { Trial } from "./trials.ts";

const { menus, cases } = parseCases(
  readFileSync(new URL("../../test/eval/dev-cases.json", import.meta.url), "utf8"),
);

/** Every request before its menu. */
export const devTrials: readonly Trial[] = cases.map(([name, request, wanted]) => {
  const menu = (menus[name] ?? []).map(([handle, line]) => ({ handle, line }));
  return {
    kind: name.startsWith("seen-") ? "known" : "field",
    request,
    menu,
    wanted: menu.findIndex(({ handle }) => handle === wanted),
  };
});

/** Their texts, to be embedded. */
export const devTexts: readonly string[] = [
  ...new Set(
    devTrials.flatMap(({ request, menu }) => [
      request,
      ...menu.map(({ handle, line }) => lineText(handle, line)),
    ]),
  ),
];
