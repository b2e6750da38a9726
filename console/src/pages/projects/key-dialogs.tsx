import { useState, type ReactNode } from 'react'
import { command } from '../../kit/command.ts'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { ConfirmName } from '../../kit/confirm-name.tsx'
import { Field } from '../../kit/field.tsx'
import { day, time } from '../../kit/format.ts'
import { ManagedNotice, Notice } from '../../kit/notice.tsx'
import { ShortId } from '../../kit/short-id.tsx'
import { useMay } from '../../session/session.tsx'
import { words } from '../../words/en.ts'
import {
  adminKeysPath,
  budgetsPath,
  keyPath,
  projectKeysPath,
  useCreateKey,
  useRevokeKey,
  useRotateKey,
  useUpdateKey,
  type CreatedKey,
  type NewKey,
} from './changes.ts'
import { changedOptions, keyOptions } from './commands.ts'
import { amountProblem, budgetOptions, hasBudget, keyBudgetBody, noBudget } from './key-budget.ts'
import { KeyBudgetFields } from './key-budget-fields.tsx'
import { KeyBudgetNote } from './key-budget-note.tsx'
import { createBody, draftOf, emptyDraft, updateBody } from './key-draft.ts'
import { KeyBudgets } from './key-budgets.tsx'
import { KeyFields } from './key-fields.tsx'
import { isApiKey, type AnyKey, type Project } from './queries.ts'
import { SecretDialog } from './secret.tsx'
import styles from './dialogs.module.css'

const text = words.projects

const fields = ['name', 'models', 'role', 'permissions', 'expires_at', 'allowed_ips']

type CreateProps = {
  /** The projects to choose from; undefined for an administrator key, which belongs to none. */
  readonly projects: readonly Project[] | undefined
  readonly projectId: string | undefined
  readonly onClose: () => void
}

