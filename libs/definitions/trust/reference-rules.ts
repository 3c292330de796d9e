/** Whether what a run is made of can change without a commit here: skills, repositories, images, tools. */
import { agentPlaceOf, effective } from './capabilities.ts';
import { isCredentialText } from './credential-texts.ts';
import { repositoriesOf, type RepositoryCapability } from './declared-repositories.ts';
import { isPinnedImage, type ToolCapability } from './declared-tools.ts';
import { find, type TrustReview } from './review.ts';

/** Checks what is fetched anew for runs, and the tools they are given. */
export function checkReferencesOfTrust(review: TrustReview): void {
  const { factory } = review.reading.definitions;
  for (const { automation, capabilities } of review.automations) {
    const skill = effective(automation, { factory }, 'skill');
    if (skill?.includes(':') === true)
      find(
        review,
        agentPlaceOf(automation, factory, 'skill'),
        'trust-moving-skill',
        `the skill ${skill} is what that repository says when the run starts: who commits there instructs this run; ` +
          'copy it to skills/ here, where a commit decides',
      );
    for (const tool of capabilities.tools) checkTool(review, tool);
  }
  checkRepositories(review);
  for (const { path, dockerImage } of review.reading.definitions.environments)
    if (dockerImage !== undefined && !isPinnedImage(dockerImage))
      find(
        review,
        { path, pointer: '/dockerImage' },
        'trust-moving-image',
        `the image ${dockerImage} is whatever was pushed last; name a version, or better a digest (@sha256:…)`,
      );
}

function checkTool(review: TrustReview, { server, tools, isPlain, moving, literals, place }: ToolCapability): void {
  if (tools === undefined)
    find(
      review,
      place,
      'trust-mcp-all-tools',
      `the MCP server ${server} gives the run every tool it has, now and later; list those that are needed in its ` +
        'own words (args, env, headers or the URL: --tools, X-MCP-Tools, ?tools=, read-only)',
    );
  if (isPlain)
    find(
      review,
      { ...place, pointer: `${place.pointer}/url` },
      'trust-mcp-plain-http',
      `the MCP server ${server} is reached without TLS: who is on the way writes what its tools answer; use https`,
    );
  if (moving !== undefined)
    find(
      review,
      { ...place, pointer: `${place.pointer}/args` },
      'trust-moving-tool',
      `${moving} is fetched at each start in whatever version is the newest; name one, for example ${pinned(moving)}`,
    );
  for (const { pointer, key, text } of literals)
    if (isCredentialText(key, text))
      find(
        review,
        { ...place, pointer: `${place.pointer}${pointer}` },
        'trust-literal-credential',
        'this looks like a credential, and everybody who can read the repository can read it; keep it as a managed ' +
          'secret, name that under secrets, and write ${NAME} here',
      );
}

/** An image has its version behind a colon, a package behind an at sign. */
function pinned(name: string): string {
  const bare = name.replace(/(?<=.)[@:](?:latest|next|main|master)$/, '');
  return `${bare}${name.includes('/') && !name.startsWith('@') ? ':' : '@'}1.2.3`;
}

/** Branches that move with every commit. */
const MOVING = /^(?:main|master|trunk|develop|dev|next|HEAD)$/;

/** Repositories of somebody else, next to those of the factory's own people. */
function checkRepositories(review: TrustReview): void {
  const all = review.reading.definitions.environments.flatMap(repositoriesOf);
  const home = commonest(all.map(({ owner }) => owner));
  for (const repository of all) {
    const { owner, branch, address, place } = repository;
    if (owner === home || isPinned(repository)) continue;
    find(
      review,
      place,
      'trust-moving-repository',
      `${address} is of another owner than the others (${home}), and ${branch ?? 'its default branch'} moves: who ` +
        'commits there changes what this run reads; name a tag or a release branch as branch, or keep a copy',
    );
  }
}

function isPinned({ branch }: RepositoryCapability): boolean {
  return branch !== undefined && !MOVING.test(branch);
}

/** The first of those that occur most. */
function commonest(owners: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const owner of owners) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}
