/** Chooses the tree of a plan: a local folder, and files that are typed. */
import { Alert, Button, Group, Paper, Stack, Table, Text, Textarea, TextInput } from '@mantine/core';
import { useRef, useState, type DragEvent, type SyntheticEvent } from 'react';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { UntrustedText } from '../../../components/text/untrusted-text.tsx';
import { sizeText } from '../../../components/text/time.tsx';
import { chosenFiles, droppedFiles, readFound, type Found, type Picked, type TreeFile } from './tree-files.ts';
import { countOf } from '../../../components/text/count.ts';

interface TreePickerProps {
  files: readonly TreeFile[];
  /** Folder of the repository that the factory is; empty: its root. */
  root: string;
  onChange: (files: TreeFile[]) => void;
}

export function TreePicker({ files, root, onChange }: TreePickerProps) {
  const [picked, setTold] = useState<Omit<Picked, 'files'>>();
  const [fault, setFault] = useState<string>();
  const [edited, setEdited] = useState<TreeFile>();
  const take = async (found: Promise<readonly Found[]>): Promise<void> => {
    setFault(undefined);
    setTold(undefined);
    try {
      const { files: read, ...about } = await readFound(await found, root);
      setTold(about);
      onChange(read);
    } catch (error) {
      setFault(error instanceof Error ? error.message : 'These files could not be read.');
    }
  };
  const put = (file: TreeFile, before?: string): void => {
    onChange(
      [...files.filter(({ path }) => path !== file.path && path !== before), file].toSorted((a, b) =>
        a.path < b.path ? -1 : 1,
      ),
    );
    setEdited(undefined);
  };
  return (
    <Stack gap="sm">
      <DropPlace onFiles={(found) => void take(found)}>
        <FolderButton onFiles={(found) => void take(Promise.resolve(found))} />
        <Button variant="default" onClick={() => setEdited({ path: '', content: '' })}>
          Add a file by hand
        </Button>
      </DropPlace>
      {fault !== undefined && (
        <Alert color="red" role="alert" title="Nothing was read">
          <UntrustedText>{fault}</UntrustedText>
        </Alert>
      )}
      {picked !== undefined && <PickedSummary {...picked} isEmpty={files.length === 0} />}
      {files.length > 0 && (
        <FileTable
          files={files}
          onEdit={setEdited}
          onRemove={(path) => onChange(files.filter((file) => file.path !== path))}
        />
      )}
      {edited !== undefined && (
        <FileDialog file={edited} onDone={(file) => put(file, edited.path)} onClose={() => setEdited(undefined)} />
      )}
    </Stack>
  );
}

function DropPlace({ onFiles, children }: { onFiles: (found: Promise<Found[]>) => void; children: React.ReactNode }) {
  const [isOver, setOver] = useState(false);
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    onFiles(droppedFiles(event.dataTransfer.items));
  };
  const over = (event: DragEvent): void => {
    event.preventDefault();
    setOver(true);
  };
  return (
    <Paper
      withBorder
      p="lg"
      onDrop={drop}
      onDragOver={over}
      onDragLeave={() => setOver(false)}
      style={{ borderStyle: 'dashed', background: isOver ? 'var(--mantine-color-default-hover)' : undefined }}
    >
      <Stack align="center" gap="xs">
        <Text size="sm" ta="center">
          Drop the folder of the factory here, or choose it: the one that holds webhooks/, automations/ and the like.
          Nothing is changed by a plan; other files are not read.
        </Text>
        <Group justify="center">{children}</Group>
      </Stack>
    </Paper>
  );
}

