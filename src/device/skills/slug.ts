/**
 * Minting of slugs: from a title to a free handle, and from a handle to a display name. It decides
 * how a name is spelled, never who holds it: the caller says what is taken.
 *
 * Spec: docs/skills.md "Names".
 */

/** Longest slug, the numeric suffix included. Unit: characters. */
const maxSlugLength = 64;

/** Names that no skill may take, because the agent has tools of these names. */
export const reservedNames: readonly string[] = ["calltool", "toolsearch", "skill"];

const wireId = /^[a-z0-9][a-z0-9-]{0,63}$/;
const fallback = "skill";

// Letters that NFKD leaves whole, though every reader knows their ASCII spelling.
const spellings = new Map([
  ["ß", "ss"],
  ["ø", "o"],
  ["æ", "ae"],
  ["œ", "oe"],
  ["ł", "l"],
  ["đ", "d"],
  ["ı", "i"],
]);

/** Whether a text may stand as an id on the wire. An id that ends in a hyphen is one, too. */
export function isWireId(text: string): boolean {
  return wireId.test(text);
}

/** Whether a mention can name this id: mentions lose their trailing hyphens, so such ids cannot. */
export function isUsableSlug(text: string): boolean {
  return isWireId(text) && !text.endsWith("-");
}

/** A title in kebab-case, at most 64 characters; empty when it has no ASCII letter or digit. */
export function foldTitle(title: string): string {
  return trimHyphens(kebab(title)).slice(0, maxSlugLength).replace(/-+$/, "");
}

/** What the handle field holds while somebody types: as `foldTitle`, but one hyphen may trail. */
export function sanitizeHandle(typed: string): string {
  return kebab(typed).replace(/^-+/, "").slice(0, maxSlugLength);
}

/** The free slug for a title: the folded title, or that with the first free suffix from -2 on. */
export function mintSlug(title: string, isTaken: (slug: string) => boolean): string {
  const base = foldTitle(title) || fallback;
  let slug = base;
  for (let number = 2; isTaken(slug); number++) {
    const suffix = `-${number}`;
    slug = base.slice(0, maxSlugLength - suffix.length).replace(/-+$/, "") + suffix;
  }
  return slug;
}

/** The display name that a handle suggests: `meeting-prep` is "Meeting Prep". */
export function deriveName(handle: string): string {
  return handle
    .split("-")
    .filter((word) => word !== "")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ");
}

/**
 * Settles the names of on-demand tools, which never resolve from a mention: one that meets a holder
 * takes a numeric suffix itself, in its own spelling. Holders are compared in lower case.
 */
export function settleOnDemandNames(
  names: readonly string[],
  isHeld: (slug: string) => boolean,
): ReadonlyMap<string, string> {
  const given = new Set<string>();
  const settled = new Map<string, string>();
  for (const name of names) {
    let candidate = name;
    for (let number = 2; meets(candidate); number++) candidate = `${name}-${number}`;
    given.add(candidate.toLowerCase());
    settled.set(name, candidate);
  }
  return settled;

  function meets(candidate: string): boolean {
    const lower = candidate.toLowerCase();
    return isHeld(lower) || given.has(lower);
  }
}

function kebab(title: string): string {
  return title
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[ßøæœłđı]/g, (letter) => spellings.get(letter) ?? letter)
    .replace(/[^a-z0-9]+/g, "-");
}

function trimHyphens(text: string): string {
  return text.replace(/^-+|-+$/g, "");
}
