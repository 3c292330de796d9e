/** What a tree would change in a factory, before it is merged. Read-only. */
import { Alert, Badge, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useEffect, useRef, useState, type SyntheticEvent } from 'react';
import { useSearchParams } from 'react-router';
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
  const latest = useRef<readonly TreeFile[] | string>(files);
  const make = useChange(
    async (wanted: readonly TreeFile[] | string) => ({
      wanted,
      plan: await ask(
        api.POST('/factory/{factory_uid}/plan', {
          params: { path: { factory_uid: uid } },
          body: typeof wanted === 'string' ? { ref: wanted } : { files: [...wanted] },
        }),
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
  const start = (wanted: readonly TreeFile[] | string): void => {
    latest.current = wanted;
    setMade(undefined);
    make.start(wanted);
  };
  return (
    <>
      <PageTitle above={[{ label: 'Sync', to: `/factories/${uid}/sync` }]}>Plan</PageTitle>
      <Stack>
        {sourceKindOf(source).hasCommits && <RefForm isBusy={make.isPending} onAsk={start} />}
        <TreePicker files={files} root={sourceKindOf(source).hasCommits ? (source.path ?? '') : ''} onChange={change} />
        {files.length > 0 && (
          <Group>
            <Button loading={make.isPending} onClick={() => start(files)}>
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

/** A ref of the followed repository: the service reads it, so that nobody has to have its files. */
function RefForm({ isBusy, onAsk }: { isBusy: boolean; onAsk: (ref: string) => void }) {
  // A link from a pull request names it; asking stays with whoever follows that.
  const [searched] = useSearchParams();
  const [ref, setRef] = useState(searched.get('ref')?.slice(0, 255) ?? '');
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (ref.trim() !== '') onAsk(ref.trim());
  };
  return (
    <form onSubmit={submit}>
      <Group align="end">
        <TextInput
          label="Branch, tag, commit or pull request"
          description="Of the repository that the factory follows; nothing is applied"
          placeholder="main, or pull/12"
          value={ref}
          maxLength={255}
          onChange={(event) => setRef(event.currentTarget.value)}
          spellCheck={false}
          autoComplete="off"
        />
        <Button type="submit" loading={isBusy} disabled={ref.trim() === ''}>
          Show what the ref would change
        </Button>
      </Group>
    </form>
  );
}

/** Comes into view when it is there: the files above it may be many. */
function PlanView({ factoryUid, plan }: { factoryUid: string; plan: Plan }) {
  const top = useRef<HTMLDivElement>(null);
  useEffect(() => top.current?.focus(), []);
  const { changes, held, problems, advice = [], growth = [] } = plan;
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
      {growth.length > 0 && <GrowthSection growth={growth} />}
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

/** What a reviewer looks for first: what runs could do more. */
function GrowthSection({ growth }: { growth: NonNullable<Plan['growth']> }) {
  return (
    <Section title={`What grows: ${growth.length}`}>
      <Stack gap="xs">
        {growth.map(({ automation, kind, what, before, after }) => (
          <Text key={`${automation} ${kind} ${what}`} size="sm">
            <UntrustedText>{automation}</UntrustedText>: {kind}{' '}
            <strong>
              <UntrustedText>{what}</UntrustedText>
            </strong>
            {after !== undefined && (
              <UntrustedText>{`: ${before === undefined ? '' : `${before} → `}${after}`}</UntrustedText>
            )}
          </Text>
        ))}
      </Stack>
    </Section>
  );
}

function Summary({
  plan: { valid, ending, reason, message, revision, summary, changes, held, ref, not_run: notRun },
}: {
  plan: Plan;
}) {
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
          {ref === undefined ? 'These files as a directory' : 'What was read'}:{' '}
          <span className="mono" title={revision}>
            {shortRevision(revision)}
          </span>
        </Text>
        {notRun !== undefined && (
          <Text size="xs">Anybody may have written this, so it was judged without what is known of secrets.</Text>
        )}
      </Stack>
    </Alert>
  );
}
