import { Link } from '@tanstack/react-router'
import { useProjectNames } from '../../api/names.ts'
import { useMay } from '../../session/session.tsx'
import { Card } from '../../kit/card.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { DecisionBadge } from '../../kit/decision-badge.tsx'
import { time } from '../../kit/format.ts'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { useDecidedRequests, type DecidedRequest } from './queries.ts'
import { usePolicyDraft } from './use-draft.ts'
import styles from './history-tab.module.css'

const text = words.policy

/** The newest requests that the policy decided. All of them are on the page of requests. */
export function ActivityTab() {
  const mayRead = useMay('audit:read')
  return mayRead ? <Activity /> : <EmptyState title={text.mayNotAudit} />
}

function Activity() {
  const { policy } = usePolicyDraft()
  const projects = useProjectNames()
  const query = useDecidedRequests(policy.id)
  if (query.isPending) return <LoadingRows widths={[132, 116, 120, 120]} />
  if (query.data === undefined)
    return <FailureState title={text.decidedFailed} error={query.error} onRetry={() => void query.refetch()} />
  if (query.data.data.length === 0)
    return (
      <EmptyState title={text.decidedNone}>
        <p>{text.decidedNoneText}</p>
      </EmptyState>
    )
  const project: DataColumn<DecidedRequest> = {
    id: 'project',
    name: text.project,
    priority: 2,
    cell: ({ project_id: id }) => projects.get(id ?? '') ?? id ?? words.common.none,
  }
  return (
    <div className={styles.tab}>
      <Card isFlush title={text.decided}>
        <DataTable label={text.decided} rows={query.data.data} columns={[...columns, project]} idOf={({ id }) => id} />
        <p className={styles.links}>
          <Link to="/requests" search={{ policy_id: policy.id }}>
            {text.decidedAll}
          </Link>
        </p>
      </Card>
    </div>
  )
}

const columns: readonly DataColumn<DecidedRequest>[] = [
  {
    id: 'time',
    name: text.time,
    cell: ({ id, created_at_ms: atMs, policy_id: policyId }) => (
      <Link to="/requests/$requestId" params={{ requestId: id }} search={{ policy_id: policyId ?? undefined }}>
        {time(atMs)}
      </Link>
    ),
  },
  {
    id: 'decision',
    name: text.decision,
    cell: ({ decision, is_enforced: isEnforced, status }) => (
      <DecisionBadge decision={decision} isEnforced={isEnforced} isError={status === 'error'} />
    ),
  },
  { id: 'model', name: text.model, priority: 2, cell: ({ model }) => model },
  { id: 'user', name: text.user, priority: 3, cell: ({ user_id: user }) => user ?? words.common.none },
]
