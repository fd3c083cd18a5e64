/**
 * The open connections of this process, by mailbox: at most one may hold a mailbox, and the one with
 * the higher session number wins. What other processes did is told by `observe`.
 *
 * Bound: one entry per mailbox, and one per socket that has not authenticated yet (10 s at most).
 */
import type { MailboxHold, MailboxPosition } from "../store/mailboxes.ts";

/** What the registry does to a connection. */
export interface RegisteredConnection {
  /** A newer connection of the device took over. */
  readonly displace: () => void;
  /** The device was revoked. */
  readonly revoke: () => void;
  /** The relay stops. */
  readonly goAway: () => void;
  /** Cuts the socket. */
  readonly terminate: () => void;
  /** Settles when everything that the connection began has ended. */
  readonly ended: Promise<void>;
}

interface Holder {
  readonly lane: number;
  readonly session: number;
  readonly connection: RegisteredConnection;
  /** Highest number that `observe` was told of. */
  through: number;
}

/** Every connection of this process. */
export class ConnectionRegistry {
  readonly #holderByMailbox = new Map<string, Holder>();
  readonly #open = new Set<RegisteredConnection>();

  /** Connections, authenticated or not. */
  get size(): number {
    return this.#open.size;
  }

  /** Counts a connection in until it ends. */
  add(connection: RegisteredConnection): void {
    this.#open.add(connection);
    void connection.ended.then(() => this.#open.delete(connection));
  }

  /** Gives a mailbox to the connection with the highest session; the other one is displaced. */
  hold({ lane, mailbox, session }: MailboxHold, connection: RegisteredConnection): void {
    const current = this.#holderByMailbox.get(mailbox);
    if (current !== undefined && current.session > session) {
      connection.displace();
      return;
    }
    this.#holderByMailbox.set(mailbox, { lane, session, connection, through: 0 });
    current?.connection.displace();
    void connection.ended.then(() => {
      if (this.#holderByMailbox.get(mailbox)?.connection === connection) {
        this.#holderByMailbox.delete(mailbox);
      }
    });
  }

  /** The mailboxes of a lane that are held here. */
  heldIn(lane: number): readonly string[] {
    return [...this.#holderByMailbox].flatMap(([mailbox, holder]) =>
      holder.lane === lane ? [mailbox] : [],
    );
  }

  /**
   * Compares a held mailbox with its row, or with the lack of one. Whoever was overtaken in another
   * process hears of it. Returns whether numbers were drawn since the last time.
   */
  observe(mailbox: string, position: MailboxPosition | undefined): boolean {
    const holder = this.#holderByMailbox.get(mailbox);
    if (holder === undefined) return false;
    if (position === undefined) holder.connection.revoke();
    else if (position.session > holder.session) holder.connection.displace();
    else if (position.through > holder.through) {
      holder.through = position.through;
      return true;
    }
    return false;
  }

  /** Ends the connections of mailboxes that no longer exist. */
  revoke(mailboxes: readonly string[]): void {
    for (const mailbox of mailboxes) this.#holderByMailbox.get(mailbox)?.connection.revoke();
  }

  /** Says goodbye to all, and cuts those still there when `deadline` settles. */
  async closeAll(deadline: Promise<void>): Promise<void> {
    const open = [...this.#open];
    for (const connection of open) connection.goAway();
    const ended = Promise.all(open.map((connection) => connection.ended));
    await Promise.race([ended, deadline]);
    for (const connection of this.#open) connection.terminate();
    await ended;
  }
}
