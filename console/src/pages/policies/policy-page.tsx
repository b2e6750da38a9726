import { Outlet, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../session/session.tsx'
import { useObjectTitle } from '../../session/title.ts'
import { Button, buttonClass } from '../../kit/button.tsx'
import { Icon } from '../../kit/icon.tsx'
import { LeaveDialog } from '../../kit/leave-dialog.tsx'
import { Menu, MenuItem } from '../../kit/menu.tsx'
import { ManagedNotice } from '../../kit/notice.tsx'
import { ShortId } from '../../kit/short-id.tsx'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { TabLinks } from '../../kit/tab-links.tsx'
import { words } from '../../words/en.ts'
import { ActionDialog } from './action-dialog.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import { usePolicy, type Policy, type PolicyAction } from './queries.ts'
import { StateBadge } from './state-badge.tsx'
import { DraftContext, useDraft } from './use-draft.ts'
import styles from './policy-page.module.css'

const text = words.policy

/** One policy: its state, its actions and its tabs, each with an address of its own. */
export function PolicyPage() {
  const { policyId } = useParams({ from: '/policies/$policyId' })
  const query = usePolicy(policyId)
  if (query.isPending) return <LoadingRows widths={[240, 120, 80]} rows={6} />
  if (query.data === undefined)
    return <FailureState title={text.failed} error={query.error} onRetry={() => void query.refetch()} />
  return <OpenPolicy key={policyId} policy={query.data} />
}

function OpenPolicy({ policy }: { readonly policy: Policy }) {
  const draft = useDraft(policy)
  useObjectTitle(policy.name)
  const params = { policyId: policy.id }
  return (
    <div className={styles.page}>
      <Header policy={policy} />
      {policy.managed_by !== undefined && (
        <div className={styles.notice}>
          <ManagedNotice owner={policy.managed_by} />
        </div>
      )}
      <TabLinks
        label={text.tabs}
        tabs={[
          { name: text.edit, link: { to: '/policies/$policyId', params } },
          { name: text.cases.tab, link: { to: '/policies/$policyId/cases', params } },
          { name: text.replay.tab, link: { to: '/policies/$policyId/replay', params } },
          { name: words.gate.tab, link: { to: '/policies/$policyId/gate', params } },
          { name: text.rollout.tab, link: { to: '/policies/$policyId/rollout', params } },
          { name: words.exceptions.tab, link: { to: '/policies/$policyId/exceptions', params } },
          { name: text.history, link: { to: '/policies/$policyId/history', params } },
          { name: text.activity, link: { to: '/policies/$policyId/activity', params } },
        ]}
      />
      <DraftContext value={draft}>
        <Outlet />
      </DraftContext>
      <LeaveDialog path={`/policies/${policy.id}`} isChanged={draft.isChanged} />
    </div>
  )
}

function Header({ policy }: { readonly policy: Policy }) {
  const [open, setOpen] = useState<PolicyAction | 'delete'>()
  const navigate = useNavigate()
  const mayWrite = useMay('policies:write')
  const mayPublish = useMay('policies:publish')
  const { state, current_version: version, has_unpublished_changes: isChanged } = policy
  const action = state === 'paused' ? 'resume' : 'pause'
  const close = (): void => setOpen(undefined)
  return (
    <header className={styles.header}>
      <h2>{policy.name}</h2>
      <StateBadge state={state} />
      {version !== null && <span className={styles.fact}>{text.version(version)}</span>}
      {version !== null && isChanged && <span className={styles.fact}>{text.unpublished}</span>}
      <span className={styles.end}>
        <ShortId id={policy.id} />
        {version !== null && (
          <Button
            disabled={!mayPublish}
            title={mayPublish ? undefined : words.policies.mayNotPublish}
            onClick={() => setOpen(action)}
          >
            {text[action]}
          </Button>
        )}
        {mayWrite && (
          <Menu triggerClass={buttonClass({ look: 'ghost' })} label={text.more} trigger={<Icon name="more" />}>
            {version !== null && isChanged && (
              <MenuItem onClick={() => setOpen('discard_draft')}>{text.discard}</MenuItem>
            )}
            <MenuItem onClick={() => setOpen('delete')}>{text.remove}</MenuItem>
          </Menu>
        )}
      </span>
      {open !== undefined && open !== 'delete' && <ActionDialog policy={policy} action={open} onClose={close} />}
      {open === 'delete' && (
        <DeleteDialog policy={policy} onClose={close} onDone={() => void navigate({ to: '/policies' })} />
      )}
    </header>
  )
}
