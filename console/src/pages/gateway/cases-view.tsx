import { useState } from 'react'
import { Badge, type Tone } from '../../kit/badge.tsx'
import { Button, buttonClass } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { decisionName } from '../../kit/decision-badge.tsx'
import { count } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { LoadMore } from '../../kit/load-more.tsx'
import { Menu, MenuItem } from '../../kit/menu.tsx'
import { ErrorNotice } from '../../kit/notice.tsx'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { useMay } from '../../session/session.tsx'
import { words } from '../../words/en.ts'
import { CaseDialog, DeleteCaseDialog } from './case-dialog.tsx'
import { useCases, useRunCases, type CaseResult, type GatewayCase, type GatewayConfig } from './queries.ts'
import styles from './cases-view.module.css'

const text = { ...words.policy.cases, ...words.gateway.cases }

type Open = { readonly dialog: 'add' } | { readonly dialog: 'edit' | 'delete'; readonly of: GatewayCase }

/** Texts with the decision that is expected, and what the configuration on the page decides. */
export function CasesView({ config }: { readonly config: GatewayConfig }) {
  const mayWrite = useMay('gateway:write')
  const query = useCases()
  const run = useRunCases()
  const [open, setOpen] = useState<Open>()
  const close = (): void => setOpen(undefined)
  const { rows } = query
  // A result is of the configuration and the cases that were run.
  const isCurrent = JSON.stringify(run.variables) === JSON.stringify(config)
  const results = isCurrent ? (run.data?.results ?? []) : []
  return (
    <Card
      isFlush
      title={text.title}
      note={
        <span className={styles.actions}>
          {rows.length > 0 && (
            <Button isSmall disabled={run.isPending} title={text.runNote} onClick={() => run.mutate(config)}>
              {run.isPending ? text.running : text.run}
            </Button>
          )}
          {mayWrite && (
            <Button isSmall look="primary" onClick={() => setOpen({ dialog: 'add' })}>
              {text.add}
            </Button>
          )}
        </span>
      }
    >
      {query.isPending && <LoadingRows widths={[160, 240, 80, 80]} rows={4} />}
      {query.isError && <FailureState title={text.failed} error={query.error} onRetry={() => void query.refetch()} />}
      {!query.isPending && !query.isError && rows.length === 0 && (
        <EmptyState title={text.none}>
          <p>{text.noneText}</p>
          <CodeBlock code="gatehouse policies test -f gateway.yaml" />
        </EmptyState>
      )}
      {rows.length > 0 && (
        <>
          <Summary results={results} />
          <DataTable
            label={text.title}
            rows={rows}
            columns={columnsOf({ results, mayWrite, onOpen: setOpen })}
            idOf={({ id }) => id}
          />
          <LoadMore query={query} />
        </>
      )}
      {run.isError && <ErrorNotice error={run.error} />}
      {open?.dialog === 'add' && <CaseDialog onClose={close} />}
      {open?.dialog === 'edit' && <CaseDialog stored={open.of} onClose={closeAnd(close, run.reset)} />}
      {open?.dialog === 'delete' && <DeleteCaseDialog stored={open.of} onClose={closeAnd(close, run.reset)} />}
    </Card>
  )
}

/** After a change of a case its result is not shown. */
const closeAnd = (close: () => void, reset: () => void) => (): void => {
  close()
  reset()
}

function Summary({ results }: { readonly results: readonly CaseResult[] }) {
  if (results.length === 0) return null
  const of = (state: CaseResult['state']): string => count(results.filter((result) => result.state === state).length)
  return (
    <p className={styles.summary} role="status">
      {text.summary(of('passed'), of('failed'), of('not_evaluated'))}
    </p>
  )
}

type ColumnParts = {
  readonly results: readonly CaseResult[]
  readonly mayWrite: boolean
  readonly onOpen: (open: Open) => void
}

function columnsOf({ results, mayWrite, onOpen }: ColumnParts): readonly DataColumn<GatewayCase>[] {
  const menu: DataColumn<GatewayCase> = {
    id: 'menu',
    name: text.actions,
    isNumber: true,
    cell: (of) => (
      <Menu
        triggerClass={buttonClass({ look: 'ghost', isSmall: true })}
        label={text.actionsOf(of.says)}
        trigger={<Icon name="more" />}
      >
        <MenuItem onClick={() => onOpen({ dialog: 'edit', of })}>{text.edit}</MenuItem>
        <MenuItem onClick={() => onOpen({ dialog: 'delete', of })}>{text.remove}</MenuItem>
      </Menu>
    ),
  }
  return [
    { id: 'says', name: text.says, cell: ({ says }) => <span className={styles.says}>{says}</span> },
    {
      id: 'text',
      name: text.given,
      priority: 3,
      cell: (each) => (
        <span className={styles.given} title={givenText(each)}>
          {givenText(each)}
        </span>
      ),
    },
    { id: 'expect', name: text.expect, cell: ({ expect }) => decisionName(expect) },
    { id: 'weight', name: text.weight, priority: 2, cell: ({ weight }) => text.weights[weight] },
    {
      id: 'result',
      name: text.result,
      cell: ({ id }) => <Result result={results.find((result) => result.case_id === id)} />,
    },
    ...(mayWrite ? [menu] : []),
  ]
}

const givenText = ({ given }: GatewayCase): string => {
  if (given === null) return text.hidden
  return given.text ?? JSON.stringify(given.messages ?? [])
}

const tones: Readonly<Record<CaseResult['state'], Tone>> = { passed: 'allow', failed: 'deny', not_evaluated: 'warning' }

function Result({ result }: { readonly result: CaseResult | undefined }) {
  if (result === undefined) return words.common.none
  const { state, weight, got } = result
  const tone = state === 'failed' && weight === 'should' ? 'warning' : tones[state]
  return (
    <Badge tone={tone} title={result.not_evaluated ?? text.got(decisionName(got))}>
      {text.states[state]}
    </Badge>
  )
}
