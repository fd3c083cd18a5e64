/**
 * Whether a relay that somebody else names may be called at all. A contact's profile could point
 * this device at a printer or a database inside its own network; so foreign relays are https and
 * have a public name or address.
 *
 * Names are judged as they are written: one that resolves to a private address is not caught here.
 *
 * Spec: docs/protocol.md "Tags" (profile).
 */
import { BlockList, isIP } from "node:net";

const privateAddresses = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
] as const) {
  privateAddresses.addSubnet(network, prefix, "ipv4");
}
for (const [network, prefix] of [
  ["::", 127],
  ["64:ff9b::", 96],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const) {
  privateAddresses.addSubnet(network, prefix, "ipv6");
}

const privateSuffixes = [".localhost", ".local", ".internal", ".lan", ".home.arpa"];

/**
 * Whether a relay named by somebody else may be called. Our own relay always may; where ours is on
 * a private address itself, its owner runs a private network and its other relays may be called too.
 */
export function isAcceptableRelay(origin: string, ownOrigin: string | undefined): boolean {
  if (origin === ownOrigin) return true;
  if (ownOrigin !== undefined && isPrivateHost(new URL(ownOrigin).hostname)) return true;
  const url = new URL(origin);
  return url.protocol === "https:" && !isPrivateHost(url.hostname);
}

/** Whether a host, as a URL writes it, is an address or a name inside a private network. */
function isPrivateHost(host: string): boolean {
  const bare = host.startsWith("[") ? host.slice(1, -1) : host;
  const family = isIP(bare);
  if (family === 4) return privateAddresses.check(bare, "ipv4");
  if (family === 6) return privateAddresses.check(bare, "ipv6");
  const name = bare.toLowerCase().replace(/\.$/, "");
  return !name.includes(".") || privateSuffixes.some((suffix) => name.endsWith(suffix));
}
