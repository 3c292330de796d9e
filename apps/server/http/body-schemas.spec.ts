/** What a malformed body is told: sentences about its members, in the words of JSON. contract §3.10 (Errors). */
import { filterTestProblems } from '#filters';
import { runRequestProblems } from '#runs';
import { factoryRequestErrors } from '../factories/factories.requests.ts';
import { bodySchema } from './body-schemas.ts';

const RUN = { prompt: 'x' };

describe('a body', () => {
  it.each([
    {
      schema: bodySchema('run-agent-request', { rules: runRequestProblems }),
      body: undefined,
      messages: ['the body must be a JSON object, not nothing'],
      why: 'there is none',
    },
    {
      schema: bodySchema('factory-create', { refusedLater: factoryRequestErrors }),
      body: [],
      messages: ['the body must be a JSON object, not a list'],
      why: 'it is no object',
    },
    {
      schema: bodySchema('factory-patch', { refusedLater: factoryRequestErrors }),
      body: {
        colour: 'red',
        sync_policy: {
          fast_foward_only: true,
          verify_commits: { keyz: [] },
          windows: [{ kind: 'deny', schedule: '9-5', duration_minutes: 5, zone: 'x' }],
        },
      },
      why: 'a policy that is mistyped would ask nothing',
      messages: [
        'missing key "keys" in sync_policy.verify_commits',
        'unknown key "keyz" in sync_policy.verify_commits; did you mean "keys"?',
        'unknown key "zone" in sync_policy.windows[0]; expected one of kind, schedule, duration_minutes',
        'sync_policy.windows[0].schedule must be five cron fields, such as 0 9 * * 1-5',
        'unknown key "fast_foward_only" in sync_policy; did you mean "fast_forward_only"?',
        'unknown key "colour"; expected one of name, source, sync_policy',
      ].toSorted(),
    },
    {
      schema: bodySchema('factory-patch', { refusedLater: factoryRequestErrors }),
      body: { source: { kind: 'git', url: 'https://git.example/a', brnach: 'main' } },
      messages: ['unknown key "brnach" in source; did you mean "branch"?'],
      why: 'so is a source',
    },
    {
      schema: bodySchema('api-key-patch'),
      body: {},
      messages: ['the body must have at least 1 member'],
      why: 'it changes nothing',
    },
    {
      schema: bodySchema('run-agent-request', { rules: runRequestProblems }),
      body: { ...RUN, metadata: 'x' },
      messages: ['metadata must be a JSON object, not a string'],
      why: 'members are of JSON too',
    },
    {
      schema: bodySchema('run-agent-request', { rules: runRequestProblems }),
      body: { ...RUN, title: {} },
      messages: ['title must be a string, not a JSON object'],
      why: 'so is what was found',
    },
    {
      schema: bodySchema('run-agent-request', { rules: runRequestProblems }),
      body: { ...RUN, metadata: { 'bad key': 'x' } },
      messages: [
        'metadata.bad key is not a valid name: names are 1 to 64 characters of A-Z, a-z, 0-9, ".", "_" and "-"',
      ],
      why: 'a rule',
    },
    {
      schema: bodySchema('run-agent-request', { rules: runRequestProblems }),
      body: { ...RUN, metadata: { automation_id: 'x' } },
      messages: ['metadata.automation_id is reserved: the service sets it itself'],
      why: 'a rule',
    },
    {
      schema: bodySchema('filter-test-request', { rules: filterTestProblems }),
      body: { filter: {}, entry_id: 'x', payload: 1 },
      messages: ['entry_id cannot be given together with payload', 'payload cannot be given together with entry_id'],
      why: 'two rules',
    },
    {
      schema: bodySchema('filter-test-request', { rules: filterTestProblems }),
      body: { filter: {} },
      messages: ['entry_id is required unless there is payload', 'payload is required unless there is entry_id'],
      why: 'neither',
    },
    {
      schema: bodySchema('filter-test-request', { rules: filterTestProblems }),
      body: { filter: { a: 1 }, payload: 1 },
      messages: ['filter.a cannot be used: found a bare number, expected an array of allowed values; wrap it in [ ]'],
      why: 'the filter says why',
    },
    {
      schema: bodySchema('secret-put'),
      body: { grants: { factories: 'all' } },
      messages: ['grants.factories must be * or a list of factory UIDs, at most 1000'],
      why: 'a union',
    },
    {
      schema: bodySchema('secret-put'),
      body: { grants: { factories: ['main'] } },
      why: 'a union, and its entry',
      messages: [
        'grants.factories must be * or a list of factory UIDs, at most 1000',
        'grants.factories[0] must be the UID of a factory (fac_ and 26 characters)',
      ],
    },
  ])('is told $messages: $why', async ({ schema, body, messages }) => {
    const checked = await schema['~standard'].validate(body);
    expect(checked.issues?.map(({ message }) => message).toSorted()).toEqual(messages.toSorted());
  });
});
