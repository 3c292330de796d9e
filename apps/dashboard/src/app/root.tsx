/** The frame of every page: signed out, the sign-in; signed in, the shell with the page inside. */
import { Center, Loader, Modal } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { Outlet } from 'react-router';
import { ended } from '../api/session-end.ts';
import { SessionProvider, useSessionQuery } from '../api/session.tsx';
import { ProblemAlert } from '../components/feedback/problem-alert.tsx';
import { Shell } from './shell.tsx';
import { SignInForm, SignInPage } from './sign-in.tsx';

export function Root() {
  const { data: session, error } = useSessionQuery();
  const hasEnded = useSyncExternalStore(ended.subscribe, ended.get);
  if (session === undefined)
    return error === null ? (
      <Center h="100%">
        <Loader aria-label="Loading" />
      </Center>
    ) : (
      <Center h="100%" p="md">
        <ProblemAlert error={error} />
      </Center>
    );
  if (session === null) return <SignInPage />;
  return (
    <SessionProvider session={session}>
      <Shell>
        <Outlet />
      </Shell>
      <Modal
        opened={hasEnded}
        onClose={() => undefined}
        withCloseButton={false}
        closeOnEscape={false}
        closeOnClickOutside={false}
        title="Your session has ended"
      >
        <SignInForm hint="Sign in again: what you have typed is still there." />
      </Modal>
    </SessionProvider>
  );
}
