/** What a tree would change in a factory, before it is merged. Read-only. */
import { Alert, Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { api, ask, type Api } from '../../../api/client.ts';
import { Copyable } from '../../../components/text/copy.tsx';
import { UntrustedText } from '../../../components/text/untrusted-text.tsx';
import { PageTitle } from '../../../components/page-title.tsx';
import { ProblemAlert } from '../../../components/feedback/problem-alert.tsx';
import { useFactory } from '../../factories/frame.tsx';
import { useChange } from '../../../components/forms/use-change.ts';
import { ChangeList } from './changes.tsx';
import { ProblemList, problemCount } from '../problems.tsx';
import { Section } from '../section.tsx';
import type { TreeFile } from './tree-files.ts';
import { TreePicker } from './tree-picker.tsx';
import { countOf } from '../../../components/text/count.ts';
import { shortRevision } from '../../../components/text/revision.ts';
import { ENDING_COLORS } from '../labels.ts';
import { sourceKindOf } from '../../../api/source-kinds.ts';

type Plan = Api<'Plan'>;

export function PlanPage() {
  const { uid, source } = useFactory();
  const [files, setFiles] = useState<readonly TreeFile[]>([]);
  const [made, setMade] = useState<Plan>();
  const latest = useRef(files);
  const make = useChange(
    async (wanted: TreeFile[]) => ({
      wanted,
      plan: await ask(
        api.POST('/factory/{factory_uid}/plan', { params: { path: { factory_uid: uid } }, body: { files: wanted } }),
      ),
    }),
    ({ wanted, plan }) => {
      if (latest.current === wanted) setMade(plan);
    },
  );
  const change = (now: readonly TreeFile[]): void => {
    latest.current = now;
    setFiles(now);
    setMade(undefined);
    make.reset();
  };
  const start = (): void => {
    setMade(undefined);
    make.start(latest.current as TreeFile[]);
  };
  return (
    <>
      <PageTitle above={[{ label: 'Sync', to: `/factories/${uid}/sync` }]}>Plan</PageTitle>
      <Stack>
        <TreePicker files={files} root={sourceKindOf(source).hasCommits ? (source.path ?? '') : ''} onChange={change} />
        {files.length > 0 && (
          <Group>
            <Button loading={make.isPending} onClick={start}>
              Show what it would change
            </Button>
            {files.length > 1 && (
              <Button variant="subtle" onClick={() => change([])}>
                Clear the files
              </Button>
            )}
          </Group>
        )}
        {make.error !== null && <ProblemAlert error={make.error} />}
        {made !== undefined && <PlanView factoryUid={uid} plan={made} />}
      </Stack>
    </>
  );
}

/** Comes into view when it is there: the files above it may be many. */
function PlanView({ factoryUid, plan }: { factoryUid: string; plan: Plan }) {
  const top = useRef<HTMLDivElement>(null);
  useEffect(() => top.current?.focus(), []);
  const { changes, held, problems, advice = [] } = plan;
  return (
    <Stack ref={top} tabIndex={-1} role="region" aria-label="The plan" style={{ outline: 'none' }}>
      <Summary plan={plan} />
      {problems.length > 0 && (
        <Section title={`Problems: ${problemCount(problems)}`}>
          <ProblemList problems={problems} />
        </Section>
      )}
      {advice.length > 0 && (
        <Section title="Advice">
          <Stack gap="xs">
            {advice.map(({ path, message }) => (
              <Text key={path} size="sm">
                <span className="mono">
                  <UntrustedText>{path}</UntrustedText>
                </span>
                : {message}
              </Text>
            ))}
          </Stack>
        </Section>
      )}
      {held.length > 0 && (
        <Section title={`${countOf(held.length, 'deletion')} would be held for an approval`}>
          <Stack gap="sm">
            <ChangeList factoryUid={factoryUid} changes={held} label="Deletions that would be held" linked={false} />
            {plan.plan === null ? (
              <Text size="sm" c="dimmed">
                A commit of these files has a digest of its own, which its pass shows.
              </Text>
            ) : (
              <div>
                <Text size="xs" c="dimmed">
                  Digest that an approval names
                </Text>
                <Copyable value={plan.plan} what="digest" />
              </div>
            )}
          </Stack>
        </Section>
      )}
      {changes.length > 0 && (
        <Section title={`Changes: ${changes.length}`}>
          <ChangeList factoryUid={factoryUid} changes={changes} label="Changes" linked={false} />
        </Section>
      )}
    </Stack>
  );
}

function Summary({ plan: { valid, ending, reason, message, revision, summary, changes, held } }: { plan: Plan }) {
  const isNothing = valid && changes.length === 0 && held.length === 0;
  return (
    <Alert
      color={isNothing ? 'gray' : ENDING_COLORS[ending]}
      title={
        isNothing
          ? 'These files change nothing'
          : ending === 'applied'
            ? 'This would apply'
            : `This would be blocked: ${reason ?? ''}`
      }
      role="status"
    >
      <Stack gap={6}>
        {message !== null && <UntrustedText>{message}</UntrustedText>}
        <Group gap="xs">
          {isNothing && <Text size="sm">What they say is what serves.</Text>}
          {(['create', 'update', 'delete', 'held'] as const)
            .filter((word) => summary[word] > 0)
            .map((word) => (
              <Badge key={word} color="gray">
                {summary[word]} {word}
              </Badge>
            ))}
        </Group>
        <Text size="xs">
          These files as a directory:{' '}
          <span className="mono" title={revision}>
            {shortRevision(revision)}
          </span>
        </Text>
      </Stack>
    </Alert>
  );
}
