/** Steps of a linking that tests and vectors repeat. */
import { type Certificate, signCertificate } from "../../src/shared/crypto/certificate.ts";
import { type DeviceList, deviceState } from "../../src/shared/crypto/device-list.ts";
import type { Rng } from "../../src/shared/rng.ts";
import { admitLink, type LinkAdmission } from "../../src/device/crypto/link-admin.ts";
import type { LinkGrant } from "../../src/device/crypto/link-box.ts";
import { type LinkCode, parseLinkCode } from "../../src/device/crypto/link-bundle.ts";
import { type LinkingDevice, startLink } from "../../src/device/crypto/link-new-device.ts";
import { nextList, type TestPerson, testNowMs, testOrigin, valueOf } from "./people.ts";

/** What a new device shows, puts and keeps. */
export interface Start {
  readonly code: LinkCode;
  readonly codeText: string;
  readonly box1: Uint8Array;
  readonly device: LinkingDevice;
}

/** A new device that shows its code. */
export function start(rng: Rng, name = "Tablet"): Start {
  const { code, box1, device } = startLink(name, rng);
  return { code: valueOf(parseLinkCode(code)), codeText: code, box1, device };
}

/** The admin that reads the code. */
export function admit(
  { code, box1 }: Start,
  admin: TestPerson,
  rng: Rng,
): { readonly admission: LinkAdmission; readonly box2: Uint8Array } {
  return valueOf(admitLink(code, box1, admin.aik.publicKey, rng));
}

/** The list and certificate that an admin signs for a new device. */
export function recordsFor(
  alice: TestPerson,
  device: LinkingDevice,
): { list: DeviceList; certificate: Certificate } {
  const list = nextList(alice, [
    ...alice.list.entries,
    {
      deviceId: device.deviceId,
      dsk: device.dsk.publicKey,
      mailbox: device.mailbox,
      addedMs: BigInt(testNowMs),
      state: deviceState.active,
      changedMs: BigInt(testNowMs),
    },
  ]);
  const certificate = signCertificate(
    {
      aik: alice.aik.publicKey,
      deviceId: device.deviceId,
      dsk: device.dsk.publicKey,
      listVersion: list.version,
      issuedMs: BigInt(testNowMs),
    },
    alice.aik.privateKey,
  );
  return { list, certificate };
}

/** What the admin hands over. */
export function grantFor(alice: TestPerson, device: LinkingDevice): Omit<LinkGrant, "opening"> {
  const { list, certificate } = recordsFor(alice, device);
  return {
    accessKey: alice.accessKey,
    accountMailbox: alice.accountMailbox,
    certificate: certificate.record,
    accountName: "Alice",
    relayOrigin: testOrigin,
    deviceList: list.record,
  };
}
