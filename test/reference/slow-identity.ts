/**
 * Every consistent way to say which items of a bundle a receiver already has, found by trying all
 * combinations and rewriting whole bodies. Exponential; for bundles of a handful of items.
 */
import { slowRewrite } from "./slow-mentions.ts";

interface Texts {
  readonly id: string;
  readonly name: string;
  readonly detailedBody: string;
}

interface SlowOrigin {
  readonly localId: string;
  readonly wire: Texts;
  readonly intra: readonly string[];
  readonly pins: readonly { readonly mention: string; readonly slug: string }[];
}

type Assignment = ReadonlyMap<string, string>;

/** All assignments wire id → local slug in which every pair is supported by the others. */
export function slowIdentities(
  items: readonly Texts[],
  locals: readonly Texts[],
  origins: readonly SlowOrigin[],
): readonly Assignment[] {
  const combinations = items.reduce<readonly Assignment[]>(
    (before, item) =>
      before.flatMap((assignment) => [
        assignment,
        ...candidates(item).map((local) => new Map([...assignment, [item.id, local.id]])),
      ]),
    [new Map()],
  );
  return combinations.filter((assignment) =>
    items.every((item) => {
      const local = locals.find((candidate) => candidate.id === assignment.get(item.id));
      return local === undefined || isSame(item, local, assignment);
    }),
  );

  function candidates(item: Texts): readonly Texts[] {
    return locals.filter((local) => local.id === item.id || originFor(item, local) !== undefined);
  }

  function originFor(item: Texts, local: Texts): SlowOrigin | undefined {
    return origins.find(
      (origin) =>
        origin.localId === local.id &&
        origin.wire.id === item.id &&
        origin.wire.name === local.name &&
        folded(slowRewrite(origin.wire.detailedBody, pins(origin))) === folded(local.detailedBody),
    );
  }

  function isSame(item: Texts, local: Texts, assignment: Assignment): boolean {
    if (item.name !== local.name) return false;
    const origin = originFor(item, local);
    const meaning = new Map(origin === undefined ? [] : pins(origin));
    for (const slug of origin?.intra ?? []) meaning.delete(slug);
    // What lands anew lands where no local text points: a name that no text contains stands for it.
    for (const { id } of items) meaning.set(id, assignment.get(id) ?? "new-and-nowhere");
    return folded(slowRewrite(item.detailedBody, meaning)) === folded(local.detailedBody);
  }
}

function pins(origin: SlowOrigin): ReadonlyMap<string, string> {
  return new Map(origin.pins.map((pin) => [pin.mention, pin.slug]));
}

// The tests' bodies have no capitals outside mentions, so folding the whole text is the same.
function folded(text: string): string {
  return text.toLowerCase();
}
