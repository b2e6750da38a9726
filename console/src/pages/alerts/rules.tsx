import { Link, useNavigate } from '@tanstack/react-router'
import { useBudgetNames, useKeyNames, usePolicyNames, useProjectNames, type Names } from '../../api/names.ts'
import { useMay } from '../../session/session.tsx'
import { Badge, type Tone } from '../../kit/badge.tsx'
import type { DataColumn } from '../../kit/data-table.tsx'
import { fullTime, time } from '../../kit/format.ts'
import { EmptyState } from '../../kit/state.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { words } from '../../words/en.ts'
import { DeleteDialog, PauseDialog } from './common-dialogs.tsx'
import { List } from './list.tsx'
import { rulesPath, useChannels, useDeleteRule, useRules, useUpdateRule, type AlertRule } from './queries.ts'
import { CreateRuleDialog, EditRuleDialog } from './rule-dialog.tsx'
import { RowMenu } from './row-menu.tsx'
import type { PartProps } from './page.tsx'
import type { DialogName } from './search.ts'
import styles from './page.module.css'

const text = words.alerts

/** When alerts are sent. */
export function Rules({ search, mayChange }: PartProps) {
  const query = useRules()
  const channels = useChannels()
  const navigate = useNavigate({ from: '/alerts' })
  const close = (): void =>
    void navigate({ to: '/alerts', search: (before) => ({ ...before, dialog: undefined, id: undefined }) })
  const rule = query.rows.find(({ id }) => id === search.id)
  const channelNames: Names = new Map(channels.rows.map(({ id, name }) => [id, name]))
  return (
    <>
      <List
        label={text.tabs.rules}
        query={query}
        columns={columnsOf({ mayChange, channelNames })}
        empty={
          <EmptyState title={text.noRules}>
            <p>{text.noRulesText}</p>
            <CodeBlock code={text.ruleCommand} />
          </EmptyState>
        }
      />
      {mayChange && search.dialog === 'create' && <CreateRuleDialog onClose={close} />}
      {mayChange && rule && <RuleDialog dialog={search.dialog} rule={rule} onClose={close} />}
    </>
  )
}

type DialogProps = {
  readonly dialog: DialogName | undefined
  readonly rule: AlertRule
  readonly onClose: () => void
}

function RuleDialog({ dialog, rule, onClose }: DialogProps) {
  const update = useUpdateRule(rule.id, onClose)
  const remove = useDeleteRule(rule.id, onClose)
  const object = { ...rule, path: `${rulesPath}/${rule.id}` }
  if (dialog === 'edit') return <EditRuleDialog rule={rule} onClose={onClose} />
  if (dialog === 'pause' || dialog === 'resume')
    return <PauseDialog action={dialog} object={object} text={text.pauseRule} change={update} onClose={onClose} />
  if (dialog === 'delete')
    return <DeleteDialog object={object} text={text.deleteRule} change={remove} onClose={onClose} />
  return null
}

const tones: Record<AlertRule['state'], Tone> = { ok: 'allow', firing: 'error', paused: 'none' }

type ColumnOptions = { readonly mayChange: boolean; readonly channelNames: Names }

const columnsOf = ({ mayChange, channelNames }: ColumnOptions): readonly DataColumn<AlertRule>[] => [
  {
    id: 'name',
    name: text.name,
    cell: (rule) =>
      mayChange ? (
        <Link
          from="/alerts"
          to="/alerts"
          className={styles.name}
          title={rule.id}
          search={(before) => ({ ...before, dialog: 'edit', id: rule.id })}
        >
          {rule.name}
        </Link>
      ) : (
        <span className={styles.name}>{rule.name}</span>
      ),
  },
  { id: 'state', name: text.state, cell: (rule) => <RuleState rule={rule} /> },
  { id: 'condition', name: text.condition, priority: 2, cell: (rule) => <Condition rule={rule} /> },
  {
    id: 'channels',
    name: text.sentBy,
    priority: 3,
    cell: ({ channel_ids: ids }) =>
      ids.length === 0 ? (
        <span className={styles.faint}>{text.noChannel}</span>
      ) : (
        <span className={styles.cut}>{ids.map((id) => channelNames.get(id) ?? id).join(', ')}</span>
      ),
  },
  {
    id: 'actions',
    name: text.actions,
    cell: ({ id, name, paused }) =>
      mayChange && <RowMenu id={id} name={name} items={['edit', paused ? 'resume' : 'pause', 'delete']} />,
  },
]

function RuleState({ rule: { state, firing } }: { readonly rule: AlertRule }) {
  const [first] = firing
  return (
    <span className={styles.state}>
      <Badge tone={tones[state]} title={firing.map(({ title }) => title).join('\n') || undefined}>
        {firing.length > 1 ? text.firingCount(firing.length) : text.states[state]}
      </Badge>
      {state === 'firing' && first && (
        <span className={styles.since} title={fullTime(first.since * 1_000)}>
          {text.since(time(first.since * 1_000))}
        </span>
      )}
    </span>
  )
}

/** The condition in words: `Denials over 20 % in 15 minutes, project Support chat`. */
function Condition({ rule }: { readonly rule: AlertRule }) {
  const projects = useProjectNames()
  const keys = useKeyNames()
  const policies = usePolicyNames(useMay('policies:read'))
  const budgets = useBudgetNames(useMay('budgets:read'))
  const { project_id: project, api_key_id: key, policy_id: policy, budget_id: budget } = rule.filter ?? {}
  const name =
    (project && (projects.get(project) ?? project)) ||
    (key && (keys.get(key) ?? key)) ||
    (policy && (policies.get(policy) ?? policy)) ||
    (budget && (budgets.get(budget) ?? budget))
  const subject = name ?? Object.values(rule.filter ?? {})[0]
  return (
    <span className={styles.condition}>
      {[text.conditionOf(rule), ...(subject === undefined ? [] : [subject])].join(', ')}
    </span>
  )
}
