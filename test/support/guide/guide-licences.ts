/** The page of the guide that lists the licences of what the service depends on, as the lock file has them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pageOf, table } from './guide-markdown.ts';

interface Locked {
  version?: string;
  license?: string;
  dev?: boolean;
  link?: boolean;
}

/** A production package: its name, version and licence. */
export interface LicensedPackage {
  name: string;
  version: string;
  license: string;
}

/** Packages that are installed without development tools, each version once, by name. */
export function licensedPackages(root: string): LicensedPackage[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const found = Object.entries(packages)
    .filter(([path, { dev, link }]) => path.includes('node_modules/') && dev !== true && link !== true)
    .map(([path, { version = '', license = '' }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return [`${name} ${version}`, { name, version, license }] as const;
    });
  return [...new Map(found).entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
}

/** The page. */
export function licencesPage(root: string): string {
  const packages = licensedPackages(root);
  const counts = new Map<string, number>();
  for (const { license } of packages) counts.set(license, (counts.get(license) ?? 0) + 1);
  const byCount = [...counts.entries()].sort(([one, many], [other, more]) => more - many || (one < other ? -1 : 1));
  return pageOf(
    'Licences',
    'What the service depends on, and under which licence. The npm package holds the licences’ texts, of the ' +
      'dashboard’s and the guide’s packages too, in `THIRD-PARTY-NOTICES.txt`, and a bill of materials in ' +
      '`sbom.cdx.json`.',
    [
      table(
        ['licence', 'packages'],
        byCount.map(([license, count]) => [license, String(count)]),
      ),
      table(
        ['package', 'version', 'licence'],
        packages.map(({ name, version, license }) => [`\`${name}\``, version, license]),
      ),
    ].join('\n\n'),
  );
}
