import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useChange } from '../../api/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { count, percent as share } from '../../kit/format.ts'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { Segmented } from '../../kit/segmented.tsx'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { useMay } from '../../session/session.tsx'
import { words } from '../../words/en.ts'
import type { Policy } from './queries.ts'
import styles from './rollout-tab.module.css'

const text = words.policy.rollout

type Rollout = components['schemas']['PolicyRolloutReport']
type Arm = Rollout['arms'][number]

const rolloutKey = (policyId: string) => ['policy', policyId, 'rollout'] as const
const steps = [1, 10, 50, 100] as const

const useRollout = (policyId: string) =>
  useQuery({
    queryKey: rolloutKey(policyId),
    queryFn: (): Promise<Rollout> =>
      dataOf(api.GET('/v1/organization/policies/{policy_id}/rollout', { params: { path: { policy_id: policyId } } })),
  })

/** The share of users that an enforcing policy is enforced for, what a step would add, and how both sides do. */
export function RolloutShare({ policy }: { readonly policy: Policy }) {
  const query = useRollout(policy.id)
  if (query.isPending) return <LoadingRows widths={[160, 240]} rows={3} />
  if (query.data === undefined)
    return <FailureState title={text.failed} error={query.error} onRetry={() => void query.refetch()} />
  const { arms, denies_more: deniesMore } = query.data
  return (
    <>
      <Card title={text.share}>
        <Steps key={policy.rollout_percent} policy={policy} rollout={query.data} />
      </Card>
      {policy.rollout_percent < 100 && (
        <Card isFlush title={text.sides} note={text.sidesNote}>
          {deniesMore && <Notice tone="warning">{text.deniesMore}</Notice>}
          <DataTable label={text.sides} rows={arms} columns={columns} idOf={({ side }) => side} />
        </Card>
      )}
    </>
  )
}

function Steps({ policy, rollout }: { readonly policy: Policy; readonly rollout: Rollout }) {
  const { id, revision, rollout_percent: present } = policy
  const [chosen, setChosen] = useState(present)
  const mayPublish = useMay('policies:publish')
  const change = useChange({
    send: (percent: number) =>
      dataOf(
        api.POST('/v1/organization/policies/{policy_id}/rollout', {
          params: { path: { policy_id: id } },
          body: { revision, percent },
        }),
      ),
    refresh: [['policy', id], ['policies']],
  })
  const step = rollout.steps.find(({ percent }) => percent === chosen)
  const options = [...new Set([...steps, present])].toSorted((one, other) => one - other)
  return (
    <>
      <Segmented
        label={text.share}
        options={options.map(String)}
        nameOf={(each) => `${each} %`}
        value={String(chosen)}
        onChange={(each) => setChosen(Number(each))}
      />
      <p className={styles.sentence}>
        {text.shareText(present)}{' '}
        {step !== undefined && text.wouldAdd(chosen, count(step.added_denials), count(rollout.matches_7d))}
        {chosen < present && text.wouldEnd(chosen)}
      </p>
      {chosen !== present && (
        <div className={styles.actions}>
          <Button
            look="primary"
            disabled={!mayPublish || change.isPending}
            title={mayPublish ? undefined : words.policies.mayNotPublish}
            onClick={() => change.mutate(chosen)}
          >
            {text.setShare(chosen)}
          </Button>
        </div>
      )}
      {change.isError && <ErrorNotice error={change.error} />}
      {chosen !== present && (
        <CommandPreview
          call={{
            method: 'POST',
            path: `/v1/organization/policies/${id}/rollout`,
            body: { revision, percent: chosen },
            command: `gatehouse policies rollout ${id} --percent ${chosen} --revision ${revision}`,
          }}
        />
      )}
    </>
  )
}

const columns: readonly DataColumn<Arm>[] = [
  { id: 'side', name: text.side, cell: ({ side }) => text.sideNames[side] },
  { id: 'callers', name: text.callers, isNumber: true, cell: ({ callers }) => count(callers) },
  { id: 'matched', name: text.matchedCallers, isNumber: true, cell: ({ denied_callers: denied }) => count(denied) },
  {
    id: 'share',
    name: text.between,
    isNumber: true,
    cell: ({ callers, low_bp: low, bound_bp: high }) =>
      callers === 0 ? words.common.none : `${share(low / 10_000)} – ${share(high / 10_000)}`,
  },
  { id: 'requests', name: text.armRequests, isNumber: true, priority: 2, cell: ({ requests }) => count(requests) },
]
