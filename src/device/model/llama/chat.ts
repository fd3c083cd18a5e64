/**
 * A conversation as the model's own tokens: its chat template, with every text of ours as plain text,
 * so that nothing a person or a tool wrote becomes a special token.
 *
 * Spec: docs/agent.md "The engine".
 */
import type { ChatHistoryItem, LlamaModel, Token } from "node-llama-cpp";

import type { Message } from "../transcript.ts";
import type { Binding } from "./binding.ts";

/** Turns messages into the prompt after which the model speaks. */
export type Template = (messages: readonly Message[]) => readonly Token[];

/** The template that the file names, or the plainest one where it names none. */
export function templateOf(binding: Binding, model: LlamaModel): Template {
  const wrapper = binding.resolveChatWrapper(model, { warningLogs: false });
  return (messages) => {
    const chatHistory: ChatHistoryItem[] = [
      ...messages.map(historyItem),
      { type: "model", response: [""] },
    ];
    const { contextText } = wrapper.generateContextState({ chatHistory });
    const tokens = contextText.tokenize(model.tokenizer);
    // Some templates of the engine begin with this token even for files that say not to.
    const unwanted = !model.tokens.shouldPrependBosToken && tokens[0] === model.tokens.bos;
    return unwanted && tokens[1] !== undefined && model.isSpecialToken(tokens[1])
      ? tokens.slice(1)
      : tokens;
  };
}

function historyItem({ role, text }: Message): ChatHistoryItem {
  return role === "assistant" ? { type: "model", response: [text] } : { type: role, text };
}
