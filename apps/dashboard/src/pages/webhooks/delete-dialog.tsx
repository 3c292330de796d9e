/** Deleting a webhook: what stops by it, and the name to be typed while it still takes deliveries. */
import { Alert, Button, Group, List, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { api, ask } from '../../api/client.ts';
import { Confirm } from '../../components/dialogs/confirm.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { announce } from '../../components/feedback/announcements.ts';
import { useChange } from '../../components/forms/use-change.ts';
import type { DialogProps } from './actions.tsx';
import { Refusal } from './refusal.tsx';
import { SecretPlace } from './secret-place.tsx';
import { sourceKindOf } from '../../api/source-kinds.ts';

export function DeleteDialog(props: DialogProps) {
  return props.factory.definitions_managed ? <RemoveFile {...props} /> : <DeleteHere {...props} />;
}

/** Of a webhook that a file decides. */
function RemoveFile({ factory, seen: { body: webhook }, onClose }: DialogProps) {
  const { name, slug, file, used_by_automations: users = [] } = webhook;
  return (
    <Dialog title={`Delete ${name}`} onClose={onClose} size="lg">
      <Stack>
        <Alert color="blue" title="Remove its file">
          <Text size="sm" component="div">
            This webhook is there as long as{' '}
            <span className="mono">
              <UntrustedText>{file ?? `webhooks/${slug}.yaml`}</UntrustedText>
            </span>{' '}
            is: remove it{sourceKindOf(factory.source).hasCommits ? ' and commit that' : ''}, and the next sync deletes
            the webhook. To stop deliveries at once, withdraw the grant of its secret or delete it:{' '}
            <SecretPlace factoryUid={factory.uid} webhook={webhook} />.
          </Text>
        </Alert>
        <Aftermath slug={slug} />
        <Stops automations={users} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

function DeleteHere({ factory, seen, onClose }: DialogProps) {
  const queries = useQueryClient();
  const go = useNavigate();
  const [base, setBase] = useState(seen);
  const { uid, name, slug, enabled, used_by_automations: users = [] } = base.body;
  const path = { factory_uid: factory.uid, webhook_uid: uid };
  const remove = useChange(
    (tag: string) =>
      ask(
        api.DELETE('/factory/{factory_uid}/webhooks/{webhook_uid}', { params: { path, header: { 'If-Match': tag } } }),
      ),
    () => {
      announce(`The webhook ${name} was deleted`);
      void go(`/factories/${factory.uid}/webhooks`);
      void queries.invalidateQueries({ queryKey: ['webhooks', factory.uid] });
      queries.removeQueries({ queryKey: ['webhook', factory.uid, uid] });
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
      refusal={<Refusal error={remove.error} before={base} now={seen} onGoOn={goOn} />}
    >
      <Stack>
        <Aftermath slug={slug} />
        <Text size="sm" component="div">
          Its secret <SecretPlace factoryUid={factory.uid} webhook={base.body} /> stays.
        </Text>
        <Stops automations={users} />
      </Stack>
    </Confirm>
  );
}

/** What is true once it is gone. */
function Aftermath({ slug }: { slug: string }) {
  return (
    <Text size="sm">
      Once it is deleted, senders get 404 and its log of deliveries cannot be looked at any more, unless a webhook of
      the same name (short: <span className="mono">{slug}</span>) is created again: that one has the same UID and URL,
      and what is left of the log.
    </Text>
  );
}

function Stops({ automations }: { automations: readonly { uid: string; name: string; enabled: boolean }[] }) {
  if (automations.length === 0) return <Text size="sm">No automation selects it.</Text>;
  return (
    <div>
      <Text size="sm" fw={600}>
        These automations stay, and stop firing for it:
      </Text>
      <List size="sm">
        {automations.map(({ uid, name, enabled }) => (
          <List.Item key={uid}>
            <UntrustedText>{name}</UntrustedText>
            {enabled ? '' : ' (disabled already)'}
          </List.Item>
        ))}
      </List>
    </div>
  );
}
