/**
 * The owner's skills over the store: every act is one transaction around a pure function of skills/,
 * so what the rules decide and what is stored cannot come apart.
 *
 * It sends nothing itself (a share goes out through `sendText`) and never runs a skill. Built by the
 * runtime. Spec: docs/skills.md "Editing", "Sharing", "What an import does".
 */
import type { Clock } from "../../shared/clock.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type {
  Accepted,
  ContactView,
  DeviceError,
  DeviceSkills,
  SentMessage,
  SkillEdit,
  SkillSaved,
} from "../device.ts";
import { encodeBundle, bundleHash } from "../skills/bundle.ts";
import { toolsForPlan } from "../skills/expand.ts";
import {
  createSkill,
  deleteSkill,
  type Draft,
  editSkill,
  type FixedNames,
  renameSkill,
  type SaveError,
  type Saved,
  switchSkill,
} from "../skills/commit.ts";
import { type Choices, noChoices } from "../skills/landing.ts";
import { acceptMerge, type MergeInput } from "../skills/merge.ts";
import { outcomeLines } from "../skills/outcome.ts";
import { menuOf, openRegistry, type Registry } from "../skills/registry.ts";
import type { Catalogue } from "../skills/rename.ts";
import { reviewBundle } from "../skills/review.ts";
import { shareBundle, shareErrorText } from "../skills/share.ts";
import { toolSet } from "../skills/tools.ts";
import { onDemandNames } from "../store/mcp.ts";
import { addSkillImport } from "../store/skills.ts";
import type { DeviceStore, ReadTx, WriteTx } from "../store/sqlite.ts";
import {
  type CatalogueError,
  prepareCatalogue,
  readCatalogue,
  writeCatalogue,
} from "./catalogue.ts";
import { deleteErrorOf, deleteNotes, noSuchSkill, saveErrorOf, saveNotes } from "./error-texts.ts";
import { type ReceivedShare, receivedShare } from "./received-share.ts";

/** What the library needs from the rest of the device. */
export interface LibraryParts {
  readonly store: DeviceStore;
  readonly clock: Clock;
  /** A contact by name or identity key. Errors: nobody, or several of that name. */
  readonly findContact: (nameOrKey: string) => Result<ContactView, DeviceError>;
  /** Enqueues a text for an account, sentinels included. */
  readonly sendText: (aik: string, text: string) => Result<SentMessage, DeviceError>;
  /** Runs after every committed change. */
  readonly onChange: () => void;
  readonly onNotice: (notice: string) => void;
}

/** Opens the library: seeds a fresh device. Errors: the stored skills contradict each other. */
export function createLibrary(parts: LibraryParts): Result<DeviceSkills, CatalogueError> {
  const prepared = prepareCatalogue(parts.store, parts.store.read(fixedNames));
  if (!prepared.ok) return prepared;
  for (const notice of prepared.value) parts.onNotice(notice);
  return ok({
    list: () => parts.store.read((tx) => readCatalogue(tx).skills),
    save: (edit) => saving(parts, (catalogue, fixed) => saved(catalogue, fixed, edit)),
    rename: (id, handle) =>
      saving(parts, (catalogue, fixed) => renameSkill(catalogue, fixed, id, handle)),
    setFlags: (id, flags) => setFlags(parts, id, flags),
    remove: (id, { confirmed }) => remove(parts, id, confirmed),
    menu: () => {
      const { skills, tools } = menuOf(registryOf(parts));
      return [
        ...skills.map((skill) => ({ handle: skill.id, line: skill.shortDescription })),
        ...tools.map((tool) => ({ handle: tool.slug, line: tool.description })),
      ];
    },
    toolsFor: (id) => toolsForPlan(registryOf(parts), [id]).map((tool) => tool.toolName),
    share: (id, contact) => share(parts, id, contact),
    review: (messageId, choices = noChoices) =>
      parts.store.read((tx) => {
        const shared = receivedShare(tx, messageId);
        return shared.ok ? ok(reviewBundle(mergeInput(parts, tx, shared.value, choices))) : shared;
      }),
    accept: (messageId, acceptHash, choices = noChoices) =>
      writing(parts, (tx) => accept(parts, tx, { messageId, acceptHash, choices })),
  });
}

/** Names that skills cannot take: of tools, on-demand ones included. */
function fixedNames(tx: ReadTx): FixedNames {
  return { tools: toolSet, onDemandNames: onDemandNames(tx) };
}

function registryOf(parts: LibraryParts): Registry {
  return openRegistry(parts.store.read(readCatalogue).skills, toolSet);
}

