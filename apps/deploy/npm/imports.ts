/** What built modules import of packages, and the same modules with those imports led elsewhere. */
import { parseAst } from 'rolldown/parseAst';

/** An import of a package: where its specifier stands in the text, and what is taken of it. */
export interface PackageImport {
  specifier: string;
  /** Of the specifier with its quotes. */
  start: number;
  end: number;
  /** Names as the package exports them; `*`: all of it. */
  names: readonly string[];
}

interface Node {
  type: string;
  start: number;
  end: number;
  [member: string]: unknown;
}

/** Imports of packages in the text of an ES module, dynamic ones too; neither files nor what comes with Node.js. */
export function packageImports(text: string): PackageImport[] {
  return nodesOf(parseAst(text))
    .flatMap(importOf)
    .filter(({ specifier }) => !/^(?:[./#]|node:)/.test(specifier));
}

/** The text with each of these imports replaced by what `target` says of its specifier. */
export function redirected(
  text: string,
  imports: readonly PackageImport[],
  target: (specifier: string) => string,
): string {
  return [...imports]
    .sort((one, other) => other.start - one.start)
    .reduce((changed, { specifier, start, end }) => {
      return `${changed.slice(0, start)}'${target(specifier)}'${changed.slice(end)}`;
    }, text);
}

/** Name of a package without the path in it. */
export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function importOf(node: Node): PackageImport[] {
  const source = node['source'] as (Node & { value?: unknown }) | null | undefined;
  if (source?.type !== 'Literal' || typeof source.value !== 'string') return [];
  const at = { specifier: source.value, start: source.start, end: source.end };
  if (node.type === 'ImportExpression' || node.type === 'ExportAllDeclaration') return [{ ...at, names: ['*'] }];
  if (node.type !== 'ImportDeclaration' && node.type !== 'ExportNamedDeclaration') return [];
  return [{ ...at, names: (node['specifiers'] as Node[]).map(nameOf) }];
}

function nameOf(specifier: Node): string {
  if (specifier.type === 'ImportDefaultSpecifier') return 'default';
  if (specifier.type === 'ImportNamespaceSpecifier') return '*';
  const exported = (specifier['imported'] ?? specifier['local']) as { name?: string; value?: string };
  return exported.name ?? exported.value ?? '*';
}

/** Every node of a tree. */
function nodesOf(tree: unknown): Node[] {
  if (Array.isArray(tree)) return tree.flatMap(nodesOf);
  if (typeof tree !== 'object' || tree === null) return [];
  const below = Object.values(tree).flatMap(nodesOf);
  return 'type' in tree && 'start' in tree ? [tree as Node, ...below] : below;
}
