/**
 * A bound for ical.js's search for the next occurrence. It looks for ever where a rule fits no day
 * (`FREQ=DAILY;BYDAY=-1SU;BYMONTH=2`), has no hook to stop it, and is synchronous: one line in an
 * invitation would stop the whole device. Every candidate passes through one method, which is wrapped
 * here to count, once for the whole program.
 *
 * Spec: docs/sources.md "Calendar".
 */
import ICAL from "ical.js";

/** Candidates that may be looked at for one event: over a hundred years of days; about a second. */
const maxCandidates = 40_000;

let left = maxCandidates;

const { prototype } = ICAL.RecurIterator;
// oxlint-disable-next-line typescript/unbound-method -- it is applied to its own object below.
const check = prototype.check_contracting_rules;
prototype.check_contracting_rules = function counted(...args): ReturnType<typeof check> {
  left -= 1;
  if (left < 0) throw new Error("its rule fits hardly any day");
  return check.apply(this, args);
};

/** Runs a synchronous expansion within the bound. Throws when the bound is met. */
export function withinSteps<T>(expand: () => T): T {
  left = maxCandidates;
  return expand();
}
