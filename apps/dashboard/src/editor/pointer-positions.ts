/** Where in a JSON text a JSON pointer points. */
import type { ASTNode } from 'vscode-json-languageservice';

/**
 * The key or item that is named, or the nearest thing around it that is there; characters from the start of the text.
 */
export function placeOf(root: ASTNode | undefined, pointer: string, length: number): { from: number; to: number } {
  let [node, place] = [
    root,
    root === undefined ? { from: 0, to: length } : { from: root.offset, to: Math.min(root.offset + 1, length) },
  ];
  for (const segment of pointer.split('/').slice(1)) {
    const next = childOf(node, segment.replaceAll('~1', '/').replaceAll('~0', '~'));
    if (next === undefined) break;
    [node, place] = [next.value, { from: next.named.offset, to: next.named.offset + next.named.length }];
  }
  return place;
}

/** A member is shown by its key, an item by itself. */
function childOf(node: ASTNode | undefined, name: string): { value: ASTNode | undefined; named: ASTNode } | undefined {
  if (node?.type === 'object') {
    const property = node.properties.find(({ keyNode }) => keyNode.value === name);
    return property && { value: property.valueNode, named: property.keyNode };
  }
  const item = node?.type === 'array' ? node.items[Number(name)] : undefined;
  return item && { value: item, named: item };
}
