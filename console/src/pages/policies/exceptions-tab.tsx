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
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { useMay } from '../../session/session.tsx'
import { words } from '../../words/en.ts'
import { useCreateException, useEndException, useExceptions, type PolicyException } from './exception-queries.ts'
import { usePolicyDraft } from './use-draft.ts'
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
            <DataTable label={text.title} rows={rows} columns={columnsOf(mayPublish, setOpen)} idOf={({ id }) => id} />
            <LoadMore query={query} />
          </>
        )}
      </Card>
      {open === 'add' && (
        <ExceptionDialog policyId={policy.id} policyName={policy.name} create={create} onClose={close} />
      )}
      {open !== undefined && open !== 'add' && <EndDialog exception={open} onClose={close} />}
    </div>
  )
}

function EndDialog({ exception, onClose }: { readonly exception: PolicyException; readonly onClose: () => void }) {
  const { id, policy_id: policyId } = exception
  const end = useEndException(policyId, onClose)
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
        {subjectOf(exception)}: {text.endText}
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

const subjectOf = ({ for: covered }: PolicyException): string => {
  const { user, project_id: project, key_id: key, text_digests: digests = [] } = covered
  return user ?? project ?? key ?? text.texts(digests.length)
}

const hourSeconds = 3_600
const dayHours = 24

function timeLeft({ expires_at: expiresAt }: PolicyException): string {
  const hours = Math.floor((expiresAt - Date.now() / 1_000) / hourSeconds)
  if (hours < 1) return text.lessThanHour
  return hours < 2 * dayHours ? text.leftHours(hours) : text.leftDays(Math.floor(hours / dayHours))
}

const columnsOf = (
  mayEnd: boolean,
  onEnd: (exception: PolicyException) => void,
): readonly DataColumn<PolicyException>[] => [
  { id: 'for', name: text.covers, cell: (each) => <span title={each.id}>{subjectOf(each)}</span> },
  {
    id: 'state',
    name: text.state,
    cell: ({ state }) => <Badge tone={state === 'live' ? 'warning' : 'none'}>{text.states[state]}</Badge>,
  },
  {
    id: 'left',
    name: text.left,
    cell: (each) => (
      <time
        dateTime={new Date((each.ended_at ?? each.expires_at) * 1_000).toISOString()}
        title={fullTime((each.ended_at ?? each.expires_at) * 1_000)}
      >
        {each.state === 'live' ? timeLeft(each) : words.common.none}
      </time>
    ),
  },
  { id: 'reason', name: text.reason, priority: 2, cell: ({ reason }) => reason },
  { id: 'owner', name: text.owner, priority: 3, cell: ({ owner }) => owner },
  {
    id: 'end',
    name: text.actions,
    isNumber: true,
    cell: (each) =>
      each.state === 'live' &&
      mayEnd && (
        <Button isSmall onClick={() => onEnd(each)}>
          {text.end}
        </Button>
      ),
  },
]
