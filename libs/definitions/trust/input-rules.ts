/** Whether strangers write what a run reads, and what they could make of it. */
import { signsNoTime } from '#authentication/schemes';
import type { AutomationCapabilities, InputCapability } from './capabilities.ts';
import { outletsOf } from './reach.ts';
import { find, wordsOfList, type ReviewedAutomation, type TrustReview } from './review.ts';

/** Checks every trigger of every automation. */
export function checkInputs(review: TrustReview): void {
  for (const reviewed of review.automations) {
    const isExposed = checkExposure(review, reviewed.capabilities);
    for (const input of reviewed.capabilities.inputs) {
      checkAuthors(review, input, isExposed);
      checkCredential(review, reviewed, input);
    }
    checkGuests(review, reviewed);
    checkTheft(review, reviewed, isExposed);
  }
  checkSharedCredentials(review);
}

/** The three together: words of strangers, something worth having, and a way out. */
function checkExposure(review: TrustReview, capabilities: AutomationCapabilities): boolean {
  const { inputs, secrets } = capabilities;
  const input = inputs.find(isOfAnyone);
  const names = [...new Set(secrets.map(({ name }) => name))];
  const outlets = outletsOf(capabilities);
  if (input === undefined || names.length === 0 || outlets.length === 0) return false;
  const message =
    `${strangersOf(input)} can write what this run reads, it has secrets (${wordsOfList(names)}), and a way out ` +
    `(${wordsOfList(outlets)}): one sentence of theirs can take along what these secrets open; let the filter name ` +
    'authors, narrow the network, or split the run in two; an acceptance of this needs a name and a role';
  find(review, input.place, 'trust-exposed-run', message);
  return true;
}

const isOfAnyone = ({ writer }: InputCapability): boolean => writer === 'anyone';

function strangersOf({ provider }: InputCapability): string {
  if (provider === 'sentry') return 'whoever has the public key of the application (sentry)';
  return provider === 'stripe' ? 'customers (stripe)' : 'any account of the forge';
}

function checkAuthors(review: TrustReview, input: InputCapability, isExposed: boolean): void {
  const place = { ...input.place, pointer: `${input.place.pointer}/filter` };
  if (input.authors === 'forgeable')
    find(
      review,
      place,
      'trust-forged-author',
      'the filter compares a name or address that authors choose themselves (git and profiles let anybody write ' +
        'any); compare sender.login, author_association, or an account ID instead',
    );
  else if (input.authors === 'unfiltered' && !isExposed)
    find(
      review,
      place,
      'trust-unfiltered-authors',
      'anybody with an account at the forge can start this run with a text of their own; let the filter name who ' +
        'may: author_association: [OWNER, MEMBER, COLLABORATOR], sender.login, head.repo.fork: [false], or a label',
    );
}

/** What the webhook's own proof is worth for what its runs do. */
function checkCredential(review: TrustReview, { capabilities }: ReviewedAutomation, input: InputCapability): void {
  const { secrets, effects, automation } = capabilities;
  const targets = effects.map(({ target }) => target);
  for (const { path, authMode, signatureScheme, replayProtection } of input.webhooks) {
    if (authMode === 'url_token' && secrets.length + effects.length > 0)
      find(
        review,
        { path, pointer: '/authMode' },
        'trust-url-token',
        `whoever reads the URL in a log or a settings page can start ${automation}, which has secrets or changes ` +
          'something; use authMode: signature or token where the sender can',
      );
    if (signatureScheme !== undefined && signsNoTime(signatureScheme) && !replayProtection && effects.length > 0)
      find(
        review,
        { path, pointer: '/signatureScheme' },
        'trust-replayed-effects',
        `${signatureScheme} signs no time, so that a captured request can start ${automation} again, which ` +
          `changes something (${wordsOfList(targets)}); add replayProtection: body`,
      );
  }
  if (input.isUnfiltered && input.writer === 'senders' && effects.length > 0)
    find(
      review,
      { ...input.place, pointer: `${input.place.pointer}/filter` },
      'trust-unfiltered-effects',
      `every delivery starts this run, which changes something (${wordsOfList(targets)}); let filter.payload say ` +
        'which deliveries shall',
    );
}

