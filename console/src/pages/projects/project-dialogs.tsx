import { useState } from 'react'
import { errorOfField } from '../../api/use-change.ts'
import { command } from '../../kit/command.ts'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { Field } from '../../kit/field.tsx'
import { count } from '../../kit/format.ts'
import { ManagedNotice, Notice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { projectsPath, useArchiveProject, useNameProject } from './changes.ts'
import { useApiKeys, type Project } from './queries.ts'

const text = words.projects

type NameProps = {
  /** Undefined: a new project. */
  readonly project: Project | undefined
  readonly onClose: () => void
}

/** Creates or renames a project. */
export function NameProjectDialog({ project, onClose }: NameProps) {
  const [name, setName] = useState(project?.name ?? '')
  const change = useNameProject(project, onClose)
  const body = { name: name.trim() }
  return (
    <FormDialog
      title={project === undefined ? text.createProject : text.renameTitle(project.name)}
      action={project === undefined ? text.createProject : text.rename}
      isDisabled={name.trim() === project?.name}
      change={change}
      fields={['name']}
      onClose={onClose}
      onSubmit={() => change.mutate(body.name)}
    >
      <ManagedNotice owner={project?.managed_by} />
      <Field label={text.name} hint={text.projectNameHint} error={errorOfField(change.error, 'name')}>
        {(props) => (
          <input
            {...props}
            value={name}
            required
            autoComplete="off"
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <CommandPreview
        call={
          project === undefined
            ? {
                method: 'POST',
                path: projectsPath,
                body,
                command: command('projects create', { name: body.name || 'NAME' }),
              }
            : { method: 'PATCH', path: `${projectsPath}/${project.id}`, body }
        }
      />
    </FormDialog>
  )
}

type ArchiveProps = {
  readonly project: Project
  readonly action: 'archive' | 'unarchive'
  readonly onClose: () => void
}

/** Stops or restores all keys of a project, and says which. */
export function ArchiveProjectDialog({ project, action, onClose }: ArchiveProps) {
  const change = useArchiveProject(project, onClose)
  const keys = useApiKeys({ project_id: project.id, status: 'active' })
  const title = text[`${action}Title`](project.name)
  return (
    <FormDialog
      title={title}
      action={title}
      look={action === 'archive' ? 'danger' : 'primary'}
      change={change}
      onClose={onClose}
      onSubmit={() => change.mutate(action)}
    >
      <p>{text[`${action}Text`]}</p>
      {keys.isSuccess && (
        <Notice tone={keys.rows.length === 0 || action === 'unarchive' ? 'none' : 'warning'}>
          {affectedText(
            keys.rows.map(({ name }) => name),
            keys.hasNextPage,
          )}
        </Notice>
      )}
      <CommandPreview
        call={{
          method: 'POST',
          path: `${projectsPath}/${project.id}/${action}`,
          command: command(`projects ${action} ${project.id}`),
        }}
      />
    </FormDialog>
  )
}

const shownNames = 5

function affectedText(names: readonly string[], hasMore: boolean): string {
  if (names.length === 0) return text.noneAffected
  const shown = names.slice(0, shownNames).join(', ')
  return text.affected(`${count(names.length)}${hasMore ? '+' : ''}`, names.length > shownNames ? `${shown}, …` : shown)
}
