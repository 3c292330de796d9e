/** Every rule a definition file can break: id, published code, severity and what it is about. */

export interface Rule {
  /** Code of the hosted service's validator where one is published for the same defect, else formed the same way. */
  code: `FF_${string}`;
  severity: 'error' | 'warning';
  /** One sentence for people: what the rule asks for. */
  summary: string;
}

const error = (code: Rule['code'], summary: string): Rule => ({ code, severity: 'error', summary });
const warning = (code: Rule['code'], summary: string): Rule => ({ code, severity: 'warning', summary });

/** The registry of rules, by kebab-case id. Every one has a golden case under test/definitions/err. contract §8. */
export const RULES = {
  // the tree
  'not-a-factory': error(
    'FF_NOT_A_FACTORY',
    'A factory repository holds factory.yaml, webhooks/, automations/, environments/ or skills/.',
  ),
  'wrong-place': error('FF_WRONG_PLACE', 'A definition file has one exact place and extension.'),
  'bad-name': error('FF_INVALID_NAME', 'Names are 1 to 63 of a-z, 0-9 and -, and neither start nor end with -.'),
  'not-a-file': error('FF_NOT_A_FILE', 'Definition files are regular files, neither symbolic links nor submodules.'),
  'lfs-pointer': error('FF_LFS_POINTER', 'Definition files are committed as they are, not through Git LFS.'),
  'file-too-large': error(
    'FF_FILE_TOO_LARGE',
    'A definition file has at most 256 KiB, and 50,000 words and marks of YAML.',
  ),
  'skill-too-large': error('FF_SKILL_TOO_LARGE', 'A skill has at most 100 files and 1 MiB.'),
  'too-many-files': error('FF_TOO_MANY_FILES', 'A factory has at most 2,000 definition files.'),
  'not-utf8': error('FF_INVALID_ENCODING', 'Definition files are UTF-8.'),
  'byte-order-mark': error('FF_BYTE_ORDER_MARK', 'Definition files start without a byte order mark.'),
  'nul-character': error('FF_NUL_CHARACTER', 'Definition files hold no NUL character.'),
  'duplicate-definition': error('FF_DUPLICATE_PATH', 'An automation is one file, with a folder of its own or without.'),
  'skill-missing': error('FF_SKILL_MISSING', 'A folder under skills/ holds a SKILL.md.'),
  // YAML
  'yaml-syntax': error('FF_INVALID_YAML', 'Definition files are well-formed YAML 1.2.'),
  'yaml-documents': error('FF_MULTIPLE_DOCUMENTS', 'A file holds one YAML document.'),
  'yaml-root': error('FF_INVALID_ROOT', 'The document is a mapping.'),
  'yaml-anchor': error('FF_YAML_ANCHOR', 'Anchors and aliases are not allowed.'),
  'yaml-tag': error('FF_YAML_TAG', 'Tags are not allowed.'),
  'yaml-directive': error('FF_YAML_DIRECTIVE', 'YAML directives are not allowed.'),
  'yaml-merge-key': error('FF_YAML_MERGE_KEY', 'Merge keys are not allowed.'),
  'yaml-duplicate-key': error('FF_DUPLICATE_KEY', 'A key stands once in its mapping.'),
  'yaml-key-type': error('FF_INVALID_KEY', 'Keys are strings.'),
  'yaml-nesting': error('FF_NESTING', 'Values are nested at most 64 deep.'),
  'yaml-number': error('FF_INVALID_NUMBER', 'Numbers are finite and exactly representable.'),
  'yaml-ambiguous': warning(
    'FF_AMBIGUOUS_VALUE',
    'Unquoted values in a payload filter read the same in every YAML version.',
  ),
  // shape
  'unknown-key': error('FF_UNKNOWN_FIELD', 'Only known keys are used.'),
  'missing-key': error('FF_MISSING_FIELD', 'Required keys are there.'),
  'wrong-type': error('FF_INVALID_TYPE', 'Values have the type of their key.'),
  'wrong-value': error('FF_INVALID_VALUE', 'Values are in the range of their key.'),
  'unsupported-here': warning(
    'FF_UNSUPPORTED',
    'Keys and files of the hosted service that are not served here are ignored.',
  ),
  // webhooks
  'signature-scheme': error('FF_SIGNATURE_SCHEME', 'signatureScheme is there exactly when authMode is signature.'),
  'unshipped-scheme': error(
    'FF_SIGNATURE_SCHEME_NOT_AVAILABLE',
    'The scheme is known, but not served here; the message says why.',
  ),
  'delivery-id-header': error(
    'FF_DELIVERY_ID_HEADER',
    "deliveryIdHeader is a header whose value is the request's own.",
  ),
  'replay-protection': error('FF_REPLAY_PROTECTION', 'replayProtection is there only when authMode is signature.'),
  // automations
  'front-matter-missing': error('FF_FRONT_MATTER_MISSING', 'automation.md starts with front matter between --- lines.'),
  'front-matter-unclosed': error('FF_FRONT_MATTER_UNCLOSED', 'Front matter is closed by a --- line.'),
  'front-matter-fence': error('FF_FRONT_MATTER_FENCE', 'The lines around front matter hold --- and nothing else.'),
  'front-matter-language': error('FF_FRONT_MATTER_LANGUAGE', 'Front matter is YAML; nothing in it is executed.'),
  'empty-prompt': error('FF_EMPTY_PROMPT', 'The text that an agent works from is not empty.'),
  'provider-inactive': warning('FF_PROVIDER_INACTIVE', 'Triggers of other providers are kept and never fire here.'),
  'provider-near': error('FF_PROVIDER_NEAR', 'A provider is called by its exact name: webhook or schedule.'),
  'trigger-webhooks': error('FF_TRIGGER_WEBHOOKS', 'A webhook trigger selects at least one webhook.'),
  'webhook-uid': error('FF_INVALID_WEBHOOK_UID', 'webhook_ids holds webhook UIDs.'),
  'filter-cost': error(
    'FF_FILTER_COST',
    'What the filters of one webhook can cost for one delivery is bounded: about a thousand triggers.',
  ),
  'duplicate-trigger': warning('FF_DUPLICATE_TRIGGER', 'The triggers of an automation differ.'),
  cron: error('FF_INVALID_CRON', 'Cron expressions have five fields, or are one of the @ words, and can fire.'),
  'group-pointer': error('FF_INVALID_GROUP', 'A concurrency group that begins with / is a JSON pointer.'),
  'group-without-payload': warning(
    'FF_GROUP_WITHOUT_PAYLOAD',
    'A pointer into the payload groups runs that deliveries start.',
  ),
  'group-literal': warning(
    'FF_GROUP_LITERAL',
    'A concurrency group that is to differ by payload is a JSON pointer: it begins with /.',
  ),
  // payload filters (found by #filters)
  'filter-not-object': error('FF_INVALID_FILTER', 'A payload filter is a mapping.'),
  'filter-bare-scalar': error('FF_INVALID_FILTER', 'Allowed values stand in a list.'),
  'filter-empty-nested': error('FF_INVALID_FILTER', 'A nested filter has at least one key.'),
  'filter-operators-mixed': error('FF_INVALID_FILTER', 'Operators do not stand beside field names.'),
  'filter-operator-value': error('FF_INVALID_FILTER', 'Operators have values of their type.'),
  'filter-item-not-scalar': error('FF_INVALID_FILTER', 'Listed values are scalars.'),
  'filter-number-inexact': error('FF_INVALID_FILTER', 'Numbers in a filter are exact finite doubles.'),
  'filter-in-and-not-in': error('FF_INVALID_FILTER', 'No value is both in and not_in.'),
  'filter-exists-false-with-in': error('FF_INVALID_FILTER', 'exists: false and a non-empty in exclude each other.'),
  'filter-too-deep': error('FF_INVALID_FILTER', 'A filter is at most 10 deep.'),
  'filter-too-many-fields': error('FF_INVALID_FILTER', 'A filter tests at most 64 fields.'),
  'filter-too-many-values': error('FF_INVALID_FILTER', 'A set has at most 32 values.'),
  'filter-never': warning('FF_FILTER_NEVER', 'An empty in never matches.'),
  'filter-always': warning('FF_FILTER_ALWAYS', 'An empty not_in always matches.'),
  'filter-near-operator': warning(
    'FF_FILTER_NEAR_OPERATOR',
    'A field of a filter is not called nearly like an operator, unless the payload has such a field.',
  ),
  'filter-literal-path': warning(
    'FF_FILTER_LITERAL_PATH',
    'Names of fields are literal: what is inside of a field is nested, and no path.',
  ),
  'filter-literal-pattern': warning(
    'FF_FILTER_LITERAL_PATTERN',
    'Listed values are compared letter by letter: neither patterns nor expressions stand there.',
  ),
  // references
  'secret-known': error('FF_SECRET_NOT_FOUND', 'Named secrets exist and are granted to the factory.'),
  'secret-usable': error('FF_SECRET_NOT_USABLE', "A secret's value suits the authentication mode."),
  'secret-unset': error('FF_SECRET_UNSET', 'An enabled webhook has a secret that is set.'),
  'secret-value': error('FF_SECRET_VALUE', 'The value of a secret is in no file: files name secrets.'),
  'secret-value-suspected': warning('FF_SECRET_VALUE_SUSPECTED', 'The name of a secret does not look like its value.'),
  'run-secret-name': error('FF_RUN_SECRET_NAME', 'Secrets of runs do not shadow variables that programs rely on.'),
  'run-secret-host': error(
    'FF_RUN_SECRET_HOST',
    'A secret of runs is inside, or it goes to one host in one header that can carry it.',
  ),
  'run-secret-exposed': warning(
    'FF_RUN_SECRET_EXPOSED',
    'A secret of runs names the host that it goes to, or says expose: env.',
  ),
  'header-secret-host': warning(
    'FF_HEADER_SECRET_HOST',
    'A secret in a header of an MCP server may go to the host of that server.',
  ),
  'webhook-quota': error('FF_WEBHOOK_QUOTA', 'A factory has at most 20 webhooks.'),
  'webhook-known': error('FF_WEBHOOK_NOT_FOUND', 'Triggers select webhooks of this factory.'),
  'webhook-deleted': warning('FF_WEBHOOK_DELETED', 'A trigger on a deleted webhook does not fire.'),
  'environment-known': error('FF_ENVIRONMENT_NOT_FOUND', 'environmentId names a declared or existing environment.'),
  'environment-near': warning(
    'FF_ENVIRONMENT_NEAR',
    'environmentId is called exactly as the environment that is declared.',
  ),
  'model-known': warning('FF_MODEL_NOT_LISTED', "Models are on the server's list, where it has one."),
  'harness-known': warning('FF_HARNESS_NOT_LISTED', 'Harnesses are some that the server has.'),
  'model-missing': warning('FF_MODEL_MISSING', 'The built-in agent has the model that it is to run with.'),
  'harness-missing': warning('FF_HARNESS_MISSING', 'Harnesses are installed where runs are worked on.'),
  'repository-reached': warning(
    'FF_REPOSITORY_NOT_REACHED',
    'Repositories that runs are to reach from inside are on the list of the operator (MILLWRIGHT_RUN_ALLOW_HOSTS).',
  ),
  'skill-known': error('FF_SKILL_NOT_FOUND', 'skill names a declared skill or a skill of a repository.'),
  // trust: what an automation can do, and who writes what it reads (contract §8.5)
  'trust-exposed-run': warning(
    'FF_TRUST_EXPOSED_RUN',
    'A run that reads what strangers write has no secrets, or no way to let them out.',
  ),
  'trust-unfiltered-authors': warning(
    'FF_TRUST_UNFILTERED_AUTHORS',
    'A trigger on issues, comments and pull requests says whose.',
  ),
  'trust-forged-author': warning('FF_TRUST_FORGED_AUTHOR', 'A filter on authors compares what nobody else can have.'),
  'trust-unfiltered-effects': warning(
    'FF_TRUST_UNFILTERED_EFFECTS',
    'A run that changes something outside of itself starts for chosen deliveries.',
  ),
  'trust-url-token': warning(
    'FF_TRUST_URL_TOKEN',
    'What a URL alone can start has no secrets and changes nothing outside of itself.',
  ),
  'trust-replayed-effects': warning(
    'FF_TRUST_REPLAYED_EFFECTS',
    'A captured request does not start again what changes something.',
  ),
  'trust-shared-credential': warning(
    'FF_TRUST_SHARED_CREDENTIAL',
    'Senders of different kinds have credentials of their own.',
  ),
  'trust-no-budget': warning('FF_TRUST_NO_BUDGET', 'A run that strangers, or a URL alone, can start has limits.'),
  'trust-public-push': warning('FF_TRUST_PUBLIC_PUSH', 'A run that reads what strangers write does not push.'),
  'trust-group-by-text': warning(
    'FF_TRUST_GROUP_BY_TEXT',
    'Who ends or keeps out the runs of others is not chosen by strangers.',
  ),
  'trust-secret-inside': warning(
    'FF_TRUST_SECRET_INSIDE',
    'A run that reads what strangers write has its secrets outside of its sandbox.',
  ),
  'trust-secret-everywhere': warning(
    'FF_TRUST_SECRET_EVERYWHERE',
    'A secret that lets a run write names the paths where.',
  ),
  'trust-secret-unused': warning('FF_TRUST_SECRET_UNUSED', 'A secret is given to runs that have a use for it.'),
  'trust-secret-for-all': warning(
    'FF_TRUST_SECRET_FOR_ALL',
    'A secret of some automations is not given to all of a factory or an environment.',
  ),
  'trust-literal-credential': warning(
    'FF_TRUST_LITERAL_CREDENTIAL',
    'Credentials are managed secrets; files hold their names.',
  ),
  'trust-wide-network': warning('FF_TRUST_WIDE_NETWORK', 'network.allow covers no names that anybody can have.'),
  'trust-drop-host': warning('FF_TRUST_DROP_HOST', 'Runs do not reach hosts that are made to collect data.'),
  'trust-moving-skill': warning('FF_TRUST_MOVING_SKILL', 'Skills are committed where their automation is.'),
  'trust-moving-repository': warning(
    'FF_TRUST_MOVING_REPOSITORY',
    'Repositories of other owners are read at a tag or a release branch.',
  ),
  'trust-moving-image': warning('FF_TRUST_MOVING_IMAGE', 'Container images are named by version or digest.'),
  'trust-moving-tool': warning('FF_TRUST_MOVING_TOOL', 'Programs that are fetched at each start have a version.'),
  'trust-mcp-all-tools': warning('FF_TRUST_MCP_ALL_TOOLS', 'MCP servers are limited to the tools that are needed.'),
  'trust-mcp-plain-http': warning('FF_TRUST_MCP_PLAIN_HTTP', 'MCP servers on other machines are reached by https.'),
  'trust-hidden-comment': warning(
    'FF_TRUST_HIDDEN_COMMENT',
    'Prompts and skills hold no HTML comments: agents read them, people do not see them.',
  ),
  'trust-invisible-text': warning('FF_TRUST_INVISIBLE_TEXT', 'Prompts and skills hold no characters without a shape.'),
  'trust-bidi-text': warning(
    'FF_TRUST_BIDI_TEXT',
    'Prompts and skills hold nothing that changes the order in which text is shown.',
  ),
  'trust-encoded-text': warning('FF_TRUST_ENCODED_TEXT', 'Prompts and skills hold no long codes, and execute none.'),
  'trust-piped-download': warning('FF_TRUST_PIPED_DOWNLOAD', 'Nothing is downloaded into a shell.'),
  'trust-payload-in-command': warning('FF_TRUST_PAYLOAD_IN_COMMAND', 'Text of a payload is no part of a command.'),
  'trust-payload-in-title': warning(
    'FF_TRUST_PAYLOAD_IN_TITLE',
    'Text of a payload is no part of a title, a branch or a commit message.',
  ),
  'trust-payload-as-instructions': warning(
    'FF_TRUST_PAYLOAD_AS_INSTRUCTIONS',
    'A prompt does not ask to follow what a sender wrote.',
  ),
  'trust-acceptance-expired': warning('FF_TRUST_ACCEPTANCE_EXPIRED', 'What a file accepts holds until a day.'),
  'trust-acceptance-unused': warning('FF_TRUST_ACCEPTANCE_UNUSED', 'What a file accepts is there.'),
  'trust-acceptance-unapproved': warning(
    'FF_TRUST_ACCEPTANCE_UNAPPROVED',
    'An exposed run is accepted by somebody with a name and a role.',
  ),
  'held-reference': error('FF_HELD_REFERENCE', 'A file that refers to a file with errors is held with it.'),
} as const satisfies Readonly<Record<string, Rule>>;

export type RuleId = keyof typeof RULES;

/** Whether an id is of a rule that this version knows. */
export function isRuleId(id: string): id is RuleId {
  return Object.hasOwn(RULES, id);
}

/** The rule of an id. */
export function ruleOf(id: RuleId): Rule {
  return RULES[id];
}
