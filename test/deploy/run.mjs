// Fetches the programs that look at what is under apps/deploy (helm, kubeconform, schemas) into a cache outside the
// project, and runs those tests. Needs Go and pip; buildah and mmdebstrap for the image.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, mustFetch, once, runTests } from '../support/external-tests.mjs';

/** Exactly these, from Go's module proxy. */
const PROGRAMS = {
  'helm.sh/helm/v3/cmd/helm': 'v3.22.0',
  'github.com/yannh/kubeconform/cmd/kubeconform': 'v0.8.0',
};
/** Modules of which only files are read. */
const COMPOSE = 'github.com/compose-spec/compose-go/v2@v2.16.2';
/** Schemas of Kubernetes' objects, version by version. */
const KUBERNETES = 'kubernetes-validate==1.37.0';

const cache = cacheFolder('MILLWRIGHT_DEPLOY_CACHE', 'deploy');
once(cache, [PROGRAMS, COMPOSE, KUBERNETES], fetchTools);
process.exitCode = runTests('apps/deploy', { DEPLOY_TOOLS: cache });

function fetchTools() {
  console.error(`millwright: fetching helm, kubeconform and schemas into ${cache} (once) …`);
  const options = { cwd: cache, env: { ...process.env, GOBIN: cache } };
  for (const [program, version] of Object.entries(PROGRAMS))
    mustFetch('go', ['install', `${program}@${version}`], options);
  const { Dir } = JSON.parse(mustFetch('go', ['mod', 'download', '-json', COMPOSE], options));
  writeFileSync(join(cache, 'compose-spec.json'), readFileSync(join(Dir, 'schema/compose-spec.json')));
  mustFetch(
    'pip',
    ['install', '--quiet', '--no-deps', '--upgrade', '--target', join(cache, 'kubernetes'), KUBERNETES],
    options,
  );
}
