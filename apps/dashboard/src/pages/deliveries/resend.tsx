/** Delivers the stored bytes of an accepted delivery once more. */
import { Alert, Anchor, Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { Confirm } from '../../components/dialogs/confirm.tsx';
import { countOf } from '../../components/text/count.ts';
import { useChange } from '../../components/forms/use-change.ts';
import { deliveriesChanged, pathTo, resend, type Delivery, type EntryPlace } from './queries.ts';

export function ResendButton({ place }: { place: EntryPlace }) {
  const queries = useQueryClient();
  const [opened, dialog] = useDisclosure();
  const [resent, setResent] = useState<Delivery>();
  const change = useChange(resend, (delivery) => {
    setResent(delivery);
    dialog.close();
    void deliveriesChanged(queries, place);
  });
  const open = (): void => {
    change.reset();
    setResent(undefined);
    dialog.open();
  };
  return (
    <>
      <div role="status">{resent !== undefined && <Resent place={place} delivery={resent} />}</div>
      <Button size="xs" variant="default" onClick={open}>
        Resend
      </Button>
      <Confirm
        opened={opened}
        title="Deliver this again?"
        action="Resend"
        color="blue"
        isPending={change.isPending}
        error={change.error}
        onConfirm={() => change.start(place)}
        onClose={dialog.close}
      >
        <Text size="sm">
          The same stored bytes are delivered to this webhook as a new delivery, and judged by today’s definitions. It
          may start runs, as often as it is done, and counts against the webhook’s 60 deliveries a minute.
        </Text>
      </Confirm>
    </>
  );
}

function Resent({ place, delivery: { entry_id: entryId, started = [] } }: { place: EntryPlace; delivery: Delivery }) {
  const runs = started.length === 0 ? 'It started no run.' : `It started ${countOf(started.length, 'run')}.`;
  return (
    <Alert color="teal" p="xs">
      Delivered again. {runs}{' '}
      <Anchor component={Link} to={pathTo({ ...place, entryId })} size="sm">
        Show the new delivery
      </Anchor>
    </Alert>
  );
}
