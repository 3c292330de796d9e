/** The commit verification policy of a factory. Admins edit it as the JSON of the API. */
import { Button, Code, Group, List, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState, type SyntheticEvent } from 'react';
import type { Api } from '../../../api/client.ts';
import { useMay } from '../../../api/session.tsx';
import { Loading } from '../../../components/lists/empty.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { UntrustedText } from '../../../components/text/untrusted-text.tsx';
import { announce } from '../../../components/feedback/announcements.ts';
import { ChangeRefused } from '../../factories/change-refused.tsx';
import { changeFactory, factoryChanged } from '../../factories/queries.ts';
import { useChange } from '../../../components/forms/use-change.ts';
import { Section } from '../section.tsx';
import { countOf } from '../../../components/text/count.ts';

const CodeEditor = lazy(() => import('../../../editor/code-editor.tsx'));

export function Policy({ factory }: { factory: Api<'Factory'> }) {
  const isAdmin = useMay('admin');
  const [isEditing, setEditing] = useState(false);
  const lines = linesOf(factory.sync_policy);
  return (
    <Section
      title="Sync policy"
      actions={
        isAdmin && (
          <Button variant="default" size="xs" onClick={() => setEditing(true)}>
            Edit policy
          </Button>
        )
      }
    >
      {lines.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing is asked of commits: whatever the source says applies at once.
        </Text>
      ) : (
        <List size="sm">
          {lines.map((line) => (
            <List.Item key={line}>
              <UntrustedText>{line}</UntrustedText>
            </List.Item>
          ))}
        </List>
      )}
      {isEditing && <PolicyEditor factory={factory} onClose={() => setEditing(false)} />}
    </Section>
  );
}

function linesOf({
  verify_commits: verify,
  fast_forward_only: forward,
  growth_approval: growth,
  windows = [],
}: Api<'SyncPolicy'>): string[] {
  return [
    ...(verify === undefined ? [] : [`Only a tip that one of ${countOf(verify.keys.length, 'key')} signed applies.`]),
    ...(forward === true ? ['A tip that does not descend from the one before waits for an approval.'] : []),
    ...(growth === undefined ? [] : [`What runs could do more waits for an approval by the role ${growth}.`]),
    ...windows.map(
      ({ kind, schedule, duration_minutes: minutes }) =>
        `${kind === 'allow' ? 'Applies only within' : 'Nothing applies within'} ${minutes} minutes from ` +
        `${schedule} (cron, UTC).`,
    ),
  ];
}

function PolicyEditor({ factory, onClose }: { factory: Api<'Factory'>; onClose: () => void }) {
  const queries = useQueryClient();
  const [seen, setSeen] = useState(factory);
  const [text, setText] = useState(() => JSON.stringify(factory.sync_policy, null, 2));
  const [fault, setFault] = useState<string>();
  const change = useChange(
    (policy: Api<'SyncPolicy'>) => changeFactory(factory.uid, seen, { sync_policy: policy }),
    () => {
      announce('The sync policy was changed');
      void factoryChanged(queries, factory.uid);
      onClose();
    },
  );
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    setFault(undefined);
    try {
      const policy = JSON.parse(text) as Api<'SyncPolicy'>;
      if (JSON.stringify(policy) === JSON.stringify(seen.sync_policy)) onClose();
      else change.start(policy);
    } catch (error) {
      setFault(`This is no JSON: ${error instanceof Error ? error.message : ''}`);
    }
  };
  const goOn = (now: Api<'Factory'>): void => {
    setSeen(now);
    setText(JSON.stringify(now.sync_policy, null, 2));
    change.reset();
  };
  return (
    <Dialog isBusy={change.isPending} onClose={onClose} title="Sync policy" size="xl">
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm" c="dimmed">
            The whole policy: <Code>verify_commits</Code> with <Code>keys</Code>, <Code>fast_forward_only</Code>,{' '}
            <Code>growth_approval</Code>, <Code>windows</Code>. What is left out is not asked. The repository cannot
            change it.
          </Text>
          <Suspense fallback={<Loading />}>
            <CodeEditor
              value={text}
              onChange={setText}
              language="json"
              label="Sync policy as JSON"
              minHeight="10rem"
              maxHeight="24rem"
              describedBy="policy-fault"
            />
          </Suspense>
          <Text id="policy-fault" size="sm" c="var(--mantine-color-error)" role="alert" component="div">
            <UntrustedText>{fault ?? ''}</UntrustedText>
          </Text>
          <ChangeRefused error={change.error} seen={seen} onGoOn={goOn} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} disabled={change.isPending}>
              Cancel
            </Button>
            <Button type="submit" loading={change.isPending}>
              Save policy
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
