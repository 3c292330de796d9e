/**
 * What checks the starter repository at each change: the jobs of build servers, and the hook before a commit. contract
 * §11.
 */
import type { OwnFile } from './own-file.ts';
import type { StarterFile } from './starter-files.ts';

/** Build servers that there is a file for, and none. */
export const CI_HOSTS = ['github', 'gitlab', 'gitea', 'none'] as const;
export type CiHost = (typeof CI_HOSTS)[number];

/** The folder in which a repository keeps the command as one file. contract §11.10 (One file). */
export const COMMAND_FOLDER = '.ci/millwright';

/** What a build server reads; Forgejo reads that of Gitea. */
export const CI_PATHS: Readonly<Record<Exclude<CiHost, 'none'>, string>> = {
  github: '.github/workflows/factory.yml',
  gitlab: '.gitlab-ci.yml',
  gitea: '.gitea/workflows/factory.yml',
};

const JOBS = { github: githubJob, gitlab: gitlabJob, gitea: giteaJob };

/** The file that a build server reads. With `own` the job runs the file in the repository, else a checkout. */
export function ciFile(host: Exclude<CiHost, 'none'>, own: OwnFile | undefined): StarterFile {
  return { path: CI_PATHS[host], text: JOBS[host](own) };
}

/** The command as one file, and the scripts that compare its digest before they run it. */
export function commandFiles({ text, scripts }: OwnFile, host: CiHost): StarterFile[] {
  const names = host === 'github' ? (['action.yml', 'check.sh', 'command.sh'] as const) : (['command.sh'] as const);
  return [
    { path: `${COMMAND_FOLDER}/.gitattributes`, text: COMMAND_ATTRIBUTES },
    { path: `${COMMAND_FOLDER}/millwright.mjs`, text },
    ...names.map((name) => ({ path: `${COMMAND_FOLDER}/${name}`, text: scripts[name] })),
  ];
}

/** Other line ends would be another digest, and no script. */
const COMMAND_ATTRIBUTES = `millwright.mjs -text linguist-generated
*.sh text eol=lf
`;

/** A commit, because a tag can be moved; the tag stands beside it for who updates it. */
const CHECKOUT = 'actions/checkout@34e114876b0b11c390a56381ad16ebd13914f8d5 # v4.3.1';

/**
 * Nothing of the repository is trusted here: no tokens reach pull requests from forks, no credentials stay in the
 * checkouts, and there is no secret to be read.
 */
function githubJob(own: OwnFile | undefined): string {
  return (
    `name: Factory files
on:
  pull_request:
  push:
    branches: [main]
permissions:
  contents: read
  # A token of this job is exchanged for a key that lasts ten minutes: nothing is stored here.
  id-token: write
jobs:
  check:
${checkedOut(own)}      - uses: ./${own === undefined ? '.millwright-checkout/apps/cli/action' : COMMAND_FOLDER}
        with:
${own === undefined ? '' : `          sha256: ${own.sha256} # millwright.mjs of version ${own.version}\n`}` +
    `          changed-since: \${{ github.event.pull_request.base.sha }}
          # A plan in the job's summary, where the variable names a server:
          server: \${{ vars.MILLWRIGHT_SERVER }}
          factory: \${{ vars.MILLWRIGHT_FACTORY }}
`
  );
}

/** The runner, and what it has of the repository before it runs ours: in the syntax that GitHub and Gitea share. */
function checkedOut(own: OwnFile | undefined): string {
  return `    runs-on: ubuntu-latest
    steps:
      - uses: ${CHECKOUT}
        with:
          fetch-depth: 0
          persist-credentials: false
${own === undefined ? GITHUB_CHECKOUT : ''}`;
}

const GITHUB_CHECKOUT =
  `      - if: vars.MILLWRIGHT_REPOSITORY == ''
        run: |
          echo '::error::Set the repository variable MILLWRIGHT_REPOSITORY to owner/name of ` +
  `the repository that holds Millwright.'
          exit 1
      - uses: ${CHECKOUT}
        with:
          repository: \${{ vars.MILLWRIGHT_REPOSITORY }}
          ref: \${{ vars.MILLWRIGHT_REF || 'main' }}
          path: .millwright-checkout
          persist-credentials: false
`;

/** Has no tokens for jobs, so that there is no plan: the service itself answers pull requests of its repositories. */
function giteaJob(own: OwnFile | undefined): string {
  const program =
    own === undefined ? '.millwright-checkout/apps/cli/action/from-checkout.sh' : `${COMMAND_FOLDER}/command.sh`;
  return (
    `name: Factory files
on:
  pull_request:
  push:
    branches: [main]
jobs:
  check:
${checkedOut(own)}      - env:
          BASE: \${{ github.event.pull_request.base.sha }}
${own === undefined ? '' : `          MILLWRIGHT_SHA256: ${own.sha256} # millwright.mjs of version ${own.version}\n`}` +
    `        run: bash ${program} validate \${BASE:+"--changed-since=$BASE"}
`
  );
}

