/**
 * All vectors of the protocol, by file name. They are made from seeds by the device's own code;
 * vectors.test.ts keeps the files equal to it and opens them with the slow twin, too.
 */
import type { Vector } from "./describe.ts";
import {
  bucketEdgesVector,
  invalidVector,
  plainVector,
  sixteenDevicesVector,
  twoKeysVector,
} from "./envelopes.ts";
import { derivationsVector, linkVector, listChainVector } from "./records.ts";

/** Builders by the name of their file. */
export const vectorBuilders: Readonly<Record<string, () => Vector>> = {
  "plain.json": plainVector,
  "sixteen-devices.json": sixteenDevicesVector,
  "bucket-edges.json": bucketEdgesVector,
  "invalid-items.json": invalidVector,
  "two-keys.json": twoKeysVector,
  "list-chain.json": listChainVector,
  "linking.json": linkVector,
  "derivations.json": derivationsVector,
};

/** The text of a vector file. */
export function vectorText(vector: Vector): string {
  return `${JSON.stringify({ suite: "PX1", ...vector }, null, 1)}\n`;
}
