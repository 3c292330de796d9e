/** A key that was just created: its text lives in the memory of this dialog, and nowhere else. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { apiUrl, type Api } from '../../api/client.ts';
import { CopyButton, Copyable } from '../../components/text/copy.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';

export function CreatedKey({ created, onClose }: { created: Api<'ApiKeyCreated'>; onClose: () => void }) {
  const server = apiUrl('').replace(/\/api\/v1\/$/, '');
  return (
    <Stack>
      <Alert color="orange" title="Shown this once">
        Copy the key now. It cannot be shown again; a lost one is revoked and replaced by another.
      </Alert>
      <div>
        <Text size="sm" fw={600}>
          Key “<UntrustedText>{created.name}</UntrustedText>”
        </Text>
        <Copyable value={created.key} what="the key" />
      </div>
      <Command
        title="With the command line"
        text={`export MILLWRIGHT_SERVER='${server}'\nexport MILLWRIGHT_API_KEY='${created.key}'`}
      />
      <Command
        title="With curl"
        text={`curl -sS '${apiUrl('api-keys/current')}' \\\n  -H 'Authorization: Bearer ${created.key}'`}
      />
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}

function Command({ title, text }: { title: string; text: string }) {
  return (
    <div>
      <Group justify="space-between" mb={4}>
        <Text size="sm" fw={600}>
          {title}
        </Text>
        <CopyButton value={text} label="Copy" />
      </Group>
      <pre
        className="mono scroll-x"
        tabIndex={0}
        aria-label={title}
        style={{ margin: 0, overflowX: 'auto', whiteSpace: 'pre' }}
      >
        {text}
      </pre>
    </div>
  );
}