/** Creates a key of either kind, then shows its secret. */
export function CreateKeyDialog({ projects, projectId, onClose }: CreateProps) {
  const isAdmin = projects === undefined
  const [draft, setDraft] = useState(emptyDraft)
  const [chosenProject, setChosenProject] = useState(projectId)
  const [budget, setBudget] = useState(noBudget)
  const [attempts, setAttempts] = useState(0)
  const mayBudget = useMay('budgets:write') && !isAdmin
  const creation = useCreateKey()
  const project = projects && projectOf(projects, chosenProject)
  const body = createBody(draft, isAdmin)
  const problem = hasBudget(budget) ? amountProblem(budget) : undefined
  const submit = (): void => {
    setAttempts(attempts + 1)
    if (problem === undefined) creation.mutate({ projectId: project, body, budget } as NewKey)
  }
  if (creation.data) return <CreatedKeyDialog created={creation.data} onClose={onClose} />
  return (
    <FormDialog
      title={isAdmin ? text.createAdminKey : text.createKey}
      action={isAdmin ? text.createAdminKey : text.createKey}
      isDisabled={project === ''}
      change={creation}
      fields={fields}
      onClose={onClose}
      onSubmit={submit}
    >
      {project === '' && <Notice tone="warning">{text.noProject}</Notice>}
      <KeyFields draft={draft} onChange={setDraft} error={creation.error} isAdmin={isAdmin} isNew>
        {!isAdmin && (
          <Field label={text.project} hint={text.projectHint}>
            {(props) => (
              <select {...props} value={project} onChange={(event) => setChosenProject(event.target.value)}>
                {projects.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
      </KeyFields>
      {mayBudget && (
        <KeyBudgetFields
          draft={budget}
          onChange={setBudget}
          error={attempts > 0 ? problem : undefined}
          attempts={attempts}
        />
      )}
      <CommandPreview
        call={{
          method: 'POST',
          path: project === undefined ? adminKeysPath : projectKeysPath(project),
          body,
          command: command('keys create', { ...keyOptions(draft, project), ...budgetOptions(budget) }),
        }}
        next={
          hasBudget(budget)
            ? { method: 'POST', path: budgetsPath, body: keyBudgetBody(budget, { id: 'KEY_ID', name: body.name }) }
            : undefined
        }
      />
    </FormDialog>
  )
}

type CreatedProps = { readonly created: CreatedKey; readonly onClose: () => void }

const CreatedKeyDialog = ({ created: { issued, outcome }, onClose }: CreatedProps) => (
  <SecretDialog issued={issued} onClose={onClose}>
    {outcome !== undefined && <KeyBudgetNote keyId={issued.id} outcome={outcome} />}
  </SecretDialog>
)

/** The chosen project if it can have keys, which an archived one cannot; otherwise the first. */
const projectOf = (projects: readonly Project[], chosen: string | undefined): string =>
  (projects.find(({ id }) => id === chosen) ?? projects[0])?.id ?? ''

type KeyProps = { readonly apiKey: AnyKey; readonly onClose: () => void }

export function EditKeyDialog({ apiKey, onClose }: KeyProps) {
  const [before] = useState(() => draftOf(apiKey))
  const [draft, setDraft] = useState(before)
  const update = useUpdateKey(apiKey, onClose)
  const mayReadBudgets = useMay('budgets:read') && isApiKey(apiKey)
  const body = updateBody(before, draft)
  const isChanged = Object.keys(body).length > 0
  return (
    <FormDialog
      title={text.editOf(apiKey.name)}
      action={text.saveChanges}
      isDisabled={!isChanged}
      change={update}
      fields={fields}
      onClose={onClose}
      onSubmit={() => update.mutate(body as Parameters<typeof update.mutate>[0])}
    >
      <ManagedNotice owner={apiKey.managed_by} />
      <KeyFacts apiKey={apiKey} />
      {mayReadBudgets && <KeyBudgets keyId={apiKey.id} />}
      <KeyFields draft={draft} onChange={setDraft} error={update.error} isAdmin={!isApiKey(apiKey)} isNew={false} />
      {isChanged ? (
        <CommandPreview
          call={{
            method: 'PATCH',
            path: keyPath(apiKey),
            body,
            command: command(`keys update ${apiKey.id}`, changedOptions(before, draft)),
          }}
        />
      ) : (
        <p className={styles.note}>{text.nothingChanged}</p>
      )}
    </FormDialog>
  )
}

const graces = ['0', '3600', '86400', '604800'] as const
const hoursOf = (grace: string): string | undefined => (grace === '0' ? undefined : `${Number(grace) / 3_600}h`)

/** Gives a key a new secret. Applications keep working with the old one until the grace time has passed. */
export function RotateKeyDialog({ apiKey, onClose }: KeyProps) {
  const [grace, setGrace] = useState<(typeof graces)[number]>('86400')
  const rotation = useRotateKey(apiKey)
  const body = { grace_seconds: Number(grace) }
  if (rotation.data) return <SecretDialog isRotated issued={rotation.data} onClose={onClose} />
  return (
    <FormDialog
      title={text.rotateTitle(apiKey.name)}
      action={text.rotate}
      change={rotation}
      onClose={onClose}
      onSubmit={() => rotation.mutate(body)}
    >
      <p>{text.rotateText}</p>
      <Field label={text.grace} hint={text.graceHint}>
        {(props) => (
          <select {...props} value={grace} onChange={(event) => setGrace(event.target.value as typeof grace)}>
            {graces.map((each) => (
              <option key={each} value={each}>
                {text.graces[each]}
              </option>
            ))}
          </select>
        )}
      </Field>
      {grace === '0' && <Notice tone="warning">{text.graceNone}</Notice>}
      <CommandPreview
        call={{
          method: 'POST',
          path: `${keyPath(apiKey)}/rotate`,
          body,
          command: command(`keys rotate ${apiKey.id}`, { grace: hoursOf(grace) }),
        }}
      />
    </FormDialog>
  )
}

export function RevokeKeyDialog({ apiKey, onClose }: KeyProps) {
  const [isConfirmed, setConfirmed] = useState(false)
  const revocation = useRevokeKey(apiKey, onClose)
  const usedAt = apiKey.last_used_at
  return (
    <FormDialog
      title={text.revokeTitle(apiKey.name)}
      action={text.revokeTitle(apiKey.name)}
      look="danger"
      isDisabled={!isConfirmed}
      change={revocation}
      onClose={onClose}
      onSubmit={() => revocation.mutate()}
    >
      <Notice tone="warning">{isApiKey(apiKey) ? text.revokeText : text.revokeAdminText}</Notice>
      <p>{usedAt === undefined ? text.neverUsed : text.usedLast(time(usedAt * 1_000))}</p>
      <ConfirmName name={apiKey.name} onChange={setConfirmed} />
      <CommandPreview
        call={{ method: 'DELETE', path: keyPath(apiKey), command: command(`keys revoke ${apiKey.id}`) }}
      />
    </FormDialog>
  )
}

function KeyFacts({ apiKey }: { readonly apiKey: AnyKey }) {
  const facts: readonly (readonly [string, ReactNode])[] = [
    [text.id, <ShortId id={apiKey.id} />],
    [text.secret, <code>{apiKey.redacted_value}</code>],
    ...(isApiKey(apiKey) ? ([[text.project, apiKey.project_name]] as const) : []),
    [text.created, day(apiKey.created_at * 1_000)],
  ]
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
