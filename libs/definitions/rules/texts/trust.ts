/** What the rules of trust are for: who can talk an automation into what. contract §8.5 (Trust). */
import type { RuleText } from './rule-text.ts';

export const TRUST_RULE_TEXTS = {
  'trust-exposed-run': {
    why:
      'Words of strangers, a secret and a way out are harmless two by two; together one sentence in an issue can ' +
      'take the secret along. Let the filter name authors, take the secret or the network away, or split the run in ' +
      'two: one that reads, and one that acts on what a person has looked at. Where it has to be so, "trust" accepts ' +
      'it, with a reason, a last day, and the name and role of who approved it.',
  },
  'trust-unfiltered-authors': {
    why:
      'On a public repository everybody can open an issue or comment, and so start the run with words of their ' +
      'choice. Let the filter ask for sender.login, author_association or a label that only members set.',
    wrong: 'payload: {action: [opened]}',
    right: 'payload: {action: [opened], issue: {author_association: [MEMBER, OWNER]}}',
  },
  'trust-forged-author': {
    why:
      'A display name or an e-mail address in a commit is what its author typed. Compare what the forge itself says: ' +
      'sender.login, sender.id, author_association.',
  },
  'trust-unfiltered-effects': {
    why:
      'A run that pushes, opens pull requests or writes elsewhere does so for every delivery that starts it. Choose ' +
      'the deliveries: by action, branch, label or author.',
  },
  'trust-url-token': {
    why:
      'A URL is written into logs, browser histories and tickets; who reads it there can start the run. Use a token ' +
      'in a header or a signature, or give the run neither secrets nor effects.',
    wrong: 'authMode: url_token',
    right: 'authMode: signature',
  },
  'trust-replayed-effects': {
    why:
      'The scheme signs no time: a request that was captured once passes again under another delivery ID, and its ' +
      'run acts again. replayProtection accepts a signed body once.',
    right: 'replayProtection: body',
  },
  'trust-shared-credential': {
    why:
      'Who knows the credential of one sender can speak for the other, and a rotation concerns both. Give each ' +
      'webhook a secret of its own.',
  },
  'trust-no-budget': {
    why:
      'Whoever can start runs decides what they cost, sixty times a minute. Set limits of tokens, cost and minutes, ' +
      'or let the operator bound all runs.',
    right: 'limits: {tokens: 200000, cost: 2, minutes: 20}',
  },
  'trust-public-push': {
    why:
      'What strangers write decides what is committed under your name. Let a run without push propose a diff, and ' +
      'let a person or a run that reads no strangers push it; or let the filter name authors.',
  },
  'trust-group-by-text': {
    why:
      'The group comes from a text that strangers choose: with whenBusy they can keep out, or end, the runs of ' +
      'others by writing the same. Take a number or an ID that the forge gives.',
    wrong: 'concurrency: {group: /issue/title, whenBusy: replace}',
    right: 'concurrency: {group: /issue/number, whenBusy: replace}',
  },
  'trust-secret-inside': {
    why:
      'With expose: env the value lies in the sandbox, where an agent that was talked into it can read and repeat ' +
      'it. Declare the host instead: the value is added outside, to requests that are named.',
    wrong: 'secrets: [{name: FORGE_TOKEN, expose: env}]',
    right: 'secrets: [{name: FORGE_TOKEN, host: api.github.com, header: Authorization, paths: [/repos/acme/*]}]',
  },
  'trust-secret-everywhere': {
    why:
      'The secret goes to every path of its host, with methods that write. Name the methods and paths that the work ' +
      'needs: what is not declared is refused outside of the sandbox.',
    wrong: 'methods: [GET, POST]',
    right: 'methods: [GET, POST], paths: [/repos/acme/app/issues/*/comments]',
  },
  'trust-secret-unused': {
    why: 'Nothing in the run has a use for it that the files show. What a run does not have cannot be taken from it.',
  },
  'trust-secret-for-all': {
    why:
      'Everything in the factory, or every run of the environment, has the secret that some automations need. Name ' +
      'it in the files of those.',
  },
  'trust-literal-credential': {
    why:
      'A value in a file is in every clone, and nobody can rotate it without a commit. Make it a managed secret, ' +
      'name that, and replace the value where it was issued.',
  },
  'trust-wide-network': {
    why: 'Below such a name anybody can have a host or a bucket, and read what the run sends there. Name single hosts.',
    wrong: 'network: {allow: ["*.amazonaws.com"]}',
    right: 'network: {allow: [builds.acme.example]}',
  },
  'trust-drop-host': {
    why: 'The host exists to show whatever is sent to it. Take it out when the trial is over.',
  },
  'trust-moving-skill': {
    why:
      'The skill is read from elsewhere as it is at that moment: who commits there changes what this run does. Copy ' +
      'it below skills/, where a change is a change of this repository.',
  },
  'trust-moving-repository': {
    why:
      'The default branch of another owner moves, and with it what the run reads and runs. Name a tag or a release ' +
      'branch, or keep a copy.',
  },
  'trust-moving-image': {
    why: 'latest is another image tomorrow. Name a version, or better the digest.',
    wrong: 'dockerImage: python:latest',
    right: 'dockerImage: python:3.12.8-slim',
  },
  'trust-moving-tool': {
    why:
      'The program is fetched anew at each start, in whatever version there is then. Write the version behind ' +
      'its name.',
    wrong: 'args: ["-y", "some-mcp-server"]',
    right: 'args: ["-y", "some-mcp-server@1.4.2"]',
  },
  'trust-mcp-all-tools': {
    why:
      'Without a list the run has every tool that the server has now or gets later. Limit it in the words of that ' +
      'server: an argument, a header, a part of the URL.',
  },
  'trust-mcp-plain-http': {
    why: 'Who stands on the way reads and changes what is asked and answered. Use https.',
  },
  'trust-hidden-comment': {
    why:
      'A reviewer of the rendered file does not see the comment, and the agent follows it all the same. Say it in ' +
      'the open, or leave it out.',
  },
  'trust-invisible-text': {
    why:
      'Characters without a shape can spell an order that no reviewer sees. Take them out; an editor that shows ' +
      'control characters finds them.',
  },
  'trust-bidi-text': {
    why: 'What is shown is not what is read: the marks change the order of the text on the screen only. Take them out.',
  },
  'trust-encoded-text': {
    why:
      'Nobody reviews what a long code says, and agents decode it. Put data into files of the repository, and words ' +
      'into words.',
  },
  'trust-piped-download': {
    why:
      'Whoever has that host decides, at every set-up, what runs. Install from a registry by version, or compare a ' +
      'digest before anything is started.',
    wrong: 'setupCommands: ["curl -sS https://example.com/install.sh | sh"]',
    right: 'setupCommands: ["pip install tool==2.1.0"]',
  },
  'trust-payload-in-command': {
    why:
      'A title with a semicolon in it is a second command. Let the agent read the value from the payload, and pass ' +
      'numbers and IDs only.',
  },
  'trust-payload-in-title': {
    why:
      'What strangers write becomes the name under which people see the work, or the words of a commit that starts ' +
      'other machines. Take numbers and IDs.',
  },
  'trust-payload-as-instructions': {
    why:
      'The envelope tells the agent that the payload is not to be obeyed; the prompt takes that back. Say what is to ' +
      'be done, and let the payload be what it is done to.',
  },
  'trust-acceptance-expired': {
    why: 'The last day is over. Look at it again: mend it, or accept it anew with a later day.',
  },
  'trust-acceptance-unused': {
    why: 'It covers nothing: the rule has no finding here any more, or there is no such rule. Take it out.',
  },
  'trust-acceptance-unapproved': {
    why:
      'Words of strangers with secrets and a way out are nothing that an author decides alone. Name who ' +
      'approved it.',
    right: 'approvedBy: {name: Ana Costa, role: admin}',
  },
} as const satisfies Readonly<Record<string, RuleText>>;
