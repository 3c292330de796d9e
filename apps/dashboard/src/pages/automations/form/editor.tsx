/** The pages that create and edit an automation. */
import { Alert, Box } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useNavigate, useParams, useSearchParams } from 'react-router';
import { api, askSeen, type Api } from '../../../api/client.ts';
import { isGone, isStale } from '../../../api/problems.ts';
import { useMay } from '../../../api/session.tsx';
import { QueryView } from '../../../components/feedback/query-view.tsx';
import { UntrustedText } from '../../../components/text/untrusted-text.tsx';
import { PageTitle } from '../../../components/page-title.tsx';
import { RoleNeeded } from '../../../components/feedback/role-needed.tsx';
import { announce } from '../../../components/feedback/announcements.ts';
import { EditConflict } from '../../../components/forms/edit-conflict.tsx';
import { useFactory } from '../../factories/frame.tsx';
import { useChange } from '../../../components/forms/use-change.ts';
import {
  automationsChanged,
  changeAutomation,
  seenAutomation,
  useAutomation,
  useWebhookNames,
  type SeenAutomation,
} from '../../../api/automations.ts';
import { ChangedElsewhere } from './changed-elsewhere.tsx';
import {
  changedMembers,
  draftOf,
  emptyDraft,
  isSame,
  membersOf,
  patchOf,
  type Draft,
  type FieldError,
  type Members,
} from './draft.ts';
import { AutomationForm } from './form.tsx';
import { Gone } from '../gone.tsx';
import { LeaveUnsaved } from './leaving.tsx';
import { readMembers } from './members.ts';

export function NewAutomationPage() {
  const factory = useFactory();
  return useMay('manager') ? (
    <NewAutomation factory={factory} />
  ) : (
    <RoleNeeded>A manager of the factory can create automations.</RoleNeeded>
  );
}

export function EditAutomationPage() {
  const factory = useFactory();
  const { automationId = '' } = useParams();
  const query = useAutomation(factory.uid, automationId);
  const mayEdit = useMay('manager');
  if (!mayEdit) return <RoleNeeded>A manager of the factory can change automations.</RoleNeeded>;
  return (
    <>
      {query.data !== undefined && isGone(query.error) && (
        <Gone factoryUid={factory.uid}>Saving would change nothing. What you wrote is still here.</Gone>
      )}
      <QueryView query={query} above={{ label: 'All automations', to: `/factories/${factory.uid}/automations` }}>
        {(seen) => <EditAutomation key={automationId} factory={factory} seen={seen} />}
      </QueryView>
    </>
  );
}

function NewAutomation({ factory }: { factory: Api<'Factory'> }) {
  const [search] = useSearchParams();
  const [first] = useState(() => emptyDraft(search.getAll('webhook')));
  const [draft, setDraft] = useState(first);
  const leaving = useLeaving(factory.uid, () => !isSame(draft, first));
  const create = useChange(
    (wanted: Api<'AutomationCreate'>, key) =>
      askSeen(
        api.POST('/factory/{factory_uid}/automations', {
          params: { path: { factory_uid: factory.uid }, header: { 'Idempotency-Key': key } },
          body: wanted,
        }),
      ),
    (made) => leaving.with(made, 'created'),
  );
  const { refused, read } = useRefusals(create.error);
  const save = (): void => {
    create.reset();
    const members = read(draft);
    if (members !== undefined) create.start(members);
  };
  return (
    <>
      <PageTitle above={[{ label: 'Automations', to: `/factories/${factory.uid}/automations` }]}>
        Create automation
      </PageTitle>
      {factory.definitions_managed && <InFiles file="a file below automations/" />}
      <AutomationForm
        factory={factory}
        draft={draft}
        onDraft={setDraft}
        refused={refused}
        isPending={create.isPending}
        action="Create automation"
        onSave={save}
        cancelTo={`/factories/${factory.uid}/automations`}
      />
      <LeaveUnsaved isLoss={leaving.isUnsaved} />
    </>
  );
}

