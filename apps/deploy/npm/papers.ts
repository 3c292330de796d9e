/** What npm, who packs a package and who audits it read: description, licences, bill of materials, and how to begin. */
import { execFile } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { narrowed, noticesOf, shippedPackages, type BillOfMaterials } from './notices.ts';

/** What the checkout says of itself. */
export interface RootPackage {
  version: string;
  description: string;
  license: string;
  engines: Record<string, string>;
  imports: Record<string, { default: string }>;
}

export interface PapersOptions {
  name: string;
  /** Folders of packages below the root: those whose code is inside, and those that are installed beside it. */
  held: readonly string[];
  beside: readonly string[];
  /** Below the root. */
  readme: string;
  /** Projects below the root whose lock files name all of those. */
  projects: readonly string[];
  /** Members of `package.json` besides name, version, licence, description, type and engines. */
  manifest: (root: RootPackage) => object;
}

/** Writes `package.json`, `sbom.cdx.json`, `THIRD-PARTY-NOTICES.txt` and `README.md` into the folder of a package. */
export async function writePapers(root: string, folder: string, options: PapersOptions): Promise<void> {
  const checkout = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as RootPackage;
  const { version, description, license, engines } = checkout;
  const own = { name: options.name, version, license };
  const [held, beside] = [options.held, options.beside].map((folders) => shippedPackages(root, folders)) as [
    ReturnType<typeof shippedPackages>,
    ReturnType<typeof shippedPackages>,
  ];
  const manifest = { ...own, description, type: 'module', engines, ...options.manifest(checkout) };
  await writeJson(join(folder, 'package.json'), manifest);
  const bills = await Promise.all(options.projects.map((project) => billOf(join(root, project))));
  await writeJson(join(folder, 'sbom.cdx.json'), narrowed(bills, { held, beside }, own));
  await writeFile(join(folder, 'THIRD-PARTY-NOTICES.txt'), noticesOf(root, held));
  await cp(join(root, options.readme), join(folder, 'README.md'));
}

/** What npm says of all that a project's lock file names, development tools too. */
async function billOf(project: string): Promise<BillOfMaterials> {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: project, maxBuffer: 64 * 1_048_576 });
  return JSON.parse(stdout) as BillOfMaterials;
}

function writeJson(file: string, value: unknown): Promise<void> {
  return writeFile(file, `${JSON.stringify(value, null, 2)}\n`);
}
