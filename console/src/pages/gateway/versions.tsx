import { Badge } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { count, dateAndTime } from '../../kit/format.ts'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { Author } from '../../session/author.tsx'
import { words } from '../../words/en.ts'
import { useVersions, type ConfigVersion, type GatewayConfig } from './queries.ts'

const text = words.gateway

type VersionsProps = { readonly current: number; readonly onOpen: (config: GatewayConfig) => void }

/** Every configuration that was saved. One of them can be opened as a change, and saved again. */
export function Versions({ current, onOpen }: VersionsProps) {
  const versions = useVersions()
  if (versions.isPending) return <LoadingRows widths={[40, 120, 160]} rows={4} />
  if (versions.isError)
    return <FailureState title={text.versionsFailed} error={versions.error} onRetry={() => void versions.refetch()} />
  if (versions.data.length === 0)
    return (
      <EmptyState title={text.versionsNone}>
        <p>{text.versionsNoneText}</p>
        <CodeBlock code="gatehouse apply -f gateway.yaml" />
      </EmptyState>
    )
  const columns: readonly DataColumn<ConfigVersion>[] = [
    { id: 'version', name: text.versionNumber, cell: ({ version }) => version },
    {
      id: 'time',
      name: text.versionTime,
      cell: ({ created_at: at }) => (at === null ? words.common.none : dateAndTime(Date.parse(at))),
    },
    { id: 'author', name: text.versionAuthor, cell: ({ created_by: id }) => <Author id={id} /> },
    { id: 'name', name: text.versionName, priority: 2, cell: ({ config }) => config.name ?? config.policy_id },
    {
      id: 'terms',
      name: text.versionTerms,
      isNumber: true,
      priority: 2,
      cell: ({ config }) => count(config.rules.denylist.length + config.rules.allowlist.length),
    },
    {
      id: 'open',
      name: text.versionActions,
      isNumber: true,
      cell: ({ version, config }) =>
        version === current ? (
          <Badge tone="allow">{text.versionCurrent}</Badge>
        ) : (
          <Button isSmall onClick={() => onOpen(config)}>
            {text.versionOpen(version)}
          </Button>
        ),
    },
  ]
  return <DataTable label={text.views.versions} rows={versions.data} columns={columns} idOf={({ id }) => id} />
}