function saved(catalogue: Catalogue, fixed: FixedNames, edit: SkillEdit): Result<Saved, SaveError> {
  const draft: Draft = {
    handle: edit.handle,
    name: edit.name,
    shortDescription: edit.shortDescription,
    detailedBody: edit.detailedBody,
  };
  return edit.id === undefined
    ? createSkill(catalogue, fixed, draft)
    : editSkill(catalogue, fixed, edit.id, draft);
}

function saving(
  parts: LibraryParts,
  change: (catalogue: Catalogue, fixed: FixedNames) => Result<Saved, SaveError>,
): Result<SkillSaved, DeviceError> {
  return writing(parts, (tx) => {
    const result = change(readCatalogue(tx), fixedNames(tx));
    if (!result.ok) return err(saveErrorOf(result.error));
    writeCatalogue(tx, result.value.catalogue);
    return ok({ id: result.value.id, notes: saveNotes(result.value) });
  });
}

function setFlags(
  parts: LibraryParts,
  id: string,
  flags: { readonly enabled?: boolean; readonly advertised?: boolean },
): Result<undefined, DeviceError> {
  return writing(parts, (tx) => {
    const switched = switchSkill(readCatalogue(tx), id, flags);
    if (!switched.ok) return err(noSuchSkill(switched.error.id));
    writeCatalogue(tx, switched.value);
    return ok(undefined);
  });
}

function remove(
  parts: LibraryParts,
  id: string,
  confirmed: boolean,
): Result<{ readonly notes: readonly string[] }, DeviceError> {
  return writing(parts, (tx) => {
    const deleted = deleteSkill(readCatalogue(tx), id, confirmed);
    if (!deleted.ok) return err(deleteErrorOf(id, deleted.error));
    writeCatalogue(tx, deleted.value.catalogue);
    return ok({ notes: deleteNotes(deleted.value) });
  });
}

function share(parts: LibraryParts, id: string, contact: string): Result<SentMessage, DeviceError> {
  const { skills, origins } = parts.store.read(readCatalogue);
  if (!skills.some((skill) => skill.id === id)) return err(noSuchSkill(id));
  const found = parts.findContact(contact);
  if (!found.ok) return found;
  const { aik, name, reachable, reason } = found.value;
  if (!reachable) {
    return err({
      type: "unreachable-contact",
      message: `${name} cannot be reached: ${reason ?? "no key of theirs is here yet"}`,
    });
  }
  const bundle = shareBundle({ skills, origins, id });
  if (!bundle.ok) return err({ type: bundle.error.type, message: shareErrorText(bundle.error) });
  return parts.sendText(aik, encodeBundle(bundle.value));
}

interface Acceptance {
  readonly messageId: string;
  readonly acceptHash: string;
  readonly choices: Choices;
}

function accept(
  parts: LibraryParts,
  tx: WriteTx,
  { messageId, acceptHash, choices }: Acceptance,
): Result<Accepted, DeviceError> {
  const shared = receivedShare(tx, messageId);
  if (!shared.ok) return shared;
  const catalogue = readCatalogue(tx);
  const input = mergeInput(parts, tx, shared.value, choices);
  const merged = acceptMerge(input, acceptHash);
  if (!merged.ok) {
    return err({
      type: merged.error.type,
      message:
        "this is not what was reviewed: a skill, the message or a choice changed since, or the hash is another one. Review it again",
    });
  }
  const { outcome, skills, origins } = merged.value;
  writeCatalogue(tx, { ...catalogue, skills, origins });
  addSkillImport(tx, {
    senderAik: shared.value.sender,
    messageId,
    bundleHash: bundleHash(shared.value.bundle),
    outcome: JSON.stringify(outcome),
    importedMs: input.nowMs,
  });
  return ok({ lines: outcomeLines(outcome), imported: outcome.imported });
}

function mergeInput(
  parts: LibraryParts,
  tx: ReadTx,
  { bundle, sender }: ReceivedShare,
  choices: Choices,
): MergeInput {
  const nowMs = parts.clock.nowMs();
  const { skills, origins } = readCatalogue(tx);
  return { skills, origins, ...fixedNames(tx), bundle, choices, sender, nowMs };
}

/** One transaction; nothing is written when it answers an error, and a change is told once committed. */
function writing<T>(
  parts: LibraryParts,
  work: (tx: WriteTx) => Result<T, DeviceError>,
): Result<T, DeviceError> {
  return parts.store.write((tx) => {
    const result = work(tx);
    if (result.ok) tx.afterCommit(parts.onChange);
    return result;
  });
}
