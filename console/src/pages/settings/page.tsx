import { useMay, useMe } from '../../session/session.tsx'
import { Card } from '../../kit/card.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { time } from '../../kit/format.ts'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { Findings } from './findings.tsx'
import { useSystem, type System } from './queries.ts'
import { SettingsTable } from './settings-table.tsx'
import styles from './page.module.css'

const text = words.settings

/** The installation: its nodes, what is wrong with it, and the configuration in force. Read-only. */
export function SettingsPage() {
  const mayRead = useMay('system:read')
  const { features } = useMe()
  const { data: system, isPending, isError, error, refetch } = useSystem(mayRead && features.system)
  if (!features.system)
    return (
      <EmptyState title={text.hiddenTitle}>
        <p>{text.hiddenText}</p>
        <CodeBlock code="gatehouse system show" />
      </EmptyState>
    )
  return (
    <div className={styles.page}>
      <p className={styles.purpose}>{text.purpose}</p>
      {isPending && <LoadingRows widths={[180, 120, 90, 260]} />}
      {isError && system === undefined && (
        <FailureState title={text.failed} error={error} onRetry={() => void refetch()} />
      )}
      {system && (
        <>
          <div className={styles.half}>
            <Installation system={system} />
            <Findings findings={system.findings} />
          </div>
          <SettingsTable settings={system.settings} />
          <CommandPreview
            call={{ method: 'GET', path: '/v1/organization/system', command: 'gatehouse system show --all' }}
          />
        </>
      )}
    </div>
  )
}

function Installation({ system }: { readonly system: System }) {
  const { facts } = text
  const { node } = system
  const rows: readonly (readonly [string, string])[] = [
    [facts.version, system.version],
    [facts.runtime, system.runtime],
    [facts.host, node.host],
    [facts.started, time(node.started_at * 1_000)],
    [facts.nodes, text.nodes(system.nodes.count)],
    [facts.storage, text.storage[system.storage]],
    [facts.limits, system.limits],
    [facts.file, system.configuration_file ?? text.noFile],
  ]
  return (
    <Card title={text.installation} note={<span title={node.id}>{node.host}</span>}>
      <dl className={styles.facts}>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}
