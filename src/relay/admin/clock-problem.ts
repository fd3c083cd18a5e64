/**
 * A clock that was never set. A relay that starts with one makes partitions for the wrong days and
 * refuses every token, and one client with a wrong clock is all that its users see (O19).
 */

/** Before this no such relay existed. */
const firstReleaseMs = Date.UTC(2026, 0, 1);

/** What is wrong with that time; undefined when it can be right. */
export function clockProblem(nowMs: number): string | undefined {
  return nowMs >= firstReleaseMs
    ? undefined
    : `the clock says ${new Date(nowMs).toISOString()}, expected 2026 or later: set it (chrony, systemd-timesyncd) before starting`;
}
