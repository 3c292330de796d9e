/** What starts runs by the clock: schedules of the API, and the triggers of automations with their files. */
import { ActionIcon, Anchor, Menu, Stack, Table, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { useMay } from '../../api/session.tsx';
import { announce } from '../../components/feedback/announcements.ts';
import { ProblemAlert } from '../../components/feedback/problem-alert.tsx';
import { QueryView } from '../../components/feedback/query-view.tsx';
import { useChange } from '../../components/forms/use-change.ts';
import { Icon } from '../../components/icon.tsx';
import { Empty } from '../../components/lists/empty.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { FactoryName } from '../../components/text/factory-name.tsx';
import { ListedName } from '../../components/text/listed-name.tsx';
import { Time } from '../../components/text/time.tsx';
import { UntrustedText } from '../../components/text/untrusted-text.tsx';
import { scheduleInWords } from '../automations/schedule-words.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { SCHEDULES, setEnabled, useSchedules, type Schedule } from './queries.ts';
import { FiringBadge } from './state.tsx';

/** From so many on, a list wants to be searched. */
const SEARCHED_FROM = 10;
const HEADS = ['Name', 'State', 'Fires', 'Next run', 'Last run', 'Managed in'];

export function SchedulesPage() {
  const query = useSchedules();
  return (
    <>
      <PageTitle>Schedules</PageTitle>
      <Text size="sm" c="dimmed" mb="md">
        What starts runs by the clock: schedule triggers of automations, and schedules that the API made. They are
        written in UTC.
      </Text>
      <QueryView query={query}>
        {(schedules) =>
          schedules.length === 0 ? (
            <Empty title="No schedules yet">
              Give an automation a schedule trigger, or make one with{' '}
              <span className="mono">millwright schedules create</span>.
            </Empty>
          ) : (
            <Schedules schedules={schedules} />
          )
        }
      </QueryView>
    </>
  );
}

function Schedules({ schedules }: { schedules: readonly Schedule[] }) {
  const queries = useQueryClient();
  const [wanted, setWanted] = useState('');
  const [doomed, setDoomed] = useState<Schedule>();
  const change = useChange(setEnabled, ({ name, enabled }) => {
    announce(`The schedule ${name} was ${enabled ? 'resumed' : 'paused'}`);
    void queries.invalidateQueries({ queryKey: SCHEDULES });
  });
  const text = wanted.trim().toLowerCase();
  const found = schedules.filter(({ name, cron_schedule: cron }) =>
    [name, cron].some((one) => one.toLowerCase().includes(text)),
  );
  return (
    <Stack>
      {schedules.length >= SEARCHED_FROM && (
        <TextInput
          label="Search"
          placeholder="Name or expression"
          value={wanted}
          onChange={(event) => setWanted(event.currentTarget.value)}
          maw={320}
        />
      )}
      {change.error !== null && <ProblemAlert error={change.error} />}
      <section className="scroll-x" tabIndex={0} aria-label="List of schedules">
        <Table verticalSpacing="sm" miw={860}>
          <Table.Thead>
            <Table.Tr>
              {HEADS.map((head) => (
                <Table.Th key={head} scope="col">
                  {head}
                </Table.Th>
              ))}
              <Table.Td />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {found.map((schedule) => (
              <Row
                key={schedule.id}
                schedule={schedule}
                onToggle={() => change.start(schedule)}
                onDelete={() => setDoomed(schedule)}
              />
            ))}
          </Table.Tbody>
        </Table>
      </section>
      {doomed !== undefined && <DeleteDialog schedule={doomed} onClose={() => setDoomed(undefined)} />}
    </Stack>
  );
}

interface RowProps {
  schedule: Schedule;
  onToggle: () => void;
  onDelete: () => void;
}

function Row({ schedule, onToggle, onDelete }: RowProps) {
  const { name, cron_schedule: cron, history, factory_uid: factoryUid, ignored = [] } = schedule;
  const words = scheduleInWords(cron);
  return (
    <Table.Tr>
      <Table.Th scope="row" maw={240}>
        <ListedName>{name}</ListedName>
        {factoryUid !== undefined && (
          <Text size="xs" c="dimmed" fw={400} component="div">
            in <FactoryName uid={factoryUid} />
          </Text>
        )}
        {ignored.length > 0 && (
          <Text size="xs" c="dimmed" fw={400} component="div" style={{ overflowWrap: 'anywhere' }}>
            not served: <UntrustedText>{ignored.join(', ')}</UntrustedText>
          </Text>
        )}
      </Table.Th>
      <Table.Td>
        <FiringBadge schedule={schedule} />
      </Table.Td>
      <Table.Td maw={220}>
        <span className="mono">
          <UntrustedText>{cron}</UntrustedText>
        </span>
        {words !== undefined && (
          <Text size="xs" c="dimmed">
            {words}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Time at={history.next_run} never="–" />
      </Table.Td>
      <Table.Td>
        <LastRun schedule={schedule} />
      </Table.Td>
      <Table.Td maw={260} style={{ overflowWrap: 'anywhere' }}>
        <Origin schedule={schedule} />
      </Table.Td>
      <Table.Td>
        <Actions schedule={schedule} onToggle={onToggle} onDelete={onDelete} />
      </Table.Td>
    </Table.Tr>
  );
}

function LastRun({ schedule: { id, history } }: { schedule: Schedule }) {
  const { last_ran: last, missed, last_missed_at: missedAt } = history;
  return (
    <>
      {last === undefined ? (
        'never'
      ) : (
        <Anchor component={Link} to={`/runs?schedule_id=${encodeURIComponent(id)}`} size="sm">
          <Time at={last} as="ago" />
        </Anchor>
      )}
      {missed > 0 && (
        <Text size="xs" c="dimmed" component="div">
          {missed} missed, the last one <Time at={missedAt} as="ago" />
        </Text>
      )}
    </>
  );
}

/** Where it is changed. */
function Origin({ schedule: { read_only: isReadOnly, metadata, factory_uid: factoryUid } }: { schedule: Schedule }) {
  if (!isReadOnly) return <>the API</>;
  const { file, automation_id: automation = '' } = metadata;
  return (
    <Anchor component={Link} to={`/factories/${factoryUid ?? ''}/automations/${automation}`} size="sm">
      <UntrustedText>{file ?? 'its automation'}</UntrustedText>
    </Anchor>
  );
}

/** A trigger is changed where its automation is. */
function Actions({ schedule: { name, enabled, read_only: isReadOnly }, onToggle, onDelete }: RowProps) {
  const mayChange = useMay('operator');
  if (isReadOnly || !mayChange) return null;
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" aria-label={`Actions of ${name}`}>
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={onToggle}>{enabled ? 'Pause' : 'Resume'}</Menu.Item>
        <Menu.Item color="red" onClick={onDelete}>
          Delete
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
