/**
 * Why the relay closes a mailbox connection, as WebSocket close codes. A typed frame precedes each
 * where one exists; the code is for proxies, logs and people with a network panel.
 */
export const closeCode = {
  goingAway: 1001,
  failed: 1011,
  tryLater: 1013,
  displaced: 4001,
  malformed: 4400,
  unauthorised: 4401,
  revoked: 4403,
} as const;

/** One of them. */
export type CloseCode = (typeof closeCode)[keyof typeof closeCode];
