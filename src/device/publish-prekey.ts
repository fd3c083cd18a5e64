/**
 * Publishing a prekey of this device under an identity key: stored before it is sent, confirmed after.
 *
 * Spec: docs/protocol.md "Prekey".
 */
import type { Rng } from "../shared/rng.ts";
import { preparePrekey, prekeyPublished, type PrekeySigner } from "./identity/prekeys.ts";
import type { DeviceStore } from "./store/sqlite.ts";
import type { Answered, MailboxRequest } from "./transport/port.ts";

/** What publishing needs. */
export interface PublishParts {
  readonly store: DeviceStore;
  readonly rng: Rng;
  readonly request: (request: MailboxRequest) => Answered<Readonly<Record<string, unknown>>>;
  readonly notice: (notice: string) => void;
}

/** Publishes a prekey if one is due. Units: `relayNowMs` of our relay. */
export async function publishPrekey(
  { store, rng, request, notice }: PublishParts,
  signer: PrekeySigner,
  relayNowMs: number,
): Promise<void> {
  const row = store.write((tx) => preparePrekey(tx, signer, relayNowMs, rng));
  if (row === undefined) return;
  const answer = await request({ type: "publish-prekey", prekey: row.record });
  if (answer.ok) {
    store.write((tx) => prekeyPublished(tx, row, answer.value.relayTimeMs));
  } else if (answer.error.type === "refused") {
    notice(`the relay refused a new prekey: ${answer.error.refusal.message}`);
  }
}
