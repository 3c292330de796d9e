/** What rules of keys and values are for, with an example of what breaks each and of the way out. contract §8. */
import type { RuleText } from './rule-text.ts';

export const KEY_RULE_TEXTS = {
  'unknown-key': {
    why:
      'A key that is not known would say something that nobody hears. "millwright schema" prints all that ' +
      'are; "millwright validate --fix" mends the spelling where only one key is near.',
    wrong: 'secretname: orders-hook',
    right: 'secretName: orders-hook',
  },
  'missing-key': {
    why: 'Without the key the definition says too little to act.',
    wrong: 'authMode: token',
    right: 'authMode: token\nsecretName: orders-hook',
  },
  'wrong-type': {
    why: 'The value is of another type than its key takes.',
    wrong: 'webhooks: orders',
    right: 'webhooks: [orders]',
  },
  'wrong-value': {
    why: 'The value is of the right type and outside of what its key takes.',
    wrong: 'authMode: basic',
    right: 'authMode: token',
  },
  'signature-scheme': {
    why:
      'The scheme says how signed requests are verified: signature needs one, and the other modes verify ' +
      'no signature.',
    wrong: 'authMode: signature',
    right: 'authMode: signature\nsignatureScheme: github',
  },
  'unshipped-scheme': {
    why:
      'The scheme is one of the hosted service that cannot be verified here; the message says why. Most ' +
      'senders can also send a token.',
  },
  'delivery-id-header': {
    why:
      'Deliveries with the same value of this header count once. A header that is equal for several of ' +
      'them would swallow some, a credential would be stored.',
    wrong: 'deliveryIdHeader: Authorization',
    right: 'deliveryIdHeader: X-Request-Id',
  },
  'replay-protection': {
    why: 'A body identifies its delivery only where the sender has signed it.',
    wrong: 'authMode: token\nreplayProtection: body',
    right: 'authMode: signature\nsignatureScheme: github\nreplayProtection: body',
  },
  'front-matter-missing': {
    why: 'Triggers and settings stand above the prompt, between two lines of ---.',
    wrong: 'Look at the build.',
    right: '---\ntriggers: […]\n---\nLook at the build.',
  },
  'front-matter-unclosed': {
    why: 'Where front matter has no end, nobody knows where the prompt begins.',
    wrong: '---\ntriggers: […]\nLook at it.',
    right: '---\ntriggers: […]\n---\nLook at it.',
  },
  'front-matter-fence': {
    why: 'Programs disagree on fences with something behind them.',
    wrong: '--- # settings',
    right: '---',
  },
  'front-matter-language': {
    why: 'Some readers of front matter execute what follows ---js. Here nothing is executed.',
    wrong: '---js',
    right: '---',
  },
  'empty-prompt': { why: 'An agent without a task does something, and it costs.' },
  'provider-inactive': {
    why:
      'The hosted service has providers that are not served here. Such a trigger is kept, so that a ' +
      'repository can be used by both, and never fires.',
    wrong: 'provider: github',
    right: 'provider: webhook',
  },
  'provider-near': {
    why: 'There is no provider of this name anywhere: the trigger would never fire, and nobody would be told.',
    wrong: 'provider: cron',
    right: 'provider: schedule\nevent: cron_fired\nschedule: {cron: "0 6 * * *"}',
  },
  'trigger-webhooks': {
    why: 'A trigger of no webhook never fires.',
    wrong: 'filter: {}',
    right: 'filter: {webhooks: [orders]}',
  },
  'webhook-uid': {
    why: 'webhook_ids holds UIDs; names of files stand under webhooks, and need no copying.',
    wrong: 'webhook_ids: [orders]',
    right: 'webhooks: [orders]',
  },
  'filter-cost': {
    why:
      'Each delivery is compared with every filter of its webhook. The bound keeps one large body from ' +
      'holding up all others. Fields that have to be there come first: they decide without looking ' +
      'further.',
  },
  'duplicate-trigger': {
    why:
      'A delivery starts one run of an automation, however many of its triggers it meets. Mostly one of ' +
      'the two was meant to differ.',
  },
  cron: {
    why: 'Five fields, UTC: minute, hour, day of month, month, day of week. What can never fire is refused.',
    wrong: "cron: '0 0 31 2 *'",
    right: "cron: '0 0 28 2 *'",
  },
  'group-pointer': {
    why: 'A group that begins with a slash is a JSON pointer into the payload (RFC 6901).',
    wrong: 'group: /a~b',
    right: 'group: /a~0b',
  },
  'group-without-payload': {
    why: 'Runs that no delivery has started have no payload: they are in no group, and do not wait for each other.',
    wrong: 'group: /order/id',
    right: 'group: orders',
  },
  'group-literal': {
    why:
      'Without the slash the group is one name that all automations of the factory share: all their runs ' +
      'would wait for each other, whatever the payload says.',
    wrong: 'group: pull_request.number',
    right: 'group: /pull_request/number',
  },
  'run-secret-name': {
    why:
      'The name becomes a variable of the run, and programs take variables like PATH or GIT_DIR for ' +
      'something else.',
    wrong: 'secrets: [{name: PATH}]',
    right: 'secrets: [{name: DEPLOY_TOKEN}]',
  },
  'run-secret-host': {
    why: 'A secret that stays outside of the sandbox goes to one host in one header. Both are named, or neither.',
    wrong: '{name: NPM_TOKEN, host: registry.npmjs.org}',
    right: '{name: NPM_TOKEN, host: registry.npmjs.org, header: Authorization}',
  },
  'run-secret-exposed': {
    why:
      'A variable inside the sandbox can be read by the agent, and by whoever talks it into it. Outside it ' +
      'goes only where it is declared to go.',
    wrong: '{name: NPM_TOKEN}',
    right: '{name: NPM_TOKEN, host: registry.npmjs.org, header: Authorization}',
  },
} as const satisfies Readonly<Record<string, RuleText>>;
