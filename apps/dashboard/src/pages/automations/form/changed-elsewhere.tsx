/** An edit conflict of an automation: the stored version next to the form. Nothing is overwritten unasked. */
import { Badge, Button, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { ProblemAlert } from '../../../components/feedback/problem-alert.tsx';
import { CopyButton } from '../../../components/text/copy.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { UntrustedText } from '../../../components/text/untrusted-text.tsx';
import type { SeenAutomation } from '../../../api/automations.ts';
import { changedMembers, MEMBERS, membersOf, type Draft } from './draft.ts';
import { LABELS, readMembers, textOf } from './members.ts';

interface ChangedElsewhereProps {
  /** What the form was filled with. */
  base: SeenAutomation;
  /** What is there now; undefined: nothing to decide. */
  theirs: SeenAutomation | undefined;
  mine: Draft;
  nameOf: (webhookUid: string) => string | undefined;
  isPending: boolean;
  error: unknown;
  onTakeTheirs: () => void;
  onPutMine: () => void;
  onClose: () => void;
}

export function ChangedElsewhere({ theirs, onClose, ...rest }: ChangedElsewhereProps) {
  if (theirs === undefined) return null;
  return (
    <Dialog onClose={onClose} title="Somebody else changed this automation" size="xl">
      <Difference theirs={theirs} onClose={onClose} {...rest} />
    </Dialog>
  );
}

function Difference({
  base,
  theirs,
  mine,
  nameOf,
  isPending,
  error,
  onTakeTheirs,
  onPutMine,
  onClose,
}: ChangedElsewhereProps & { theirs: SeenAutomation }) {
  const reading = membersOf(mine);
  const [before, now] = [readMembers(base), readMembers(theirs)];
  const ofMine = reading.ok ? changedMembers(before, reading.members) : [];
  const ofTheirs = changedMembers(before, now);
  const mineNow = reading.ok ? reading.members : before;
  return (
    <Stack>
      <Text size="sm">
        It was saved by somebody else after you opened it: version {theirs.body.version} is there now. Nothing of it was
        overwritten, and what you wrote is still in the form.
      </Text>
      {!reading.ok && (
        <Text size="sm" c="red">
          The form cannot be saved as it is: {reading.faults[0]?.message}
        </Text>
      )}
      {MEMBERS.filter((name) => ofMine.includes(name) || ofTheirs.includes(name)).map((name) => (
        <Sides
          key={name}
          label={LABELS[name]}
          isMine={ofMine.includes(name)}
          isTheirs={ofTheirs.includes(name)}
          now={textOf(now[name], nameOf)}
          mine={textOf(mineNow[name], nameOf)}
        />
      ))}
      <Text size="sm">
        “Put mine over it” saves what you changed
        {ofMine.length > 0 && <> ({ofMine.map((name) => LABELS[name]).join(', ')})</>} over what is there now; the rest
        stays as they left it. “Take theirs” throws your changes away.
      </Text>
      {error !== null && error !== undefined && <ProblemAlert error={error} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose} data-autofocus>
          Keep editing
        </Button>
        <Button variant="default" onClick={onTakeTheirs}>
          Take theirs
        </Button>
        <Button color="red" loading={isPending} disabled={!reading.ok} onClick={onPutMine}>
          Put mine over it
        </Button>
      </Group>
    </Stack>
  );
}

interface SidesProps {
  label: string;
  /** Who changed it. */
  isMine: boolean;
  isTheirs: boolean;
  now: string;
  mine: string;
}

function Sides({ label, isMine, isTheirs, now, mine }: SidesProps) {
  return (
    <section aria-label={label}>
      <Group gap="xs" mb={4}>
        <Title order={3} size="h5">
          {label}
        </Title>
        <Badge color={isMine && isTheirs ? 'orange' : 'gray'}>{whoChanged(isMine, isTheirs)}</Badge>
      </Group>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
        <Side title="There now" text={now} label={`${label}, there now`} />
        <Side title="Yours" text={mine} label={`${label}, yours`} isCopied />
      </SimpleGrid>
    </section>
  );
}

const BOX = {
  maxHeight: 220,
  overflow: 'auto',
  margin: 0,
  minHeight: '2.5em',
  padding: '0.5rem',
  border: '1px solid var(--mantine-color-default-border)',
} as const;

function Side({
  title,
  text,
  label,
  isCopied = false,
}: {
  title: string;
  text: string;
  label: string;
  isCopied?: boolean;
}) {
  return (
    <div>
      <Group justify="space-between" mih={28}>
        <Text size="xs" c="dimmed">
          {title}
        </Text>
        {isCopied && text !== '' && <CopyButton value={text} label="Copy" />}
      </Group>
      <pre className="mono" tabIndex={0} aria-label={label} style={BOX}>
        <UntrustedText>{text === '' ? '(nothing)' : text}</UntrustedText>
      </pre>
    </div>
  );
}

function whoChanged(isMine: boolean, isTheirs: boolean): string {
  if (isMine && isTheirs) return 'changed by both';
  return isMine ? 'changed by you' : 'changed by them';
}
