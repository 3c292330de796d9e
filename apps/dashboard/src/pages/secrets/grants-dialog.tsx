/** Who may use a secret, for what. */
import { Alert, Button, Group, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { problemOf } from '../../api/problems.ts';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { ProblemAlert } from '../../components/feedback/problem-alert.tsx';
import { announce } from '../../components/feedback/announcements.ts';
import { useChange } from '../../components/forms/use-change.ts';
import { isThere, putSecret, secretsChanged } from './queries.ts';
import { GrantsFields, type Grants } from './grants-fields.tsx';
import { UsedBy } from './used-by.tsx';
import type { SecretDialogProps } from './value-dialog.tsx';

export function GrantsDialog({ owner, secret, onClose }: SecretDialogProps) {
  const queries = useQueryClient();
  const [grants, setGrants] = useState<Grants>(secret.grants);
  const [isGone, setGone] = useState(false);
  const save = useChange(
    // A grant to a secret that was deleted meanwhile would make one of its name.
    async (wanted: typeof grants) =>
      (await isThere(owner, secret.name))
        ? putSecret(owner, secret.name, {
            grants: owner === undefined ? wanted : { uses: wanted.uses, runs: wanted.runs, hosts: wanted.hosts },
          })
        : undefined,
    (changed) => {
      if (changed === undefined) return setGone(true);
      announce(`The grants of ${changed.name} were changed`);
      onClose();
      void secretsChanged(queries);
    },
  );
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (isSame(secret.grants, grants)) onClose();
    else save.start(grants);
  };
  return (
    <Dialog isBusy={save.isPending} onClose={onClose} title={`Grants of ${secret.name}`} size="lg">
      <form onSubmit={submit} noValidate aria-label="Change grants">
        <Stack>
          <GrantsFields
            owner={owner}
            value={grants}
            onChange={setGrants}
            fault={(pointer) => problemOf(save.error)?.fault(pointer)}
          />
          {isLess(secret.grants, grants) && secret.used_by.length > 0 && (
            <Alert color="orange" title="What loses its grant stops working at once">
              To it the secret looks as if it did not exist. It is used by:
              <UsedBy users={secret.used_by} withFactory={owner === undefined} />
            </Alert>
          )}
          {isGone && (
            <Alert color="orange" role="alert" title="This secret was deleted">
              Nothing was changed.
            </Alert>
          )}
          {save.error !== null && (
            <ProblemAlert
              error={save.error}
              shown={['/grants/uses', '/grants/factories', '/grants/runs', '/grants/hosts']}
            />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending}>
              Save grants
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

/** Whether something of what was granted is taken away. */
function isLess(before: Grants, now: Grants): boolean {
  if (before.uses.some((use) => !now.uses.includes(use))) return true;
  if (isRunsLess(before, now) || isHostsLess(before, now)) return true;
  const { factories } = now;
  return factories !== '*' && (before.factories === '*' || before.factories.some((uid) => !factories.includes(uid)));
}

/** In order of how many runs they are: some of those that files name, these, any. */
function isRunsLess({ runs: before = 'files' }: Grants, { runs: now = 'files' }: Grants): boolean {
  if (typeof before === 'string' || typeof now === 'string') {
    const reach = (runs: NonNullable<Grants['runs']>): number => (runs === '*' ? 2 : runs === 'files' ? 1 : 0);
    return reach(now) < reach(before);
  }
  return before.some((entry) => !now.includes(entry));
}

function isHostsLess({ hosts: before = null }: Grants, { hosts: now = null }: Grants): boolean {
  if (before === '*') return now !== '*';
  return before !== null && now !== '*' && (now === null || before.some((entry) => !now.includes(entry)));
}

function isSame(one: Grants, other: Grants): boolean {
  const isSameHosts = JSON.stringify(one.hosts ?? null) === JSON.stringify(other.hosts ?? null);
  return isSameHosts && !isLess(one, other) && !isLess(other, one);
}
