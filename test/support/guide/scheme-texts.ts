/**
 * Where the signature schemes are named outside of their entries: schemas, clients, documents. Each text is made of the
 * entries.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { familiesOf, SIGNATURE_SCHEMES, UNSHIPPED_SCHEMES } from '#authentication/schemes';

/** Lines of docstrings of the Python client are broken before this column, and continued with this indentation. */
const DOCSTRING_COLUMNS = 119;
const DOCSTRING_INDENT = ' '.repeat(16);

const PYTHON = 'libs/client-python/src/millwright';
const DOCSTRINGS = [
  `${PYTHON}/_async/resources/factories/webhooks.py`,
  `${PYTHON}/_sync/resources/factories/webhooks.py`,
];
const ONE_LINE = ['schemas/api/webhook-create.schema.json', `${PYTHON}/types/_models.py`, `${PYTHON}/types/_params.py`];

/** Repository path of every file that names the schemes → its text with the schemes that there are now. */
export async function schemeTexts(root: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const rewrite = async (path: string, change: (text: string) => string): Promise<void> => {
    texts.set(path, change(await readFile(join(root, path), 'utf8')));
  };
  await rewrite('schemas/webhook.schema.json', withEnum);
  for (const path of ONE_LINE) await rewrite(path, withSentence);
  for (const path of DOCSTRINGS) await rewrite(path, withDocstring);
  for (const path of await documents(root)) await rewrite(path, withRows);
  return texts;
}

const ids = (): string[] => [...SIGNATURE_SCHEMES.keys()];

/** `a`, `b` or `c`. */
function alternatives(): string {
  const quoted = ids().map((id) => `\`${id}\``);
  return `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}

function withEnum(text: string): string {
  return text.replace(
    /("signatureScheme": \{[^}]*"enum": )\[[^\]]*\]/,
    (_, before: string) =>
      `${before}[${ids()
        .map((id) => JSON.stringify(id))
        .join(', ')}]`,
  );
}

function withSentence(text: string): string {
  return text.replace(
    /(\/signature-schemes` lists them\. )`[^.]*`(?=\.)/g,
    (_, before: string) => `${before}${alternatives()}`,
  );
}

function withDocstring(text: string): string {
  return text.replace(/^ +signature_scheme: Signature [^]*? lists them\. [^.]*`\.$/m, (item) => {
    const words = withSentence(item.trim().replaceAll(/\s+/g, ' ')).split(' ');
    const lines = [' '.repeat(DOCSTRING_INDENT.length - 5)];
    for (const word of words) {
      const line = lines.at(-1) ?? '';
      if (line.length + 1 + word.length < DOCSTRING_COLUMNS) lines[lines.length - 1] = `${line} ${word}`;
      else lines.push(DOCSTRING_INDENT + word);
    }
    return lines.join('\n');
  });
}

/** The README, and whatever it refers to for details. */
async function documents(root: string): Promise<string[]> {
  const guide = await readdir(join(root, 'apps'), { recursive: true }).then((paths) =>
    paths.filter((path) => /^guide\/(?!.*node_modules).+\.md$/.test(path)).map((path) => `apps/${path}`),
  );
  return ['README.md', ...guide];
}

/** The row of the key and the rows of what is not served, wherever a document has them. */
function withRows(text: string): string {
  const served = [...SIGNATURE_SCHEMES.values()].map((scheme) => {
    const others = familiesOf(scheme).slice(1);
    return `\`${scheme.id}\`${others.length === 0 ? '' : ` (also ${others.map(capitalized).join(', ')} headers)`}`;
  });
  const rows = new Map([['| `signatureScheme` | with `signature`: ', served]]);
  for (const [id, reason] of UNSHIPPED_SCHEMES) {
    const start = `| ${reason} | `;
    rows.set(start, [...(rows.get(start) ?? []), `\`${id}\``]);
  }
  const lines = text.split('\n').map((line) => {
    const row = [...rows].find(([start]) => line.startsWith(start));
    return row === undefined ? line : `${row[0]}${row[1].join(', ')} |`;
  });
  return lines.join('\n');
}

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