function FolderButton({ onFiles }: { onFiles: (found: Found[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const asFolder = (element: HTMLInputElement | null): void => {
    input.current = element;
    if (element !== null) element.webkitdirectory = true;
  };
  return (
    <>
      <input
        ref={asFolder}
        type="file"
        multiple
        hidden
        aria-label="Folder of definition files"
        onChange={(event) => {
          onFiles(chosenFiles(event.currentTarget.files ?? []));
          event.currentTarget.value = '';
        }}
      />
      <Button onClick={() => input.current?.click()}>Choose a folder</Button>
    </>
  );
}

function PickedSummary({ unreadable, ignored, root, isEmpty }: Omit<Picked, 'files'> & { isEmpty: boolean }) {
  return (
    <>
      {isEmpty && (
        <Alert color="orange" role="alert" title="There are no definition files in there">
          Choose the folder that holds webhooks/, automations/, environments/, skills/ or factory.yaml.
        </Alert>
      )}
      {unreadable.length > 0 && (
        <Alert color="red" role="alert" title={`${countOf(unreadable.length, 'file')} left out: not text in UTF-8`}>
          <UntrustedText>{unreadable.slice(0, 10).join('\n')}</UntrustedText>
        </Alert>
      )}
      <Text size="sm" c="dimmed" role="status">
        {root !== '' && (
          <>
            The factory is the folder{' '}
            <span className="mono">
              <UntrustedText>{root}</UntrustedText>
            </span>{' '}
            of what you chose.{' '}
          </>
        )}
        {ignored > 0 && `${countOf(ignored, 'other file')} left out: no factory reads them.`}
      </Text>
    </>
  );
}

const SHOWN_AT_FIRST = 20;

function FileTable({
  files,
  onEdit,
  onRemove,
}: {
  files: readonly TreeFile[];
  onEdit: (file: TreeFile) => void;
  onRemove: (path: string) => void;
}) {
  const [shown, setShown] = useState(SHOWN_AT_FIRST);
  return (
    <Stack gap="xs">
      <div className="scroll-x" tabIndex={0} role="region" aria-label="Files of the plan">
        <Table verticalSpacing={2} miw={460}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">File</Table.Th>
              <Table.Th scope="col" w={100}>
                Size
              </Table.Th>
              <Table.Th scope="col" w={150}>
                <span className="visually-hidden">Actions</span>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {files.slice(0, shown).map((file) => (
              <FileRow key={file.path} file={file} onEdit={() => onEdit(file)} onRemove={() => onRemove(file.path)} />
            ))}
          </Table.Tbody>
        </Table>
      </div>
      <Text size="sm" c="dimmed">
        {countOf(files.length, 'file')}. What is not among them counts as deleted.
      </Text>
      {files.length > shown && (
        <Button variant="default" size="xs" w="max-content" onClick={() => setShown(files.length)}>
          Show all {files.length}
        </Button>
      )}
    </Stack>
  );
}

function FileRow({
  file: { path, content },
  onEdit,
  onRemove,
}: {
  file: TreeFile;
  onEdit: () => void;
  onRemove: () => void;
}) {
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400} className="mono">
        <UntrustedText>{path}</UntrustedText>
      </Table.Th>
      <Table.Td>{sizeText(new Blob([content]).size)}</Table.Td>
      <Table.Td>
        <Group gap={4} wrap="nowrap">
          <Button size="compact-xs" variant="subtle" onClick={onEdit} aria-label={`Edit ${path}`}>
            Edit
          </Button>
          <Button size="compact-xs" variant="subtle" color="red" onClick={onRemove} aria-label={`Leave out ${path}`}>
            Leave out
          </Button>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

function FileDialog({
  file,
  onDone,
  onClose,
}: {
  file: TreeFile;
  onDone: (file: TreeFile) => void;
  onClose: () => void;
}) {
  const [path, setPath] = useState(file.path);
  const [content, setContent] = useState(file.content);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    event.stopPropagation();
    onDone({ path: path.trim(), content });
  };
  return (
    <Dialog onClose={onClose} title={file.path === '' ? 'A file of the plan' : 'Edit a file of the plan'} size="xl">
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label="Path"
            description="Below the factory’s root"
            placeholder="webhooks/orders.yaml"
            value={path}
            onChange={(event) => setPath(event.currentTarget.value)}
            required
            data-autofocus
            spellCheck={false}
            autoComplete="off"
          />
          <Textarea
            label="Content"
            value={content}
            onChange={(event) => setContent(event.currentTarget.value)}
            rows={14}
            styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
            spellCheck={false}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit">Put into the plan</Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
