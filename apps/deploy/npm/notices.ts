/** Whose code a package holds: their licences' texts, and a bill of materials in the form of CycloneDX. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package whose code is shipped: where it was installed, what it is called, and its licence. */
export interface ShippedPackage {
  /** Below the root of the checkout. */
  folder: string;
  name: string;
  version: string;
  /** SPDX expression. */
  license: string;
}

const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/** What these folders of installed packages say of themselves; one that names no licence is refused. */
export function shippedPackages(root: string, folders: readonly string[]): ShippedPackage[] {
  return folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Partial<
      Record<string, unknown>
    >;
    if (typeof name !== 'string' || typeof version !== 'string' || typeof license !== 'string')
      throw new Error(`${folder} does not say its name, version and licence`);
    return { folder, name, version, license };
  });
}

/** One text with the licence of each, as its authors ship it. */
export function noticesOf(root: string, packages: readonly ShippedPackage[]): string {
  const seen = new Map(packages.map((each) => [idOf(each), each]));
  const sections = [...seen.entries()]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([id, { folder, license }]) => {
      const texts = readdirSync(join(root, folder), { withFileTypes: true })
        .filter((entry) => entry.isFile() && LICENSE_FILE.test(entry.name))
        .map((entry) => readFileSync(join(root, folder, entry.name), 'utf8').trim());
      return [`${id} (${license})`, ...texts].join('\n\n');
    });
  const rule = `\n\n${'-'.repeat(80)}\n\n`;
  return ['This package holds code of the following packages, under their licences.', ...sections].join(rule) + '\n';
}

export interface BillOfMaterials {
  metadata: { component?: object; lifecycles?: object[]; tools?: object[] };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

interface Component {
  'bom-ref': string;
  scope?: string;
  properties?: object[];
}

/** What is shipped: in the package itself, and installed beside it with what that needs. */
export interface Shipped {
  held: readonly ShippedPackage[];
  beside: readonly ShippedPackage[];
}

/** What npm says of all that a checkout installs, narrowed to what is shipped. The same for the same lock file. */
export function narrowed(
  all: readonly BillOfMaterials[],
  { held, beside }: Shipped,
  { name, version, license }: { name: string; version: string; license: string },
): object {
  const edges = new Map(
    all.flatMap((bill) => bill.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn] as const)),
  );
  const wanted = new Set([...held.map(idOf), ...closure(beside.map(idOf), edges)]);
  const components = new Map(all.flatMap((bill) => bill.components.map((each) => [each['bom-ref'], each] as const)));
  const ids = [...wanted].sort();
  const absent = ids.filter((id) => !components.has(id));
  if (absent.length > 0) throw new Error(`not in the bill of materials: ${absent.join(', ')}`);
  const ref = idOf({ name, version });
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      tools: all[0]?.metadata.tools,
      component: { 'bom-ref': ref, type: 'application', name, version, purl, licenses: [{ license: { id: license } }] },
    },
    // npm says of some that a checkout only develops with them: their code is here.
    components: ids.map((id) => ({ ...components.get(id), scope: 'required', properties: [] })),
    dependencies: [
      { ref, dependsOn: ids },
      ...ids.map((id) => ({ ref: id, dependsOn: (edges.get(id) ?? []).filter((other) => wanted.has(other)) })),
    ],
  };
}

function closure(from: readonly string[], edges: ReadonlyMap<string, readonly string[]>): Set<string> {
  const found = new Set<string>();
  const open = [...from];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    open.push(...(edges.get(next) ?? []));
  }
  return found;
}

function idOf({ name, version }: { name: string; version: string }): string {
  return `${name}@${version}`;
}
