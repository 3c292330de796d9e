/**
 * The invariants of reconciliation (I1 to I10) over some random histories, always the same ones; `npm run test:faults`
 * plays thousands of others. explanation: GitOps semantics.
 */
import { expectInvariants, timeMsFor } from '../support/sync-histories/spec.ts';
import { examples } from '../support/tier.ts';

const COUNT = examples(200);
const SEED = 20_260_101;

it(`the invariants hold over ${COUNT} random histories`, () => expectInvariants(COUNT, SEED), timeMsFor(COUNT));
