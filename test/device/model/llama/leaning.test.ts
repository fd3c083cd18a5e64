/**
 * What is known beforehand about a plan's handles decides with the model: over random weights, which
 * prefer any of them, a strong leaning wins, and nothing that is not admitted is ever said.
 */
import { expect, it } from "vitest";

import { favours } from "../../../../src/device/model/llama/leaning.ts";
import { planGuide } from "../../../../src/device/model/llama/plan-grammar.ts";
import { parseMentions } from "../../../../src/device/skills/mentions.ts";
import { generatedModels } from "../../../support/gguf/generated.ts";
import { randomLlama } from "../../../support/gguf/random-llama.ts";
import { planRequest } from "../../../support/model-requests.ts";

const models = generatedModels();
const never = new AbortController().signal;
const handles = ["search-info", "search-files", "send-it"];

it("favours the tokens in which words part, by the best word behind each", () => {
  const paths = handles.map((word, at) => ({ tokens: word.split(""), favour: 10 - at }));
  const found = favours(paths);
  expect([found.get("a"), found.get("n")]).toEqual([10, 8]);
  expect([found.get("i"), found.get("f")]).toEqual([10, 9]);
  expect([found.get("s"), found.get("e"), found.get("r")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  const inside = [
    { tokens: ["find"], favour: 7 },
    { tokens: ["find", "-file"], favour: 6 },
  ];
  expect([...favours(inside)]).toEqual([["-file", 6]]);
});

it("is nothing where nothing is known, or nothing is left to choose", () => {
  const equal = handles.map((handle) => ({ handle, score: 2 }));
  expect(planGuide(equal, true).leaning).toBeUndefined();
  const one = planGuide([{ handle: "search-info", score: 2 }], false);
  expect(one.resume?.("")?.text).toBe("I'll use @search-info to");
  expect(planGuide([{ handle: "search-info", score: 2 }], true).resume?.("")).toBeUndefined();
});

it("names the handle that is known to fit, whatever the weights prefer", async () => {
  for (const best of handles) {
    const narrow = async () => ({
      type: "narrowed" as const,
      handles: handles.map((handle) => ({ handle, score: handle === best ? 40 : 0 })),
      none: false,
    });
    const file = models.write("leaning.gguf", randomLlama(7));
    const model = await models.open(file, { narrow });
    const request = planRequest({ menu: handles.map((handle) => ({ handle, line: "x" })) });
    const heard: string[] = [];
    await model.plan({ ...request, onToken: (text) => heard.push(text) }, never);
    expect(parseMentions(heard.join(""))[0]).toBe(best);
    await model[Symbol.asyncDispose]();
  }
});
