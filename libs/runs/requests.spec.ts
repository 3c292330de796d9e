/** Bad members of a run request are all found, each by its own pointer. */
import {
  agentConfigProblems,
  dispatchProblems,
  followupProblems,
  metadataProblems,
  runRequestProblems,
  skillProblems,
  ticketProblems,
} from './index.ts';

describe('metadata', () => {
  it.each([
    { metadata: { 'team.name-1_x': 'a' }, pointers: [], why: 'all allowed characters' },
    { metadata: { a: 'é'.repeat(128) }, pointers: [], why: '256 bytes fit' },
    { metadata: { a: 'é'.repeat(129) }, pointers: ['/metadata/a'], why: 'bytes are counted, not characters' },
    { metadata: { a: 'x\0y' }, pointers: ['/metadata/a'], why: 'a database cannot store NUL as text' },
    { metadata: { a: 1 }, pointers: ['/metadata/a'], why: 'values are strings' },
    { metadata: { '': 'x' }, pointers: ['/metadata/'], why: 'an empty key' },
    { metadata: { ['k'.repeat(65)]: 'x' }, pointers: [`/metadata/${'k'.repeat(65)}`], why: 'a key over 64' },
    { metadata: { 'a/b~c': 'x' }, pointers: ['/metadata/a~1b~0c'], why: 'pointers are escaped' },
    { metadata: { delivery_id: 'x' }, pointers: ['/metadata/delivery_id'], why: 'the service sets it itself' },
    { metadata: { é: 1 }, pointers: ['/metadata/é', '/metadata/é'], why: 'every problem at once' },
  ])('names $pointers, because $why', ({ metadata, pointers }) => {
    expect(metadataProblems(metadata).map(({ pointer }) => pointer)).toEqual(pointers);
  });

  it('holds at most 20 entries', () => {
    const entries = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));
    expect(metadataProblems(entries(20))).toEqual([]);
    expect(metadataProblems(entries(21))).toEqual([
      { pointer: '/metadata', message: 'has 21 entries, at most 20 are allowed' },
    ]);
  });

  it.each([
    ['bad key', 'is not a valid name: names are 1 to 64 characters of A-Z, a-z, 0-9, ".", "_" and "-"'],
    ['automation_id', 'is reserved: the service sets it itself'],
  ])('%j %s', (key, message) => {
    expect(metadataProblems({ [key]: 'x' })).toEqual([{ pointer: `/metadata/${key}`, message }]);
  });

  it('never repeats a value', () => {
    expect(JSON.stringify(metadataProblems({ a: `hidden\0${'x'.repeat(300)}` }))).not.toContain('hidden');
  });
});

describe('a skill', () => {
  it.each([
    { skill: undefined, ok: true, why: 'a run needs none' },
    { skill: 'acme/tools:review', ok: true, why: 'a skill of a repository by name' },
    { skill: 'acme/tools:skills/review/SKILL.md', ok: true, why: 'by path' },
    { skill: 'review-2', ok: true, why: 'a skill of the factory' },
    { skill: 'Review', ok: false, why: 'names are lower case' },
    { skill: 'acme/tools', ok: false, why: 'a repository is no skill' },
    { skill: 'acme/tools:a b', ok: false, why: 'no spaces' },
    { skill: 'acme:tools:x', ok: false, why: 'no owner' },
    { skill: '../x', ok: false, why: 'no path of ours' },
    { skill: 'review\n', ok: false, why: 'a line break is part of no name' },
    { skill: '', ok: false, why: 'nothing' },
  ])('$skill: $ok, because $why', ({ skill, ok }) => {
    expect(skillProblems(skill, '/skill').map(({ pointer }) => pointer)).toEqual(ok ? [] : ['/skill']);
  });
});

describe('a configuration', () => {
  it.each([
    { config: {}, pointers: [], why: 'nothing is said' },
    {
      config: { mcp_servers: { a: { command: 'x' }, b: { url: 'https://x' } } },
      pointers: [],
      why: 'each has one of the two',
    },
    { config: { mcp_servers: { a: {} } }, pointers: ['/config/mcp_servers/a'], why: 'neither' },
    { config: { mcp_servers: { a: { warp_id: 'linear' } } }, pointers: [], why: 'it is ignored, not refused' },
    {
      config: { mcp_servers: { a: { warp_id: 'linear', url: 'https://x' } } },
      pointers: ['/config/mcp_servers/a'],
      why: 'one of them would be lost',
    },
    { config: { skills: ['acme/tools:a', 'b'] }, pointers: [], why: 'each skill has its form' },
    { config: { skills: ['acme/tools:a', 'B'] }, pointers: ['/config/skills/1'], why: 'one has not' },
    { config: { skills: ['a'], skill_spec: 'b' }, pointers: ['/config/skills'], why: 'two ways to say it' },
    { config: { skills: [], skill_spec: 'b' }, pointers: [], why: 'an empty list says nothing' },
    {
      config: { mcp_servers: { 'a/b': { command: 'x', url: 'https://x' } } },
      pointers: ['/config/mcp_servers/a~1b'],
      why: 'both; pointers are escaped',
    },
    {
      config: { skill_spec: 'No', mcp_servers: { a: {} } },
      pointers: ['/config/skill_spec', '/config/mcp_servers/a'],
      why: 'every problem at once',
    },
  ])('names $pointers: $why', ({ config, pointers }) => {
    expect(agentConfigProblems(config).map(({ pointer }) => pointer)).toEqual(pointers);
  });
});

