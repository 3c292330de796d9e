/** Actions of a manager on a webhook. */
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ask, type Api } from '../../api/client.ts';
import { webhooksChanged, type SeenWebhook } from '../../api/webhooks.ts';
import { Refused } from '../../components/feedback/refused.tsx';
import { announce } from '../../components/feedback/announcements.ts';
import { useChange } from '../../components/forms/use-change.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { EditDialog } from './edit-dialog.tsx';
import { RotateDialog } from './rotate-dialog.tsx';
import { Refusal } from './refusal.tsx';

export interface DialogProps {
  factory: Api<'Factory'>;
  /** As the server has it now. */
  seen: SeenWebhook;
  onClose: () => void;
}

const DIALOGS = { edit: EditDialog, rotate: RotateDialog, delete: DeleteDialog } as const;

export function WebhookActions({ factory, seen }: Omit<DialogProps, 'onClose'>) {
  const [open, setOpen] = useState<keyof typeof DIALOGS>();
  const Dialog = open === undefined ? undefined : DIALOGS[open];
  return (
    <>
      <Toggle factory={factory} seen={seen} />
      <Button variant="default" size="sm" onClick={() => setOpen('edit')}>
        Edit
      </Button>
      <Button variant="default" size="sm" onClick={() => setOpen('rotate')}>
        Rotate secret
      </Button>
      <Button variant="light" color="red" size="sm" onClick={() => setOpen('delete')}>
        Delete
      </Button>
      {Dialog !== undefined && <Dialog factory={factory} seen={seen} onClose={() => setOpen(undefined)} />}
    </>
  );
}

/** Enables or disables at once: it can be taken back by the same button. */
function Toggle({ factory, seen }: Omit<DialogProps, 'onClose'>) {
  const queries = useQueryClient();
  const [before, setBefore] = useState(seen);
  const path = { factory_uid: factory.uid, webhook_uid: seen.body.uid };
  const change = useChange(
    ({ enabled, etag }: { enabled: boolean; etag: string }) =>
      ask(
        api.PATCH('/factory/{factory_uid}/webhooks/{webhook_uid}', {
          params: { path, header: { 'If-Match': etag } },
          body: { enabled },
        }),
      ),
    ({ enabled, name }) => {
      announce(enabled ? `The webhook ${name} is enabled` : `The webhook ${name} is disabled: senders get 404`);
      void webhooksChanged(queries, factory.uid);
    },
  );
  const verb = seen.body.enabled ? 'Disable' : 'Enable';
  const press = (): void => {
    setBefore(seen);
    change.start({ enabled: !seen.body.enabled, etag: seen.etag });
  };
  return (
    <>
      <Button variant="default" size="sm" loading={change.isPending} onClick={press}>
        {verb}
      </Button>
      <Refused title={`${verb} was refused`} error={change.error} onClose={change.reset}>
        <Refusal error={change.error} before={before} now={seen} onGoOn={change.reset} />
      </Refused>
    </>
  );
}