/** Without a file of its own: the same bytes as action/gitlab-ci.yml; a test compares them. */
function gitlabJob(own: OwnFile | undefined): string {
  const runs =
    own === undefined ? '.millwright-checkout/apps/cli/action/from-checkout.sh' : `${COMMAND_FOLDER}/command.sh`;
  return (
    (own === undefined ? GITLAB_CHECKOUT_WORDS : GITLAB_FILE_WORDS) +
    `factory-files:
  image: node:22
  variables:
    GIT_DEPTH: 0
${own === undefined ? '' : `    MILLWRIGHT_SHA256: ${own.sha256} # millwright.mjs of version ${own.version}\n`}` +
    `  id_tokens:
    MILLWRIGHT_ID_TOKEN:
      aud: $MILLWRIGHT_SERVER
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
${own === undefined ? GITLAB_CHECKOUT : ''}` +
    `  script:
    - |
      set -eu
      directory="\${MILLWRIGHT_DIRECTORY:-.}"
      millwright() { bash ${runs} "$@"; }
${GITLAB_STEPS}`
  );
}

const GITLAB_CHECKOUT_WORDS =
  `# Checks the factory files of this repository. CI variables: MILLWRIGHT_REPOSITORY ` +
  `(address of the git repository that holds Millwright;
# required), MILLWRIGHT_REF (its branch or tag), MILLWRIGHT_DIRECTORY (folder of the factory), ` +
  `MILLWRIGHT_STRICT (true: warnings fail
# too). For a plan also MILLWRIGHT_SERVER and, where needed, MILLWRIGHT_FACTORY. No key is stored: the token of the job
# is exchanged for one, where the service has a federated credential of this project for the audience MILLWRIGHT_SERVER.
`;

const GITLAB_FILE_WORDS = `# Checks the factory files of this repository by ${COMMAND_FOLDER}/millwright.mjs.
# CI variables: MILLWRIGHT_DIRECTORY (folder of the factory), MILLWRIGHT_STRICT (true: warnings fail too). For a plan
# also MILLWRIGHT_SERVER and, where needed, MILLWRIGHT_FACTORY. No key is stored: the token of the job is exchanged for
# one, where the service has a federated credential of this project for the audience MILLWRIGHT_SERVER.
`;

const GITLAB_CHECKOUT = `  before_script:
    - git clone --quiet --depth 1 --branch "\${MILLWRIGHT_REF:-main}" -- "$MILLWRIGHT_REPOSITORY" .millwright-checkout
`;

const GITLAB_STEPS =
  `      set --
      if [ "\${MILLWRIGHT_STRICT:-false}" = true ]; then set -- "$@" --strict; fi
      if [ -n "\${CI_MERGE_REQUEST_DIFF_BASE_SHA:-}" ]; ` +
  `then set -- "$@" "--changed-since=$CI_MERGE_REQUEST_DIFF_BASE_SHA"; fi
      code=0
      millwright validate "$@" --format=junit -- "$directory" > factory-files.xml || code=$?
      if [ "$code" != 0 ]; then millwright validate "$@" -- "$directory" || true; exit "$code"; fi
      if [ -z "\${MILLWRIGHT_SERVER:-}" ] || [ -z "\${MILLWRIGHT_ID_TOKEN:-}" ]; then exit 0; fi
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

const PRE_COMMIT_PATH = '.pre-commit-config.yaml';

/** What pre-commit reads: the file in the repository, or the address of Millwright, which people fill in. */
export function preCommitFile(own: OwnFile | undefined): StarterFile {
  if (own === undefined) return { path: PRE_COMMIT_PATH, text: PRE_COMMIT_CHECKOUT };
  return {
    path: PRE_COMMIT_PATH,
    text: `repos:
  - repo: local
    hooks:
      - id: millwright-validate
        name: millwright validate
        # The digest of millwright.mjs of version ${own.version}: another file is not run.
        entry: env MILLWRIGHT_SHA256=${own.sha256} bash ${COMMAND_FOLDER}/command.sh validate
        language: system
        # A deletion can break what refers to it, and pre-commit names no deleted files.
        always_run: true
        pass_filenames: false
`,
  };
}

const PRE_COMMIT_CHECKOUT = `repos:
  # Address and a tag or commit of the repository that holds Millwright.
  - repo: ${PRE_COMMIT_PLACEHOLDERS.address}
    rev: ${PRE_COMMIT_PLACEHOLDERS.rev}
    hooks:
      - id: millwright-validate
`;
