/** Sign-in with an API key. */
import { Button, Center, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useRef, useState, type SyntheticEvent } from 'react';
import { problemOf } from '../api/problems.ts';
import { useSignIn } from '../api/session.tsx';
import { useFocusOnError } from '../components/forms/focus-first-error.ts';
import { ProblemAlert } from '../components/feedback/problem-alert.tsx';

export function SignInPage() {
  return (
    <Center mih="100%" p="md" component="main">
      <Paper withBorder shadow="sm" p="xl" w="100%" maw={440}>
        <Stack>
          <Title order={1} size="h2">
            Millwright
          </Title>
          <SignInForm
            hint={
              'Sign in with an API key. The first one was written to a file when the service first started; ' +
              "its path stands in the start's output."
            }
          />
        </Stack>
      </Paper>
    </Center>
  );
}

export function SignInForm({ hint }: { hint: string }) {
  const [key, setKey] = useState('');
  const signIn = useSignIn();
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    signIn.mutate(key.trim(), { onSuccess: () => setKey('') });
  };
  const form = useRef<HTMLFormElement>(null);
  useFocusOnError(form, signIn.error);
  const isRefused = problemOf(signIn.error)?.status === 401;
  return (
    <form ref={form} onSubmit={submit}>
      <Stack>
        <Text size="sm" c="dimmed">
          {hint}
        </Text>
        <PasswordInput
          label="API key"
          placeholder="mw_…"
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
          autoComplete="current-password"
          required
          data-autofocus
          autoFocus
          error={isRefused ? 'This key is unknown, has run out, or was revoked.' : undefined}
          aria-invalid={isRefused || undefined}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the key' }}
        />
        {signIn.error !== null && !isRefused && <ProblemAlert error={signIn.error} />}
        <Button type="submit" loading={signIn.isPending}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}
