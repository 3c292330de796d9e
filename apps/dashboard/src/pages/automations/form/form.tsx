/** The form of an automation: what it is, what starts it, what it says, and the settings that few need. */
import { Alert, Button, Group, Input, Stack, Switch, Text, Textarea, TextInput, Title } from '@mantine/core';
import { lazy, Suspense, useId, useMemo, useRef, useState, type SyntheticEvent } from 'react';
import { Link } from 'react-router';
import type { Api } from '../../../api/client.ts';
import { Loading } from '../../../components/lists/empty.tsx';
import { useFocusOnError } from '../../../components/forms/focus-first-error.ts';
import { UntrustedText } from '../../../components/text/untrusted-text.tsx';
import { ProblemAlert } from '../../../components/feedback/problem-alert.tsx';
import { useWebhooks } from '../../../api/webhooks.ts';
import { newTrigger, SETTINGS, type Draft, type FieldError, type TriggerDraft } from './draft.ts';
import { FieldErrorLine } from './field-error-line.tsx';
import { formErrors, SHOWN_AT_FIELDS, type FormErrors } from './field-errors.ts';
import { TriggerFields } from './trigger-fields.tsx';

const CodeEditor = lazy(() => import('../../../editor/code-editor.tsx'));
const SettingsEditor = lazy(() => import('../../../editor/settings-editor.tsx'));

interface AutomationFormProps {
  factory: Api<'Factory'>;
  draft: Draft;
  onDraft: (draft: Draft) => void;
  /** The draft that was refused last, and why: by the form itself, or by the server. */
  refused: { draft?: Draft; local: readonly FieldError[]; error: unknown };
  isPending: boolean;
  /** What the button says. */
  action: string;
  onSave: () => void;
  cancelTo: string;
}

const TRIGGERS_MAX = 50;

