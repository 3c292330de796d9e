/** Changes that need an approval, deletions or a rewritten history, and the approval of exactly the shown digest. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ask } from '../../../api/client.ts';
import { useMay } from '../../../api/session.tsx';
import { Copyable } from '../../../components/text/copy.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { UntrustedText } from '../../../components/text/untrusted-text.tsx';
import { ProblemAlert } from '../../../components/feedback/problem-alert.tsx';
import { announce } from '../../../components/feedback/announcements.ts';
import { factoryChanged } from '../../factories/queries.ts';
import type { Status } from '../../factories/state.tsx';
import { useChange } from '../../../components/forms/use-change.ts';
import { ChangeList } from '../plan/changes.tsx';
import type { Sync } from '../queries.ts';
import { RevisionText } from '../../../components/text/revision-text.tsx';
import { Section } from '../section.tsx';
import type { AwaitedPass } from '../passes/use-awaited-pass.ts';
import { UsageOfDeleted } from './usage-of-deleted.tsx';
import { countOf } from '../../../components/text/count.ts';

interface Waiting {
  kind: 'deletions' | 'rewrite' | 'growth';
  digest: string;
  sync: Sync;
}

/** What a pass left to people, also where the files could not be read since; undefined when nothing waits. */
function waitingOf({ held_sync: sync }: Status): Waiting | undefined {
  if (sync === null || sync.plan === null) return undefined;
  return { kind: KINDS[sync.reason ?? ''] ?? 'deletions', digest: sync.plan, sync };
}

/** What waits, by the reason of its pass; deletions wait also where the rest was applied. */
const KINDS: Readonly<Record<string, Waiting['kind']>> = { 'history-rewritten': 'rewrite', 'growth-held': 'growth' };

export function PendingApprovals({
  factoryUid,
  status,
  pass,
}: {
  factoryUid: string;
  status: Status;
  pass: AwaitedPass;
}) {
  const waiting = waitingOf(status);
  const mayApprove = useMay('manager');
  const [asked, setAsked] = useState<Waiting>();
  if (waiting === undefined) return null;
  const { kind, digest, sync } = waiting;
  return (
    <Section title={titleOf(waiting)}>
      <Stack gap="sm">
        {kind === 'deletions' ? (
          <Text size="sm">
            The files do not have these any more. So much at once is not deleted before somebody approves it; until then
            they serve on.
          </Text>
        ) : (
          <Other kind={kind} factoryUid={factoryUid} sync={sync} />
        )}
        {kind === 'deletions' && (
          <ChangeList
            factoryUid={factoryUid}
            changes={sync.held}
            label="Deletions that wait"
            linked={false}
            renderAside={(change) => <UsageOfDeleted factoryUid={factoryUid} change={change} />}
          />
        )}
        <div>
          <Text size="xs" c="dimmed">
            Digest of exactly this
          </Text>
          <Copyable value={digest} what="digest" />
        </div>
        {mayApprove ? (
          <Button color="red" w="max-content" onClick={() => setAsked(waiting)}>
            {verbOf(kind)}
          </Button>
        ) : (
          <Text size="sm" c="dimmed">
            {kind === 'growth'
              ? 'Whom the sync policy names can approve this.'
              : 'A manager of the factory can approve this.'}
          </Text>
        )}
      </Stack>
      {asked !== undefined && (
        <Approval
          factoryUid={factoryUid}
          asked={asked}
          digestNow={digest}
          pass={pass}
          onClose={() => setAsked(undefined)}
        />
      )}
    </Section>
  );
}

function titleOf({ kind, sync }: Waiting): string {
  if (kind === 'deletions') return `${countOf(sync.held.length, 'deletion')} held`;
  return kind === 'growth' ? 'Growth waits' : 'A rewritten history waits';
}

function verbOf(kind: Waiting['kind']): string {
  if (kind === 'deletions') return 'Approve these deletions';
  return kind === 'growth' ? 'Approve this growth' : 'Approve this history';
}

function Other({ kind, factoryUid, sync }: { kind: Waiting['kind']; factoryUid: string; sync: Sync }) {
  return kind === 'growth' ? <Growth sync={sync} /> : <Rewrite factoryUid={factoryUid} sync={sync} />;
}

/** The message names what grows. */
function Growth({ sync }: { sync: Sync }) {
  return (
    <Text size="sm" component="div">
      <UntrustedText>{sync.message ?? 'Runs could do more with this revision.'}</UntrustedText> The sync policy has that
      approved. An approval lets exactly this go.
    </Text>
  );
}

function Rewrite({ factoryUid, sync }: { factoryUid: string; sync: Sync }) {
  return (
    <Text size="sm" component="div">
      The branch held <RevisionText factoryUid={factoryUid} revision={sync.rewritten_from} />; its tip is now{' '}
      <RevisionText factoryUid={factoryUid} revision={sync.revision} />, which does not descend from it. The sync policy
      asks for fast-forwards, so that this step waits for an approval. An approval lets exactly this step go.
    </Text>
  );
}

function WhatGoes({ held }: { held: Sync['held'] }) {
  return (
    <ul style={{ margin: 0, maxHeight: 240, overflow: 'auto' }} tabIndex={0} aria-label="What goes">
      {held.map(({ kind, slug }) => (
        <li key={`${kind} ${slug}`}>
          <Text size="sm" span>
            {kind}{' '}
            <strong>
              <UntrustedText>{slug}</UntrustedText>
            </strong>
          </Text>
        </li>
      ))}
    </ul>
  );
}

interface ApprovalProps {
  factoryUid: string;
  /** As it was shown when the button was pressed. */
  asked: Waiting;
  /** What waits now: another digest when the files moved on meanwhile. */
  digestNow: string;
  pass: AwaitedPass;
  onClose: () => void;
}

function Approval({ factoryUid, asked, digestNow, pass, onClose }: ApprovalProps) {
  const queries = useQueryClient();
  const approve = useChange(
    async (plan: string, key) => {
      const path = { factory_uid: factoryUid };
      await ask(
        api.POST('/factory/{factory_uid}/approve', {
          params: { path, header: { 'Idempotency-Key': key } },
          body: { plan },
        }),
      );
      return ask(api.GET('/factory/{factory_uid}/status', { params: { path } }));
    },
    ({ generation_requested: generation }) => {
      announce('Approved');
      pass.wait(generation);
      void factoryChanged(queries, factoryUid);
      onClose();
    },
  );
  const isOutdated = digestNow !== asked.digest;
  return (
    <Dialog isBusy={approve.isPending} onClose={onClose} title={verbOf(asked.kind)} size="lg">
      <Stack>
        {asked.kind === 'deletions' ? (
          <>
            <Text size="sm">
              These go: their webhooks answer 404 at once, their automations stop firing. The digest covers this
              factory, this revision and exactly these deletions.
            </Text>
            <WhatGoes held={asked.sync.held} />
          </>
        ) : (
          <Other kind={asked.kind} factoryUid={factoryUid} sync={asked.sync} />
        )}
        <span className="mono">{asked.digest}</span>
        {isOutdated && (
          <Alert color="orange" role="alert" title="This is outdated">
            What waits has changed since you opened this. Approving this digest would not let through what waits now:
            close, and look again.
          </Alert>
        )}
        {approve.error !== null && <ProblemAlert error={approve.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={approve.isPending} data-autofocus>
            Cancel
          </Button>
          <Button
            color="red"
            disabled={isOutdated}
            loading={approve.isPending}
            onClick={() => approve.start(asked.digest)}
          >
            Approve
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
