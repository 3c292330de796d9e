/** One trigger of the form. */
import { Autocomplete, Button, Fieldset, Group, MultiSelect, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import type { Webhook } from '../../../api/webhooks.ts';
import { UntrustedText } from '../../../components/text/untrusted-text.tsx';
import { withHiddenNamed } from '../../../components/text/hidden-characters.ts';
import type { FieldError, ScheduleTriggerDraft, TriggerDraft, WebhookTriggerDraft } from './draft.ts';
import type { FormErrors } from './field-errors.ts';
import { FilterField } from './filter-field.tsx';
import { COMMON_SCHEDULES, scheduleInWords } from '../schedule-words.ts';

interface TriggerFieldsProps<Trigger extends TriggerDraft> {
  factoryUid: string;
  /** Counted from 1, for people. */
  number: number;
  trigger: Trigger;
  webhooks: readonly Webhook[];
  faults: FormErrors;
  onChange: (trigger: Trigger) => void;
}

export function TriggerFields({ onRemove, ...props }: TriggerFieldsProps<TriggerDraft> & { onRemove: () => void }) {
  const { trigger, number } = props;
  const kind = { webhook: 'webhook', schedule: 'schedule', inactive: 'not served here' }[trigger.provider];
  return (
    <Fieldset legend={`Trigger ${number}: ${kind}`}>
      <Stack gap="sm">
        {trigger.provider === 'webhook' && <WebhookFields {...props} trigger={trigger} />}
        {trigger.provider === 'schedule' && <ScheduleFields {...props} trigger={trigger} />}
        {trigger.provider === 'inactive' && (
          <Text size="sm">
            The provider{' '}
            <span className="mono">
              <UntrustedText>{trigger.declared}</UntrustedText>
            </span>{' '}
            is not served here. This trigger is dropped when the triggers are saved.
          </Text>
        )}
        <Group justify="flex-end">
          <Button size="xs" variant="subtle" color="red" onClick={onRemove} aria-label={`Remove trigger ${number}`}>
            Remove
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  );
}

const NO_FAULTS: readonly FieldError[] = [];

/** What is wrong with a member of a trigger. */
function faultsOf(faults: FormErrors, trigger: TriggerDraft): (member: string) => string | undefined {
  const pointer = faults.pointerOf(trigger);
  return (member) => (pointer === undefined ? undefined : faults.at(pointer + member));
}

function WebhookFields({
  factoryUid,
  number,
  trigger,
  webhooks,
  faults,
  onChange,
}: TriggerFieldsProps<WebhookTriggerDraft>) {
  const pointer = faults.pointerOf(trigger);
  const ofFilter = useMemo(
    () => (pointer === undefined ? NO_FAULTS : faults.below(`${pointer}/payload`)),
    [faults, pointer],
  );
  const faultAt = faultsOf(faults, trigger);
  const gone = trigger.webhookUids.filter((uid) => !webhooks.some((webhook) => webhook.uid === uid));
  const choices = [
    ...webhooks.map(({ uid, name, enabled }) => ({
      value: uid,
      label: withHiddenNamed(enabled ? name : `${name} (disabled)`),
    })),
    ...gone.map((uid) => ({ value: uid, label: `${uid} (deleted: never fires)` })),
  ];
  return (
    <>
      <MultiSelect
        label="Webhooks"
        description="A delivery to any of them starts it"
        data={choices}
        value={[...trigger.webhookUids]}
        onChange={(webhookUids) => onChange({ ...trigger, webhookUids })}
        searchable
        hidePickedOptions
        nothingFoundMessage="No other webhook"
        error={faultAt('/webhook_uids')}
      />
      <FilterField
        factoryUid={factoryUid}
        webhookUids={trigger.webhookUids}
        value={trigger.filter}
        onChange={(filter) => onChange({ ...trigger, filter })}
        label={`Payload filter of trigger ${number}`}
        faults={ofFilter}
      />
    </>
  );
}

function ScheduleFields({ trigger, faults, onChange }: TriggerFieldsProps<ScheduleTriggerDraft>) {
  const faultAt = faultsOf(faults, trigger);
  const words = scheduleInWords(trigger.cron);
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <TextInput
        label="Label"
        description="Optional; shown with its runs"
        value={trigger.name}
        onChange={(event) => onChange({ ...trigger, name: event.currentTarget.value })}
        maxLength={200}
        error={faultAt('/name')}
      />
      <Autocomplete
        label="When"
        description="Five cron fields in UTC, or @hourly, @daily, @weekly, @monthly, @yearly"
        data={COMMON_SCHEDULES}
        maxDropdownHeight={480}
        filter={({ options }) => options}
        value={trigger.cron}
        onChange={(cron) => onChange({ ...trigger, cron })}
        maxLength={200}
        error={faultAt('/cron')}
      />
      {words !== undefined && (
        <Text size="sm" c="dimmed">
          It fires {words}.
        </Text>
      )}
    </SimpleGrid>
  );
}
