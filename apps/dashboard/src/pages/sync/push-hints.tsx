/** How a git host sends push notices, so that a sync does not wait for the next poll. */
import { Button, Code, Collapse, List, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { apiUrl, type Api } from '../../api/client.ts';
import { Copyable } from '../../components/text/copy.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { Section } from './section.tsx';
import { sourceKindOf } from '../../api/source-kinds.ts';

const SIGNATURE_HEADER = 'X-Millwright-Signature-256';

export function PushHints({ factory: { uid, source } }: { factory: Api<'Factory'> }) {
  const [isOpen, setOpen] = useState(false);
  if (!sourceKindOf(source).hasCommits) return null;
  const secret = source.push_secret;
  return (
    <Section
      title="Push notices"
      actions={
        <Button variant="default" size="xs" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide set-up' : 'Show set-up'}
        </Button>
      }
    >
      <Text size="sm">
        {secret === undefined ? (
          'None are taken: pushes are seen at the next look.'
        ) : (
          <>
            Taken when they are proven with the secret{' '}
            <span className="mono">
              <UntrustedText>{secret}</UntrustedText>
            </span>
            : then a push is seen at once.
          </>
        )}
      </Text>
      <Collapse expanded={isOpen} keepMounted={false}>
        <Stack gap="sm" mt="sm">
          {secret === undefined && (
            <Text size="sm">
              First create a managed secret of 16 visible characters or more, grant it for <Code>forge</Code>, and name
              it as the push secret of this factory’s source.
            </Text>
          )}
          <div>
            <Text size="xs" c="dimmed">
              Address to enter at the git host
            </Text>
            <Copyable value={apiUrl(`factory/${uid}/push`)} what="push address" />
          </div>
          <List size="sm">
            <List.Item>
              <strong>GitHub</strong>: Settings → Webhooks; secret: the value of{' '}
              {secret === undefined ? (
                'that secret'
              ) : (
                <span className="mono">
                  <UntrustedText>{secret}</UntrustedText>
                </span>
              )}
              ; just the push event; either content type.
            </List.Item>
            <List.Item>
              <strong>GitLab</strong>: Settings → Webhooks; push events; best a signing token (<Code>whsec_…</Code>,
              stored as the value), else the secret token.
            </List.Item>
            <List.Item>
              <strong>Gitea, Forgejo</strong>: Settings → Webhooks; POST; secret: the value; push events.
            </List.Item>
            <List.Item>
              <strong>Anything else</strong>: header <Code>{SIGNATURE_HEADER}</Code> with <Code>sha256=</Code> and the
              HMAC-SHA256 of the body under the value.
            </List.Item>
          </List>
          <Text size="sm" c="dimmed">
            A notice only asks for a pass: what applies is what the repository itself then says. The answer 202 says
            whether a pass was asked for.
          </Text>
        </Stack>
      </Collapse>
    </Section>
  );
}
