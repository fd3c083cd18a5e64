/**
 * One HTTP request as the doctor makes it: from an address of its choice, over the address family of
 * its choice, without following redirects, and with the certificate looked at.
 */
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";
import { TLSSocket } from "node:tls";

import { err, ok, type Result } from "../../../shared/result.ts";
import { causeText } from "../../db/database-error.ts";

/** What to ask. */
export interface Question {
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** An own address to ask from. */
  readonly localAddress?: string | undefined;
  /** 4 or 6; either without it. */
  readonly family?: 4 | 6;
}

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** From which own address it was asked. */
  readonly localAddress: string | undefined;
  /** End of the certificate's validity; undefined without TLS. Units: ms since 1970. */
  readonly certificateEndsMs: number | undefined;
}

const answerMs = 15_000;
const maxAnswerBytes = 1_048_576;

/** What the proxy calls itself. */
export function serverName(headers: IncomingHttpHeaders): string | undefined {
  return typeof headers.server === "string" ? headers.server : undefined;
}

/** Asks. Errors: no whole answer came in time; the text says why. */
export function ask(url: string, question: Question = {}): Promise<Result<Answer, string>> {
  const { method = "GET", headers = {}, body, localAddress, family } = question;
  const send = url.startsWith("https:") ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    const fail = (cause: unknown): void => resolve(err(causeText(cause)));
    const options = { method, headers, localAddress, family, agent: false, timeout: answerMs };
    const sent = send(url, options, (response) => {
      const { socket } = response;
      const from = socket.localAddress;
      const ends = socket instanceof TLSSocket ? socket.getPeerCertificate().valid_to : undefined;
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > maxAnswerBytes) response.destroy(new Error("the answer is endless"));
      });
      response.on("error", fail);
      response.on("end", () =>
        resolve(
          ok({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            localAddress: from,
            certificateEndsMs: ends === undefined ? undefined : Date.parse(ends),
          }),
        ),
      );
    });
    sent.on("timeout", () => sent.destroy(new Error(`no answer within ${answerMs / 1000} s`)));
    sent.on("error", fail);
    sent.end(body);
  });
}
