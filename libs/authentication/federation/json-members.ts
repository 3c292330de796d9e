/** JSON objects of strangers: one meaning, whoever reads them. */

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/gs;

/** The object of a JSON text; undefined for any other text, and for one that names a member twice. RFC 7515 §4. */
export function strictJsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || hasDuplicates(text)) return undefined;
  return value as Record<string, unknown>;
}

/** Of a text that is JSON: whether an object in it names a member twice, however the name is spelled. */
function hasDuplicates(text: string): boolean {
  const open: (Set<string> | undefined)[] = [];
  let before = '';
  for (const [token] of text.matchAll(TOKEN)) {
    const names = open.at(-1);
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (token.startsWith('"') && names !== undefined && (before === '{' || before === ',')) {
      const name = JSON.parse(token) as string;
      if (names.has(name)) return true;
      names.add(name);
    }
    before = token;
  }
  return false;
}

/** The member of that name and no other: nothing that every object has. */
export function ownMember(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
