/** Whether credentials and network are wider than what is done with them. */
import { writingMethods, type SecretCapability } from './capabilities.ts';
import { isCredentialText } from './credential-texts.ts';
import { isDropHost, isWidePattern } from './reach.ts';
import { find, type ReviewedAutomation, type TrustReview } from './review.ts';
import { textsOfRun } from './run-texts.ts';

/** Checks what runs are given. */
export function checkSecrets(review: TrustReview): void {
  for (const { capabilities } of review.automations) {
    for (const secret of capabilities.secrets) checkReachOfSecret(review, secret);
    for (const { host, by, place } of capabilities.hosts) {
      if (by !== 'network') continue;
      if (isDropHost(host))
        find(review, place, 'trust-drop-host', `${host} takes what anybody sends and shows it to strangers; remove it`);
      else if (isWidePattern(host))
        find(
          review,
          place,
          'trust-wide-network',
          `anybody can have a host below ${host.slice(2)}, and then this run reaches it; name the hosts themselves`,
        );
    }
  }
  checkUse(review);
  checkSetupLiterals(review);
}

function checkReachOfSecret(review: TrustReview, { name, entry, place }: SecretCapability): void {
  const methods = writingMethods(entry);
  const isAnywhere = entry.paths === undefined || entry.paths.some((path) => /^\/\*{1,2}$/.test(path));
  if (methods.length === 0 || !isAnywhere) return;
  find(
    review,
    { ...place, pointer: `${place.pointer}/methods` },
    'trust-secret-everywhere',
    `with ${name} the run may ${methods.join(', ')} anything at ${entry.host}; add paths, for example ` +
      'paths: [/repos/acme/shop/issues/*/comments]',
  );
}

/** A secret that is inside, with the runs that it reaches. */
interface Grant {
  secret: SecretCapability;
  reached: string[];
  users: string[];
}

/** Secrets inside that nothing of a run's instructions speaks of: granted wider than used. */
function checkUse(review: TrustReview): void {
  const grants = new Map<string, Grant>();
  for (const reviewed of review.automations) {
    const inside = reviewed.capabilities.secrets.filter(({ isInside }) => isInside);
    if (inside.length === 0) continue;
    const texts = usableTexts(review, reviewed);
    for (const secret of inside) {
      const key = `${secret.place.path}${secret.place.pointer}`;
      const grant = grants.get(key) ?? { secret, reached: [], users: [] };
      grants.set(key, grant);
      grant.reached.push(reviewed.automation.name);
      if (texts === undefined || mentions(texts, secret.name)) grant.users.push(reviewed.automation.name);
    }
  }
  for (const grant of grants.values()) reportGrant(review, grant);
}

function reportGrant(review: TrustReview, { secret: { name, place }, reached, users }: Grant): void {
  const at = { ...place, pointer: `${place.pointer}/name` };
  if (users.length === 0)
    find(
      review,
      at,
      'trust-secret-unused',
      `${name} is inside the run, and neither its prompt, skill and set-up nor its MCP servers speak of it; remove ` +
        'it, or say what it is for',
    );
  else if (users.length < reached.length)
    find(
      review,
      at,
      'trust-secret-for-all',
      `${name} is inside the runs of ${reached.length} automations, and ${users.length} of them ` +
        `(${users.join(', ')}) ${users.length === 1 ? 'speaks' : 'speak'} of it; name it in those files instead`,
    );
}

/** Undefined: something that is not in these files may use it. */
function usableTexts(review: TrustReview, { automation }: ReviewedAutomation): string | undefined {
  const { factory } = review.reading.definitions;
  const harness = automation.agent.harness ?? factory.agentDefaults?.harness;
  const skill = automation.agent.skill ?? factory.agentDefaults?.skill;
  if (harness?.type !== undefined || skill?.includes(':') === true) return undefined;
  return textsOfRun(review.reading, automation);
}

/** Its name, or the word before the first underscore, which names what it is for: `SENTRY_AUTH_TOKEN`. */
function mentions(texts: string, name: string): boolean {
  const [topic = name] = name.toLowerCase().split('_');
  return texts.includes(name.toLowerCase()) || (topic.length > 1 && texts.includes(topic));
}

/** Values that stand where everybody who can read the repository reads them. */
function checkSetupLiterals(review: TrustReview): void {
  for (const { path, setupCommands = [] } of review.reading.definitions.environments)
    for (const [index, command] of setupCommands.entries())
      if (command.split(/[\s"'=:@]+/).some((word) => isCredentialText('', word)))
        find(
          review,
          { path, pointer: `/setupCommands/${index}` },
          'trust-literal-credential',
          'this command holds what looks like a credential; keep the value as a managed secret and use its variable',
        );
}
