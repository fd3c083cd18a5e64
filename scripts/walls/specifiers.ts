/**
 * Reads every way in which one source file names another module.
 *
 * Import and re-export (type-only too), side-effect import, import type, `import x = require()`,
 * module augmentation, dynamic import, require and createRequire (renamed or not),
 * `require.resolve`, `import.meta.resolve`, `process.getBuiltinModule` and
 * `new URL("…", import.meta.url)`. It judges nothing: `check.ts` does. It reads the compiler's own
 * syntax tree, so comments, strings and regular expressions cannot mislead it.
 */
import {
  type CallExpression,
  isCallExpression,
  isExportDeclaration,
  isExternalModuleReference,
  isIdentifier,
  isImportDeclaration,
  isImportSpecifier,
  isImportTypeNode,
  isLiteralTypeNode,
  isMetaProperty,
  isModuleDeclaration,
  isNewExpression,
  isNoSubstitutionTemplateLiteral,
  isPropertyAccessExpression,
  isStringLiteral,
  isTemplateExpression,
  isVariableDeclaration,
  type Node,
  type SourceFile,
  SyntaxKind,
} from "typescript/unstable/ast";

/** One mention of another module. */
export interface Specifier {
  readonly form: string;
  /** The literal text; the literal head of a template; undefined where nothing is literal. */
  readonly text: string | undefined;
  /** Whether more text follows at run time. */
  readonly open: boolean;
  readonly line: number;
}

/** The names under which one file can load modules without `import`. */
interface Loaders {
  /** `require` and what createRequire's result is called here. */
  readonly requires: Set<string>;
  /** `createRequire` and its import aliases. */
  readonly makers: Set<string>;
}

/** Every specifier of a file, in source order. */
export function readSpecifiers(file: SourceFile): Specifier[] {
  const loaders = findLoaders(file);
  const found: Specifier[] = [];
  const add = (form: string, at: Node, argument: Node | undefined): void => {
    const line = file.getLineAndCharacterOfPosition(at.getStart(file)).line + 1;
    found.push({ form, line, ...literal(argument) });
  };
  walk(file, (node) => {
    const named = declared(node) ?? called(node, loaders);
    if (named !== undefined) add(named.form, node, named.argument);
    if (escapes(node, loaders)) add("a loader that escapes this check", node, undefined);
  });
  return found;
}

interface Mention {
  readonly form: string;
  readonly argument: Node | undefined;
}

/** Declarations and types that name a module. */
function declared(node: Node): Mention | undefined {
  if (isImportDeclaration(node)) return { form: "import", argument: node.moduleSpecifier };
  if (isExportDeclaration(node) && node.moduleSpecifier !== undefined) {
    return { form: "export from", argument: node.moduleSpecifier };
  }
  if (isExternalModuleReference(node)) return { form: "import =", argument: node.expression };
  if (isModuleDeclaration(node) && isStringLiteral(node.name)) {
    return { form: "declare module", argument: node.name };
  }
  if (isImportTypeNode(node)) {
    const type = node.argument;
    return { form: "import type", argument: isLiteralTypeNode(type) ? type.literal : type };
  }
  return undefined;
}

/** Calls that load or locate a module. */
function called(node: Node, loaders: Loaders): Mention | undefined {
  if (isNewExpression(node)) {
    const [text, base] = node.arguments ?? [];
    const local = isNamed(node.expression, "URL") && base?.getText() === "import.meta.url";
    return local ? { form: "new URL", argument: text } : undefined;
  }
  if (!isCallExpression(node)) return undefined;
  const form = calleeForm(node.expression, loaders);
  return form === undefined ? undefined : { form, argument: node.arguments[0] };
}

function calleeForm(callee: Node, loaders: Loaders): string | undefined {
  if (callee.kind === SyntaxKind.ImportKeyword) return "dynamic import";
  if (isRequire(callee, loaders)) return "require";
  if (!isPropertyAccessExpression(callee)) return undefined;
  if (callee.name.text === "getBuiltinModule") return "getBuiltinModule";
  if (callee.name.text !== "resolve") return undefined;
  if (isMetaProperty(callee.expression)) return "import.meta.resolve";
  return isRequire(callee.expression, loaders) ? "require.resolve" : undefined;
}

/** A loader used as a value: what it then loads cannot be seen. */
function escapes(node: Node, loaders: Loaders): boolean {
  if (isPropertyAccessExpression(node)) {
    const isResolve = isMetaProperty(node.expression) && node.name.text === "resolve";
    return (isResolve || node.name.text === "createRequire") && !isCallee(node);
  }
  if (isCallExpression(node)) return isMaker(node, loaders) && !isBoundOrUsed(node);
  if (!isIdentifier(node) || isOnlyAName(node)) return false;
  if (loaders.makers.has(node.text)) return !isCallee(node);
  return loaders.requires.has(node.text) && !isCallee(node) && !isCalleesObject(node);
}

/** An identifier that declares, labels or selects rather than refers. */
function isOnlyAName(node: Node): boolean {
  const parent = node.parent;
  return isImportSpecifier(parent) || ("name" in parent && parent.name === node);
}

function findLoaders(file: SourceFile): Loaders {
  const loaders: Loaders = { requires: new Set(["require"]), makers: new Set(["createRequire"]) };
  walk(file, (node) => {
    if (isImportSpecifier(node) && node.propertyName?.text === "createRequire") {
      loaders.makers.add(node.name.text);
    }
  });
  walk(file, (node) => {
    if (!isVariableDeclaration(node) || !isIdentifier(node.name)) return;
    const made = node.initializer;
    if (made !== undefined && isCallExpression(made) && isMaker(made, loaders)) {
      loaders.requires.add(node.name.text);
    }
  });
  return loaders;
}

function isMaker(call: CallExpression, loaders: Loaders): boolean {
  const callee = call.expression;
  if (isIdentifier(callee)) return loaders.makers.has(callee.text);
  return isPropertyAccessExpression(callee) && callee.name.text === "createRequire";
}

function isRequire(node: Node, loaders: Loaders): boolean {
  if (isIdentifier(node)) return loaders.requires.has(node.text);
  return isCallExpression(node) && isMaker(node, loaders);
}

function isBoundOrUsed(call: CallExpression): boolean {
  const parent = call.parent;
  if (isVariableDeclaration(parent)) return isIdentifier(parent.name);
  return isCallee(call) || isCalleesObject(call);
}

/** The x of `x.y()`. */
function isCalleesObject(node: Node): boolean {
  return isPropertyAccessExpression(node.parent) && isCallee(node.parent);
}

function isCallee(node: Node): boolean {
  return isCallExpression(node.parent) && node.parent.expression === node;
}

function isNamed(node: Node, name: string): boolean {
  return isIdentifier(node) && node.text === name;
}

function literal(node: Node | undefined): { text: string | undefined; open: boolean } {
  if (node === undefined) return { text: undefined, open: true };
  if (isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)) {
    return { text: node.text, open: false };
  }
  if (isTemplateExpression(node)) return { text: node.head.text, open: true };
  return { text: undefined, open: true };
}

function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  node.forEachChild((child) => walk(child, visit));
}
