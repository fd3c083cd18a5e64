/** Writes the vectors: `npm run vectors`. A change in them is a change of the protocol. */
import { writeFileSync } from "node:fs";
import { vectorBuilders, vectorText } from "./build.ts";

for (const [name, build] of Object.entries(vectorBuilders)) {
  const text = vectorText(build());
  writeFileSync(new URL(name, import.meta.url), text);
  process.stdout.write(`${name} ${text.length}\n`);
}
