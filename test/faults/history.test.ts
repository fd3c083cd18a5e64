/** The history checker finds each broken promise, and nothing in a clean history. */
import { expect, it } from "vitest";

import { History } from "./history.ts";

function clean(): History {
  const history = new History();
  history.sent("a", ["phone", "laptop"]);
  history.accepted("a");
  history.sent("b", ["phone"]);
  history.accepted("b");
  history.sent("never answered", ["phone"]);
  history.arrived({ device: "phone", connection: 0, seq: 1n, upload: "a" });
  history.arrived({ device: "laptop", connection: 0, seq: 1n, upload: "a" });
  history.drained({ device: "phone", connection: 0, through: 1n });
  history.arrived({ device: "phone", connection: 1, seq: 3n, upload: "b" });
  // Not known to be acknowledged: it may come again, as what it was.
  history.arrived({ device: "phone", connection: 2, seq: 3n, upload: "b" });
  return history;
}

it("has nothing to say against a clean history", () => {
  expect(clean().violations()).toEqual([]);
});

it.each<[string, (history: History) => void, RegExp]>([
  [
    "a loss",
    (history) => {
      history.sent("c", ["laptop"]);
      history.accepted("c");
    },
    /^lost: c/,
  ],
  [
    "a stranger",
    (history) => history.arrived({ device: "laptop", connection: 1, seq: 9n, upload: "b" }),
    /^stranger: b/,
  ],
  [
    "a second number for one item",
    (history) => history.arrived({ device: "phone", connection: 3, seq: 4n, upload: "b" }),
    /^twice: b/,
  ],
  [
    "a second item for one number",
    (history) =>
      history.arrived({ device: "phone", connection: 3, seq: 3n, upload: "never answered" }),
    /^reused/,
  ],
  [
    "disorder, and a copy that comes twice on one connection",
    (history) => history.arrived({ device: "phone", connection: 2, seq: 3n, upload: "b" }),
    /^disordered/,
  ],
  [
    "what comes back after it was drained",
    (history) => history.arrived({ device: "phone", connection: 3, seq: 1n, upload: "a" }),
    /^resurrected/,
  ],
])("finds %s", (_name, breakIt, words) => {
  const history = clean();
  breakIt(history);
  expect(history.violations()).toHaveLength(1);
  expect(history.violations()[0]).toMatch(words);
});