/** What a run that strangers start had better not have. */
function checkGuests(review: TrustReview, { automation, capabilities }: ReviewedAutomation): void {
  const input = capabilities.inputs.find(isOfAnyone);
  const { path, agent } = automation;
  const starters = input === undefined ? startersByUrl(capabilities) : 'strangers';
  const { tokens, cost, minutes } = capabilities.budget;
  if (starters !== undefined && tokens === undefined && cost === undefined && minutes === undefined)
    find(
      review,
      { path, pointer: '/triggers' },
      'trust-no-budget',
      `${starters} start this run as often and as long as they like; add limits (tokens, cost or minutes)`,
    );
  if (input === undefined) return;
  const pushed = capabilities.effects.find(({ kind }) => kind === 'push');
  if (pushed !== undefined)
    find(
      review,
      { path, pointer: agent.environmentId === undefined ? input.place.pointer : '/environmentId' },
      'trust-public-push',
      `strangers write what this run reads, and it may push to ${pushed.target}; give it an environment without ` +
        'push: true, or let the filter name authors',
    );
}

/** A URL is the least of credentials: forms and settings pages show it. */
function startersByUrl({ inputs }: AutomationCapabilities): string | undefined {
  const webhook = inputs.flatMap(({ webhooks }) => webhooks).find(({ authMode }) => authMode === 'url_token');
  return webhook === undefined ? undefined : `all who come to know the URL of ${webhook.name}`;
}

/** What strangers could take along, or end. */
function checkTheft(review: TrustReview, { automation, capabilities }: ReviewedAutomation, isExposed: boolean): void {
  if (!capabilities.inputs.some(isOfAnyone)) return;
  const { path, concurrency = {} } = automation;
  if (isFreeText(concurrency.group) && (concurrency.whenBusy === 'replace' || concurrency.whenBusy === 'skip'))
    find(
      review,
      { path, pointer: '/concurrency/group' },
      'trust-group-by-text',
      `strangers choose ${concurrency.group}, and with whenBusy: ${concurrency.whenBusy} they can end or keep out ` +
        'the runs of others; group by a number or an ID',
    );
  const inside = capabilities.secrets.find(({ entry }) => entry.expose === 'env');
  if (inside !== undefined && !isExposed)
    find(
      review,
      { ...inside.place, pointer: `${inside.place.pointer}/expose` },
      'trust-secret-inside',
      `${inside.name} is inside runs of ${automation.name}, which read what strangers write; keep it outside with ` +
        'host and header, or give it to an automation of its own',
    );
}

/** Members of payloads that hold what somebody has typed. */
const FREE_TEXT =
  /\/(?:title|body|message|name|description|subject|text|label|ref|head_ref|comment|summary|email|login)$/;

function isFreeText(group: string | undefined): boolean {
  return group !== undefined && group.startsWith('/') && FREE_TEXT.test(group);
}

/** Senders of different kinds that have one credential can speak for each other. */
function checkSharedCredentials(review: TrustReview): void {
  const first = new Map<string, { path: string; kind: string }>();
  for (const { path, secretName, authMode, signatureScheme } of review.reading.definitions.webhooks) {
    const kind = signatureScheme ?? authMode;
    const earlier = first.get(secretName);
    if (earlier === undefined) first.set(secretName, { path, kind });
    else if (earlier.kind !== kind)
      find(
        review,
        { path, pointer: '/secretName' },
        'trust-shared-credential',
        `${secretName} is the credential of ${earlier.path} too, in another way (${earlier.kind} there, ${kind} ` +
          'here): who knows it from one can speak for the other; give each a secret of its own',
      );
  }
}
