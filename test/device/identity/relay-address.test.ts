import { describe, expect, it } from "vitest";
import { isAcceptableRelay } from "../../../src/device/identity/relay-address.ts";

const own = "https://relay.example";

describe("relays that somebody else names", () => {
  it.each([
    "https://other.example",
    "https://sub.other.example:8443",
    "https://93.184.216.34",
    "https://[2606:2800:220:1::1]",
  ])("may be called: %s", (origin) => {
    expect(isAcceptableRelay(origin, own)).toBe(true);
  });

  it.each([
    "http://other.example",
    "https://localhost",
    "https://printer",
    "https://nas.local",
    "https://db.internal",
    "https://box.home.arpa",
    "https://a.localhost",
    "https://nas.local.",
    "https://127.0.0.1",
    "https://127.1",
    "https://2130706433",
    "https://0x7f000001",
    "https://0.0.0.0",
    "https://10.1.2.3",
    "https://100.64.0.1",
    "https://169.254.169.254",
    "https://172.31.255.255",
    "https://192.168.1.1",
    "https://224.0.0.1",
    "https://255.255.255.255",
    "https://[::1]",
    "https://[::]",
    "https://[::ffff:127.0.0.1]",
    "https://[::ffff:10.0.0.1]",
    "https://[64:ff9b::a00:1]",
    "https://[fc00::1]",
    "https://[fe80::1]",
    "https://[ff02::1]",
  ])("may not be called: %s", (url) => {
    expect(isAcceptableRelay(new URL(url).origin, own)).toBe(false);
  });

  it("may be our own, whatever it is", () => {
    expect(isAcceptableRelay("http://127.0.0.1:7470", "http://127.0.0.1:7470")).toBe(true);
    expect(isAcceptableRelay("http://relay.example", "http://relay.example")).toBe(true);
    expect(isAcceptableRelay("http://other.example", "http://relay.example")).toBe(false);
  });

  it("may be private where our own is", () => {
    expect(isAcceptableRelay("http://192.168.1.9:7470", "http://127.0.0.1:7470")).toBe(true);
  });

  it("may not be private before we have a relay", () => {
    expect(isAcceptableRelay("https://127.0.0.1", undefined)).toBe(false);
  });
});
