/**
 * What is done with the reconciling of a factory: asking for a pass, stopping, going on; for admins changing and
 * deleting it.
 */
import { ActionIcon, Button, Menu } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Link } from 'react-router';
import { api, ask, type Api } from '../../api/client.ts';
import { useMay } from '../../api/session.tsx';
import { Icon } from '../../components/icon.tsx';
import { Refused } from '../../components/feedback/refused.tsx';
import { announce } from '../../components/feedback/announcements.ts';
import { factoryChanged } from '../factories/queries.ts';
import { useChange } from '../../components/forms/use-change.ts';
import type { AwaitedPass } from './passes/use-awaited-pass.ts';

const EditFactory = lazy(async () => ({ default: (await import('../factories/edit.tsx')).EditFactory }));
const DeleteFactory = lazy(async () => ({ default: (await import('../factories/delete.tsx')).DeleteFactory }));

export function SyncActions({ factory, pass }: { factory: Api<'Factory'>; pass: AwaitedPass }) {
  const isManager = useMay('manager');
  const isAdmin = useMay('admin');
  const base = `/factories/${factory.uid}/sync`;
  // There is nothing to sync; what was suspended before can be resumed.
  if (!factory.definitions_managed)
    return (
      <>
        {isManager && factory.suspended && <Suspension factory={factory} />}
        {isAdmin && <AdminMenu factory={factory} />}
      </>
    );
  return (
    <>
      <Button variant="default" component={Link} to={`${base}/plan`}>
        Plan
      </Button>
      <Button variant="default" component={Link} to={`${base}/history`}>
        History
      </Button>
      {isManager && <Suspension factory={factory} />}
      {isManager && <SyncNow factory={factory} pass={pass} />}
      {isAdmin && <AdminMenu factory={factory} />}
    </>
  );
}

function SyncNow({ factory, pass }: { factory: Api<'Factory'>; pass: AwaitedPass }) {
  const sync = useChange(
    (_asked: undefined, key) =>
      ask(
        api.POST('/factory/{factory_uid}/sync', {
          params: { path: { factory_uid: factory.uid }, header: { 'Idempotency-Key': key } },
        }),
      ),
    ({ generation_requested: generation }) => pass.wait(generation),
  );
  return (
    <>
      <Button loading={sync.isPending || pass.awaited !== undefined} onClick={() => sync.start(undefined)}>
        Sync now
      </Button>
      <Refused title="Sync now was refused" error={sync.error} onClose={sync.reset} />
    </>
  );
}

function Suspension({ factory }: { factory: Api<'Factory'> }) {
  const queries = useQueryClient();
  const change = useChange(
    (verb: 'suspend' | 'resume', key) =>
      ask(
        api.POST(`/factory/{factory_uid}/${verb}`, {
          params: { path: { factory_uid: factory.uid }, header: { 'Idempotency-Key': key } },
        }),
      ),
    (now) => {
      queries.setQueryData(['factory', factory.uid], now);
      announce(now.suspended ? 'Reconciling is stopped; webhooks and automations serve on' : 'Reconciling goes on');
      void factoryChanged(queries, factory.uid);
    },
  );
  const verb = factory.suspended ? 'Resume' : 'Suspend';
  return (
    <>
      <Button
        variant="default"
        loading={change.isPending}
        onClick={() => change.start(factory.suspended ? 'resume' : 'suspend')}
      >
        {verb}
      </Button>
      <Refused title={`${verb} was refused`} error={change.error} onClose={change.reset} />
    </>
  );
}

function AdminMenu({ factory }: { factory: Api<'Factory'> }) {
  const [open, setOpen] = useState<'edit' | 'delete'>();
  const onClose = (): void => setOpen(undefined);
  return (
    <>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label="More for this factory">
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setOpen('edit')}>Edit factory</Menu.Item>
          <Menu.Item color="red" onClick={() => setOpen('delete')}>
            Delete factory
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Suspense>
        {open === 'edit' && <EditFactory factory={factory} onClose={onClose} />}
        {open === 'delete' && <DeleteFactory factory={factory} onClose={onClose} />}
      </Suspense>
    </>
  );
}
