/** What the service depends on, as the lock file has it: every package of it accepts the oldest Node.js that we do. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { minVersion, satisfies } from 'semver';
import { licensedPackages } from '../../../test/support/guide/guide-licences.ts';
import { ROOT } from '../../../test/support/guide/documents.ts';

interface Locked {
  dev?: boolean;
  link?: boolean;
  hasInstallScript?: boolean;
  engines?: { node?: string };
}

it('no production package refuses the oldest Node.js that is supported', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const oldest = minVersion(packages['']?.engines?.node ?? '')?.version ?? '';
  expect(oldest).toBe('20.19.0');
  const production = Object.entries(packages).filter(([path, { dev }]) => path.includes('node_modules/') && !dev);
  expect(production.length).toBeGreaterThan(100);
  const refusing = production.filter(([, { engines }]) => !satisfies(oldest, engines?.node ?? '*'));
  expect(refusing.map(([path]) => path)).toEqual([]);
});

/** Each lets anybody ship what is under it, with the licence's text. */
const PERMISSIVE = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT'];

it('every production package is under a licence that lets the service be shipped', () => {
  const packages = licensedPackages(ROOT);
  expect(packages.length).toBeGreaterThan(100);
  const others = packages.filter(
    ({ license }) => !license.split(/[()]| OR /).some((choice) => PERMISSIVE.includes(choice.trim())),
  );
  expect(others).toEqual([]);
});

it('nothing but what is installed beside the package has a script that runs at its installation', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const scripted = Object.entries(packages).filter(
    ([, { dev, hasInstallScript }]) => !dev && hasInstallScript === true,
  );
  // The other one is a native twin that BullMQ does without, and is allowed no script.
  expect(scripted.map(([path]) => path.replace(/^.*node_modules\//, '')).sort()).toEqual([
    'better-sqlite3',
    'msgpackr-extract',
  ]);
});
