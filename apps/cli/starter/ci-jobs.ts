/**
 * What checks the starter repository at each change: the jobs of build servers, and the hook before a commit. contract
 * §11.
 */
import type { StarterFile } from './starter-files.ts';

/** Build servers that there is a file for, and none. */
export const CI_HOSTS = ['github', 'gitlab', 'none'] as const;
export type CiHost = (typeof CI_HOSTS)[number];

/** The file that a build server reads. */
export function ciFile(host: Exclude<CiHost, 'none'>): StarterFile {
  return host === 'github'
    ? { path: '.github/workflows/factory.yml', text: GITHUB }
    : { path: '.gitlab-ci.yml', text: GITLAB };
}

/**
 * Nothing of the repository is trusted here: no secrets reach pull requests from forks, and no credentials stay in the
 * checkouts.
 */
const GITHUB =
  `name: Factory files
on:
  pull_request:
  push:
    branches: [main]
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
          persist-credentials: false
      - if: vars.MILLWRIGHT_REPOSITORY == ''
        run: |
          echo '::error::Set the repository variable MILLWRIGHT_REPOSITORY to owner/name of ` +
  `the repository that holds Millwright.'
          exit 1
      - uses: actions/checkout@v4
        with:
          repository: \${{ vars.MILLWRIGHT_REPOSITORY }}
          ref: \${{ vars.MILLWRIGHT_REF || 'main' }}
          path: .millwright-checkout
          persist-credentials: false
      - uses: ./.millwright-checkout/apps/cli/action
        with:
          changed-since: \${{ github.event.pull_request.base.sha }}
          # A plan in the job's summary, where the variable names a server:
          server: \${{ vars.MILLWRIGHT_SERVER }}
          factory: \${{ vars.MILLWRIGHT_FACTORY }}
        env:
          MILLWRIGHT_API_KEY: \${{ secrets.MILLWRIGHT_API_KEY }}
`;

/** The same bytes as action/gitlab-ci.yml; a test compares them. */
const GITLAB =
  `# Checks the factory files of this repository. CI variables: MILLWRIGHT_REPOSITORY ` +
  `(address of the git repository that holds Millwright;
# required), MILLWRIGHT_REF (its branch or tag), MILLWRIGHT_DIRECTORY (folder of the factory), ` +
  `MILLWRIGHT_STRICT (true: warnings fail
# too). For a plan also MILLWRIGHT_SERVER, MILLWRIGHT_API_KEY ` +
  `(masked; the role viewer is enough) and, where needed, MILLWRIGHT_FACTORY.
factory-files:
  image: node:22
  variables:
    GIT_DEPTH: 0
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  before_script:
    - git clone --quiet --depth 1 --branch "\${MILLWRIGHT_REF:-main}" -- "$MILLWRIGHT_REPOSITORY" .millwright-checkout
  script:
    - |
      set -eu
      directory="\${MILLWRIGHT_DIRECTORY:-.}"
      millwright() { bash .millwright-checkout/apps/cli/action/from-checkout.sh "$@"; }
      set --
      if [ "\${MILLWRIGHT_STRICT:-false}" = true ]; then set -- "$@" --strict; fi
      if [ -n "\${CI_MERGE_REQUEST_DIFF_BASE_SHA:-}" ]; ` +
  `then set -- "$@" "--changed-since=$CI_MERGE_REQUEST_DIFF_BASE_SHA"; fi
      code=0
      millwright validate "$@" --format=junit -- "$directory" > factory-files.xml || code=$?
      if [ "$code" != 0 ]; then millwright validate "$@" -- "$directory" || true; exit "$code"; fi
      if [ -z "\${MILLWRIGHT_SERVER:-}" ] || [ -z "\${MILLWRIGHT_API_KEY:-}" ]; then exit 0; fi
      millwright plan \${MILLWRIGHT_FACTORY:+"--factory=$MILLWRIGHT_FACTORY"} -- "$directory" || code=$?
      # 2: changes, which a merge request is for. 4: deletions that the guard would hold; ` +
  `they are approved after the merge.
      case "$code" in 2 | 4) exit 0 ;; *) exit "$code" ;; esac
  artifacts:
    when: always
    reports:
      junit: factory-files.xml
`;

/** What people replace in it. */
export const PRE_COMMIT_PLACEHOLDERS = {
  address: 'REPLACE-WITH-THE-ADDRESS-OF-MILLWRIGHT',
  rev: 'REPLACE-WITH-A-TAG-OR-COMMIT',
} as const;

/** What pre-commit reads. It wants an address: people fill in the one of their clone. */
export const PRE_COMMIT_FILE: StarterFile = {
  path: '.pre-commit-config.yaml',
  text: `repos:
  # Address and a tag or commit of the repository that holds Millwright.
  - repo: ${PRE_COMMIT_PLACEHOLDERS.address}
    rev: ${PRE_COMMIT_PLACEHOLDERS.rev}
    hooks:
      - id: millwright-validate
`,
};
