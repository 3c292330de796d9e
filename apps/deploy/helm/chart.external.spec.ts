/** The Helm chart: linted, rendered, and every object held against the schemas of Kubernetes. decision 0081. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../../../test/support/guide/documents.ts';

const CHART = join(ROOT, 'apps/deploy/helm/millwright');
const TOOLS = process.env['DEPLOY_TOOLS'] ?? '';

/** The oldest that the chart names, one between, and the newest that there are schemas of. */
const VERSIONS = ['1.27.0', '1.30.0', '1.37.0'];
const KINDS = ['deployment-apps-v1', 'service-v1', 'networkpolicy-networking-v1', 'poddisruptionbudget-policy-v1'];

const VALUES = {
  image: { repository: 'registry.example.com/millwright' },
  publicUrl: 'https://millwright.example.com',
  existingSecret: 'millwright',
};
const EVERYTHING = {
  ...VALUES,
  imagePullSecrets: [{ name: 'registry' }],
  ingressUrl: 'https://hooks.example.com',
  trustedProxies: ['10.0.0.0/8'],
  variables: { MILLWRIGHT_RUN_NETWORK: 'none', MILLWRIGHT_RUN_CONCURRENCY: 4 },
  secretVariables: [{ name: 'MILLWRIGHT_AGENT_API_KEY', secretName: 'model', key: 'api-key' }],
  sandbox: false,
  networkPolicy: { enabled: true, from: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }] },
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'runs', operator: 'Exists' }],
};

interface Rendered {
  kind: string;
  metadata: { name: string };
  spec: { template?: { spec: { containers: { args: string[]; securityContext: object }[]; hostUsers?: boolean } } };
}

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'millwright-chart-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function helm(verb: string[], values: object, version = '1.30.0'): { status: number | null; out: string } {
  const file = join(folder, 'values.json');
  writeFileSync(file, JSON.stringify(values));
  const { status, stdout, stderr } = spawnSync(
    join(TOOLS, 'helm'),
    [...verb, CHART, '--values', file, '--kube-version', version],
    { encoding: 'utf8' },
  );
  return { status, out: status === 0 ? stdout : stderr + stdout };
}

describe('the chart', () => {
  it.each([
    ['the least values', VALUES],
    ['all of them', EVERYTHING],
  ])('is without fault for helm with %s', (_what, values) => {
    expect(helm(['lint', '--strict'], values)).toMatchObject({ status: 0 });
  });

  it.each(VERSIONS.flatMap((version) => [VALUES, EVERYTHING].map((values) => [version, values] as const)))(
    'makes only objects that Kubernetes %s takes',
    (version, values) => {
      const { status, out } = helm(['template', 'millwright'], values, version);
      expect({ status, out: status === 0 ? '' : out }).toEqual({ status: 0, out: '' });
      const checked = spawnSync(
        join(TOOLS, 'kubeconform'),
        ['-strict', '-summary', '-schema-location', `${schemasOf(version)}/{{.ResourceKind}}{{.KindSuffix}}.json`],
        { input: out, encoding: 'utf8' },
      );
      expect(checked.stdout).toMatch(/Valid: 14, Invalid: 0, Errors: 0, Skipped: 0/);
    },
  );

  it('has one deployment for each role, that is not root and writes to no image', () => {
    const { out } = helm(['template', 'millwright'], VALUES);
    const deployments = parseAllDocuments(out)
      .map((document) => document.toJS() as Rendered)
      .filter(({ kind }) => kind === 'Deployment');
    const roles = deployments.map(({ metadata: { name }, spec }) => [
      name,
      spec.template?.spec.containers[0]?.args.join(' '),
    ]);
    expect(Object.fromEntries(roles)).toEqual({
      'millwright-api': 'start --roles api,dashboard',
      'millwright-ingress': 'start --roles ingress',
      'millwright-sync': 'start --roles sync',
      'millwright-worker': 'start --roles worker',
    });
    for (const { spec } of deployments)
      expect(spec.template?.spec.containers[0]?.securityContext).toMatchObject({
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      });
    expect(out).not.toContain('kind: Secret');
  });

  it.each([
    ['no image', { image: { repository: '' } }, /\/image\/repository/],
    ['no address', { publicUrl: 'millwright.example.com' }, /\/publicUrl/],
    ['no secret', { existingSecret: '' }, /\/existingSecret/],
    ['a secret among the variables', { variables: { MILLWRIGHT_DATABASE_URL: 'postgres://u:p@h/d' } }, /\/variables/],
    ['no process of a role', { roles: { worker: { replicas: 0 } } }, /\/roles\/worker\/replicas/],
    ['a value that there is none of', { replicaCount: 3 }, /replicaCount/],
  ])('is refused with %s, by the name of the value', (_what, change, words) => {
    const { status, out } = helm(['template', 'millwright'], { ...VALUES, ...change });
    expect(status).not.toBe(0);
    expect(out).toMatch(words);
    expect(out).not.toContain('u:p@h');
  });
});

/** Files that stand alone: the published ones refer to a place that is nowhere. */
function schemasOf(version: string): string {
  const from = join(TOOLS, `kubernetes/kubernetes_validate/kubernetes-json-schema/v${version}-local-strict`);
  const to = join(folder, version);
  mkdirSync(to, { recursive: true });
  const { $defs } = JSON.parse(readFileSync(join(from, '_definitions.json'), 'utf8')) as { $defs: object };
  for (const kind of KINDS) {
    const { $id: _, ...schema } = JSON.parse(readFileSync(join(from, `${kind}.json`), 'utf8')) as { $id?: string };
    const text = JSON.stringify({ ...schema, $defs }).replaceAll('/api/_definitions.json#', '#');
    writeFileSync(join(to, `${kind}.json`), text);
  }
  return to;
}
