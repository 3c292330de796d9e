/** Steps from what is applied to what files say: of a pass, or of a plan with what they concern. */
import { Anchor, Badge, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { Link } from 'react-router';
import { Copyable } from '../../../components/text/copy.tsx';
import { UntrustedText } from '../../../components/text/untrusted-text.tsx';
import type { Change } from '../queries.ts';
import { Replay, Traffic, UsedBy } from './impact.tsx';

const COLORS: Readonly<Record<Change['action'], string>> = { create: 'teal', update: 'blue', delete: 'red' };
const PAGES: Readonly<Record<string, string>> = { webhook: 'webhooks', automation: 'automations' };
/** Longer lists are opened by a press. */
const SHOWN_AT_FIRST = 50;

interface ChangeListProps {
  factoryUid: string;
  changes: readonly Change[];
  label: string;
  /** Whether the objects exist now: then they are links. */
  linked: boolean;
  /** Said below a change. */
  renderAside?: (change: Change) => ReactNode;
}

export function ChangeList({ factoryUid, changes, label, linked, renderAside }: ChangeListProps) {
  const [shown, setShown] = useState(SHOWN_AT_FIRST);
  return (
    <Stack gap="xs">
      <Stack component="ol" gap="xs" m={0} p={0} style={{ listStyle: 'none' }} aria-label={label}>
        {changes.slice(0, shown).map((change) => (
          <li key={`${change.kind} ${change.slug} ${change.action}`}>
            <ChangeItem factoryUid={factoryUid} change={change} linked={linked && change.action !== 'delete'}>
              {renderAside?.(change)}
            </ChangeItem>
          </li>
        ))}
      </Stack>
      {changes.length > shown && (
        <Button variant="default" size="xs" w="max-content" onClick={() => setShown(changes.length)}>
          Show all {changes.length}
        </Button>
      )}
    </Stack>
  );
}

function ChangeItem({
  factoryUid,
  change,
  linked,
  children,
}: {
  factoryUid: string;
  change: Change;
  linked: boolean;
  children: ReactNode;
}) {
  const { action, kind, slug, path, changes, renamed_from: renamedFrom } = change;
  const page = PAGES[kind];
  return (
    <Paper withBorder p="sm">
      <Stack gap={6}>
        <Group gap="xs">
          <Badge color={COLORS[action]}>{action}</Badge>
          <Text span size="sm">
            {kind}{' '}
            {linked && page !== undefined ? (
              <Anchor component={Link} to={`/factories/${factoryUid}/${page}/${change.uid}`} fw={600} size="sm">
                <UntrustedText>{slug}</UntrustedText>
              </Anchor>
            ) : (
              <strong>
                <UntrustedText>{slug}</UntrustedText>
              </strong>
            )}
          </Text>
          <Text span size="xs" c="dimmed" className="mono">
            <UntrustedText>{path}</UntrustedText>
          </Text>
        </Group>
        {renamedFrom !== undefined && (
          <Text size="sm">
            The same definition was{' '}
            <span className="mono">
              <UntrustedText>{renamedFrom}</UntrustedText>
            </span>
            : this looks like a rename.
          </Text>
        )}
        {changes.length > 0 && (
          <Text size="sm" component="div">
            Changes{' '}
            {changes.map((name, index) => (
              <span key={name}>
                {index > 0 && ', '}
                <span className="mono">
                  <UntrustedText>{name}</UntrustedText>
                </span>
              </span>
            ))}
          </Text>
        )}
        <ChangedValues values={change.values ?? []} />
        <Secrets change={change} />
        <Urls change={change} />
        {change.traffic !== undefined && <Traffic traffic={change.traffic} />}
        {change.used_by !== undefined && <UsedBy users={change.used_by} />}
        {change.replay !== undefined && (
          <Replay
            factoryUid={factoryUid}
            replay={change.replay}
            webhookUid={kind === 'webhook' ? change.uid : undefined}
          />
        )}
        {children}
      </Stack>
    </Paper>
  );
}

/** Old and new of each key, as far as the server shows them: what may be a secret it does not. */
function ChangedValues({ values }: { values: NonNullable<Change['values']> }) {
  if (values.length === 0) return null;
  return (
    <Stack component="ul" gap={2} m={0} p={0} style={{ listStyle: 'none' }} aria-label="Changed values">
      {values.map(({ key, before, after }) => (
        <li key={key}>
          <Text size="xs" component="div" className="mono">
            <UntrustedText>{key}</UntrustedText> <UntrustedText>{before ?? '(nothing)'}</UntrustedText> →{' '}
            <UntrustedText>{after ?? '(nothing)'}</UntrustedText>
          </Text>
        </li>
      ))}
    </Stack>
  );
}

type SecretMark = NonNullable<NonNullable<Change['secret']>['before']>;

/** Names, versions and fingerprints, as the server has them: never a value. */
function Secrets({ change: { secret, secret_name: taken, secret_version: version } }: { change: Change }) {
  const before = secret?.before;
  return (
    <>
      {taken !== undefined && (
        <Text size="sm">
          {version === null ? (
            <>
              Its secret{' '}
              <span className="mono">
                <UntrustedText>{taken}</UntrustedText>
              </span>{' '}
              is gone: it refuses everything.
            </>
          ) : (
            <>
              Takes over version {version} of the secret{' '}
              <span className="mono">
                <UntrustedText>{taken}</UntrustedText>
              </span>
              .
            </>
          )}
        </Text>
      )}
      {secret !== undefined && (
        <Text size="sm" component="div">
          Secret:{' '}
          {before !== null && before !== undefined && (
            <>
              <Mark mark={before} /> →{' '}
            </>
          )}
          {secret.after === null ? 'none' : <Mark mark={secret.after} />}
          {isSameValue(secret) && ' (the same value)'}
        </Text>
      )}
    </>
  );
}

function Mark({ mark: { name, version, fingerprint } }: { mark: SecretMark }) {
  return (
    <span>
      <span className="mono">
        <UntrustedText>{name}</UntrustedText>
      </span>{' '}
      {version === 0 ? 'not set' : `version ${version}`}
      {fingerprint !== null && (
        <>
          , fingerprint <span className="mono">{fingerprint}</span>
        </>
      )}
    </span>
  );
}

function isSameValue({ before, after }: NonNullable<Change['secret']>): boolean {
  return before?.fingerprint !== undefined && before.fingerprint !== null && before.fingerprint === after?.fingerprint;
}

function Urls({ change: { ingress_url: url, ingress_url_before: before } }: { change: Change }) {
  return (
    <>
      {before !== undefined && (
        <Text size="sm" component="div">
          Was delivered to{' '}
          <span className="mono">
            <UntrustedText>{before}</UntrustedText>
          </span>
        </Text>
      )}
      {url !== undefined && (
        <Group gap={6}>
          <Text size="sm">{before === undefined ? 'Delivered to' : 'Will be delivered to'}</Text>
          <Copyable value={url} what="ingress URL" />
        </Group>
      )}
    </>
  );
}
