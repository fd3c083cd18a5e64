/** Vectors of records and of what follows from a secret: list chain, linking, invite, codes. */
import { u64 } from "../../src/shared/bytes.ts";
import { signCertificate } from "../../src/shared/crypto/certificate.ts";
import {
  type DeviceListContent,
  deviceState,
  signDeviceList,
} from "../../src/shared/crypto/device-list.ts";
import { encodeInvite } from "../../src/shared/crypto/invite.ts";
import { originHash } from "../../src/shared/crypto/origin.ts";
import { signChallenge, signRegistration } from "../../src/shared/crypto/relay-auth.ts";
import { signRenewal } from "../../src/shared/crypto/renewal.ts";
import { newSigningKey } from "../../src/shared/crypto/sodium.ts";
import { bundleTokenInput, keyKind, makeToken } from "../../src/shared/crypto/token.ts";
import { inviteKeys, inviteProof } from "../../src/device/crypto/kdf.ts";
import { checkLinkProof, grantLink } from "../../src/device/crypto/link-admin.ts";
import { proveLink } from "../../src/device/crypto/link-new-device.ts";
import { encodeContactAccept } from "../../src/device/crypto/payload.ts";
import { encodeProfile } from "../../src/device/crypto/profile.ts";
import { encodeRecoveryCode } from "../../src/device/crypto/recovery-code.ts";
import { fingerprint, safetyNumber } from "../../src/device/crypto/safety-number.ts";
import { admit, grantFor, recordsFor, start } from "../support/linking.ts";
import {
  at,
  createDevice,
  createPerson,
  entryFor,
  testNowMs,
  testOrigin,
  valueOf,
} from "../support/people.ts";
import { seededRng } from "../support/seeded-rng.ts";
import { describeDevice, describePerson, hex, recording, type Vector } from "./describe.ts";

/** A chain: two devices, a third joins, the second is removed; then a renewal and its first list. */
export function listChainVector(): Vector {
  const rng = seededRng("vector list chain");
  const person = createPerson(rng, 2);
  const joined = createDevice(rng, person.aik);
  const [admin, removed] = [at(person.devices, 0), at(person.devices, 1)];
  const follow = (fields: Pick<DeviceListContent, "version" | "prevHash" | "entries">) =>
    signDeviceList(
      {
        aik: person.aik.publicKey,
        issuedMs: BigInt(testNowMs + 1_000 * fields.version),
        ...fields,
      },
      person.aik.privateKey,
    );
  const three = [entryFor(admin, true), entryFor(removed, false), entryFor(joined, false)];
  const second = follow({ version: 2, prevHash: person.list.hash, entries: three });
  const third = follow({
    version: 3,
    prevHash: second.hash,
    entries: three.map((entry, index) =>
      index === 1
        ? { ...entry, state: deviceState.revoked, changedMs: BigInt(testNowMs + 3_000) }
        : entry,
    ),
  });
  const gap = follow({ version: 4, prevHash: third.hash, entries: third.entries });
  const fork = follow({ version: 3, prevHash: second.hash, entries: three });
  const broken = follow({ version: 4, prevHash: second.hash, entries: third.entries });
  const returned = follow({ version: 4, prevHash: third.hash, entries: three });
  const newKey = newSigningKey(rng);
  const renewal = signRenewal(
    { oldListVersion: 3, oldListHash: third.hash, issuedMs: BigInt(testNowMs + 4_000) },
    person.aik,
    newKey,
  );
  const renewedList = signDeviceList(
    {
      aik: newKey.publicKey,
      version: 1,
      issuedMs: BigInt(testNowMs + 4_000),
      prevHash: new Uint8Array(32),
      entries: [entryFor(admin, true), entryFor(joined, false)],
    },
    newKey.privateKey,
  );
  const name = (list: typeof second): Vector => ({
    record: hex(list.record),
    hash: hex(list.hash),
  });
  return {
    description: "version 2 adds a device, version 3 revokes one; then the account is renewed",
    person: describePerson(person),
    joined: describeDevice(joined),
    chain: [person.list, second, third].map(name),
    refusedAfterVersion3: [
      { name: "rollback", code: "list-rollback", ...name(second) },
      { name: "fork", code: "list-fork", ...name(fork) },
      { name: "broken chain", code: "list-chain", ...name(broken) },
      { name: "a revoked device returns", code: "list-malformed", ...name(returned) },
      { name: "another account", code: "list-foreign", ...name(renewedList) },
    ],
    refusedAfterVersion2: [{ name: "gap", code: "list-gap", ...name(gap) }],
    renewal: {
      newAikSeed: hex(newKey.seed),
      newAik: hex(newKey.publicKey),
      record: hex(renewal.record),
      firstList: name(renewedList),
    },
  };
}

