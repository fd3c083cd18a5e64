/**
 * Joining an account: the new device's side of linking. It shows a code, waits until an admin device
 * has read it, takes the digits that a person reads there, and believes what it is given only if
 * the other side had committed to those digits.
 *
 * Until that succeeds nothing is stored. The steps are pure and live in crypto/link-new-device.ts;
 * the other side is grant-link.ts.
 *
 * Spec: docs/protocol.md "Linking".
 */
import type { Clock } from "../../shared/clock.ts";
import { idText } from "../../shared/ids.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import type { Rng } from "../../shared/rng.ts";
import {
  completeLink,
  type CompleteLinkError,
  type LinkedAccount,
  type LinkingDevice,
  proveLink,
  type ProvedLink,
  startLink,
} from "../crypto/link-new-device.ts";
import { parseName } from "../crypto/profile.ts";
import type { DeviceError, Identity, LinkOffer } from "../device.ts";
import { getOwnAccount, putOwnAccount, putOwnDevice } from "../store/identity.ts";
import type { DeviceStore } from "../store/sqlite.ts";
import { identityView } from "./devices.ts";
import { learnLists } from "./lists.ts";
import { type LinkBoxes, openBoxes, type Rendezvous } from "./rendezvous.ts";

/** What joining needs. */
export interface OfferLinkParts {
  readonly store: DeviceStore;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly rendezvous: Rendezvous;
}

/** What a person says about the new device. `relayOrigin` is parsed. */
export interface OfferWishes {
  readonly relayOrigin: string;
  readonly deviceName: string;
}

/** Puts this device's bundle at the relay and returns the code to show. */
export async function offerLink(
  parts: OfferLinkParts,
  wishes: OfferWishes,
): Promise<Result<LinkOffer, DeviceError>> {
  const name = parseName(wishes.deviceName);
  if (!name.ok) return refuse("device-name", name.error.reason);
  if (parts.store.read(getOwnAccount) !== undefined) {
    return refuse(
      "already-registered",
      "this device belongs to an account: use another data folder",
    );
  }
  const { code, box1, device } = startLink(name.value, parts.rng);
  const boxes = openBoxes({
    ...parts,
    relayOrigin: wishes.relayOrigin,
    boxId: idText(device.keys.boxId),
  });
  const put = await boxes.put(1, box1);
  if (!put.ok) return put;
  return ok(new Offer({ parts, boxes, device, deviceName: name.value, code }));
}

interface OfferParts {
  readonly parts: OfferLinkParts;
  readonly boxes: LinkBoxes;
  readonly device: LinkingDevice;
  readonly deviceName: string;
  readonly code: string;
}

class Offer implements LinkOffer {
  readonly code: string;
  readonly admitted: Promise<Result<undefined, DeviceError>>;
  readonly #offer: OfferParts;
  #box2: Uint8Array | undefined;
  #spent = false;

  constructor(offer: OfferParts) {
    this.code = offer.code;
    this.#offer = offer;
    this.admitted = this.#admission();
  }

  async enterDigits(digits: string): Promise<Result<Identity, DeviceError>> {
    const { boxes, device, parts } = this.#offer;
    if (this.#spent) return err(spentError);
    if (this.#box2 === undefined) {
      return refuse("link-not-admitted", "no admin device has read the code yet: do that first");
    }
    const step = proveLink(device, this.#box2, digits, parts.rng);
    if (!step.ok) return step.error.type === "link-digits" ? err(digitsError) : err(strangerError);
    // One try: the proof is out from here on, whatever comes back.
    this.#spent = true;
    const put = await boxes.put(3, step.value.box3);
    const box4 = put.ok ? await boxes.take(4) : put;
    return box4.ok ? this.#complete(step.value.proved, box4.value) : box4;
  }

  cancel(): Promise<void> {
    this.#spent = true;
    this.#offer.boxes.cancel();
    return Promise.resolve();
  }

  async #admission(): Promise<Result<undefined, DeviceError>> {
    const box2 = await this.#offer.boxes.take(2);
    if (!box2.ok) return box2;
    this.#box2 = box2.value;
    return ok(undefined);
  }

  #complete(proved: ProvedLink, box4: Uint8Array): Result<Identity, DeviceError> {
    const account = completeLink(proved, box4);
    if (!account.ok) return err(completeErrors[account.error.type]);
    const { parts, device, deviceName } = this.#offer;
    keepLink(parts, device, { account: account.value, deviceName });
    const identity = parts.store.read(identityView);
    if (identity === undefined) throw new Error("a linked account is not in the store");
    return ok(identity);
  }
}

function keepLink(
  { store, clock }: OfferLinkParts,
  device: LinkingDevice,
  linked: { readonly account: LinkedAccount; readonly deviceName: string },
): void {
  const { account, deviceName } = linked;
  const aik = idText(account.aik);
  store.write((tx) => {
    putOwnAccount(tx, {
      aik,
      aikSeed: null,
      accountMailbox: idText(account.accountMailbox),
      accessKey: account.accessKey,
      relayOrigin: account.relayOrigin,
      name: account.accountName,
    });
    putOwnDevice(tx, {
      deviceId: idText(device.deviceId),
      dskSeed: device.dsk.seed,
      mailbox: idText(device.mailbox),
      name: deviceName,
      certificate: account.certificate.record,
      createdMs: clock.nowMs(),
    });
    learnLists(tx, aik, [account.list]);
  });
}

const digitsError: DeviceError = {
  type: "link-digits",
  message: "expected the 8 digits that the other device shows: type them again",
};
const spentError: DeviceError = {
  type: "link-burned",
  message: "this code was used up: start again with a new one",
};
const strangerError: DeviceError = {
  type: "link-stranger",
  message: "what answered the code is no device of an account: start again with a new code",
};
const alarm: DeviceError = {
  type: "link-alarm",
  message:
    "the other side did not commit to these digits: somebody may stand between the two devices. " +
    "Start again with a new code, on a network you trust",
};
const completeErrors: Readonly<Record<CompleteLinkError["type"], DeviceError>> = {
  "link-box": {
    type: "link-refused",
    message:
      "the other device refused: the digits were wrong, or it cancelled. Start again with a new code",
  },
  "link-grant": alarm,
  "link-commitment": alarm,
  "link-records": alarm,
};

function refuse(
  type: string,
  message: string,
): { readonly ok: false; readonly error: DeviceError } {
  return err({ type, message });
}
