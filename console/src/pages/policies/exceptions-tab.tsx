import { useState } from 'react'
import { Badge } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { ExceptionDialog } from '../../kit/exception-dialog.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { fullTime } from '../../kit/format.ts'
import { LoadMore } from '../../kit/load-more.tsx'
import { nameOr } from '../../kit/short-id.tsx'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { Author } from '../../session/author.tsx'
import { useSubjectNames, type SubjectNames } from '../../session/subject-names.ts'
import { useMay } from '../../session/session.tsx'
import { words } from '../../words/en.ts'
import { useCreateException, useEndException, useExceptions, type PolicyException } from './exception-queries.ts'
import { usePolicyDraft } from './use-draft.ts'
import styles from './exceptions-tab.module.css'
import tab from './history-tab.module.css'

const text = words.exceptions

/** Whom the policy is not enforced for, and until when. */
export function ExceptionsTab() {
  const { policy } = usePolicyDraft()
  const mayPublish = useMay('policies:publish')
  const query = useExceptions(policy.id)
  const [open, setOpen] = useState<PolicyException | 'add'>()
  const close = (): void => setOpen(undefined)
  const create = useCreateException(policy.id, close)
  const { rows } = query
  const names = useSubjectNames()
  return (
    <div className={tab.tab}>
      <Card
        isFlush
        title={text.title}
        note={
          <Button
            isSmall
            look="primary"
            disabled={!mayPublish}
            title={mayPublish ? undefined : text.mayNot}
            onClick={() => setOpen('add')}
          >
            {text.add}
          </Button>
        }
      >
        {query.isPending && <LoadingRows widths={[120, 80, 120, 240]} rows={3} />}
        {query.isError && <FailureState title={text.failed} error={query.error} onRetry={() => void query.refetch()} />}
        {!query.isPending && !query.isError && rows.length === 0 && (
          <EmptyState title={text.none}>
            <p>{text.noneText}</p>
          </EmptyState>
        )}
        {rows.length > 0 && (
          <>
            <DataTable
              label={text.title}
              rows={rows}
              columns={columnsOf(names, mayPublish ? setOpen : undefined)}
              idOf={({ id }) => id}
            />
            <LoadMore query={query} />
          </>
        )}
      </Card>
      {open === 'add' && (
        <ExceptionDialog
          policyId={policy.id}
          policyName={policy.name}
          subjects={names}
          create={create}
          onClose={close}
        />
      )}
      {open !== undefined && open !== 'add' && <EndDialog exception={open} onClose={close} />}
    </div>
  )
}

function EndDialog({ exception, onClose }: { readonly exception: PolicyException; readonly onClose: () => void }) {
  const { id, policy_id: policyId } = exception
  const end = useEndException(policyId, onClose)
  const names = useSubjectNames()
  return (
    <FormDialog
      title={text.endTitle}
      action={text.end}
      look="danger"
      change={end}
      onSubmit={() => end.mutate(id)}
      onClose={onClose}
    >
      <p>
        {subjectOf(exception, names)}: {text.endText}
      </p>
      <CommandPreview
        call={{
          method: 'DELETE',
          path: `/v1/organization/policies/${policyId}/exceptions/${id}`,
          command: `gatehouse policies exceptions end ${policyId} ${id}`,
        }}
      />
    </FormDialog>
  )
}

function subjectOf({ for: covered }: PolicyException, { projects, keys }: SubjectNames): string {
  const { user, project_id: project, key_id: key, text_digests: digests = [] } = covered
  if (user !== undefined) return text.subjects.user(user)
  if (project !== undefined) return text.subjects.project(nameOr(projects, project))
  return key === undefined ? text.texts(digests.length) : text.subjects.key(nameOr(keys, key))
}

/** The id behind the name, on hover. */
const subjectId = ({ for: { project_id: project, key_id: key }, id }: PolicyException): string => project ?? key ?? id

const hourSeconds = 3_600
const dayHours = 24

function timeLeft({ expires_at: expiresAt }: PolicyException): string {
  const hours = Math.floor((expiresAt - Date.now() / 1_000) / hourSeconds)
  if (hours < 1) return text.lessThanHour
  return hours < 2 * dayHours ? text.leftHours(hours) : text.leftDays(Math.floor(hours / dayHours))
}

const columnsOf = (
  names: SubjectNames,
  onEnd: ((exception: PolicyException) => void) | undefined,
): readonly DataColumn<PolicyException>[] => [
  {
    id: 'for',
    name: text.covers,
    cell: (each) => (
      <span className={styles.subject} title={subjectId(each)}>
        {subjectOf(each, names)}
      </span>
    ),
  },
  {
    id: 'state',
    name: text.state,
    cell: (each) => (
      <time
        dateTime={new Date((each.ended_at ?? each.expires_at) * 1_000).toISOString()}
        title={fullTime((each.ended_at ?? each.expires_at) * 1_000)}
      >
        <Badge tone={each.state === 'live' ? 'warning' : 'none'}>
          {each.state === 'live' ? timeLeft(each) : text.states[each.state]}
        </Badge>
      </time>
    ),
  },
  { id: 'reason', name: text.reason, priority: 2, cell: ({ reason }) => reason },
  { id: 'owner', name: text.owner, priority: 3, cell: ({ owner }) => <Author id={owner} /> },
  {
    id: 'end',
    name: text.actions,
    isNumber: true,
    cell: (each) =>
      each.state === 'live' &&
      onEnd && (
        <Button isSmall onClick={() => onEnd(each)}>
          {text.end}
        </Button>
      ),
  },
]