/** The four boxes of one linking. */
export function linkVector(): Vector {
  const alice = createPerson(seededRng("vector link account"));
  const { rng, draws } = recording(seededRng("vector link"));
  const started = start(rng, "Tablet");
  const { admission, box2 } = admit(started, alice, rng);
  const { box3, proved } = valueOf(proveLink(started.device, box2, admission.digits, rng));
  const approved = valueOf(checkLinkProof(admission, box3));
  const grant = grantFor(alice, started.device);
  const box4 = valueOf(grantLink(approved, grant, rng));
  const names = [
    "dskSeed",
    "xwingSeed",
    "deviceId",
    "mailbox",
    "secret",
    "nonce1",
    "digitsRandom",
    "opening",
    "nonce2",
    "nonce3",
    "encapsulation",
    "nonce4",
  ];
  const { list, certificate } = recordsFor(alice, started.device);
  return {
    description: "a new device joins an account; draws in order",
    account: describePerson(alice),
    accountName: grant.accountName,
    relayOrigin: grant.relayOrigin,
    newDeviceName: "Tablet",
    draws: Object.fromEntries(draws.map((drawn, index) => [at(names, index), hex(drawn)])),
    code: started.codeText,
    keys: Object.fromEntries(
      Object.entries(started.device.keys).map(([name, key]: [string, Uint8Array]) => [
        name,
        hex(key),
      ]),
    ),
    bundleHash: hex(admission.bundleHash),
    digits: proved.digits,
    commitment: hex(admission.commitment),
    deviceList: hex(list.record),
    certificate: hex(certificate.record),
    boxes: [started.box1, box2, box3, box4].map(hex),
  };
}

/** Everything else that is derived, signed or written as text. */
export function derivationsVector(): Vector {
  const rng = seededRng("vector derivations");
  const [inviter, guest] = [createPerson(rng), createPerson(rng)];
  const invite = {
    inviteId: rng(16),
    secret: rng(32),
    aik: inviter.aik.publicKey,
    accountMailbox: inviter.accountMailbox,
    expiryMs: BigInt(testNowMs + 604_800_000),
    relayOrigin: testOrigin,
  };
  const { inviteKey, proofKey } = inviteKeys(invite.secret);
  const messageId = rng(16);
  const claim = {
    messageId,
    guestAik: guest.aik.publicKey,
    inviterAik: inviter.aik.publicKey,
  };
  const proof = inviteProof(proofKey, claim);
  const profile = {
    name: "Guest",
    accessKey: guest.accessKey,
    relay: testOrigin,
    accountMailbox: guest.accountMailbox,
  };
  const originDigest = originHash(testOrigin);
  const bundle = {
    accountMailbox: inviter.accountMailbox,
    keyKind: keyKind.access,
    since: 3,
    expiryMs: BigInt(testNowMs + 600_000),
  };
  const bundleInput = bundleTokenInput(bundle, originDigest);
  const registration = { originDigest, listHash: inviter.list.hash, accessKey: inviter.accessKey };
  const device = at(inviter.devices, 0);
  const challenge = {
    originDigest,
    nonce: rng(32),
    deviceId: device.deviceId,
    timeMs: BigInt(testNowMs),
  };
  const certificate = { ...device.certificate, listVersion: 9 };
  return {
    description: "invite, tokens, signatures for the relay, recovery code, safety number",
    inviter: describePerson(inviter),
    guest: describePerson(guest),
    relayOrigin: testOrigin,
    originDigest: hex(originDigest),
    invite: {
      inviteId: hex(invite.inviteId),
      secret: hex(invite.secret),
      expiryMs: invite.expiryMs.toString(),
      link: encodeInvite(invite),
      inviteKey: hex(inviteKey),
      proofKey: hex(proofKey),
      messageId: hex(messageId),
      proof: hex(proof),
      profile: Buffer.from(encodeProfile(profile)).toString(),
      contactAccept: hex(encodeContactAccept({ inviteId: invite.inviteId, proof, profile })),
    },
    bundleToken: {
      since: bundle.since,
      expiryMs: bundle.expiryMs.toString(),
      input: hex(bundleInput),
      token: hex(makeToken(bundleInput, inviter.accessKey)),
    },
    registration: { signature: hex(signRegistration(registration, inviter.aik.privateKey)) },
    challenge: {
      nonce: hex(challenge.nonce),
      timeMs: challenge.timeMs.toString(),
      time: hex(u64(challenge.timeMs)),
      signature: hex(signChallenge(challenge, device.dsk.privateKey)),
    },
    certificateOfVersion9: hex(signCertificate(certificate, inviter.aik.privateKey).record),
    recoveryCode: encodeRecoveryCode({ aikSeed: inviter.aik.seed, relayOrigin: testOrigin }),
    fingerprints: [fingerprint(inviter.aik.publicKey), fingerprint(guest.aik.publicKey)],
    safetyNumber: safetyNumber(inviter.aik.publicKey, guest.aik.publicKey),
  };
}
