import { CommandPreview } from '../../kit/command-preview.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { words } from '../../words/en.ts'

const texts = words.alerts

type Changed = { readonly id: string; readonly name: string; readonly path: string }
type Change<Body> = {
  readonly isPending: boolean
  readonly error: unknown
  readonly mutate: (body: Body) => void
}

type PauseProps = {
  readonly action: 'pause' | 'resume'
  readonly object: Changed
  readonly text: string
  readonly change: Change<{ paused: boolean }>
  readonly onClose: () => void
}

/** Pauses or resumes a rule or a channel. */
export function PauseDialog({ action, object, text, change, onClose }: PauseProps) {
  const title = texts.verbOf(texts.verbs[action], object.name)
  const body = { paused: action === 'pause' }
  return (
    <FormDialog
      title={title}
      action={texts.verbs[action]}
      change={change}
      onClose={onClose}
      onSubmit={() => change.mutate(body)}
    >
      <p>{action === 'pause' ? text : texts.resumeText}</p>
      <CommandPreview
        call={{ method: 'PATCH', path: object.path, body, command: `gatehouse alerts ${action} ${object.id}` }}
      />
    </FormDialog>
  )
}

type DeleteProps = {
  readonly object: Changed
  readonly text: string
  readonly change: Change<void>
  readonly onClose: () => void
}

export function DeleteDialog({ object, text, change, onClose }: DeleteProps) {
  return (
    <FormDialog
      title={texts.verbOf(texts.verbs.delete, object.name)}
      action={texts.verbs.delete}
      look="danger"
      change={change}
      onClose={onClose}
      onSubmit={() => change.mutate()}
    >
      <p>{text}</p>
      <CommandPreview call={{ method: 'DELETE', path: object.path, command: `gatehouse alerts delete ${object.id}` }} />
    </FormDialog>
  )
}
