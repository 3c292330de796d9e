/** Starts a run by hand: in a factory with its defaults, or by itself. */
import { Button, FileInput, Group, Select, SimpleGrid, Stack, Switch, Textarea, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { useNavigate } from 'react-router';
import { api, ask } from '../../api/client.ts';
import { problemOf } from '../../api/problems.ts';
import { useSession } from '../../api/session.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { withHiddenNamed } from '../../components/text/hidden-characters.ts';
import { ProblemAlert } from '../../components/feedback/problem-alert.tsx';
import { useChange } from '../../components/forms/use-change.ts';
import { useEnvironments, useModels, useSkills } from './choices.ts';
import { attachmentsOf, faultOf } from './files.ts';
import { useFactories } from '../../api/factories.ts';

interface Wanted {
  prompt: string;
  title: string;
  factoryUid: string | null;
  model: string | null;
  environment: string | null;
  skill: string | null;
  interactive: boolean;
  files: File[];
}

const SHOWN = [
  '/prompt',
  '/title',
  '/config/model_id',
  '/config/environment_id',
  '/skill',
  '/factory_uid',
  '/attachments',
];

export function StartRun({ factoryUid, onClose }: { factoryUid?: string; onClose: () => void }) {
  const [wanted, setWanted] = useState<Wanted>({
    prompt: '',
    title: '',
    factoryUid: factoryUid ?? null,
    model: null,
    environment: null,
    skill: null,
    interactive: false,
    files: [],
  });
  const set = (more: Partial<Wanted>): void => setWanted((before) => ({ ...before, ...more }));
  const start = useStart();
  const problem = problemOf(start.error);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    start.start(wanted);
  };
  const own = wanted.factoryUid ?? undefined;
  const [models, environments, skills] = [useModels(), useEnvironments(own), useSkills(own)];
  return (
    <Dialog title="Start a run" isBusy={start.isPending} onClose={onClose} size="lg" closeOnClickOutside={false}>
      <form onSubmit={submit}>
        <Stack>
          <Textarea
            label="Prompt"
            description="What the agent has to do."
            value={wanted.prompt}
            onChange={(event) => set({ prompt: event.currentTarget.value })}
            autosize
            minRows={4}
            maxRows={14}
            data-autofocus
            required={wanted.skill === null}
            error={problem?.fault('/prompt')}
          />
          <TextInput
            label="Title"
            placeholder="The first line of the prompt"
            value={wanted.title}
            maxLength={200}
            onChange={(event) => set({ title: event.currentTarget.value })}
            error={problem?.fault('/title')}
          />
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <FactoryChoice
              value={wanted.factoryUid}
              isFixed={factoryUid !== undefined}
              onChange={(uid) => set({ factoryUid: uid, environment: null, skill: null })}
              error={problem?.fault('/factory_uid')}
            />
            <Select
              label="Model"
              placeholder="Default"
              data={models}
              value={wanted.model}
              onChange={(model) => set({ model })}
              searchable
              clearable
              error={problem?.fault('/config/model_id')}
            />
            <Select
              label="Environment"
              placeholder="Default"
              data={environments}
              value={wanted.environment}
              onChange={(environment) => set({ environment })}
              searchable
              clearable
              error={problem?.fault('/config/environment_id')}
            />
            <Select
              label="Skill"
              placeholder="None"
              data={skills}
              value={wanted.skill}
              onChange={(skill) => set({ skill })}
              searchable
              clearable
              error={problem?.fault('/skill') ?? problem?.fault('/config/skill_spec')}
            />
          </SimpleGrid>
          <FileInput
            label="Files"
            description="Up to five, 5 MiB together; the agent finds them in the folder attachments."
            multiple
            value={wanted.files}
            onChange={(files) => set({ files })}
            clearable
            error={faultOf(wanted.files) ?? problem?.fault('/attachments')}
          />
          <Switch
            label="I watch and answer what the agent asks permission for"
            checked={wanted.interactive}
            onChange={(event) => set({ interactive: event.currentTarget.checked })}
          />
          {start.error !== null && <ProblemAlert error={start.error} shown={SHOWN} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Close
            </Button>
            <Button
              type="submit"
              loading={start.isPending}
              disabled={(wanted.prompt.trim() === '' && wanted.skill === null) || faultOf(wanted.files) !== undefined}
            >
              Start
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

interface FactoryChoiceProps {
  value: string | null;
  isFixed: boolean;
  onChange: (uid: string | null) => void;
  error: string | undefined;
}

/** A key that is limited to factories starts runs in one of them only. */
function FactoryChoice({ value, isFixed, onChange, error }: FactoryChoiceProps) {
  const { data = [] } = useFactories();
  const isLimited = useSession().key.factories !== null;
  return (
    <Select
      label="Factory"
      placeholder={isLimited ? 'Choose one' : 'None'}
      data={data.map(({ uid, name }) => ({ value: uid, label: withHiddenNamed(name) }))}
      value={value}
      onChange={onChange}
      searchable
      clearable={!isFixed && !isLimited}
      disabled={isFixed}
      required={isLimited}
      error={error}
    />
  );
}

function useStart() {
  const queries = useQueryClient();
  const go = useNavigate();
  return useChange(
    async (wanted: Wanted, key) =>
      ask(api.POST('/agent/runs', { params: { header: { 'Idempotency-Key': key } }, body: await bodyOf(wanted) })),
    ({ run_id: runId }) => {
      void queries.invalidateQueries({ queryKey: ['runs'] });
      void go(`/runs/${runId}`);
    },
  );
}

async function bodyOf({ prompt, title, factoryUid, model, environment, skill, interactive, files }: Wanted) {
  const config = {
    ...(model === null ? {} : { model_id: model }),
    ...(environment === null ? {} : { environment_id: environment }),
  };
  return {
    ...(prompt.trim() === '' ? {} : { prompt }),
    ...(title.trim() === '' ? {} : { title: title.trim() }),
    ...(skill === null ? {} : { skill }),
    ...(Object.keys(config).length === 0 ? {} : { config }),
    ...(factoryUid === null ? {} : { factory_uid: factoryUid }),
    ...(interactive ? { interactive } : {}),
    ...(files.length === 0 ? {} : { attachments: await attachmentsOf(files) }),
  };
}
