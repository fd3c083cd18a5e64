/**
 * Made-up menus with a request: what a router is judged on while its thresholds are fitted. Three
 * quarters stand on fields and concepts that the router was not trained on, because that is what a
 * person's own skills are; a third wants nothing that is there.
 */
import type { MenuLine } from "../../src/device/router/port.ts";
import { everyday, nearMisses } from "./bank.ts";
import { builtinHandles, talk, type Topic } from "./corpus.ts";
import type { Random } from "./random.ts";

/** Where a trial comes from: an unknown field or concept, a known one, or what wants nothing there. */
export type TrialKind = "field" | "unknown" | "known" | "off" | "talk" | "near";

/** A request before a made-up menu; `wanted` is its place there, or -1. */
export interface Trial {
  readonly kind: TrialKind;
  readonly request: string;
  readonly menu: readonly MenuLine[];
  readonly wanted: number;
}

/** Topics that were learned, and that were not. */
export interface Split {
  readonly known: readonly Topic[];
  readonly heldOut: readonly Topic[];
}

/** Share of trials that want nothing there. */
const noneShare = 0.33;

/** Holds one of `parts` parts out, whole fields and everyday concepts; never the built-in menu. */
export function splitTopics(topics: readonly Topic[], parts: number, part: number): Split {
  const fields = [...new Set(topics.map(({ family }) => family))].filter((one) => one !== everyday);
  const common = topics.filter((topic) => topic.family === everyday && !isBuiltin(topic));
  const out = new Set([
    ...topics.filter(
      ({ family }) => fields.indexOf(family) % parts === part && family !== everyday,
    ),
    ...common.filter((_, at) => at % parts === part),
  ]);
  return {
    known: topics.filter((topic) => !out.has(topic)),
    heldOut: topics.filter((topic) => out.has(topic)),
  };
}

/** Makes trials. */
export function makeTrials(split: Split, count: number, random: Random): readonly Trial[] {
  return Array.from({ length: count }, () =>
    random.next() < 0.68 ? unknownTrial(split, random) : knownTrial(split, random),
  );
}

function unknownTrial({ known, heldOut }: Split, random: Random): Trial {
  const builtin = known.filter(isBuiltin);
  const fields = heldOut.filter(({ family }) => family !== everyday);
  const common = heldOut.filter(({ family }) => family === everyday);
  const { family } = random.pick(fields);
  const own = fields.filter((topic) => topic.family === family);
  const draw = random.next();
  const inField = draw < 0.75;
  const menu = random.shuffled(
    draw < 0.45
      ? own
      : draw < 0.65
        ? [...own, ...builtin]
        : inField
          ? [...own, ...random.shuffled(fields.filter((one) => one.family !== family)).slice(0, 4)]
          : random.shuffled(common).slice(0, random.pick([4, 6, 8, 12])),
  );
  if (random.next() >= noneShare) {
    const wanted = random.pick(menu.filter((topic) => !isBuiltin(topic)));
    return trial(inField ? "field" : "unknown", menu, { wanted }, random);
  }
  return unservedTrial({ known, common, menu, family: inField ? family : undefined }, random);
}

interface Unserved {
  readonly known: readonly Topic[];
  readonly common: readonly Topic[];
  readonly menu: readonly Topic[];
  /** The menu's field; undefined: it has none. */
  readonly family: string | undefined;
}

function unservedTrial({ known, common, menu, family }: Unserved, random: Random): Trial {
  const none = random.next();
  if (none < 0.15) return trial("talk", menu, { request: anyTalk(random) }, random);
  if (none < 0.25 && family !== undefined) {
    const misses = nearMisses.filter((miss) => miss.family === family);
    if (misses.length > 0) return trial("near", menu, random.pick(misses), random);
  }
  if (none < 0.4 && family !== undefined) {
    const missing = random.pick(menu);
    const rest = menu.filter((topic) => topic !== missing);
    return trial("near", rest, { request: random.pick(missing.requests) }, random);
  }
  const elsewhere = random.next() < 0.5 ? common : known.filter(isCommon);
  const other = random.pick(elsewhere.filter((topic) => !menu.includes(topic)));
  return trial("off", menu, { request: random.pick(allRequests(other)) }, random);
}

function knownTrial({ known }: Split, random: Random): Trial {
  const common = known.filter(isCommon);
  const builtin = known.filter(isBuiltin);
  const others = common.filter((topic) => !isBuiltin(topic));
  const draw = random.next();
  const { family } = random.pick(known.filter((topic) => !isCommon(topic)));
  const menu = random.shuffled(
    draw < 0.3
      ? [...builtin, ...random.shuffled(others).slice(0, random.pick([0, 0, 2, 4]))]
      : draw < 0.8
        ? random.shuffled(common).slice(0, random.pick([4, 6, 8, 12, 12]))
        : [...builtin, ...known.filter((topic) => topic.family === family)],
  );
  if (random.next() >= noneShare) {
    const wanted = random.pick(menu);
    return trial("known", menu, { wanted, request: random.pick(fresh(wanted)) }, random);
  }
  if (random.next() < 0.2) {
    return trial("talk", menu, { request: random.pick(talk.keptBack) }, random);
  }
  const other = random.pick(common.filter((topic) => !menu.includes(topic)));
  return trial("off", menu, { request: random.pick(fresh(other)) }, random);
}

function trial(
  kind: TrialKind,
  menu: readonly Topic[],
  { wanted, request }: { readonly wanted?: Topic; readonly request?: string },
  random: Random,
): Trial {
  return {
    kind,
    request: request ?? random.pick(allRequests(wanted ?? menu[0]!)),
    menu: menu.map((topic) => random.pick(topic.lines)),
    wanted: wanted === undefined ? -1 : menu.indexOf(wanted),
  };
}

function anyTalk(random: Random): string {
  return random.pick([...talk.known, ...talk.keptBack]);
}

function isCommon({ family }: Topic): boolean {
  return family === everyday;
}

function isBuiltin({ concept }: Topic): boolean {
  return concept.handles.some((handle) => builtinHandles.includes(handle));
}

/** Requests that no training has read. */
function fresh({ keptBack, requests }: Topic): readonly string[] {
  return keptBack.length > 0 ? keptBack : requests;
}

function allRequests({ requests, keptBack }: Topic): readonly string[] {
  return [...requests, ...keptBack];
}
