/** Where the values and keys of a YAML document are in their file. contract §8.1 (YAML). */
import { isMap, isScalar, isSeq, type Pair } from 'yaml';
import { unescapeSegment } from '#contracts';
import { FILE_START, type SourceText } from './source-text.ts';
import { parseYaml, type AnyNode, type Slice, type YamlDocument } from './yaml-composer.ts';
import type { FilePositions, Range } from '../types.ts';

/** Where a node is, in the whole file. */
export function yamlRangeOf(node: AnyNode, source: SourceText, offset: number): Range {
  const [start, end] = node?.range ?? [0, 0];
  return source.range(offset + start, offset + end);
}

/** The document that was read last: whoever reads a file asks for positions in it at once, or seldom. */
let latest: { source: SourceText; slice: Slice; document: YamlDocument } | undefined;

/**
 * Looks positions up when they are asked for: most files have no problem, and their positions are never needed. A
 * document is not kept behind its reading, for it has fifty times the size of its text: it is composed anew.
 */
export function yamlPositionsOf(source: SourceText, slice: Slice, document: YamlDocument): FilePositions {
  latest = { source, slice, document };
  let members: Map<string, Member> | undefined;
  const memberAt = (pointer: string): Member | undefined => {
    const found = (members ??= new Map([
      ['', { key: undefined, node: contentsOf(source, slice), children: undefined } as Member],
    ]));
    const known = found.get(pointer);
    if (known !== undefined || pointer === '') return known;
    const cut = pointer.lastIndexOf('/');
    const parent = memberAt(pointer.slice(0, cut));
    if (parent === undefined) return undefined;
    const member = childrenOf(parent).get(unescapeSegment(pointer.slice(cut + 1)));
    if (member !== undefined) found.set(pointer, member);
    return member;
  };
  const range = (node: AnyNode) => yamlRangeOf(node, source, slice.start);
  const nearestAt = (pointer: string): Range => {
    const member = memberAt(pointer);
    // A missing member stands at its parent's key, at the root on the first character of the file.
    if (member === undefined) return pointer === '' ? FILE_START : keyAt(pointer.slice(0, pointer.lastIndexOf('/')));
    return member.key === undefined && pointer === '' ? FILE_START : range(member.node ?? member.key);
  };
  const keyAt = (pointer: string): Range => {
    const member = memberAt(pointer);
    return member?.key === undefined || member.key === null ? nearestAt(pointer) : range(member.key);
  };
  return {
    value: nearestAt,
    key: keyAt,
    plainText: (pointer) => plainTextOf(memberAt(pointer)?.node),
    written: (pointer) => pointer,
  };
}

function contentsOf(source: SourceText, slice: Slice): AnyNode {
  if (latest?.source === source && latest.slice === slice) return latest.document.contents;
  const document = parseYaml(source, slice);
  return typeof document === 'object' && 'contents' in document ? document.contents : undefined;
}

function plainTextOf(node: AnyNode): string | undefined {
  return isScalar(node) && node.type === 'PLAIN' ? node.source : undefined;
}

interface Member {
  key: AnyNode;
  node: AnyNode;
  children: Map<string, Member> | undefined;
}

function childrenOf(member: Member): Map<string, Member> {
  if (member.children !== undefined) return member.children;
  const children = new Map<string, Member>();
  const { node } = member;
  if (isMap(node)) for (const pair of node.items) addChild(children, pair);
  if (isSeq(node))
    for (const [index, item] of node.items.entries())
      children.set(String(index), { key: undefined, node: item as AnyNode, children: undefined });
  member.children = children;
  return children;
}

function addChild(children: Map<string, Member>, pair: Pair): void {
  const key = pair.key as AnyNode;
  if (!isScalar(key) || typeof key.value !== 'string' || children.has(key.value)) return;
  children.set(key.value, { key, node: pair.value as AnyNode, children: undefined });
}