describe('a ticket', () => {
  it.each([
    { ticket: {}, pointers: [], why: 'there need be none' },
    { ticket: { ticket_ref: 'T-1', ticket_url: `https://x/${'y'.repeat(246)}` }, pointers: [], why: '256 bytes fit' },
    {
      ticket: { ticket_ref: 'é'.repeat(129), ticket_url: `https://x/${'y'.repeat(247)}` },
      pointers: ['/ticket_ref', '/ticket_url'],
      why: 'they become metadata',
    },
  ])('names $pointers: $why', ({ ticket, pointers }) => {
    expect(ticketProblems(ticket).map(({ pointer }) => pointer)).toEqual(pointers);
  });
});

describe('a whole request', () => {
  const file = { file_name: '.x', mime_type: 'text/plain', data: '?' };
  it.each([
    {
      rules: runRequestProblems,
      body: { prompt: 'x', metadata: {}, attachments: [] },
      pointers: [],
      why: 'nothing is wrong',
    },
    { rules: runRequestProblems, body: {}, pointers: ['/prompt'], why: 'a run needs something to do' },
    { rules: runRequestProblems, body: { prompt: ' \n\t' }, pointers: ['/prompt'], why: 'blanks say nothing' },
    { rules: runRequestProblems, body: { prompt: ' ', conversation_id: 'c' }, pointers: ['/prompt'], why: 'nor later' },
    {
      rules: runRequestProblems,
      body: { config: { skill_spec: 'review' }, factory_uid: 'fac_a' },
      pointers: [],
      why: 'a skill is something to do',
    },
    {
      rules: runRequestProblems,
      body: { skill: 'acme/tools:review' },
      pointers: [],
      why: 'a skill of a repository needs no factory',
    },
    {
      rules: runRequestProblems,
      body: { skill: 'review', config: { skill_spec: 'review' } },
      pointers: ['/skill', '/config/skill_spec'],
      why: 'a bare name is a skill of a factory',
    },
    {
      rules: runRequestProblems,
      body: {
        metadata: { 'a b': 'x' },
        skill: 'No',
        config: { skill_spec: 'Nor', mcp_servers: { a: {} } },
        attachments: [file],
        images: [{ mime_type: 'image/png', data: '?' }],
      },
      pointers: [
        '/metadata/a b',
        '/skill',
        '/config/skill_spec',
        '/config/mcp_servers/a',
        '/images/0/data',
        '/attachments/0/file_name',
        '/attachments/0/data',
      ],
      why: 'everything at once',
    },
    {
      rules: runRequestProblems,
      body: { prompt: 5, metadata: [], skill: 5, config: 'x', attachments: 'x', images: [7, null] },
      pointers: [],
      why: 'wrong types are the schema’s to name',
    },
    {
      rules: runRequestProblems,
      body: { prompt: 'x', config: { mcp_servers: { a: 5, b: null } }, attachments: [{ file_name: 5, data: 5 }, null] },
      pointers: [],
      why: 'at every depth',
    },
    { rules: runRequestProblems, body: [], pointers: [], why: 'not even an object' },
    { rules: runRequestProblems, body: null, pointers: [], why: 'nor anything' },
    {
      rules: dispatchProblems,
      body: {
        prompt: 'x',
        metadata: { delivery_id: 'x' },
        ticket_ref: 'é'.repeat(129),
        config: { mcp_servers: { a: {} } },
      },
      pointers: ['/metadata/delivery_id', '/ticket_ref', '/config/mcp_servers/a'],
      why: 'a dispatch has the same rules',
    },
    { rules: dispatchProblems, body: { ticket_ref: 5 }, pointers: [], why: 'wrong types are the schema’s' },
    {
      rules: followupProblems,
      body: { message: 'x', attachments: [file], images: [file] },
      pointers: ['/attachments/0/file_name', '/attachments/0/data'],
      why: 'a follow-up has attachments and no images',
    },
    { rules: followupProblems, body: { attachments: [] }, pointers: ['/message'], why: 'nothing is said' },
    { rules: followupProblems, body: { message: '' }, pointers: ['/message'], why: 'nor with an empty text' },
    {
      rules: followupProblems,
      body: { attachments: [{ attachment_id: 'a', file_name: 'my notes.txt' }, { attachment_id: 'b' }] },
      pointers: [],
      why: 'files alone, by ID',
    },
    {
      rules: followupProblems,
      body: { attachments: Array.from({ length: 25 }, (_, index) => ({ attachment_id: `a${index}` })) },
      pointers: [],
      why: 'as many files as published clients may name',
    },
    {
      rules: followupProblems,
      body: { attachments: Array.from({ length: 26 }, (_, index) => ({ attachment_id: `a${index}` })) },
      pointers: ['/attachments'],
      why: 'and no more',
    },
    {
      rules: followupProblems,
      body: { attachments: [{ attachment_id: 'a', data: '' }, { file_name: 'a' }] },
      pointers: ['/attachments/0', '/attachments/1/mime_type', '/attachments/1/data'],
      why: 'a file is either here or sent, and whole',
    },
    { rules: runRequestProblems, body: { conversation_id: 'c' }, pointers: [], why: 'a conversation goes on' },
    { rules: runRequestProblems, body: { config: { skills: ['a/b:c'] } }, pointers: [], why: 'a skill says enough' },
    { rules: runRequestProblems, body: { config: { skills: [] } }, pointers: ['/prompt'], why: 'no skill does not' },
    {
      rules: runRequestProblems,
      body: { config: { skills: ['a/b:c', 'mine'] } },
      pointers: ['/config/skills/1'],
      why: 'a bare name is of no factory',
    },
    { rules: followupProblems, body: 'x', pointers: [], why: 'wrong types are the schema’s' },
  ])('names $pointers: $why', ({ rules, body, pointers }) => {
    expect(rules(body).map(({ pointer }) => pointer)).toEqual(pointers);
  });
});
