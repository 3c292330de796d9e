/**
 * Which runs start without walls: those of the service itself, those the operator allowed, and nothing that takes
 * commands.
 */
import { confinementProblem, type ConfinementRequest } from './confinement.ts';

const ALL = { processes: true, files: true, network: true };
const NONE = { processes: false, files: false, network: false };

describe('a run', () => {
  const cases: (Omit<ConfinementRequest, 'allowUnsandboxed'> & { may: boolean; why: string })[] = [
    { worker: 'agent', tier: 'strict', walls: ALL, may: true, why: 'every wall holds' },
    { worker: 'agent', tier: 'standard', walls: NONE, may: false, why: 'it takes commands' },
    { worker: 'agent', tier: 'standard', walls: { ...ALL, files: false }, may: false, why: 'it could read the keys' },
    {
      worker: 'agent',
      tier: 'standard',
      walls: { ...ALL, network: false },
      may: false,
      why: 'it could reach the service',
    },
    {
      worker: 'agent',
      tier: 'standard',
      walls: { ...ALL, processes: false },
      may: false,
      why: 'it could outlive its end',
    },
    {
      worker: 'command',
      tier: 'standard',
      walls: NONE,
      may: true,
      why: 'the operator wrote the command, and somebody with a key asked for it',
    },
    { worker: 'command', tier: 'strict', walls: { ...NONE, network: true }, may: true, why: 'its network is held' },
    {
      worker: 'command',
      tier: 'strict',
      walls: { ...ALL, network: false },
      may: false,
      why: 'a stranger’s delivery could steer it to the network',
    },
    { worker: 'ours', tier: 'strict', walls: NONE, may: true, why: 'the example does what we wrote' },
  ];
  it.each(cases)('of $worker, $tier, behind $walls: $may, because $why', ({ may, ...wish }) => {
    const problem = confinementProblem({ ...wish, allowUnsandboxed: false });
    expect(problem === undefined).toBe(may);
    if (!may) expect(problem).toContain('bubblewrap');
    expect(confinementProblem({ ...wish, allowUnsandboxed: true })).toBeUndefined();
  });
});
