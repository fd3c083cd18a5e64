/**
 * An account that is not there is answered with the same work as a token that is wrong: as many trials
 * of the same token, and as many looks at the database. What time is left between them is measured by
 * `relay-timing` in bench/.
 */
import { expect, it, vi } from "vitest";

import { createAdmissions } from "../../../src/relay/delivery/admission.ts";
import { createRecipients } from "../../../src/relay/delivery/recipients.ts";
import type { Recipient } from "../../../src/relay/store/accounts.ts";
import type * as sodium from "../../../src/shared/crypto/sodium.ts";
import { verifyAuthentication } from "../../../src/shared/crypto/sodium.ts";
import { keyKind } from "../../../src/shared/crypto/token.ts";
import { maxOpenInvites, maxRetiredKeys } from "../../../src/shared/limits.ts";
import { systemRng } from "../../../src/shared/rng.ts";
import { createManualClock } from "../../support/manual-clock.ts";

vi.mock("../../../src/shared/crypto/sodium.ts", async (original) => {
  const real = await original<typeof sodium>();
  return {
    ...real,
    verifyAuthentication: vi.fn<typeof real.verifyAuthentication>(real.verifyAuthentication),
  };
});

const keys = (count: number): readonly Uint8Array[] =>
  Array.from({ length: count }, () => systemRng(32));

/** Accounts with all that one may have, with nothing, and with something of each. */
const accounts: ReadonlyMap<string, Recipient> = new Map(
  [
    { retired: 0, invites: 0 },
    { retired: 2, invites: 5 },
    { retired: maxRetiredKeys, invites: maxOpenInvites },
  ].map(({ retired, invites }, at) => [
    `account ${at}`,
    {
      account: `account ${at}`,
      accessKey: systemRng(32),
      retiredKeys: keys(retired),
      invites: keys(invites).map((key, of) => ({ invite: `invite ${of}`, key })),
      mailboxes: [],
    },
  ]),
);

it.each([
  ["an access key", keyKind.access],
  ["an invite key", keyKind.invite],
])("a wrong token for %s costs the same, whoever it is for", async (_, kind) => {
  const costs = new Map<string, unknown>();
  for (const account of [...accounts.keys(), "nobody"]) {
    for (const remembered of [false, true]) {
      const reads: string[] = [];
      const recipients = createRecipients({
        read: (name) => {
          reads.push(name);
          return Promise.resolve(accounts.get(name));
        },
        clock: createManualClock(),
      });
      const { admit } = createAdmissions(recipients);
      if (remembered) await recipients.read(account);
      reads.length = 0;
      vi.mocked(verifyAuthentication).mockClear();
      const claim = { keyKind: kind, input: systemRng(64), token: systemRng(32) };
      expect(await admit(account, claim)).toBeUndefined();
      const trials = vi.mocked(verifyAuthentication).mock.calls;
      expect(trials.every(([, token]) => token === claim.token)).toBe(true);
      costs.set(`${account}, remembered ${remembered}`, { reads, trials: trials.length });
    }
  }
  const trials = 2 * (kind === keyKind.access ? 1 + maxRetiredKeys : maxOpenInvites);
  for (const [who, cost] of costs) {
    expect([who, cost]).toEqual([who, { reads: [who.split(",")[0]], trials }]);
  }
});