function EditAutomation({ factory, seen }: { factory: Api<'Factory'>; seen: SeenAutomation }) {
  const queries = useQueryClient();
  const nameOf = useWebhookNames(factory.uid);
  // What the form was filled with, and what somebody else made of it meanwhile, once there is something to decide.
  const [base, setBase] = useState(seen);
  const [theirs, setTheirs] = useState<SeenAutomation>();
  const [draft, setDraft] = useState(() => draftOf(seen.body));
  const isChanged = !isSame(draft, draftOf(base.body));
  const leaving = useLeaving(factory.uid, () => isChanged);
  const { uid, name } = base.body;

  const change = useChange(
    async ({ etag, changes }: { etag: string; changes: Api<'AutomationPatch'> }) => {
      try {
        return await changeAutomation(factory.uid, uid, { etag, changes });
      } catch (fault) {
        if (isStale(fault)) setTheirs(await queries.fetchQuery({ ...seenAutomation(factory.uid, uid), staleTime: 0 }));
        throw fault;
      }
    },
    (saved) => leaving.with(saved, 'changed'),
  );

  // Of that, a dialog of its own speaks.
  const error = isStale(change.error) ? null : change.error;
  const { refused, read, forget } = useRefusals(error);
  const take = (now: SeenAutomation): void => {
    setBase(now);
    setDraft(draftOf(now.body));
    setTheirs(undefined);
    forget();
  };
  const isElsewhere = seen.etag !== base.etag && !change.isPending && seen.body.version > base.body.version;
  // Who has changed nothing yet goes on from what is there now.
  if (isElsewhere && !isChanged) take(seen);

  const save = (over: SeenAutomation = base): void => {
    change.reset();
    const members = read(draft);
    if (members === undefined) return;
    if (changedMembers(readMembers(base), members).length === 0) leaving.to(uid);
    else change.start({ etag: over.etag, changes: patchOf(readMembers(base), members) });
  };
  const to = `/factories/${factory.uid}/automations`;
  return (
    <>
      <PageTitle
        above={[
          { label: 'Automations', to },
          { label: name, to: `${to}/${uid}` },
        ]}
      >{`Edit ${name}`}</PageTitle>
      {factory.definitions_managed && <InFiles file={base.body.file ?? 'its file'} />}
      {isElsewhere && isChanged && <Elsewhere version={seen.body.version} onShow={() => setTheirs(seen)} />}
      <AutomationForm
        factory={factory}
        draft={draft}
        onDraft={setDraft}
        refused={refused}
        isPending={change.isPending}
        action="Save"
        onSave={() => save()}
        cancelTo={`${to}/${uid}`}
      />
      <ChangedElsewhere
        base={base}
        theirs={theirs}
        mine={draft}
        nameOf={nameOf}
        isPending={change.isPending}
        error={error}
        onTakeTheirs={() => theirs !== undefined && take(theirs)}
        onPutMine={() => save(theirs)}
        onClose={() => setTheirs(undefined)}
      />
      <LeaveUnsaved isLoss={leaving.isUnsaved} />
    </>
  );
}

/** What is wrong with the draft that was asked for last: by the form itself, or by the server. */
function useRefusals(error: unknown) {
  const [asked, setAsked] = useState<{ draft: Draft; local: readonly FieldError[] }>();
  const refused = useMemo(() => ({ draft: asked?.draft, local: asked?.local ?? [], error }), [asked, error]);
  /** The request that a draft makes; undefined where something in it cannot be read. */
  const read = (draft: Draft): Members | undefined => {
    const reading = membersOf(draft);
    setAsked({ draft, local: reading.ok ? [] : reading.faults });
    return reading.ok ? reading.members : undefined;
  };
  return { refused, read, forget: () => setAsked(undefined) };
}

function Elsewhere({ version, onShow }: { version: number; onShow: () => void }) {
  return (
    <Box mb="md">
      <EditConflict
        what="automation"
        said={`Version ${version} is there now. What you wrote is still here, and is not saved.`}
        action="See what is there now"
        onAction={onShow}
      />
    </Box>
  );
}

function InFiles({ file }: { file: string }) {
  return (
    <Alert color="blue" mb="md" title="This factory is managed in files">
      Saving changes nothing here. It shows{' '}
      <span className="mono">
        <UntrustedText>{file}</UntrustedText>
      </span>{' '}
      as it would be, for you to commit to the factory repository.
    </Alert>
  );
}

/**
 * Goes to an automation, or `with` what was saved of it, without asking; asks before everything else that would lose
 * something.
 */
function useLeaving(factoryUid: string, hasChanges: () => boolean) {
  const queries = useQueryClient();
  const go = useNavigate();
  const isDone = useRef(false);
  const latest = useRef(hasChanges);
  useEffect(() => {
    latest.current = hasChanges;
  });
  const isUnsaved = useCallback(() => !isDone.current && latest.current(), []);
  const to = (uid: string): void => {
    isDone.current = true;
    void go(`/factories/${factoryUid}/automations/${uid}`);
  };
  const withSaved = (saved: SeenAutomation, done: 'created' | 'changed'): void => {
    queries.setQueryData(seenAutomation(factoryUid, saved.body.uid).queryKey, saved);
    void automationsChanged(queries, factoryUid);
    announce(`The automation ${saved.body.name} was ${done}`);
    to(saved.body.uid);
  };
  return { isUnsaved, to, with: withSaved };
}