export function AutomationForm({
  factory,
  draft,
  onDraft,
  refused,
  isPending,
  action,
  onSave,
  cancelTo,
}: AutomationFormProps) {
  const faults = useMemo(() => formErrors(refused.draft, draft, refused.local, refused.error), [refused, draft]);
  const form = useRef<HTMLFormElement>(null);
  useFocusOnError(form, refused.local.length > 0 ? refused.local : refused.error);
  const change = (members: Partial<Draft>): void => onDraft({ ...draft, ...members });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    onSave();
  };
  return (
    <form ref={form} onSubmit={submit} noValidate>
      <Stack gap="lg" maw={900}>
        <Stack component="section" aria-label="What it is" gap="sm">
          <TextInput
            label="Name"
            required
            value={draft.name}
            onChange={(event) => change({ name: event.currentTarget.value })}
            maxLength={200}
            error={faults.at('/name')}
          />
          <Textarea
            label="Description"
            autosize
            minRows={1}
            maxRows={6}
            value={draft.description}
            onChange={(event) => change({ description: event.currentTarget.value })}
            maxLength={2_000}
            error={faults.at('/description')}
          />
          <Switch
            label="Enabled"
            description="Otherwise its triggers start nothing"
            checked={draft.enabled}
            onChange={(event) => change({ enabled: event.currentTarget.checked })}
            error={faults.at('/enabled')}
          />
        </Stack>
        <Triggers factory={factory} draft={draft} faults={faults} onTriggers={(triggers) => change({ triggers })} />
        <Prompt value={draft.prompt} onChange={(prompt) => change({ prompt })} fault={faults.at('/prompt')} />
        <Settings
          value={draft.settings}
          onChange={(settings) => change({ settings })}
          faults={settingsFaults(faults)}
        />
        {refused.local.length > 0 && (
          <Alert color="red" role="alert" title="It was not sent">
            Something in the form could not be read; it was marked at its field.
          </Alert>
        )}
        {refused.error !== null && refused.error !== undefined && (
          <ProblemAlert error={refused.error} shown={SHOWN_AT_FIELDS} />
        )}
        <Group>
          <Button type="submit" loading={isPending}>
            {action}
          </Button>
          <Button variant="default" component={Link} to={cancelTo}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Triggers({
  factory,
  draft,
  faults,
  onTriggers,
}: {
  factory: Api<'Factory'>;
  draft: Draft;
  faults: FormErrors;
  onTriggers: (triggers: TriggerDraft[]) => void;
}) {
  const { data: webhooks = [] } = useWebhooks(factory.uid);
  const { triggers } = draft;
  const whole = faults.below('/triggers').find(({ pointer }) => pointer === '')?.message;
  return (
    <Stack component="section" aria-label="Triggers" gap="sm">
      <Title order={2} size="h4">
        Triggers
      </Title>
      <Text size="sm" c="dimmed">
        Any one of them is enough.
      </Text>
      {triggers.map((trigger, index) => (
        <TriggerFields
          key={trigger.id}
          factoryUid={factory.uid}
          number={index + 1}
          trigger={trigger}
          webhooks={webhooks}
          faults={faults}
          onChange={(changed) => onTriggers(triggers.map((one) => (one.id === changed.id ? changed : one)))}
          onRemove={() => onTriggers(triggers.filter(({ id }) => id !== trigger.id))}
        />
      ))}
      {whole !== undefined && (
        <Input.Error tabIndex={-1} data-fault>
          {whole}
        </Input.Error>
      )}
      <Group>
        <Button
          variant="default"
          size="xs"
          disabled={triggers.length >= TRIGGERS_MAX}
          onClick={() => onTriggers([...triggers, newTrigger('webhook')])}
        >
          Add webhook trigger
        </Button>
        <Button
          variant="default"
          size="xs"
          disabled={triggers.length >= TRIGGERS_MAX}
          onClick={() => onTriggers([...triggers, newTrigger('schedule')])}
        >
          Add schedule
        </Button>
      </Group>
    </Stack>
  );
}

function Prompt({
  value,
  onChange,
  fault,
}: {
  value: string;
  onChange: (value: string) => void;
  fault: string | undefined;
}) {
  const errorId = useId();
  return (
    <Stack component="section" aria-label="Prompt" gap={6}>
      <Title order={2} size="h4">
        Prompt
      </Title>
      <Text size="sm" c="dimmed">
        What the agent shall do. It receives the delivery’s payload beside it.
      </Text>
      <Suspense fallback={<Loading />}>
        <CodeEditor
          label="Prompt"
          language="markdown"
          value={value}
          onChange={onChange}
          minHeight="10rem"
          maxHeight="36rem"
          describedBy={errorId}
          isInvalid={fault !== undefined}
        />
      </Suspense>
      <div id={errorId}>
        {fault !== undefined && (
          <Input.Error>
            <UntrustedText>{fault}</UntrustedText>
          </Input.Error>
        )}
      </div>
    </Stack>
  );
}

function Settings({
  value,
  onChange,
  faults,
}: {
  value: string;
  onChange: (value: string) => void;
  faults: readonly FieldError[];
}) {
  const [isOpened, setOpened] = useState(!['', '{}'].includes(value.trim()));
  const isOpen = isOpened || faults.length > 0;
  const errorId = useId();
  const marks = useMemo(() => faults.map((fault) => ({ ...fault, severity: 'error' as const })), [faults]);
  return (
    <Stack component="section" aria-label="Advanced" gap={6}>
      <Title order={2} size="h4">
        Advanced
      </Title>
      <Group>
        <Button variant="default" size="xs" aria-expanded={isOpen} onClick={() => setOpened(!isOpen)}>
          {isOpen ? 'Hide' : 'Show'} agent, concurrency, limits and network
        </Button>
      </Group>
      {isOpen && (
        <>
          <Text size="sm" c="dimmed">
            JSON with the members agent, concurrency, limits and network. What is absent, the factory and the server
            decide.
          </Text>
          <Suspense fallback={<Loading />}>
            <SettingsEditor
              label="Advanced settings"
              value={value}
              onChange={onChange}
              marks={marks}
              describedBy={errorId}
              isInvalid={faults.length > 0}
            />
          </Suspense>
        </>
      )}
      <div id={errorId} {...(faults.length > 0 && { 'data-fault': true, tabIndex: -1 })}>
        {faults.map(({ pointer, message }) => (
          <FieldErrorLine key={`${pointer} ${message}`} pointer={pointer} message={message} />
        ))}
      </div>
    </Stack>
  );
}

/** By pointers into the text of the settings. */
function settingsFaults({ below }: FormErrors): FieldError[] {
  return [
    ...below('/settings'),
    ...SETTINGS.flatMap((name) =>
      below(`/${name}`).map(({ pointer, message }) => ({ pointer: `/${name}${pointer}`, message })),
    ),
  ];
}
