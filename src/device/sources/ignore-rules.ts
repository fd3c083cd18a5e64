/**
 * Ignore files as git reads them: comments, `!`, a `/` that anchors, a trailing `/` for folders, `*`,
 * `?`, `[…]` and `**`. The last rule that fits decides.
 *
 * Patterns are somebody's text, so they are matched by stepping, never by a regular expression made
 * from them: a line of asterisks takes no time. Pure. Spec: docs/sources.md "Files".
 */

/** One rule. */
export interface IgnoreRule {
  /** Folder of the file that says it, below the root, "" or ending with "/". */
  readonly base: string;
  readonly segments: readonly string[];
  readonly negated: boolean;
  readonly folderOnly: boolean;
}

/** Lines of one ignore file that are looked at; the rest is not. */
const maxRules = 2_000;

/** The rules of an ignore file in a folder. */
export function parseIgnoreFile(text: string, base: string): readonly IgnoreRule[] {
  return text
    .split(/\r?\n/)
    .slice(0, maxRules)
    .flatMap((line) => {
      const rule = parseRule(line, base);
      return rule === undefined ? [] : [rule];
    });
}

function parseRule(line: string, base: string): IgnoreRule | undefined {
  // Spaces at the end do not count, unless escaped.
  const trimmed = line.replace(/(?<!\\) +$/, "");
  if (trimmed === "" || trimmed.startsWith("#")) return undefined;
  const negated = trimmed.startsWith("!");
  const pattern = negated ? trimmed.slice(1) : trimmed;
  const folderOnly = pattern.endsWith("/");
  const body = folderOnly ? pattern.slice(0, -1) : pattern;
  const segments = body.replace(/^\//, "").split("/");
  if (segments.every((segment) => segment === "")) return undefined;
  // What lies in a folder, and not the folder itself.
  if (segments.length > 1 && segments.at(-1) === "**") segments.splice(-1, 0, "*");
  // Without a slash inside, a name fits at any depth.
  return { base, segments: body.includes("/") ? segments : ["**", body], negated, folderOnly };
}

/** Whether rules leave a path out. `path`: below the root. Rules of inner folders come last. */
export function isIgnored(rules: readonly IgnoreRule[], path: string, isFolder: boolean): boolean {
  const deciding = rules.findLast(
    (rule) =>
      (isFolder || !rule.folderOnly) &&
      path.startsWith(rule.base) &&
      segmentsFit(rule.segments, path.slice(rule.base.length).split("/")),
  );
  return deciding !== undefined && !deciding.negated;
}

/** Two-pointer matching with one point of return: a later `**` makes an earlier one final. */
function segmentsFit(pattern: readonly string[], path: readonly string[]): boolean {
  return wildcardFit(pattern, path, {
    isStar: (segment) => segment === "**",
    fits: nameFits,
  });
}

function nameFits(pattern: string, name: string): boolean {
  return wildcardFit(tokensOf(pattern), Array.from(name), {
    isStar: (token) => token === "*" || token === "**",
    fits: characterFits,
  });
}

function wildcardFit(
  pattern: readonly string[],
  items: readonly string[],
  rules: {
    readonly isStar: (token: string) => boolean;
    readonly fits: (token: string, item: string) => boolean;
  },
): boolean {
  let at = 0;
  let item = 0;
  let back: { readonly at: number; item: number } | undefined;
  while (item < items.length) {
    const token = pattern[at];
    if (token !== undefined && rules.isStar(token)) {
      back = { at, item };
      at += 1;
    } else if (token !== undefined && rules.fits(token, items[item] ?? "")) {
      at += 1;
      item += 1;
    } else if (back !== undefined) {
      back.item += 1;
      at = back.at + 1;
      item = back.item;
    } else {
      return false;
    }
  }
  return pattern.slice(at).every(rules.isStar);
}

/** A segment's parts: characters, `*`, `?`, `[…]`, and `\x` for a plain x. */
function tokensOf(segment: string): readonly string[] {
  return segment.match(/\\.|\[[!^]?\]?[^\]]*\]|\*+|[^]/gu) ?? [];
}

function characterFits(token: string, character: string): boolean {
  if (token === "?") return true;
  if (token.length > 1 && token.startsWith("\\")) return token.slice(1) === character;
  if (token.length > 2 && token.startsWith("[")) return inClass(token.slice(1, -1), character);
  return token === character;
}

function inClass(members: string, character: string): boolean {
  const negated = /^[!^]/.test(members);
  const listed = Array.from(negated ? members.slice(1) : members);
  let within = false;
  for (let at = 0; at < listed.length; at += 1) {
    const first = listed[at] ?? "";
    const isRange = listed[at + 1] === "-" && listed[at + 2] !== undefined;
    const last = isRange ? (listed[at + 2] ?? first) : first;
    if (first <= character && character <= last) within = true;
    if (isRange) at += 2;
  }
  return within !== negated;
}
