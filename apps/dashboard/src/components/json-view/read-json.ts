/**
 * JSON text as a flat list of its values and where each stands in the text. Nothing is converted: numbers beyond a
 * double, keys that come twice and keys like `__proto__` stay what was sent. Works in one loop, so that no nesting is
 * too deep.
 */

/**
 * Rows in the order of the text; a row is a value with the key before it. All lists are as long as there are rows;
 * offsets are UTF-16 units.
 */
export interface JsonTree {
  text: string;
  kind: JsonKind[];
  /** Containers around it. */
  level: number[];
  /** Row of the container; -1 of the outermost value. */
  parent: number[];
  /** Which of its container's values, from 0. */
  position: number[];
  /** Where the key's token begins and ends, quotes included; -1 where there is none. */
  keyStart: number[];
  keyEnd: number[];
  start: number[];
  end: number[];
  /** The first row behind everything inside. */
  after: number[];
  /** Values directly inside. */
  size: number[];
}

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'word';

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const CLOSING: Readonly<Partial<Record<JsonKind, string>>> = { object: '}', array: ']' };

/** Undefined for what is not exactly one JSON text (RFC 8259): it takes what `JSON.parse` takes. */
export function readJson(text: string): JsonTree | undefined {
  return new Reader(text).read();
}

class Reader {
  private readonly tree: JsonTree;
  private at = 0;
  /** Row of the innermost container that is open. */
  private open = -1;

  constructor(text: string) {
    this.tree = {
      text,
      kind: [],
      level: [],
      parent: [],
      position: [],
      keyStart: [],
      keyEnd: [],
      start: [],
      end: [],
      after: [],
      size: [],
    };
  }

  read(): JsonTree | undefined {
    do {
      const read = this.entry();
      if (read === undefined) return undefined;
      if (read === 'ended' && !this.close()) return undefined;
    } while (this.open >= 0);
    return this.at === this.tree.text.length ? this.tree : undefined;
  }

  /** Reads a value and the key before it. A container that holds something is open then. */
  private entry(): 'ended' | 'opened' | undefined {
    this.blank();
    const keyStart = this.at;
    if (this.tree.kind[this.open] !== 'object') return this.value(-1, -1);
    if (!this.string()) return undefined;
    const keyEnd = this.at;
    this.blank();
    if (!this.take(':')) return undefined;
    this.blank();
    return this.value(keyStart, keyEnd);
  }

  private value(keyStart: number, keyEnd: number): 'ended' | 'opened' | undefined {
    const start = this.at;
    const kind = this.kindHere();
    const row = this.push(kind, start, keyStart, keyEnd);
    const closing = CLOSING[kind];
    if (closing !== undefined) {
      this.at += 1;
      this.blank();
      if (!this.take(closing)) {
        this.open = row;
        return 'opened';
      }
    } else if (!this.scalar(kind)) {
      return undefined;
    }
    this.finish(row);
    return 'ended';
  }

  /** A value has ended: closes what closes with it. False where neither a further value nor an end comes. */
  private close(): boolean {
    for (;;) {
      this.blank();
      if (this.open < 0) return true;
      if (this.take(',')) return true;
      if (!this.take(CLOSING[this.tree.kind[this.open] ?? 'word'] ?? '')) return false;
      this.finish(this.open);
      this.open = this.tree.parent[this.open] ?? -1;
    }
  }

  private push(kind: JsonKind, start: number, keyStart: number, keyEnd: number): number {
    const { tree, open } = this;
    const position = open < 0 ? 0 : (tree.size[open] ?? 0);
    if (open >= 0) tree.size[open] = position + 1;
    tree.position.push(position);
    tree.level.push(open < 0 ? 0 : (tree.level[open] ?? 0) + 1);
    tree.parent.push(open);
    tree.keyStart.push(keyStart);
    tree.keyEnd.push(keyEnd);
    tree.start.push(start);
    tree.end.push(start);
    tree.after.push(0);
    tree.size.push(0);
    return tree.kind.push(kind) - 1;
  }

  private finish(row: number): void {
    this.tree.end[row] = this.at;
    this.tree.after[row] = this.tree.kind.length;
  }

  private kindHere(): JsonKind {
    const character = this.tree.text[this.at];
    if (character === '{') return 'object';
    if (character === '[') return 'array';
    if (character === '"') return 'string';
    return character === 't' || character === 'f' || character === 'n' ? 'word' : 'number';
  }

  private scalar(kind: JsonKind): boolean {
    if (kind === 'string') return this.string();
    return this.match(kind === 'word' ? WORD : NUMBER);
  }

  private string(): boolean {
    const { text } = this.tree;
    if (!this.take('"')) return false;
    for (;;) {
      const code = text.charCodeAt(this.at);
      if (code === 0x22) return this.take('"');
      if (code === 0x5c) {
        if (!this.match(ESCAPE)) return false;
      } else if (code >= 0x20) {
        this.at += 1;
      } else {
        return false; // a control character, or the end
      }
    }
  }

  private blank(): void {
    for (;;) {
      const code = this.tree.text.charCodeAt(this.at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.at += 1;
    }
  }

  private take(character: string): boolean {
    if (this.tree.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  private match(token: RegExp): boolean {
    token.lastIndex = this.at;
    if (!token.test(this.tree.text)) return false;
    this.at = token.lastIndex;
    return true;
  }
}
