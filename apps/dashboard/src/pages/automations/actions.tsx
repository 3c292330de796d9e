/** What managers do with an automation: edit, enable or disable, delete. */
import { Button, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { automationsChanged, changeAutomation, seenAutomation, type SeenAutomation } from '../../api/automations.ts';
import { api, ask } from '../../api/client.ts';
import { Confirm } from '../../components/dialogs/confirm.tsx';
import { Refused } from '../../components/feedback/refused.tsx';
import { announce } from '../../components/feedback/announcements.ts';
import { useChange } from '../../components/forms/use-change.ts';
import { Refusal } from './refusal.tsx';

interface ActionProps {
  factoryUid: string;
  /** As the server has it now. */
  seen: SeenAutomation;
}

export function AutomationActions(props: ActionProps) {
  const [isDeleting, setDeleting] = useState(false);
  return (
    <>
      <Button component={Link} to="edit" variant="default">
        Edit
      </Button>
      <Toggle {...props} />
      <Button variant="light" color="red" onClick={() => setDeleting(true)}>
        Delete
      </Button>
      {isDeleting && <DeleteDialog {...props} onClose={() => setDeleting(false)} />}
    </>
  );
}

/** Enables or disables at once: it can be taken back by the same button. */
function Toggle({ factoryUid, seen }: ActionProps) {
  const queries = useQueryClient();
  const [before, setBefore] = useState(seen);
  const { uid, enabled } = seen.body;
  const change = useChange(
    (wanted: { etag: string; isEnabled: boolean }) =>
      changeAutomation(factoryUid, uid, { etag: wanted.etag, changes: { enabled: wanted.isEnabled } }),
    (saved) => {
      queries.setQueryData(seenAutomation(factoryUid, uid).queryKey, saved);
      announce(`The automation ${saved.body.name} is ${saved.body.enabled ? 'enabled' : 'disabled'}`);
      void automationsChanged(queries, factoryUid);
    },
  );
  const verb = enabled ? 'Disable' : 'Enable';
  const press = (): void => {
    setBefore(seen);
    change.start({ etag: seen.etag, isEnabled: !enabled });
  };
  return (
    <>
      <Button variant="default" loading={change.isPending} onClick={press}>
        {verb}
      </Button>
      <Refused title={`${verb} was refused`} error={change.error} onClose={change.reset}>
        <Refusal factoryUid={factoryUid} error={change.error} before={before} now={seen} onGoOn={change.reset} />
      </Refused>
    </>
  );
}

function DeleteDialog({ factoryUid, seen, onClose }: ActionProps & { onClose: () => void }) {
  const queries = useQueryClient();
  const go = useNavigate();
  const [base, setBase] = useState(seen);
  const { uid, name, enabled } = base.body;
  const remove = useChange(
    (etag: string) =>
      ask(
        api.DELETE('/factory/{factory_uid}/automations/{automation_id}', {
          params: { path: { factory_uid: factoryUid, automation_id: uid }, header: { 'If-Match': etag } },
        }),
      ),
    () => {
      announce(`The automation ${name} was deleted`);
      void go(`/factories/${factoryUid}/automations`);
      void queries.invalidateQueries({ queryKey: ['automations', factoryUid] });
    },
  );
  const goOn = (): void => {
    setBase(seen);
    remove.reset();
  };
  return (
    <Confirm
      title={`Delete ${name}`}
      action="Delete"
      typed={enabled ? name : undefined}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.start(base.etag)}
      onClose={onClose}
      refusal={<Refusal factoryUid={factoryUid} error={remove.error} before={base} now={seen} onGoOn={goOn} />}
    >
      <Text size="sm">It starts nothing from now on. Runs that it started go on, and stay in the list.</Text>
    </Confirm>
  );
}
